// SPDX-License-Identifier: Apache-2.0
// Every registered operator has a sound schema, and its examples infer, lower, run and
// give the expected results.
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "compiler/ops/op_def.h"
#include "compiler/ops/testing/run_op.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

class EveryOp : public testing::TestWithParam<const OpDef*> {};

void ExpectNear(const Tensor& expected, const Tensor& found, double tolerance) {
  ASSERT_EQ(expected.type(), found.type());
  for (int64_t i = 0; i < expected.type().num_elements(); ++i) {
    const double e = expected.AsDouble(i), f = found.AsDouble(i);
    if (std::isnan(e) && std::isnan(f)) continue;
    EXPECT_LE(std::abs(e - f), tolerance * (1 + std::abs(e)))
        << "element " << i << ": " << f << ", wanted " << e;
  }
}

TEST_P(EveryOp, HasSoundSchema) {
  const OpDef& op = *GetParam();
  EXPECT_FALSE(op.doc.empty());
  EXPECT_NE(op.infer, nullptr);
  EXPECT_NE(op.lower, nullptr);
  EXPECT_GE(op.examples.size(), 2u);
  EXPECT_EQ(FindOp(op.name), &op);
  std::set<std::string> names;
  for (const InputSchema& input : op.inputs) {
    EXPECT_TRUE(names.insert(input.name).second) << input.name;
    EXPECT_FALSE(input.doc.empty()) << input.name;
  }
  for (const AttrSchema& attr : op.attrs) {
    const bool is_new = names.insert(attr.name).second;
    EXPECT_TRUE(is_new || attr.type == AttrType::kReference) << attr.name;
    if (!attr.required && !attr.default_value.is_none()) {
      EXPECT_TRUE(NormalizeAttrs({.name = op.name, .doc = op.doc, .attrs = {attr}},
                                 {{attr.name, attr.default_value}})
                      .ok())
          << attr.name;
    }
  }
  EXPECT_TRUE(!op.tuple_input || !op.inputs.empty());
}

TEST_P(EveryOp, RunsItsExamples) {
  const OpDef& op = *GetParam();
  bool has_expected = false;
  for (size_t e = 0; e < op.examples.size(); ++e) {
    SCOPED_TRACE("example " + std::to_string(e));
    const OpExample& example = op.examples[e];
    has_expected = has_expected || !example.expected.empty();
    if (!op.tuple_input) {
      EXPECT_LE(example.inputs.size(), op.inputs.size());
      EXPECT_GE(example.inputs.size() + static_cast<size_t>(op.num_optional_inputs),
                op.inputs.size());
    }
    absl::StatusOr<std::vector<Tensor>> outputs = RunOp(op, example.attrs, ExampleInputs(example));
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    const absl::StatusOr<Attrs> attrs = NormalizeAttrs(op, example.attrs);
    const absl::StatusOr<int> count = op.NumOutputs(*attrs, example.inputs.size());
    ASSERT_TRUE(count.ok()) << count.status();
    EXPECT_EQ(outputs->size(), static_cast<size_t>(*count));
    if (example.expected.empty()) continue;
    ASSERT_EQ(example.expected.size(), outputs->size());
    for (size_t k = 0; k < outputs->size(); ++k)
      ExpectNear(example.expected[k], (*outputs)[k], example.tolerance);
  }
  EXPECT_TRUE(has_expected) << "one example with values by hand";
}

// If an operator accepts an input that is known only when the model runs, it gives the same
// result as with the constant.
TEST_P(EveryOp, TakesOperandsThatAreComputed) {
  const OpDef& op = *GetParam();
  for (size_t e = 0; e < op.examples.size(); ++e) {
    const OpExample& example = op.examples[e];
    const std::vector<Tensor> inputs = ExampleInputs(example);
    const absl::StatusOr<std::vector<Tensor>> known = RunOp(op, example.attrs, inputs);
    ASSERT_TRUE(known.ok()) << known.status();
    for (size_t unknown = 0; unknown < inputs.size(); ++unknown) {
      SCOPED_TRACE(absl::StrCat("example ", e, ", input ", unknown));
      const absl::StatusOr<std::vector<Tensor>> found = RunOp(op, example.attrs, inputs, unknown);
      if (absl::IsInvalidArgument(found.status())) continue;
      ASSERT_TRUE(found.ok()) << found.status();
      ASSERT_EQ(found->size(), known->size());
      for (size_t k = 0; k < found->size(); ++k) {
        ExpectNear((*known)[k], (*found)[k], example.tolerance);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryOp, testing::ValuesIn(AllOps()), [](const auto& info) {
  std::string name = info.param->name;
  for (char& c : name) c = c == '.' ? '_' : c;
  return name;
});

TEST(Ops, AreFoundByName) {
  EXPECT_EQ(FindOp("nn.conv4d"), nullptr);
  ASSERT_NE(FindOpSchema("nn.conv2d"), nullptr);
  EXPECT_EQ(FindOpSchema("nn.conv2d")->attrs.size(), 10u);
}

TEST(Ops, PageIsWhatTheySay) {
  const std::string text = OpsMarkdown();
  for (const OpDef* op : AllOps())
    EXPECT_NE(text.find("\n## " + op->name + "\n"), std::string::npos) << op->name;
  std::ifstream file("docs/ops.md");
  ASSERT_TRUE(file) << "docs/ops.md is not there";
  std::istringstream wanted(text);
  std::string on_page, from_ops;
  for (int line = 1; std::getline(wanted, from_ops); ++line) {
    std::getline(file, on_page);
    ASSERT_EQ(on_page, from_ops) << "docs/ops.md:" << line
                                 << ": stale; bazel run //docs:update_ops renews it";
  }
  EXPECT_FALSE(std::getline(file, on_page)) << "docs/ops.md goes on after its end: " << on_page;
}

// The page names the dtypes of each input, so some must be found.
TEST(Ops, PageNamesDtypes) {
  const std::string text = OpsMarkdown();
  for (const char* row : {"| indices | integers |", "| weight | numbers |", "| condition | "})
    EXPECT_NE(text.find(row), std::string::npos) << row;
  EXPECT_EQ(text.find(" |  | "), std::string::npos);
}

}  // namespace
}  // namespace kiln
