// SPDX-License-Identifier: Apache-2.0
// Every example of every operator. Interpreter, C and LLVM agree bit for bit, scheduled and as
// plain loops. The schedules agree with the plain loops within a tolerance, and all agree with the
// expected values of the example.
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/op_def.h"
#include "gtest/gtest.h"
#include "tests/equality/engines.h"

namespace kiln::equality {
namespace {

// Largest difference between schedules and plain loops, relative to 1 + |value|. Schedules add in
// another order.
constexpr double kTolerance = 2e-5;
// Operators are tested in parts, so that a shard compiles only its parts.
constexpr int kParts = 8;

absl::StatusOr<Case> CaseOf(const OpDef& op, size_t number) {
  const OpExample& example = op.examples[number];
  std::vector<Tensor> values;
  std::vector<bool> given;
  for (size_t i = 0; i < example.inputs.size(); ++i) {
    values.push_back(i < example.values.size() ? example.values[i] : Tensor());
    given.push_back(values[i].bytes().size() == static_cast<size_t>(example.inputs[i].num_bytes()));
    if (given[i]) continue;
    values[i] = RandomValues(example.inputs[i], static_cast<uint32_t>(i) + 1, example.input_min,
                             example.input_max);
  }
  // Some operators need constants (arange, scales). The first variant that works is used: all
  // values as inputs of the graph, values given by the example as constants, or all values as
  // constants.
  const std::vector<bool> none(values.size(), false), all(values.size(), true);
  absl::Status status;
  for (const std::vector<bool>& constant : {none, given, all}) {
    Case test{.name = absl::StrCat(op.name, " example ", number), .graph = {}, .inputs = {}};
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < values.size(); ++i) {
      if (constant[i]) {
        inputs.push_back(test.graph.AddConstant(values[i]));
        continue;
      }
      inputs.push_back(test.graph.AddInput(absl::StrCat("x", i), example.inputs[i]));
      test.inputs.push_back(values[i]);
    }
    status = AddOp(test.graph, op.name, inputs, example.attrs).status();
    if (!status.ok()) continue;
    test.graph.outputs = test.graph.nodes.back().outputs;
    return test;
  }
  return status;
}

class ExamplesTest : public testing::TestWithParam<int> {};

TEST_P(ExamplesTest, AllEnginesAgree) {
  std::vector<Case> cases;
  std::vector<const OpExample*> examples;
  const std::vector<const OpDef*> ops = AllOps();
  for (size_t i = static_cast<size_t>(GetParam()); i < ops.size(); i += kParts) {
    for (size_t k = 0; k < ops[i]->examples.size(); ++k) {
      absl::StatusOr<Case> test = CaseOf(*ops[i], k);
      ASSERT_TRUE(test.ok()) << ops[i]->name << " example " << k << ": " << test.status();
      cases.push_back(*std::move(test));
      examples.push_back(&ops[i]->examples[k]);
    }
  }
  ASSERT_FALSE(cases.empty());
  const std::vector<Outputs> scheduled =
      RunOnAllEngines(cases, {.target = Target::Host(), .passes = false});
  const std::vector<Outputs> plain =
      RunOnAllEngines(cases, {.target = Target::Host(), .naive = true, .passes = false});
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(Difference(scheduled[i], plain[i], kTolerance), "")
        << cases[i].name << ": scheduled and plain";
    if (examples[i]->expected.empty()) continue;
    EXPECT_EQ(Difference(plain[i], examples[i]->expected, std::max(examples[i]->tolerance, 1e-6)),
              "")
        << cases[i].name << ": found and expected";
  }
}

INSTANTIATE_TEST_SUITE_P(Parts, ExamplesTest, testing::Range(0, kParts));

}  // namespace
}  // namespace kiln::equality
