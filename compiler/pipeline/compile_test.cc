// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline/compile.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/graph/state.h"
#include "compiler/options/options.h"
#include "compiler/passes/testing/run_pass.h"
#include "compiler/target/target.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

CompileOptions Firmware(Optimize optimize) {
  CompileOptions options{.runtime = Runtime::kCrt,
                         .interface = Interface::kC,
                         .calling_convention = CallingConvention::kUnpacked,
                         .target = Target::Parse("cortex-m4f").value()};
  options.schedule.optimize = optimize;
  return options;
}

// The plan and the pools have the same alignment, for any number of threads.
TEST(RunStages, TheAlignmentIsThatOfTheTarget) {
  const Graph graph = ParseModel(R"(
      def @main(%x: Tensor[(2, 2), float32]) { nn.softmax(nn.softmax(%x)) })");
  for (const auto& [target, alignment] : {std::pair<const char*, int>{"cortex-m4f", 16},
                                          {"armv7-unknown-linux-gnueabihf", 64},
                                          {"armv7-unknown-linux-gnueabihf -cores=1", 64}}) {
    for (const int threads : {0, 1}) {
      CompileOptions options{.runtime = Runtime::kCrt, .target = Target::Parse(target).value()};
      options.threads = threads;
      options.pools = {{.name = "a"}};
      EXPECT_EQ(RunStages(graph, options)->plan.pools[0].alignment_bytes, alignment) << target;
      options.pools[0].alignment_bytes = alignment;
      EXPECT_EQ(CheckOptions(options), absl::OkStatus()) << target;
      options.pools[0].alignment_bytes = alignment / 2;
      EXPECT_THAT(CheckOptions(options).message(),
                  HasSubstr(absl::StrCat("wanted at least ", alignment)));
    }
  }
}

// No other value of --optimize needs a smaller workspace.
TEST(RunStages, ForRamTheWorkspaceIsTheSmallest) {
  const Graph graph = ParseModel(R"(
      def @main(%x: Tensor[(1, 32, 32, 8), int8], %constant0: Tensor[(16, 3, 3, 8), int8],
                %constant1: Tensor[(8, 3, 3, 16), int8]) {
        %0 = cast(qnn.conv2d(%x, %constant0, 3, 0, 0.5f, 0.25f, padding=[1, 1], data_layout="NHWC",
                             kernel_layout="OHWI"), dtype="int8");
        %1 = cast(qnn.conv2d(%0, %constant1, -5, 0, 0.5f, 0.25f, padding=[1, 1],
                             data_layout="NHWC", kernel_layout="OHWI"), dtype="int8");
        add(%1, %x)
      })");
  const auto bytes = [&](Optimize optimize) {
    CompileOptions options = Firmware(optimize);
    options.workspace_io = true;
    return RunStages(graph, options)->plan.workspace_bytes();
  };
  const int64_t least = bytes(Optimize::kRam);
  EXPECT_LT(least, bytes(Optimize::kSize));
  EXPECT_LE(least, bytes(Optimize::kSpeed));
  EXPECT_LE(least, bytes(Optimize::kBalanced));
}

// A padding that is an operator of its own, as exporters write it, costs no memory.
TEST(RunStages, PadsDoNotEndStrips) {
  const auto bytes = [](const std::string& second, bool strips) {
    const Graph graph = ParseModel(absl::StrCat(R"(
      def @main(%x: Tensor[(1, 32, 32, 8), int8], %constant0: Tensor[(32, 1, 1, 8), int8],
                %constant1: Tensor[(1, 3, 3, 32), int8], %constant2: Tensor[(8, 1, 1, 32), int8]) {
        %0 = cast(qnn.conv2d(%x, %constant0, 3, 0, 0.5f, 0.25f, data_layout="NHWC",
                             kernel_layout="OHWI"), dtype="int8");
        )",
                                                second, R"(
        %2 = cast(%1, dtype="int8");
        qnn.conv2d(%2, %constant2, 4, 0, 0.5f, 0.25f, data_layout="NHWC", kernel_layout="OHWI")
      })"));
    CompileOptions options = Firmware(Optimize::kSpeed);
    if (!strips) options.passes.disabled = {"split"};
    return RunStages(graph, options)->plan.workspace_bytes();
  };
  const std::string attrs =
      "%constant1, -5, 0, 0.5f, 0.25f, strides=[2, 2], groups=32, data_layout=\"NHWC\", "
      "kernel_layout=\"IHWO\"";
  const std::string apart =
      absl::StrCat("%1 = qnn.conv2d(nn.pad(%0, -5i8, pad_width=[[0, 0], [1, 1], [1, 1], [0, 0]]), ",
                   attrs, ");");
  const std::string joint = absl::StrCat("%1 = qnn.conv2d(%0, ", attrs, ", padding=[1, 1]);");
  EXPECT_EQ(bytes(apart, true), bytes(joint, true));
  EXPECT_LT(bytes(apart, true), bytes(apart, false) / 2);
}

// The error of a pool that is too small names a size. That size and every larger one suffice, with
// any choice of strips.
TEST(RunStages, APoolOfTheSizeThatTheErrorNamesWillDo) {
  const Graph graph = ParseModel(R"(
      def @main(%x: Tensor[(1, 32, 32, 8), int8], %constant0: Tensor[(16, 3, 3, 8), int8],
                %constant1: Tensor[(8, 3, 3, 16), int8], %constant2: Tensor[(8, 3, 3, 8), int8]) {
        %0 = cast(qnn.conv2d(%x, %constant0, 3, 0, 0.5f, 0.25f, padding=[1, 1], data_layout="NHWC",
                             kernel_layout="OHWI"), dtype="int8");
        %1 = cast(qnn.conv2d(%0, %constant1, -5, 0, 0.5f, 0.25f, padding=[1, 1],
                             data_layout="NHWC", kernel_layout="OHWI"), dtype="int8");
        %2 = cast(qnn.conv2d(%1, %constant2, -5, 0, 0.5f, 0.25f, padding=[1, 1], strides=[2, 2],
                             data_layout="NHWC", kernel_layout="OHWI"), dtype="int8");
        mean(cast(%2, dtype="float32"), axis=[1, 2])
      })");
  const auto status_of = [&](Optimize optimize, int64_t bytes) {
    CompileOptions options = Firmware(optimize);
    options.pools = {{.name = "sram", .limit_bytes = bytes}};
    return RunStages(graph, options).status();
  };
  for (const Optimize optimize : {Optimize::kSpeed, Optimize::kSize, Optimize::kRam}) {
    const absl::Status error = status_of(optimize, 64);
    ASSERT_EQ(error.code(), absl::StatusCode::kResourceExhausted) << error;
    const int64_t enough = EnoughBytes(error);
    ASSERT_GT(enough, 64);
    EXPECT_THAT(error.message(), HasSubstr(absl::StrCat("would do with ", enough, " bytes")));
    EXPECT_FALSE(status_of(optimize, enough - 1).ok());
    for (int64_t bytes = enough; bytes < 2 * enough; bytes += enough / 16) {
      EXPECT_EQ(status_of(optimize, bytes), absl::OkStatus()) << bytes;
    }
  }
}

// Returns the state of a packed model that keeps `cache`, which becomes the model's second result.
proto::State CacheOf(const std::string& text) {
  Graph graph = ParseModel(text);
  EXPECT_EQ(DeclareState("cache=output1", graph), absl::OkStatus());
  const Compilation compilation =
      RunStages(graph, {.target = Target::Parse("x86-64").value()}).value();
  EXPECT_EQ(compilation.metadata.states_size(), 1);
  return compilation.metadata.states(0);
}

TEST(RunStages, StatesThatAreUpdatedAreInPlace) {
  const auto model = [](const std::string& result) {
    return absl::StrCat(R"(
      def @main(%x: Tensor[(1, 4), float32], %at: Tensor[(1, 4), int32],
                %cache: Tensor[(64, 4), float32]) {
        %0 = scatter_elements(%cache, %at, %x, axis=0);
        )",
                        result, " }");
  };
  EXPECT_TRUE(CacheOf(model("(sum(%0, axis=[0]), %0)")).is_in_place());
  // The old value is read after the new one is written.
  EXPECT_FALSE(CacheOf(model("(subtract(%0, %cache), %0)")).is_in_place());
  // A computed value is written in place of the old one while that is still read.
  EXPECT_FALSE(CacheOf(model("(%x, nn.softmax(%cache))")).is_in_place());
}

}  // namespace
}  // namespace kiln
