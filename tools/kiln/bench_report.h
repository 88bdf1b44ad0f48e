// SPDX-License-Identifier: Apache-2.0
// What `kiln bench` says of a library: as text, JSON and a page with charts.
#ifndef KILN_TOOLS_KILN_BENCH_REPORT_H_
#define KILN_TOOLS_KILN_BENCH_REPORT_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "runtime_cpp/profile.h"
#include "tools/kiln/machine_peak.h"

namespace kiln::tools {

// Operators beside what the machine can do, measured in the same run.
struct MeasuredProfile {
  runtime::ProfileReport report;
  MachinePeak peak;
};

struct BenchResult {
  std::string module_name;
  std::string executor;
  std::string cpu_variant = {};  // that runs, of a library of several
  std::string variants = {};     // "x86-64-v3 (of x86-64-v2, x86-64-v3)"
  // For the page: what the code is for, what ran it, when, and what measured it.
  std::string target = {}, cpu = {}, date = {}, version = {};
  int threads = 1;
  size_t runs = 0;
  double min_ms = 0, median_ms = 0, mean_ms = 0, p99_ms = 0;
  std::optional<MeasuredProfile> profile;
};

// A line of times; with a profile also the machine's peaks and a table of operators, the slowest
// first.
std::string BenchText(const BenchResult& result);

// The members by their names; `profile` has `machine`, `operators` and `total_seconds`. Strings of
// the model's are valid UTF-8 only when dumped with error_handler_t::replace.
nlohmann::ordered_json BenchJson(const BenchResult& result);

// A page of HTML that needs no other file and no network: summary, a bar chart of the times, the
// roofline, a table that can be sorted. The result must have a profile.
std::string BenchPage(const BenchResult& result);

// One run as Chrome's trace viewer and Perfetto read it (JSON of trace events): each operator with
// the mean time of all its calls, one behind the other. The result must have a profile.
nlohmann::ordered_json BenchTrace(const BenchResult& result);

// What the text and the page call an operator function: its name without the module's prefix, and
// its operators where the name does not say them.
std::string OperatorLabel(const std::string& module_name, const runtime::OperatorTiming& timing);

// Operators, the slowest first.
std::vector<runtime::OperatorTiming> SlowestFirst(const runtime::ProfileReport& report);

// All operators together; operations and bytes of those whose cost is known.
struct OperatorSum {
  double seconds = 0;
  double operations = 0;
  double accessed_bytes = 0;
  double percent = 0;  // of the time of those whose cost is known, their time on the roofs
};
OperatorSum SumOf(const MeasuredProfile& profile);

// "62.1 GFLOP/s of multiply-adds, 11.9 GB/s read, 9.0 GB/s copied".
std::string ToText(const PeakRates& rates);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_BENCH_REPORT_H_
