// SPDX-License-Identifier: Apache-2.0
// BenchPage: bench_page.html with the result, and the chart library, in the places of its marks.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "tools/kiln/bench_report.h"
#include "tools/kiln/roofline.h"
#include "tools/kiln/runtime_files.h"

namespace kiln::tools {
namespace {

using runtime::OperatorTiming;

// JSON that may stand inside a script element: nothing in it ends the element or begins a comment.
std::string EscapedJson(const nlohmann::ordered_json& json) {
  const std::string text =
      json.dump(-1, ' ', /*ensure_ascii=*/true, nlohmann::ordered_json::error_handler_t::replace);
  return absl::StrReplaceAll(text, {{"<", "\\u003c"}, {">", "\\u003e"}, {"&", "\\u0026"}});
}

// Text of an element or a quoted attribute, with a replacement character for what is not UTF-8.
// Names come from model files.
std::string EscapeHtml(const std::string& text) {
  using nlohmann::json;
  const json valid = json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
  return absl::StrReplaceAll(
      valid.get<std::string>(),
      {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}});
}

std::string TextCell(const std::string& text) {
  return absl::StrCat("<td>", EscapeHtml(text), "</td>");
}

// A cell that is sorted by `value`; empty if the number is not known.
std::string NumberCell(double value, bool known, absl::string_view unit = "") {
  if (!known) return "<td data-value=\"-1\"></td>";
  return absl::StrFormat("<td data-value=\"%.17g\">%.2f%s</td>", value, value, unit);
}

std::string Row(const BenchResult& result, const OperatorTiming& timing) {
  const MeasuredProfile& profile = *result.profile;
  const double total = profile.report.total_seconds;
  const RooflinePoint point = PlaceOnRoofline(timing, profile.peak.all_threads);
  const bool known = point.bound != Bound::kUnknown;
  return absl::StrCat("<tr>", TextCell(OperatorLabel(result.module_name, timing)),
                      NumberCell(timing.seconds * 1e6, true),
                      NumberCell(total > 0 ? 100 * timing.seconds / total : 0, true, " %"),
                      NumberCell(timing.GflopsPerSecond(), known),
                      NumberCell(timing.GigabytesPerSecond(), known),
                      NumberCell(point.intensity, known), NumberCell(point.percent, known, " %"),
                      TextCell(ToString(point.bound)), TextCell(timing.schedule),
                      TextCell(timing.source), "</tr>\n");
}

std::string Rows(const BenchResult& result) {
  std::string rows;
  for (const OperatorTiming& timing : SlowestFirst(result.profile->report)) {
    absl::StrAppend(&rows, Row(result, timing));
  }
  return rows;
}

std::string SumRow(const BenchResult& result) {
  const OperatorSum sum = SumOf(*result.profile);
  const double total = result.profile->report.total_seconds;
  const double scale = sum.seconds > 0 ? 1e-9 / sum.seconds : 0;
  return absl::StrCat("<tr>", TextCell("all operators"), NumberCell(sum.seconds * 1e6, true),
                      NumberCell(total > 0 ? 100 * sum.seconds / total : 0, true, " %"),
                      NumberCell(sum.operations * scale, true),
                      NumberCell(sum.accessed_bytes * scale, true),
                      NumberCell(sum.accessed_bytes > 0 ? sum.operations / sum.accessed_bytes : 0,
                                 sum.accessed_bytes > 0),
                      NumberCell(sum.percent, true, " %"), "<td></td><td></td><td></td></tr>\n");
}

std::string SummaryItem(const std::string& name, const std::string& value) {
  return absl::StrCat("<dt>", EscapeHtml(name), "</dt><dd>", EscapeHtml(value), "</dd>\n");
}

std::string Summary(const BenchResult& result) {
  const MachinePeak& peak = result.profile->peak;
  std::string items = absl::StrCat(
      SummaryItem("executor", result.executor),
      result.variants.empty() ? "" : SummaryItem("variant", result.variants),
      SummaryItem("threads", absl::StrCat(result.threads)),
      SummaryItem("time of a run",
                  absl::StrFormat(
                      "median %.4f ms, min %.4f ms, mean %.4f ms, p99 %.4f ms of %d runs",
                      result.median_ms, result.min_ms, result.mean_ms, result.p99_ms, result.runs)),
      SummaryItem("instructions", peak.instructions),
      SummaryItem("peak of 1 thread", ToText(peak.one_thread)));
  if (peak.all_threads.threads > 1) {
    absl::StrAppend(&items,
                    SummaryItem(absl::StrCat("peak of ", peak.all_threads.threads, " threads"),
                                ToText(peak.all_threads)));
  }
  return items;
}

// The result, with the labels of the operators that the charts show.
nlohmann::ordered_json ChartData(const BenchResult& result) {
  nlohmann::ordered_json data = BenchJson(result);
  nlohmann::ordered_json& operators = data["profile"]["operators"];
  for (size_t i = 0; i < operators.size(); ++i) {
    operators[i]["label"] = OperatorLabel(result.module_name, result.profile->report.operators[i]);
  }
  return data;
}

}  // namespace

std::string BenchPage(const BenchResult& result) {
  return absl::StrReplaceAll(BenchPageTemplate().at("bench_page.html"),
                             {{"{{module}}", EscapeHtml(result.module_name)},
                              {"{{summary}}", Summary(result)},
                              {"{{rows}}", Rows(result)},
                              {"{{sum}}", SumRow(result)},
                              {"{{data}}", EscapedJson(ChartData(result))},
                              {"{{chart_library}}", ChartLibrary().at("chart.min.js")}});
}

}  // namespace kiln::tools
