// SPDX-License-Identifier: Apache-2.0
// Tests of floats, and negation of bits and of truth values.
#include <limits>

#include "compiler/loop/math.h"
#include "compiler/ops/unary.h"

namespace kiln {
namespace {

InferResult InferPredicate(const InferContext& c) {
  KILN_CONSTRAINT(1, c.inputs[0].dtype.is_float(), c.inputs[0].dtype.ToString(), "floats");
  return OutputTypes({{c.inputs[0].shape, DType::Bool()}});
}

InferResult InferBool(const InferContext& c) {
  KILN_CONSTRAINT(1, c.inputs[0].dtype.is_bool(), c.inputs[0].dtype.ToString(), "bool");
  return OutputTypes({c.inputs[0]});
}

InferResult InferBits(const InferContext& c) {
  KILN_CONSTRAINT(1, !c.inputs[0].dtype.is_float(), c.inputs[0].dtype.ToString(),
                  "integers or bool");
  return OutputTypes({c.inputs[0]});
}

Expr IsFinite(Expr x) { return loop::Not(loop::IsNan(x) || loop::IsInf(x)); }

OpDef Predicate(std::string name, std::string doc, absl::Status (*lower)(StageBuilder&),
                const std::vector<double>& expected) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  return {
      {.name = std::move(name), .doc = std::move(doc), .inputs = {{"data", "floats of any shape"}}},
      {"data holds floats"},
      {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
      InferPredicate,
      lower,
      {Case({Values(F32({5}), {0, -1e30, infinity, -infinity, nan})}, {},
            {Values(Bools({5}), expected)}),
       {.inputs = {F16({2, 3})}}}};
}

const OpDef kPredicates[] = {
    Predicate("isfinite", "True if x is neither infinite nor NaN.", LowerUnary<IsFinite>,
              {1, 1, 0, 0, 0}),
    Predicate("isinf", "True if x is infinite.", LowerUnary<loop::IsInf>, {0, 0, 1, 1, 0}),
    Predicate("isnan", "True if x is NaN.", LowerUnary<loop::IsNan>, {0, 0, 0, 0, 1}),
    {{.name = "logical_not",
      .doc = "The negation of x.",
      .inputs = {{"data", "bool of any shape"}}},
     {"data is bool"},
     {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
     InferBool,
     LowerUnary<loop::Not>,
     {Case({Values(Bools({2}), {0, 1})}, {}, {Values(Bools({2}), {1, 0})}),
      {.inputs = {Bools({2, 3})}}}},
    {{.name = "bitwise_not",
      .doc = "Every bit of x inverted.",
      .inputs = {{"data", "integers or bool of any shape"}}},
     {"data holds integers or bool"},
     {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
     InferBits,
     LowerUnary<loop::Not>,
     {Case({Values(I32({3}), {0, -1, 5})}, {}, {Values(I32({3}), {-1, 0, -6})}),
      Case({Values(U8({2}), {0, 5})}, {}, {Values(U8({2}), {255, 250})}),
      Case({Values(Bools({2}), {0, 1})}, {}, {Values(Bools({2}), {1, 0})})}},
};
KILN_REGISTER_OPS(kPredicates);

}  // namespace
}  // namespace kiln
