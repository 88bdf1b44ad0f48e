// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

InferResult InferSequenceMask(const InferContext& c) {
  const TensorType &data = c.inputs[0], &lengths = c.inputs[1];
  const int64_t axis = c.attrs.Int("axis");
  KILN_CONSTRAINT(1, axis == 0 || axis == 1, absl::StrCat("axis ", axis), "0 or 1");
  KILN_CONSTRAINT(2, data.rank() >= 2, ShapeToString(data.shape), "rank 2 or more");
  const int64_t batch = data.shape[static_cast<size_t>(1 - axis)];
  KILN_CONSTRAINT(3, lengths.shape == Shape{batch} && IsNumeric(lengths.dtype), lengths.ToString(),
                  absl::StrCat(batch, " numbers, one per sequence"));
  return OutputTypes({data});
}

absl::Status LowerSequenceMask(StageBuilder& b) {
  const auto axis = static_cast<size_t>(b.attrs().Int("axis"));
  const DType dtype = ComputeType(b.output_dtype(0));
  b.Output(0, [&, x = b.Input(0), lengths = b.Input(1)](const Indices& i) {
    const Expr length = lengths({i[1 - axis]});
    const Expr place =
        length.type().dtype.is_float() ? loop::MakeCast(length.type().dtype, i[axis]) : i[axis];
    const int64_t extent = b.output_shape(0)[axis];
    const Expr end = length.type().dtype.is_float() ? length : ClampIndex(length, extent + 1);
    return loop::MakeSelect(place < end, x(i), loop::Const(dtype, b.attrs().Float("mask_value")));
  });
  return absl::OkStatus();
}

const OpDef kSequenceMask = {
    {.name = "sequence_mask",
     .doc =
         "data with the positions of each sequence from its length onward replaced by mask_value.",
     .inputs = {{"data", "any type; (positions, batch, …), or (batch, positions, …) with axis 1"},
                {"valid_length", "numbers, (batch,)"}},
     .attrs = {{"mask_value", AttrType::kFloat, 0.0, false,
                "value of the masked positions, cast to the dtype of data"},
               {"axis", AttrType::kInt, 0, false, "axis of the positions, 0 or 1"}}},
    {"axis is 0 or 1", "data has rank 2 or more", "valid_length has one number per sequence"},
    {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed},
    InferSequenceMask,
    LowerSequenceMask,
    {Case({Values(F32({3, 2}), {1, 2, 3, 4, 5, 6}), Values(I32({2}), {1, 2})},
          {{"mask_value", -1.0}}, {Values(F32({3, 2}), {1, 2, -1, 4, -1, -1})}),
     Case({Values(I32({2, 2, 2}), {1, 2, 3, 4, 5, 6, 7, 8}), Values(F32({2}), {0, 5})},
          {{"axis", 1}}, {Values(I32({2, 2, 2}), {0, 0, 0, 0, 5, 6, 7, 8})}),
     Case({Values(I32({1, 2}), {1, 2}), Values(I64({2}), {-9223372036854775808.0, 5})}, {},
          {Values(I32({1, 2}), {0, 2})}),
     Case({Values(I32({1, 1}), {3}), Values({{1}, DType::UInt(64)}, {9223372036854775808.0})}, {},
          {Values(I32({1, 1}), {3})}),
     {.inputs = {F16({3, 4}), U8({4})}, .input_min = 0, .input_max = 0.7}},
};
KILN_REGISTER_OP(kSequenceMask);

}  // namespace
}  // namespace kiln
