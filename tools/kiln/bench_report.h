// SPDX-License-Identifier: Apache-2.0
// Output of `kiln bench`: text, JSON and a page with charts.
#ifndef KILN_TOOLS_KILN_BENCH_REPORT_H_
#define KILN_TOOLS_KILN_BENCH_REPORT_H_

#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "runtime_cpp/profile.h"
#include "tools/kiln/machine_peak.h"

namespace kiln::tools {

// A profile of the operators, and the peak rates of the machine, measured in the same run.
struct MeasuredProfile {
  runtime::ProfileReport report;
  MachinePeak peak;
};

struct BenchResult {
  std::string module_name;
  std::string executor;
  std::string cpu_variant = {};  // the one that runs, if there are several
  std::string variants = {};     // "x86-64-v3 (of x86-64-v2, x86-64-v3)"
  // For the page: target of the code, CPU, date, and version of Kiln.
  std::string target = {}, cpu = {}, date = {}, version = {};
  int threads = 1;
  size_t runs = 0;
  double min_ms = 0, median_ms = 0, mean_ms = 0, p99_ms = 0;
  std::optional<MeasuredProfile> profile;
};

// Returns a line of times. With a profile it also contains the machine's peaks and a table of
// operators, slowest first.
std::string BenchText(const BenchResult& result);

// Returns the members, keyed by name. `profile` has `machine`, `operators` and `total_seconds`.
// Strings from the model are valid UTF-8 only if the JSON is dumped with error_handler_t::replace.
nlohmann::ordered_json BenchJson(const BenchResult& result);

// Returns a self-contained HTML page that needs no network: a summary, a bar chart of the times,
// the roofline, and a sortable table. The result must have a profile.
std::string BenchPage(const BenchResult& result);

// Returns one run in the JSON format of trace events, for Chrome's trace viewer and Perfetto. The
// operators follow each other, each with the mean time of all its calls. The result must have a
// profile.
nlohmann::ordered_json BenchTrace(const BenchResult& result);

// Returns the label of an operator function in the text and on the page: its name without the
// module's prefix, followed by its operators if the name does not contain them.
std::string OperatorLabel(const std::string& module_name, const runtime::OperatorTiming& timing);

// Returns the operators, slowest first.
std::vector<runtime::OperatorTiming> SlowestFirst(const runtime::ProfileReport& report);

// Totals of all operators. `operations` and `accessed_bytes` are sums over operators whose cost is
// known.
struct OperatorSum {
  double seconds = 0;
  double operations = 0;
  double accessed_bytes = 0;
  double percent = 0;  // time at peak rate of operators with known cost, relative to their measured
                       // time
};
OperatorSum SumOf(const MeasuredProfile& profile);

// Returns a text such as "62.1 GFLOP/s of multiply-adds, 11.9 GB/s read, 9.0 GB/s copied".
std::string ToText(const PeakRates& rates);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_BENCH_REPORT_H_
