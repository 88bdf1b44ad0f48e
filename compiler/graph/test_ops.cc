// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/test_ops.h"

namespace kiln {
namespace {

absl::StatusOr<int> SplitOutputs(const Attrs& attrs, size_t) {
  const AttrValue& sections = attrs.Get("indices_or_sections");
  if (sections.is_list()) return static_cast<int>(attrs.Ints("indices_or_sections").size()) + 1;
  const int64_t count = attrs.Int("indices_or_sections");
  if (count < 1 || count > 1000)
    return absl::InvalidArgumentError("split: wanted 1 to 1000 sections");
  return static_cast<int>(count);
}

absl::StatusOr<int> ThreeOutputs(const Attrs&, size_t) { return 3; }

OpSchema Binary(const char* name) {
  return OpSchema{.name = name, .doc = "", .inputs = {{"lhs"}, {"rhs"}}};
}

std::vector<OpSchema> MakeTestOps() {
  std::vector<OpSchema> ops = {Binary("add"),          Binary("subtract"), Binary("multiply"),
                               Binary("divide"),       Binary("equal"),    Binary("less"),
                               Binary("greater_equal")};
  ops.push_back({.name = "nn.relu", .doc = "", .inputs = {{"data"}}});
  ops.push_back({.name = "nn.conv2d",
                 .doc = "",
                 .inputs = {{"data"}, {"weight"}},
                 .attrs = {{"strides", AttrType::kInts, AttrValue::Ints({1, 1})},
                           {"padding", AttrType::kInts, AttrValue::Ints({0, 0})},
                           {"groups", AttrType::kInt, 1},
                           {"channels", AttrType::kInt, AttrValue::None()},
                           {"kernel_size", AttrType::kInts, AttrValue::None()},
                           {"data_layout", AttrType::kString, "NCHW"},
                           {"out_dtype", AttrType::kDType, ""}}});
  ops.push_back({.name = "nn.bias_add",
                 .doc = "",
                 .inputs = {{"data"}, {"bias"}},
                 .attrs = {{"axis", AttrType::kInt, 1}}});
  ops.push_back({.name = "nn.pad",
                 .doc = "",
                 .inputs = {{"data"}, {"pad_value"}},
                 .attrs = {{"pad_width", AttrType::kIntLists, AttrValue::None(), /*required=*/true},
                           {"pad_mode", AttrType::kString, "constant"}}});
  ops.push_back({.name = "nn.batch_norm",
                 .doc = "",
                 .inputs = {{"data"}, {"gamma"}, {"beta"}, {"moving_mean"}, {"moving_var"}},
                 .attrs = {{"axis", AttrType::kInt, 1},
                           {"epsilon", AttrType::kFloat, 1e-5},
                           {"center", AttrType::kBool, true},
                           {"scale", AttrType::kBool, true}},
                 .num_outputs = ThreeOutputs});
  ops.push_back({.name = "cast",
                 .doc = "",
                 .inputs = {{"data"}},
                 .attrs = {{"dtype", AttrType::kDType, AttrValue::None(), /*required=*/true}}});
  ops.push_back({.name = "clip",
                 .doc = "",
                 .inputs = {{"data"}},
                 .attrs = {{"a_min", AttrType::kFloat, AttrValue::None(), /*required=*/true},
                           {"a_max", AttrType::kFloat, AttrValue::None(), /*required=*/true},
                           {"scales", AttrType::kFloats, AttrValue::None()},
                           {"bias", AttrType::kFloat, 2}}});
  ops.push_back({.name = "concatenate",
                 .doc = "",
                 .inputs = {{"data"}},
                 .attrs = {{"axis", AttrType::kInt, 0}},
                 .tuple_input = true});
  ops.push_back({.name = "qnn.concatenate",
                 .doc = "",
                 .inputs = {{"data"}, {"input_scales"}, {"output_scale"}},
                 .attrs = {{"axis", AttrType::kInt, 0}},
                 .tuple_input = true});
  ops.push_back({.name = "qnn.dense",
                 .doc = "",
                 .inputs = {{"data"},
                            {"weight"},
                            {"input_scale"},
                            {"input_zero_point"},
                            {"weight_scale"},
                            {"weight_zero_point"}}});
  ops.push_back({.name = "split",
                 .doc = "",
                 .inputs = {{"data"}},
                 .attrs = {{"indices_or_sections", AttrType::kIntOrInts, AttrValue::None(),
                            /*required=*/true},
                           {"axis", AttrType::kInt, 0}},
                 .num_outputs = SplitOutputs});
  ops.push_back(
      {.name = "zeros", .doc = "", .attrs = {{"shape", AttrType::kInts, AttrValue::None()}}});
  ops.push_back(
      {.name = "where3", .doc = "", .inputs = {{"a"}, {"b"}, {"c"}}, .num_optional_inputs = 1});
  return ops;
}

}  // namespace

const std::vector<OpSchema>& TestOps() {
  static const std::vector<OpSchema>* const kOps = new std::vector<OpSchema>(MakeTestOps());
  return *kOps;
}

const OpSchema* FindTestOp(absl::string_view name) {
  for (const OpSchema& op : TestOps()) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

}  // namespace kiln
