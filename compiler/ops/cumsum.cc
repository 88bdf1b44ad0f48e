// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/reindex.h"

namespace kiln {
namespace {

// bool is counted as int32.
DType SumType(DType dtype) { return dtype.is_bool() ? DType::Int(32) : dtype; }

InferResult Infer(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  const DType dtype = c.attrs.DTypeOr("dtype", SumType(data.dtype));
  KILN_CONSTRAINT(1, IsNumeric(dtype), dtype.ToString(), "sums of numbers");
  if (c.attrs.IsNone("axis")) return OutputTypes({{{data.num_elements()}, dtype}});
  KILN_RETURN_IF_ERROR(NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2).status());
  return OutputTypes({{data.shape, dtype}});
}

// Each place sums all places up to it: exact in the order of addition, at a price that is quadratic
// in the extent.
absl::Status Lower(StageBuilder& b) {
  const Shape shape = b.output_shape(0), data_shape = b.input_shape(0);
  const size_t axis = b.attrs().IsNone("axis") ? 0 : AxisOf(b.attrs().Int("axis"), shape.size());
  const bool exclusive = b.attrs().Bool("exclusive");
  const DType dtype = ComputeType(b.output_dtype(0));
  const Access x = b.Input(0);
  b.Output(0, b.Reduce("sum", shape, {shape[axis]}, loop::Combine::kSum,
                       [&](const Indices& i, const Indices& r) {
                         Indices at = i;
                         at[axis] = r[0];
                         const Expr value = x(Reindexed(at, shape, data_shape));
                         const Expr term =
                             value.type().dtype == dtype ? value : loop::MakeCast(dtype, value);
                         const Expr counts = exclusive ? r[0] < i[axis] : r[0] <= i[axis];
                         return loop::MakeSelect(counts, term, loop::Const(dtype, 0));
                       }));
  return absl::OkStatus();
}

const OpDef kCumsum = {
    {.name = "cumsum",
     .doc = "The sum of all places up to each, along the axis; with exclusive, without the place "
            "itself.",
     .inputs = {{"data", "numbers or bool"}},
     .attrs = {{"axis",
                AttrType::kInt,
                {},
                false,
                "None: over all places in row-major order, as a vector"},
               {"dtype", AttrType::kDType, "", false, "of the sums; \"\": as data, int32 for bool"},
               {"exclusive", AttrType::kBool, false, false, "leave the place itself out"}}},
    {"the sums are numbers", "axis is an axis of data"},
    Fusion::kOpaque,
    Infer,
    Lower,
    {Case({Values(F32({2, 3}), {1, 2, 3, 4, 5, 6})}, {{"axis", 1}},
          {Values(F32({2, 3}), {1, 3, 6, 4, 9, 15})}),
     Case({Values(I32({2, 2}), {1, 2, 3, 4})}, {{"exclusive", true}},
          {Values(I32({4}), {0, 1, 3, 6})}),
     Case({Values(Bools({3}), {1, 0, 1})}, {{"axis", -1}}, {Values(I32({3}), {1, 1, 2})}),
     {.inputs = {F32({2, 3, 2})}, .attrs = {{"axis", -2}, {"dtype", "float64"}}}},
};
KILN_REGISTER_OP(kCumsum);

}  // namespace
}  // namespace kiln
