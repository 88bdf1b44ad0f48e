// SPDX-License-Identifier: Apache-2.0
// BenchTrace: a profile in Chrome's trace format,
// https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
#include "absl/strings/str_cat.h"
#include "tools/kiln/bench_report.h"

namespace kiln::tools {

using Json = nlohmann::ordered_json;

Json BenchTrace(const BenchResult& result) {
  constexpr int kProcess = 1, kThread = 1;
  Json events = Json::array();
  events.push_back({{"name", "process_name"},
                    {"ph", "M"},
                    {"pid", kProcess},
                    {"args", {{"name", result.module_name}}}});
  double begin_us = 0;
  for (const runtime::OperatorTiming& timing : result.profile->report.operators) {
    const double duration_us = timing.seconds * 1e6;
    const std::string label = OperatorLabel(result.module_name, timing);
    Json arguments = {{"function", timing.function_name},
                      {"operators", timing.op_names},
                      {"schedule", timing.schedule},
                      {"calls", timing.calls}};
    if (timing.operations >= 0) arguments["operations"] = timing.operations;
    if (timing.accessed_bytes >= 0) arguments["accessed_bytes"] = timing.accessed_bytes;
    events.push_back({{"name", timing.source.empty() ? label : timing.source},
                      {"cat", "operator"},
                      {"ph", "X"},
                      {"ts", begin_us},
                      {"dur", duration_us},
                      {"pid", kProcess},
                      {"tid", kThread},
                      {"args", std::move(arguments)}});
    begin_us += duration_us;
  }
  return {{"traceEvents", std::move(events)},
          {"displayTimeUnit", "ns"},
          {"otherData",
           {{"module", result.module_name},
            {"target", result.target},
            {"cpu", result.cpu},
            {"date", result.date},
            {"version", result.version},
            {"times", absl::StrCat("means of profiled runs; the whole run takes ",
                                   result.profile->report.total_seconds * 1e6, " us")}}}};
}

}  // namespace kiln::tools
