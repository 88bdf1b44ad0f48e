// SPDX-License-Identifier: Apache-2.0
// BenchPage: fills the marks of bench_page.html with the result and the chart library.
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/kiln/bench_report.h"
#include "tools/kiln/roofline.h"
#include "tools/kiln/runtime_files.h"
#include "tools/pages/html.h"

namespace kiln::tools {
namespace {

using runtime::OperatorTiming;

// Returns a table cell that is sorted by `value`. Empty if the number is not known.
std::string KnownCell(double value, bool known, absl::string_view unit = "") {
  return known ? NumberCell(value, 2, unit) : EmptyNumberCell();
}

// Operations are counted for the direct algorithm. Winograd's algorithm executes only a part of
// them.
bool IsWinograd(const OperatorTiming& timing) {
  return absl::StrContains(absl::AsciiStrToLower(timing.schedule), "winograd");
}

// Returns the model's names of the operator's nodes, or the name of its function if there are none.
std::string LayerLabel(const BenchResult& result, const OperatorTiming& timing) {
  return timing.source.empty() ? OperatorLabel(result.module_name, timing) : timing.source;
}

std::string Row(const BenchResult& result, const OperatorTiming& timing) {
  const MeasuredProfile& profile = *result.profile;
  const double total = profile.report.total_seconds;
  const RooflinePoint point = PlaceOnRoofline(timing, profile.peak.all_threads);
  const bool known = point.bound != Bound::kUnknown;
  return absl::StrCat(
      "<tr>", TextCell(LayerLabel(result, timing)),
      TextCell(OperatorLabel(result.module_name, timing)), NumberCell(timing.seconds * 1e6),
      NumberCell(total > 0 ? 100 * timing.seconds / total : 0, 2, " %"),
      KnownCell(timing.GflopsPerSecond(), known), KnownCell(timing.GigabytesPerSecond(), known),
      KnownCell(point.intensity, known), KnownCell(point.percent, known, " %"),
      TextCell(absl::StrCat(ToString(point.bound), IsWinograd(timing) ? ", Winograd" : "")),
      TextCell(timing.schedule), "</tr>\n");
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
  return absl::StrCat("<tr>", TextCell("all operators"), "<td></td>", NumberCell(sum.seconds * 1e6),
                      NumberCell(total > 0 ? 100 * sum.seconds / total : 0, 2, " %"),
                      NumberCell(sum.operations * scale), NumberCell(sum.accessed_bytes * scale),
                      KnownCell(sum.accessed_bytes > 0 ? sum.operations / sum.accessed_bytes : 0,
                                sum.accessed_bytes > 0),
                      NumberCell(sum.percent, 2, " %"), "<td></td><td></td></tr>\n");
}

std::string Summary(const BenchResult& result) {
  const MachinePeak& peak = result.profile->peak;
  std::string items = absl::StrCat(
      SummaryItem("measured", result.date), SummaryItem("CPU", result.cpu),
      SummaryItem("compiled for", result.target), SummaryItem("measured by", result.version),
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

// Returns the JSON of the result, with labels of the operators for the charts.
nlohmann::ordered_json ChartData(const BenchResult& result) {
  nlohmann::ordered_json data = BenchJson(result);
  nlohmann::ordered_json& operators = data["profile"]["operators"];
  for (size_t i = 0; i < operators.size(); ++i) {
    operators[i]["label"] = LayerLabel(result, result.profile->report.operators[i]);
  }
  return data;
}

}  // namespace

std::string BenchPage(const BenchResult& result) {
  return FillPage(BenchPageTemplate().at("bench_page.html"),
                  {{"module", EscapeHtml(result.module_name)},
                   {"summary", Summary(result)},
                   {"rows", Rows(result)},
                   {"sum", SumRow(result)},
                   {"data", ScriptJson(ChartData(result))},
                   {"chart_library", ChartLibrary().at("chart.min.js")}});
}

}  // namespace kiln::tools
