// SPDX-License-Identifier: Apache-2.0
// Comparisons; the result is bool.
#include "compiler/ops/binary.h"

namespace kiln {
namespace {

using loop::CompareOp;

template <loop::CompareOp kOp>
Expr ApplyComparison(Expr x, Expr y) {
  return loop::MakeCompare(kOp, x, y);
}

// `expected` has the results for an lhs that is smaller than, equal to and larger than rhs.
OpDef Comparison(std::string name, std::string doc, const BinaryDomain& domain,
                 absl::Status (*lower)(StageBuilder&), const std::vector<double>& expected) {
  return BinaryOp(std::move(name), std::move(doc), domain, lower,
                  {CompareCase(DType::Float(32), {1, 2, 3}, {2, 2, 2}, expected),
                   CompareCase(DType::Int(32), {-3, 2, 3}, {2, 2, 2}, expected),
                   CompareCase(DType::UInt(8), {1, 2, 255}, {2, 2, 2}, expected),
                   {.inputs = {F32({2, 1, 3}), F32({2, 1})}}});
}

const OpDef kCompare[] = {
    Comparison("equal", "lhs == rhs.", kAnythingToBool,
               LowerBinary<ApplyComparison<CompareOp::kEq>>, {0, 1, 0}),
    Comparison("not_equal", "lhs != rhs. It is true for NaN.", kAnythingToBool,
               LowerBinary<ApplyComparison<CompareOp::kNe>>, {1, 0, 1}),
    Comparison("less", "lhs < rhs.", kNumbersToBool, LowerBinary<ApplyComparison<CompareOp::kLt>>,
               {1, 0, 0}),
    Comparison("less_equal", "lhs <= rhs.", kNumbersToBool,
               LowerBinary<ApplyComparison<CompareOp::kLe>>, {1, 1, 0}),
    Comparison("greater", "lhs > rhs.", kNumbersToBool,
               LowerBinary<ApplyComparison<CompareOp::kGt>>, {0, 0, 1}),
    Comparison("greater_equal", "lhs >= rhs.", kNumbersToBool,
               LowerBinary<ApplyComparison<CompareOp::kGe>>, {0, 1, 1}),
};
KILN_REGISTER_OPS(kCompare);

}  // namespace
}  // namespace kiln
