// SPDX-License-Identifier: Apache-2.0
// sum, mean, max, min, prod, all, any.
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/reduction.h"

namespace kiln {
namespace {

using loop::Combine;

enum class Elements { kNumbers, kBool };

template <Elements kElements>
InferResult InferReduce(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  KILN_CONSTRAINT(1, data.dtype.is_bool() == (kElements == Elements::kBool), data.dtype.ToString(),
                  kElements == Elements::kBool ? "bool" : "numbers");
  KILN_ASSIGN_OR_RETURN(Shape shape, InferReducedShape(c.attrs, data.shape, 2));
  return OutputTypes({{std::move(shape), data.dtype}});
}

template <Combine kCombine>
absl::Status LowerReduce(StageBuilder& b) {
  b.Output(0, ReduceInput(b, "reduced", kCombine));
  return absl::OkStatus();
}

absl::Status LowerMean(StageBuilder& b) {
  const Access sum = ReduceInput(b, "sum", Combine::kSum);
  const double count = static_cast<double>(NumElements(ReducedExtents(b)));
  b.Output(0, [=](const Indices& i) {
    const Expr total = sum(i);
    return total / loop::Const(total.type(), count);
  });
  return absl::OkStatus();
}

// Reduces bool as 0 and 1 of uint8, which every engine supports.
template <Combine kCombine>
absl::Status LowerTruth(StageBuilder& b) {
  const Access truth =
      ReduceInput(b, "truth", kCombine, [](Expr x) { return loop::MakeCast(DType::UInt(8), x); });
  b.Output(0, [=](const Indices& i) { return loop::MakeCast(DType::Bool(), truth(i)); });
  return absl::OkStatus();
}

OpDef Numbers(std::string name, std::string doc, Origin origin,
              absl::Status (*lower)(StageBuilder&), const std::vector<double>& expected,
              const std::vector<double>& expected_ints) {
  return {
      {.name = std::move(name),
       .doc = std::move(doc),
       .inputs = {{"data", "numbers of any shape"}},
       .attrs = ReductionAttrs()},
      {"data holds numbers", "axis names axes of data, each at most once"},
      {.fusion = Fusion::kReduction, .layout = {LayoutRule::kReduction, "axis"}, .origin = origin},
      InferReduce<Elements::kNumbers>,
      lower,
      {Case({Values(F32({2, 3}), {1, -2, 4, 3, 5, 1})}, {{"axis", AttrValue::Ints({1})}},
            {Values(F32({2}), expected)}),
       Case({Values(I32({2, 3}), {1, -2, 4, 3, 5, 1})}, {{"keepdims", true}},
            {Values(I32({1, 1}), expected_ints)}),
       {.inputs = {F32({2, 3, 4})}, .attrs = {{"axis", AttrValue::Ints({-2})}, {"exclude", true}}},
       {.inputs = {F32({2, 3, 17})}, .attrs = {{"axis", AttrValue::Ints({0, 2})}}},
       {.inputs = {F32({5, 4, 6})}, .attrs = {{"axis", 0}}},
       {.inputs = {F32({2, 3})}, .attrs = {{"axis", AttrValue::Ints({})}}},
       {.inputs = {F16({3, 4})}, .attrs = {{"axis", 1}, {"keepdims", true}}}}};
}

OpDef Truth(std::string name, std::string doc, absl::Status (*lower)(StageBuilder&),
            const std::vector<double>& expected) {
  return {{.name = std::move(name),
           .doc = std::move(doc),
           .inputs = {{"data", "bool of any shape"}},
           .attrs = ReductionAttrs()},
          {"data is bool", "axis names axes of data, each at most once"},
          {.fusion = Fusion::kReduction, .layout = {LayoutRule::kReduction, "axis"}},
          InferReduce<Elements::kBool>,
          lower,
          {Case({Values(Bools({3, 2}), {0, 0, 0, 1, 1, 1})}, {{"axis", 1}},
                {Values(Bools({3}), expected)}),
           {.inputs = {Bools({2, 3})}},
           {.inputs = {Bools({2, 3})}, .attrs = {{"axis", 0}, {"keepdims", true}}}}};
}

const OpDef kReduce[] = {
    Numbers("sum", "The sum of the elements. Integers wrap around.", Origin::kComputed,
            LowerReduce<Combine::kSum>, {3, 9}, {12}),
    Numbers("prod", "The product of the elements. Integers wrap around.", Origin::kComputed,
            LowerReduce<Combine::kProd>, {-8, 15}, {-120}),
    Numbers("max",
            "The largest element, or NaN if one is NaN. Without elements, it is the lowest value "
            "of the dtype.",
            Origin::kChosen, LowerReduce<Combine::kMax>, {4, 5}, {5}),
    Numbers("min",
            "The smallest element, or NaN if one is NaN. Without elements, it is the highest value "
            "of the dtype.",
            Origin::kChosen, LowerReduce<Combine::kMin>, {-2, 1}, {-2}),
    Numbers("mean",
            "The sum divided by the number of elements. For integers it is truncated toward zero.",
            Origin::kComputed, LowerMean, {1, 3}, {2}),
    Truth("all", "True if all elements are true.", LowerTruth<Combine::kMin>, {0, 0, 1}),
    Truth("any", "True if at least one element is true.", LowerTruth<Combine::kMax>, {0, 1, 1}),
};
KILN_REGISTER_OPS(kReduce);

}  // namespace
}  // namespace kiln
