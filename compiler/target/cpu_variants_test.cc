// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/cpu_variants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_join.h"

namespace kiln {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string ErrorOf(const std::vector<std::string>& names) {
  return std::string(ParseCpuVariants(names).status().message());
}

std::vector<std::string> FeaturesOf(const std::string& target) {
  const auto features = CpuFeaturesOf(Target::Parse(target).value()).value();
  std::vector<std::string> names;
  for (const CpuFeature* feature : features) names.emplace_back(feature->name);
  return names;
}

TEST(CpuVariants, LevelsAreThoseOfTheAbi) {
  EXPECT_THAT(FeaturesOf("x86-64"), ElementsAre());
  EXPECT_THAT(FeaturesOf("x86-64-v2"),
              ElementsAre("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16", "sahf"));
  EXPECT_THAT(FeaturesOf("x86-64-v3"),
              ElementsAre("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16", "sahf", "avx",
                          "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"));
  EXPECT_THAT(FeaturesOf("x86-64-v4"),
              ElementsAre("sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16", "sahf", "avx",
                          "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "avx512f",
                          "avx512bw", "avx512cd", "avx512dq", "avx512vl"));
  EXPECT_THAT(FeaturesOf("x86-64 -mattr=+avx"),
              ElementsAre("sse3", "ssse3", "sse4.1", "sse4.2", "avx"));
}

TEST(RequiredFeatures, AreThoseOfTheProcessorAndOfTheTarget) {
  const auto required = [](const char* target) {
    return absl::StrJoin(RequiredFeatures(Target::Parse(target).value()), " ");
  };
  EXPECT_EQ(required("x86-64"), "");
  EXPECT_EQ(required("x86-64-v2"), "sse3 ssse3 sse4.1 sse4.2 popcnt cx16 sahf");
  EXPECT_EQ(required("x86-64 -mattr=+xop"), "sse3 ssse3 sse4.1 sse4.2 avx sse4a fma4 xop");
  EXPECT_EQ(required("x86-64 -mcpu=btver2 -mattr=-avx"),
            "sse3 ssse3 sse4.1 sse4.2 popcnt cx16 sahf bmi sse4a lzcnt movbe");
  // A feature that the tables lack is named if the target names it.
  EXPECT_EQ(required("x86-64-v2 -mattr=+sha,-popcnt"), "sse3 ssse3 sse4.1 sse4.2 cx16 sahf sha");
  EXPECT_EQ(required("aarch64"), "");
  EXPECT_EQ(required("aarch64 -mcpu=cortex-a72"), "crc");
  EXPECT_EQ(required("aarch64 -mcpu=neoverse-n1 -mattr=-dotprod"), "crc lse fullfp16 rdm rcpc");
  EXPECT_EQ(required("aarch64 -mattr=+sve"), "fullfp16 sve");
  EXPECT_EQ(required("aarch64 -mcpu=neoverse-v1 -mattr=-fullfp16"),
            "crc lse rdm jsconv complxnum rcpc dotprod i8mm bf16");
  EXPECT_EQ(required("aarch64 -mattr=+v8.1a"), "crc lse rdm v8.1a");
  EXPECT_EQ(required("riscv64gc"), "m a f d c");
  // No library is loaded by a runtime on this target.
  EXPECT_EQ(required("cortex-m55"), "");
}

TEST(CpuVariants, EachHasMoreThanTheOneBefore) {
  EXPECT_EQ(ErrorOf({"x86-64-v2"}), "");
  EXPECT_EQ(ErrorOf({"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"}), "");
  EXPECT_EQ(ErrorOf({"x86-64-v3", "x86-64-v4", "x86-64-v4 -mattr=+avx512vnni"}), "");
  EXPECT_EQ(ErrorOf({"x86-64-v3", "x86-64-v2"}),
            "--cpu-variants: found 'x86-64-v2' after 'x86-64-v3', but it lacks avx, avx2, bmi, "
            "bmi2, f16c, fma, lzcnt, movbe; wanted the lowest first, each with all that the one "
            "before has, and more");
  EXPECT_THAT(ErrorOf({"x86-64-v2", "x86-64-v2"}),
              HasSubstr("found 'x86-64-v2' after 'x86-64-v2', which has as much; wanted"));
  EXPECT_THAT(ErrorOf({"x86-64-v3", "x86-64-v2 -mattr=+avx512f"}), HasSubstr("but it lacks bmi"));
  EXPECT_EQ(ErrorOf({}), "--cpu-variants: found 0 variants, wanted 1 to 8");
}

TEST(CpuVariants, AreOfOneMachineThatCanBeAsked) {
  EXPECT_THAT(
      ErrorOf({"aarch64"}),
      AllOf(HasSubstr("found 'aarch64', which is no x86-64 machine with an operating system"),
            HasSubstr("wanted one of x86-64, x86-64-v2, x86-64-v3, x86-64-v4")));
  EXPECT_THAT(ErrorOf({"cortex-m4f"}), HasSubstr("found 'cortex-m4f', which is no x86-64"));
  EXPECT_THAT(ErrorOf({"host"}), HasSubstr("found 'host', which says of no CPU what it needs"));
  EXPECT_THAT(ErrorOf({"x86_64-linux-gnu -mcpu=skylake"}), HasSubstr("what it needs"));
  EXPECT_THAT(ErrorOf({"x86-64-v3 -mattr=+sha"}), HasSubstr("whose +sha is unknown"));
  EXPECT_THAT(ErrorOf({"x86-64-v3 -mattr=-avx2"}), HasSubstr("whose -avx2 is unknown"));
  EXPECT_THAT(ErrorOf({"skylake"}), HasSubstr("--cpu-variants: unknown target 'skylake'"));
  EXPECT_THAT(ErrorOf({"x86-64-v2", "x86_64-unknown-freebsd -mcpu=x86-64-v3"}),
              HasSubstr("wanted targets of one triple"));
}

TEST(CpuVariants, ThePlainTargetRunsEverywhere) {
  const Target plain = PlainTarget(*ParseCpuVariants({"x86-64-v3", "x86-64-v4"}));
  EXPECT_EQ(plain.cpu, "x86-64");
  EXPECT_EQ(plain.features, "");
}

}  // namespace
}  // namespace kiln
