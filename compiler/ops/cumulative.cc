// SPDX-License-Identifier: Apache-2.0
// cumsum and cumprod.
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/reindex.h"

namespace kiln {
namespace {

using loop::Combine;

// The dtype of the results if none is given: int32 for bool, else that of data.
DType ResultType(DType dtype) { return dtype.is_bool() ? DType::Int(32) : dtype; }

InferResult InferCumulative(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  const DType dtype = c.attrs.DTypeOr("dtype", ResultType(data.dtype));
  KILN_CONSTRAINT(1, IsNumeric(dtype), dtype.ToString(), "results that are numbers");
  if (c.attrs.IsNone("axis")) return OutputTypes({{{data.num_elements()}, dtype}});
  KILN_RETURN_IF_ERROR(NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2).status());
  return OutputTypes({{data.shape, dtype}});
}

template <Combine kCombine>
absl::Status LowerCumulative(StageBuilder& b) {
  const Shape shape = b.output_shape(0), data_shape = b.input_shape(0);
  const size_t axis = b.attrs().IsNone("axis") ? 0 : AxisOf(b.attrs().Int("axis"), shape.size());
  const DType dtype = ComputeType(b.output_dtype(0));
  const Access running =
      b.Running("running", shape, axis, kCombine, [&, x = b.Input(0)](const Indices& i) {
        const Expr value = x(Reindexed(i, shape, data_shape));
        return value.type().dtype == dtype ? value : loop::MakeCast(dtype, value);
      });
  if (!b.attrs().Bool("exclusive")) {
    b.Output(0, running);
    return absl::OkStatus();
  }
  b.Output(0, [&](const Indices& i) {
    Indices before = i;
    before[axis] = i[axis] - Expr(1);
    return GuardedValue(running, shape, before, i[axis] >= Expr(1), Neutral(kCombine, dtype));
  });
  return absl::OkStatus();
}

OpDef Cumulative(std::string name, const std::string& what, absl::Status (*lower)(StageBuilder&),
                 const std::vector<double>& rows, const std::vector<double>& exclusive,
                 const std::vector<double>& of_bools) {
  return {
      {.name = std::move(name),
       .doc = absl::StrCat("The ", what,
                           " of all elements up to each position along the axis. With exclusive, "
                           "the element at the position itself is left out."),
       .inputs = {{"data", "numbers or bool"}},
       .attrs =
           {{"axis",
             AttrType::kInt,
             {},
             false,
             "axis to accumulate along; if None, all elements in row-major order, as a vector"},
            {"dtype", AttrType::kDType, "", false,
             "dtype of the result; if \"\", that of data, or int32 for bool"},
            {"exclusive", AttrType::kBool, false, false,
             "true to leave out the element at the position itself"}}},
      {"the result holds numbers", "axis is an axis of data"},
      {.fusion = Fusion::kOpaque, .layout = {LayoutRule::kAxis, "axis"}},
      InferCumulative,
      lower,
      {Case({Values(F32({2, 3}), {1, 2, 3, 4, 5, 6})}, {{"axis", 1}}, {Values(F32({2, 3}), rows)}),
       Case({Values(I32({2, 2}), {1, 2, 3, 4})}, {{"exclusive", true}},
            {Values(I32({4}), exclusive)}),
       Case({Values(Bools({3}), {1, 0, 1})}, {{"axis", -1}}, {Values(I32({3}), of_bools)}),
       {.inputs = {F32({2, 3, 2})}, .attrs = {{"axis", -2}, {"dtype", "float64"}}},
       {.inputs = {F16({2, 5})}, .attrs = {{"axis", 0}, {"exclusive", true}}},
       {.inputs = {F32({0, 2})}, .attrs = {{"axis", 0}}}}};
}

const OpDef kCumulative[] = {
    Cumulative("cumsum", "sum", LowerCumulative<Combine::kSum>, {1, 3, 6, 4, 9, 15}, {0, 1, 3, 6},
               {1, 1, 2}),
    Cumulative("cumprod", "product", LowerCumulative<Combine::kProd>, {1, 2, 6, 4, 20, 120},
               {1, 1, 2, 6}, {1, 0, 0}),
};
KILN_REGISTER_OPS(kCumulative);

}  // namespace
}  // namespace kiln
