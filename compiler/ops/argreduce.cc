// SPDX-License-Identifier: Apache-2.0
// argmax and argmin.
#include "compiler/loop/math.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/reduction.h"

namespace kiln {
namespace {

using loop::Combine;

InferResult InferArgreduce(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  KILN_CONSTRAINT(1, IsNumeric(data.dtype), data.dtype.ToString(), "numbers");
  KILN_ASSIGN_OR_RETURN(Shape shape, InferReducedShape(c.attrs, data.shape, 2));
  KILN_ASSIGN_OR_RETURN(const std::vector<bool> reduced, ReducedAxes(c.attrs, data.rank(), 2));
  const int64_t count = NumElements(ReductionExtents(data.shape, reduced));
  KILN_CONSTRAINT(3, count >= 1 && count <= INT32_MAX, absl::StrCat(count, " elements"),
                  "1 to 2^31 - 1 elements to choose from");
  return OutputTypes({{std::move(shape), DType::Int(32)}});
}

// Finds the best value first, then the first or last place that holds it. If an element is NaN, the
// best value is NaN and the candidates are the places of NaNs.
template <Combine kBest>
absl::Status LowerArgreduce(StageBuilder& b) {
  const Access x = b.Input(0);
  const Shape extents = ReducedExtents(b);
  const bool last = b.attrs().Bool("select_last_index");
  const int64_t none = last ? 0 : NumElements(extents) - 1;
  const Access best = ReduceInput(b, "best", kBest);
  b.Output(0, ReduceInputWith(b, "place", last ? Combine::kMax : Combine::kMin,
                              [&](const Indices& i, const Indices& at, const Indices& r) {
                                Expr place = 0;
                                for (size_t d = 0; d < r.size(); ++d) {
                                  place = place * Expr(extents[d]) + r[d];
                                }
                                const Expr value = x(at);
                                Expr is_best = value == best(i);
                                if (value.type().dtype.is_float()) {
                                  is_best = is_best || loop::IsNan(value);
                                }
                                return loop::MakeSelect(
                                    is_best, loop::MakeCast(DType::Int(32), place),
                                    loop::IntConst(loop::Type::Of(DType::Int(32)), none));
                              }));
  return absl::OkStatus();
}

OpDef ArgReduce(std::string name, std::string what, absl::Status (*lower)(StageBuilder&),
                const std::vector<double>& first, const std::vector<double>& last) {
  std::vector<AttrSchema> attrs = ReductionAttrs();
  attrs.push_back({"select_last_index", AttrType::kBool, false, false,
                   "true if the last of equal values counts"});
  const Tensor data = Values(F32({2, 4}), {1, 5, 5, 0, -1, -2, -1, -2});
  return {{.name = std::move(name),
           .doc = absl::StrCat("The position of the ", what,
                               " value along the axes, counted in row-major order, as int32. NaNs "
                               "take precedence over all numbers. Among equal values or NaNs, the "
                               "first one counts, or the last one with select_last_index."),
           .inputs = {{"data", "numbers of any shape"}},
           .attrs = std::move(attrs)},
          {"data holds numbers", "axis names axes of data, each at most once",
           "the axes hold from 1 to 2^31 - 1 elements"},
          {.fusion = Fusion::kReduction, .layout = {LayoutRule::kOrderedReduction, "axis"}},
          InferArgreduce,
          lower,
          {Case({data}, {{"axis", 1}}, {Values(I32({2}), first)}),
           Case({data}, {{"axis", 1}, {"keepdims", true}, {"select_last_index", true}},
                {Values(I32({2, 1}), last)}),
           {.inputs = {I8({3, 5})}},
           {.inputs = {F32({3, 5, 2})}, .attrs = {{"axis", AttrValue::Ints({0, 2})}}}}};
}

const OpDef kArgReduce[] = {
    ArgReduce("argmax", "largest", LowerArgreduce<Combine::kMax>, {1, 0}, {2, 2}),
    ArgReduce("argmin", "smallest", LowerArgreduce<Combine::kMin>, {3, 1}, {3, 3}),
};
KILN_REGISTER_OPS(kArgReduce);

}  // namespace
}  // namespace kiln
