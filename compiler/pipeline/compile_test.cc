// SPDX-License-Identifier: Apache-2.0
#include "compiler/pipeline/compile.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/options/options.h"
#include "compiler/passes/testing/run_pass.h"
#include "compiler/target/target.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

// What is planned and what is asked of a pool are the same, with any number of threads.
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

}  // namespace
}  // namespace kiln
