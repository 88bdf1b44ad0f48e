// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/index_input.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

// Limit on the bytes of the attributes reader and name together. The whole error message must fit
// the limit on the text of a failure.
constexpr size_t kMaxTexts = 130;

InferResult InferCheckIndices(const InferContext& c) {
  const TensorType& indices = c.inputs[0];
  KILN_CONSTRAINT(1, indices.dtype.is_integral(), indices.dtype.ToString(), "integers");
  const auto least = c.attrs.Ints("least"), largest = c.attrs.Ints("largest");
  const bool each = indices.rank() > 0 && least.size() == static_cast<size_t>(indices.shape[0]);
  KILN_CONSTRAINT(2, least.size() == largest.size() && (least.size() == 1 || each),
                  absl::StrCat(least.size(), " and ", largest.size(), " bounds of ",
                               ShapeToString(indices.shape)),
                  "one of each, or one for each part along the first dimension");
  const size_t texts = c.attrs.String("reader").size() + c.attrs.String("name").size();
  KILN_CONSTRAINT(3, texts <= kMaxTexts, absl::StrCat("names of ", texts, " bytes"),
                  absl::StrCat("at most ", kMaxTexts));
  return OutputTypes({indices});
}

loop::Stage::Check CheckOf(const Expr& index, const IndexBounds& bounds, const Attrs& attrs) {
  const loop::Type type = index.type();
  Expr fails = loop::IntConst(loop::Type::Of(DType::Bool()), 0);
  if (CanBeLess(type.dtype, bounds)) fails = fails || index < loop::IntConst(type, bounds.least);
  if (CanBeGreater(type.dtype, bounds)) {
    fails = fails || index > loop::IntConst(type, bounds.largest);
  }
  return {.fails = fails,
          .before = absl::StrCat(attrs.String("reader"), ": found index "),
          .number = index,
          .after = absl::StrCat(" in ", attrs.String("name"), ", wanted ", bounds.least, " to ",
                                bounds.largest)};
}

absl::Status LowerCheckIndices(StageBuilder& b) {
  const Shape& shape = b.input_shape(0);
  const auto least = b.attrs().Ints("least"), largest = b.attrs().Ints("largest");
  const auto check = [&](size_t part) {
    return [&, part](const Expr& index) {
      return CheckOf(index, {least[part], largest[part]}, b.attrs());
    };
  };
  b.Output(0, b.Input(0));
  if (least.size() == 1) {
    b.Check(0, shape, [](const Indices& i) { return i; }, check(0));
    return absl::OkStatus();
  }
  const Shape of_part(shape.begin() + 1, shape.end());
  for (size_t part = 0; part < least.size(); ++part) {
    const auto in_part = [part](const Indices& i) {
      Indices at = {Expr(static_cast<int64_t>(part))};
      at.insert(at.end(), i.begin(), i.end());
      return at;
    };
    b.Check(0, of_part, in_part, check(part));
  }
  return absl::OkStatus();
}

const OpDef kCheckIndices = {
    {.name = "check_indices",
     .doc = "The indices, if all of them lie between the least and the largest value. Otherwise "
            "the model ends with a status other than 0, and the last error names the first index "
            "that is out of range.",
     .inputs = {{"indices", "integers of any shape"}},
     .attrs = {{"least",
                AttrType::kInts,
                {},
                true,
                "least valid index: one number, or one for each index of dimension 0"},
               {"largest", AttrType::kInts, {}, true, "largest valid index, in the form of least"},
               {"reader", AttrType::kString, "", false,
                "name of the reader of the indices in the error"},
               {"name", AttrType::kString, "indices", false, "name of the indices in the error"}}},
    {"indices are integers",
     "least and largest have one number each, or one for each index of dimension 0",
     "reader and name are short"},
    {.fusion = Fusion::kOpaque, .layout = LayoutRule::kFixed},
    InferCheckIndices,
    LowerCheckIndices,
    {Case({Values(I32({4}), {0, 3, -4, 1})},
          {{"least", AttrValue::Ints({-4})}, {"largest", AttrValue::Ints({3})}},
          {Values(I32({4}), {0, 3, -4, 1})}),
     Case({Values(I64({2, 2}), {0, 1, 5, 2})},
          {{"least", AttrValue::Ints({0, 2})}, {"largest", AttrValue::Ints({1, 5})}},
          {Values(I64({2, 2}), {0, 1, 5, 2})}),
     {.inputs = {U8({3})},
      .attrs = {{"least", AttrValue::Ints({0})}, {"largest", AttrValue::Ints({300})}}}},
};
KILN_REGISTER_OP(kCheckIndices);

}  // namespace
}  // namespace kiln
