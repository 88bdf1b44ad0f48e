// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

InferResult InferSearchsorted(const InferContext& c) {
  const TensorType &sequence = c.inputs[0], &values = c.inputs[1];
  KILN_CONSTRAINT(1, IsNumeric(values.dtype) && sequence.dtype == values.dtype,
                  absl::StrCat(sequence.dtype.ToString(), " and ", values.dtype.ToString()),
                  "numbers of one dtype");
  const bool one = sequence.rank() == 1;
  KILN_CONSTRAINT(2, one || (sequence.rank() >= 2 && sequence.rank() == values.rank()),
                  absl::StrCat("ranks ", sequence.rank(), " and ", values.rank()),
                  "sorted_sequence of rank 1 or of that of values");
  for (size_t d = 0; !one && d + 1 < values.shape.size(); ++d) {
    KILN_CONSTRAINT(
        2, sequence.shape[d] == values.shape[d],
        absl::StrCat(ShapeToString(sequence.shape), " and ", ShapeToString(values.shape)),
        "shapes that differ in the last dimension only");
  }
  KILN_CONSTRAINT(3, sequence.shape.back() <= INT32_MAX,
                  absl::StrCat(sequence.shape.back(), " elements"), "at most 2^31 - 1");
  const DType dtype = c.attrs.DTypeOr("dtype", DType::Int(32));
  KILN_CONSTRAINT(4, dtype == DType::Int(32) || dtype == DType::Int(64), dtype.ToString(),
                  "int32 or int64");
  return OutputTypes({{values.shape, dtype}});
}

// Binary search: the result lies between `low` and `high`.
absl::Status LowerSearchsorted(StageBuilder& b) {
  const Shape& sequence = b.input_shape(0);
  const int64_t n = sequence.back();
  const bool right = b.attrs().Bool("right");
  const DType dtype = b.output_dtype(0);
  b.Output(0, [&, sorted = b.Input(0), values = b.Input(1)](const Indices& i) {
    if (n == 0) return loop::Const(dtype, 0);
    const Expr value = values(i);
    Expr low = 0, high = n;
    for (int step = std::bit_width(static_cast<uint64_t>(n)); step > 0; --step) {
      const Expr middle = (low + high) / Expr(2);
      Indices at = sequence.size() == 1 ? Indices(1) : i;
      at.back() = ClampIndex(middle, n);
      const Expr element = sorted(at);
      const Expr above = low < high && (right ? element <= value : element < value);
      low = loop::MakeSelect(above, middle + Expr(1), low);
      high = loop::MakeSelect(above, high, middle);
    }
    return loop::MakeCast(dtype, low);
  });
  return absl::OkStatus();
}

const OpDef kSearchsorted = {
    {.name = "searchsorted",
     .doc =
         "The index at which each value would be inserted into sorted_sequence, along the last "
         "dimension, to keep it in order. It is before equal elements, or after them with right.",
     .inputs = {{"sorted_sequence", "numbers in ascending order, (…, n), or (n,) for all values"},
                {"values", "numbers of the same dtype, (…, m)"}},
     .attrs = {{"right", AttrType::kBool, false, false,
                "true if the index is after equal elements"},
               {"dtype", AttrType::kDType, "int32", false, "int32 or int64"}}},
    {"both inputs hold numbers of the same dtype",
     "sorted_sequence has rank 1, or the shape of values except for the last dimension",
     "the sequence has at most 2^31 - 1 elements", "dtype is int32 or int64"},
    {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed},
    InferSearchsorted,
    LowerSearchsorted,
    {Case({Values(F32({5}), {1, 3, 5, 5, 9}), Values(F32({2, 3}), {3, 6, 0, 5, 9, 10})}, {},
          {Values(I32({2, 3}), {1, 4, 0, 2, 4, 5})}),
     Case({Values(I32({2, 3}), {1, 3, 5, 2, 4, 6}), Values(I32({2, 2}), {3, 5, 1, 4})},
          {{"right", true}, {"dtype", "int64"}}, {Values(I64({2, 2}), {2, 3, 0, 2})}),
     Case({Values(F16({0}), {}), Values(F16({2}), {1, 2})}, {}, {Values(I32({2}), {0, 0})})},
};
KILN_REGISTER_OP(kSearchsorted);

}  // namespace
}  // namespace kiln
