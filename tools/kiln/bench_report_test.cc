// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/bench_report.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/kiln/roofline.h"

namespace kiln::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

// Returns a profile with peaks of 100 GFLOP/s and 10 GB/s for all threads.
MeasuredProfile Sample() {
  MeasuredProfile profile;
  profile.peak = {
      .instructions = "avx2 fma",
      .buffer_bytes = 64 << 20,
      .one_thread = {.threads = 1, .gflops = 50, .read_gigabytes = 8, .copy_gigabytes = 6},
      .all_threads = {.threads = 2, .gflops = 100, .read_gigabytes = 10, .copy_gigabytes = 9}};
  profile.report.total_seconds = 20e-6;
  profile.report.operators = {
      {.function_name = "tvmgen_m_fused_exp",
       .op_names = "exp",
       .schedule = "pointwise",
       .operations = 10'000,
       .accessed_bytes = 20'000,
       .calls = 1,
       .seconds = 4e-6},
      {.function_name = "tvmgen_m_fused_nn_conv2d",
       .op_names = "nn.conv2d",
       .source = "conv1",
       .schedule = "contraction 6x2x16",
       .operations = 400'000,
       .accessed_bytes = 8'000,
       .calls = 1,
       .seconds = 8e-6},
      {.function_name = "tvmgen_m_npu_main_0", .op_names = "sort", .calls = 1, .seconds = 6e-6},
  };
  return profile;
}

BenchResult SampleResult() {
  return {.module_name = "m",
          .executor = "aot",
          .threads = 2,
          .runs = 7,
          .min_ms = 0.02,
          .median_ms = 0.03,
          .mean_ms = 0.04,
          .p99_ms = 0.05,
          .profile = Sample()};
}

std::vector<std::string> Lines(const std::string& text) {
  return absl::StrSplit(text, '\n', absl::SkipEmpty());
}

size_t Count(absl::string_view text, absl::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != absl::string_view::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Roofline, TheLongerTimeBinds) {
  const MeasuredProfile profile = Sample();
  const RooflinePoint exp = PlaceOnRoofline(profile.report.operators[0], profile.peak.all_threads);
  EXPECT_EQ(exp.bound, Bound::kMemory);  // 2 us of memory, 0.1 us of arithmetic
  EXPECT_DOUBLE_EQ(exp.percent, 50);
  EXPECT_DOUBLE_EQ(exp.intensity, 0.5);
  const RooflinePoint conv = PlaceOnRoofline(profile.report.operators[1], profile.peak.all_threads);
  EXPECT_EQ(conv.bound, Bound::kFma);  // 4 us of arithmetic, 0.8 us of memory
  EXPECT_DOUBLE_EQ(conv.percent, 50);
  EXPECT_EQ(PlaceOnRoofline(profile.report.operators[2], profile.peak.all_threads).bound,
            Bound::kUnknown);
}

TEST(Roofline, TellsThatAPeakIsTooLow) {
  const MachinePeak peak = Sample().peak;
  runtime::OperatorTiming conv = Sample().report.operators[1];
  EXPECT_FALSE(ShowsThatPeakIsTooLow(conv, peak));
  conv.seconds /= 5;  // 250 % of the multiply-adds
  EXPECT_TRUE(ShowsThatPeakIsTooLow(conv, peak));
  conv.schedule = "winograd F(4x4,3x3) 28x1x16 blocks of 28 tiles";
  EXPECT_FALSE(ShowsThatPeakIsTooLow(conv, peak));
  conv.schedule = "contraction 5x4x16 rows outside packed vpdpbusd stored rows";
  EXPECT_FALSE(ShowsThatPeakIsTooLow(conv, peak));
  runtime::OperatorTiming exp = Sample().report.operators[0];
  exp.seconds /= 100;  // 5,000 % of memory, from a cache
  EXPECT_FALSE(ShowsThatPeakIsTooLow(exp, peak));
  exp.accessed_bytes *= 10'000;
  exp.seconds *= 10'000;
  EXPECT_TRUE(ShowsThatPeakIsTooLow(exp, peak));
}

TEST(BenchText, SaysThatAPeakCannotBeRight) {
  BenchResult result = SampleResult();
  EXPECT_EQ(Count(BenchText(result), "cannot be right"), 0);
  result.profile->report.operators[1].seconds /= 5;
  EXPECT_EQ(Count(BenchText(result), "the measured peak cannot be right"), 1);
}

TEST(Roofline, AllCallsCount) {
  runtime::OperatorTiming timing = Sample().report.operators[1];
  timing.calls = 2;
  EXPECT_DOUBLE_EQ(PlaceOnRoofline(timing, Sample().peak.all_threads).percent, 100);
  EXPECT_DOUBLE_EQ(PlaceOnRoofline(timing, Sample().peak.all_threads).intensity, 50);
}

TEST(Roofline, WhatDoesNothingHasNoPlace) {
  runtime::OperatorTiming timing = Sample().report.operators[1];
  timing.operations = timing.accessed_bytes = 0;
  EXPECT_EQ(PlaceOnRoofline(timing, Sample().peak.all_threads).bound, Bound::kUnknown);
}

TEST(BenchText, HasALineOfTimesAndATable) {
  const std::vector<std::string> lines = Lines(BenchText(SampleResult()));
  ASSERT_THAT(lines, SizeIs(11));
  EXPECT_EQ(lines[0],
            "m, aot executor, 2 threads: 7 runs, median 0.0300 ms, min 0.0200 ms, mean 0.0400 ms, "
            "p99 0.0500 ms");
  EXPECT_EQ(lines[1],
            "peak of 1 thread: 50.0 GFLOP/s of multiply-adds, 8.0 GB/s read, 6.0 GB/s copied "
            "(avx2 fma)");
  EXPECT_THAT(lines[2], HasSubstr("peak of 2 threads: 100.0 GFLOP/s"));
  EXPECT_EQ(lines[3],
            "  microseconds    share  GFLOP/s  GB/s     % of peak  operator           schedule");
  EXPECT_EQ(lines[4],
            "          8.00   40.00%    50.00  1.00     50.0% FMA  fused_nn_conv2d    contraction "
            "6x2x16");
  EXPECT_EQ(lines[5], "          6.00   30.00%                               npu_main_0 (sort)");
  EXPECT_EQ(lines[6],
            "          4.00   20.00%     2.50  5.00  50.0% memory  fused_exp          pointwise");
  EXPECT_EQ(lines[7], "         18.00   90.00%    22.78  1.56         50.0%  all operators");
  EXPECT_EQ(lines[8], "         20.00  100.00%    20.50  1.40                the whole run");
}

TEST(BenchText, WithoutAProfileIsOneLine) {
  BenchResult result = SampleResult();
  result.profile.reset();
  EXPECT_THAT(Lines(BenchText(result)), SizeIs(1));
  EXPECT_FALSE(BenchJson(result).contains("profile"));
}

TEST(BenchJson, HasTheSameFigures) {
  const nlohmann::ordered_json json = BenchJson(SampleResult());
  EXPECT_EQ(json["module"], "m");
  EXPECT_EQ(json["median_ms"], 0.03);
  const auto& profile = json["profile"];
  EXPECT_EQ(profile["total_seconds"], 20e-6);
  EXPECT_EQ(profile["machine"]["instructions"], "avx2 fma");
  EXPECT_EQ(profile["machine"]["one_thread"]["copy_gigabytes_per_second"], 6.0);
  EXPECT_EQ(profile["machine"]["all_threads"]["gflops_per_second"], 100.0);
  const auto& conv = profile["operators"][1];  // in the order of their calls
  EXPECT_EQ(conv["schedule"], "contraction 6x2x16");
  EXPECT_EQ(conv["operations"], 400'000);
  EXPECT_EQ(conv["bound"], "FMA");
  EXPECT_DOUBLE_EQ(conv["percent_of_peak"].get<double>(), 50);
  EXPECT_DOUBLE_EQ(conv["gflops_per_second"].get<double>(), 50);
  EXPECT_FALSE(profile["operators"][2].contains("bound"));
}

TEST(BenchPage, HasARowForEveryOperatorAndTheChartLibrary) {
  const std::string page = BenchPage(SampleResult());
  EXPECT_TRUE(absl::StrContains(page, "<title>m: kiln bench</title>"));
  EXPECT_TRUE(absl::StrContains(
      page, "<tr><td>conv1</td><td>fused_nn_conv2d</td><td data-value=\"8\">8.00</td>"));
  EXPECT_TRUE(absl::StrContains(page, "<td>fused_exp</td>"));
  EXPECT_TRUE(absl::StrContains(page, "<td>npu_main_0 (sort)</td>"));
  EXPECT_TRUE(absl::StrContains(page, "\"label\":\"conv1\""));
  EXPECT_TRUE(absl::StrContains(page, "Chart.js v"));
  EXPECT_FALSE(absl::StrContains(page, "{{"));
  EXPECT_LT(page.find("<td>fused_nn_conv2d"), page.find("<td>fused_exp"));  // slowest first
}

TEST(BenchPage, SaysWhatWasMeasuredWhenAndOnWhat) {
  BenchResult result = SampleResult();
  result.target = "x86-64-v3";
  result.cpu = "A <CPU>";
  result.date = "2026-01-02 03:04 UTC";
  result.version = "Kiln 1.2.3";
  const std::string page = BenchPage(result);
  for (const char* text : {"<dd>x86-64-v3</dd>", "<dd>A &lt;CPU&gt;</dd>",
                           "<dd>2026-01-02 03:04 UTC</dd>", "<dd>Kiln 1.2.3</dd>"}) {
    EXPECT_TRUE(absl::StrContains(page, text)) << text;
  }
}

TEST(BenchPage, MarksWinograd) {
  BenchResult result = SampleResult();
  EXPECT_FALSE(absl::StrContains(BenchPage(result), "<td>FMA, Winograd</td>"));
  result.profile->report.operators[1].schedule = "Winograd 4x4";
  EXPECT_TRUE(absl::StrContains(BenchPage(result), "<td>FMA, Winograd</td>"));
}

TEST(BenchTrace, OperatorsFollowEachOther) {
  const nlohmann::ordered_json trace = BenchTrace(SampleResult());
  const auto& events = trace["traceEvents"];
  ASSERT_EQ(events.size(), 4u);  // the name of the process, and three operators
  EXPECT_EQ(events[0]["args"]["name"], "m");
  EXPECT_EQ(events[2]["name"], "conv1");
  EXPECT_EQ(events[2]["ph"], "X");
  EXPECT_EQ(events[2]["args"]["function"], "tvmgen_m_fused_nn_conv2d");
  EXPECT_EQ(events[2]["args"]["operations"], 400'000);
  EXPECT_DOUBLE_EQ(events[2]["dur"].get<double>(), 8);
  for (size_t i = 1; i + 1 < events.size(); ++i) {
    EXPECT_DOUBLE_EQ(events[i + 1]["ts"].get<double>(),
                     events[i]["ts"].get<double>() + events[i]["dur"].get<double>());
  }
}

// Names come from model files, which are not trusted.
TEST(BenchPage, NamesCannotBecomeCode) {
  BenchResult result = SampleResult();
  const std::string attack = "</script><script>alert('&1')</script><!--\"\xff";
  result.module_name = attack;
  for (runtime::OperatorTiming& timing : result.profile->report.operators) {
    timing.op_names = timing.source = timing.schedule = attack;
  }
  const std::string page = BenchPage(result);
  EXPECT_FALSE(absl::StrContains(page, "<script>alert"));
  EXPECT_FALSE(absl::StrContains(page, "\xff"));
  EXPECT_TRUE(absl::StrContains(page, "&lt;/script&gt;&lt;script&gt;alert(&#39;&amp;1&#39;)"));
  EXPECT_TRUE(absl::StrContains(page, "\\u003c/script\\u003e"));
  const std::string harmless = BenchPage(SampleResult());
  EXPECT_EQ(Count(page, "<script"), Count(harmless, "<script"));
  EXPECT_EQ(Count(page, "</script"), Count(harmless, "</script"));
  EXPECT_EQ(Count(page, "<!--"), Count(harmless, "<!--"));
}

}  // namespace
}  // namespace kiln::tools
