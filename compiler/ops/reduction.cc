// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/reduction.h"

#include "compiler/base/status.h"
#include "compiler/ops/axes.h"

namespace kiln {
namespace {

// The dimensions to reduce. `infer` has checked attributes and shape.
std::vector<bool> Reduced(const StageBuilder& b) {
  return ReducedAxes(b.attrs(), static_cast<int>(b.input_shape(0).size()), 0).value();
}

}  // namespace

std::vector<AttrSchema> ReductionAttrs() {
  return {{"axis", AttrType::kInts, {}, false, "axes to reduce; all if None"},
          {"keepdims", AttrType::kBool, false, false,
           "true to keep the reduced dimensions with extent 1"},
          {"exclude", AttrType::kBool, false, false, "true if axis names the axes to keep"}};
}

absl::StatusOr<Shape> InferReducedShape(const Attrs& attrs, const Shape& shape, int constraint) {
  KILN_ASSIGN_OR_RETURN(const std::vector<bool> reduced,
                        ReducedAxes(attrs, static_cast<int>(shape.size()), constraint));
  return ReducedShape(shape, reduced, attrs.Bool("keepdims"));
}

Shape ReducedExtents(const StageBuilder& b) {
  return ReductionExtents(b.input_shape(0), Reduced(b));
}

Access ReduceInput(StageBuilder& b, std::string name, loop::Combine combine,
                   const std::function<Expr(Expr)>& map) {
  return ReduceInputWith(b, std::move(name), combine,
                         [&, x = b.Input(0)](const Indices&, const Indices& at, const Indices&) {
                           return map ? map(x(at)) : x(at);
                         });
}

Access ReduceInputWith(
    StageBuilder& b, std::string name, loop::Combine combine,
    const std::function<Expr(const Indices&, const Indices&, const Indices&)>& term) {
  const std::vector<bool> reduced = Reduced(b);
  const bool keepdims = b.attrs().Bool("keepdims");
  return b.Reduce(std::move(name), b.output_shape(0), ReductionExtents(b.input_shape(0), reduced),
                  combine, [&](const Indices& i, const Indices& r) {
                    return term(i, UnreducedIndex(i, r, reduced, keepdims), r);
                  });
}

}  // namespace kiln
