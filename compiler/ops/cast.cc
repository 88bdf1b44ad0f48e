// SPDX-License-Identifier: Apache-2.0
// cast, cast_like and reinterpret.
#include "compiler/base/status.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/make.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

InferResult InferCast(const InferContext& c) {
  KILN_CONSTRAINT(1, !c.attrs.String("dtype").empty(), "no dtype", "a dtype");
  return OutputTypes({{c.inputs[0].shape, c.attrs.DTypeOr("dtype", DType())}});
}

InferResult InferCastLike(const InferContext& c) {
  return OutputTypes({{c.inputs[0].shape, c.inputs[1].dtype}});
}

// StageBuilder::Output casts to the dtype of the result.
absl::Status LowerCast(StageBuilder& b) {
  b.Output(0, b.Input(0));
  return absl::OkStatus();
}

InferResult InferReinterpret(const InferContext& c) {
  const DType from = c.inputs[0].dtype;
  KILN_CONSTRAINT(1, !c.attrs.String("dtype").empty(), "no dtype", "a dtype");
  const DType to = c.attrs.DTypeOr("dtype", from);
  KILN_CONSTRAINT(2, from.bits == to.bits, to.ToString(),
                  absl::StrCat("as many bits as ", from.ToString()));
  KILN_CONSTRAINT(3, from == to || (from != DType::Float(16) && to != DType::Float(16)),
                  absl::StrCat(from.ToString(), " as ", to.ToString()), "no float16");
  return OutputTypes({{c.inputs[0].shape, to}});
}

absl::Status LowerReinterpret(StageBuilder& b) {
  b.Output(0, [x = b.Input(0), from = b.input_dtype(0), to = b.output_dtype(0)](const Indices& i) {
    return from == to ? x(i) : loop::MakeBitcast(to, x(i));
  });
  return absl::OkStatus();
}

// Removes a cast to the dtype that data has already.
absl::StatusOr<std::vector<ValueId>> WithoutCast(Graph& graph, const Node& node,
                                                 const std::vector<ValueId>& inputs) {
  const DType from = graph.type(inputs[0]).dtype;
  if (node.attrs.DTypeOr("dtype", from) != from) return std::vector<ValueId>();
  return std::vector<ValueId>{inputs[0]};
}

absl::StatusOr<std::vector<ValueId>> AsCast(Graph& graph, const Node& node,
                                            const std::vector<ValueId>& inputs) {
  const DType to = graph.type(inputs[1]).dtype;
  if (graph.type(inputs[0]).dtype == to) return std::vector<ValueId>{inputs[0]};
  KILN_ASSIGN_OR_RETURN(const ValueId cast, MakeCast(graph, inputs[0], to, node.source));
  return std::vector<ValueId>{cast};
}

constexpr absl::string_view kCastDoc =
    "From a float to an integer, values are truncated toward zero and saturate, and NaN becomes 0. "
    "From an integer to a narrower one, they wrap around. To a float, they round to nearest, "
    "halves to even. To bool, every value other than 0 is true.";

const OpDef kCasts[] = {
    {{.name = "cast",
      .doc = absl::StrCat("data in another dtype. ", kCastDoc),
      .inputs = {{"data", "any type"}},
      .attrs = {{"dtype", AttrType::kDType, {}, true, "dtype of the result"}}},
     {"dtype is given"},
     {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise, .canonical = WithoutCast},
     InferCast,
     LowerCast,
     {Case({Values(F32({4}), {-1.75, 1.75, 300, -300})}, {{"dtype", "int8"}},
           {Values(I8({4}), {-1, 1, 127, -128})}),
      Case({Values(I32({3}), {257, -1, 5})}, {{"dtype", "uint8"}}, {Values(U8({3}), {1, 255, 5})}),
      Case({Values(F32({3}), {0, -0.5, 2})}, {{"dtype", "bool"}}, {Values(Bools({3}), {0, 1, 1})}),
      Case({Values(Bools({2}), {0, 1})}, {{"dtype", "float16"}}, {Values(F16({2}), {0, 1})}),
      {.inputs = {F16({2, 3})}, .attrs = {{"dtype", "float32"}}},
      {.inputs = {F32({2, 3})}, .attrs = {{"dtype", "float32"}}},
      {.inputs = {I64({2, 3})}, .attrs = {{"dtype", "float64"}}}}},
    {{.name = "cast_like",
      .doc = absl::StrCat("data in the dtype of dtype_like. ", kCastDoc),
      .inputs = {{"data", "any type"}, {"dtype_like", "any type; its elements are not read"}}},
     {},
     {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise, .canonical = AsCast},
     InferCastLike,
     LowerCast,
     {Case({Values(F32({2}), {-1.75, 1.75}), Values(I32({1}), {0})}, {},
           {Values(I32({2}), {-1, 1})}),
      {.inputs = {I8({2, 3}), F32({})}},
      {.inputs = {F32({2, 3}), F16({4})}}}},
    {{.name = "reinterpret",
      .doc = "The bits of data as another dtype of the same width.",
      .inputs = {{"data", "any type but float16"}},
      .attrs = {{"dtype", AttrType::kDType, {}, true, "dtype of the result"}}},
     {"dtype is given", "both dtypes have the same number of bits",
      "neither is float16, unless both are"},
     {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
     InferReinterpret,
     LowerReinterpret,
     {Case({Values(F32({2}), {1, -2})}, {{"dtype", "int32"}},
           {Values(I32({2}), {0x3f800000, -0x40000000})}),
      Case({Values(I8({2}), {-1, 5})}, {{"dtype", "uint8"}}, {Values(U8({2}), {255, 5})}),
      {.inputs = {{{3}, DType::Int(16)}}, .attrs = {{"dtype", "uint16"}}},
      {.inputs = {I64({2, 3})}, .attrs = {{"dtype", "float64"}}}}},
};
KILN_REGISTER_OPS(kCasts);

}  // namespace
}  // namespace kiln
