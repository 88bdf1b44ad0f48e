// SPDX-License-Identifier: Apache-2.0
// Operations on bits and on truth values.
#include "compiler/ops/binary.h"

namespace kiln {
namespace {

template <loop::BinaryOp kOp>
Expr ApplyBitwise(Expr x, Expr y) {
  return loop::MakeBinary(kOp, x, y);
}

OpDef Logical(std::string name, std::string doc, absl::Status (*lower)(StageBuilder&),
              const std::vector<double>& expected) {
  return kiln::BinaryOp(std::move(name), std::move(doc), kBool, lower,
                        {BinaryCase(DType::Bool(), {0, 0, 1, 1}, {0, 1, 0, 1}, expected),
                         {.inputs = {Bools({2, 3}), Bools({1})}}});
}

OpDef Bitwise(std::string name, std::string doc, absl::Status (*lower)(StageBuilder&),
              const std::vector<double>& expected, const std::vector<double>& expected_bool) {
  return kiln::BinaryOp(std::move(name), std::move(doc), kIntegersOrBool, lower,
                        {BinaryCase(DType::Int(32), {12, -1}, {10, 5}, expected),
                         BinaryCase(DType::Bool(), {0, 0, 1, 1}, {0, 1, 0, 1}, expected_bool),
                         {.inputs = {U8({2, 3}), U8({3})}, .input_min = 0}});
}

const OpDef kBitwise[] = {
    Logical("logical_and", "Logical and of lhs and rhs.",
            LowerBinary<ApplyBitwise<loop::BinaryOp::kAnd>>, {0, 0, 0, 1}),
    Logical("logical_or", "Logical or of lhs and rhs.",
            LowerBinary<ApplyBitwise<loop::BinaryOp::kOr>>, {0, 1, 1, 1}),
    Logical("logical_xor", "Exclusive or of lhs and rhs.",
            LowerBinary<ApplyBitwise<loop::BinaryOp::kXor>>, {0, 1, 1, 0}),
    Bitwise("bitwise_and", "The bits that are set in both.",
            LowerBinary<ApplyBitwise<loop::BinaryOp::kAnd>>, {8, 5}, {0, 0, 0, 1}),
    Bitwise("bitwise_or", "The bits that are set in one or both.",
            LowerBinary<ApplyBitwise<loop::BinaryOp::kOr>>, {14, -1}, {0, 1, 1, 1}),
    Bitwise("bitwise_xor", "The bits that are set in exactly one of them.",
            LowerBinary<ApplyBitwise<loop::BinaryOp::kXor>>, {6, -6}, {0, 1, 1, 0}),
    kiln::BinaryOp("left_shift", "lhs * 2^rhs. rhs is taken modulo the width of the dtype.",
                   kIntegers, LowerBinary<ApplyBitwise<loop::BinaryOp::kShl>>,
                   {BinaryCase(DType::Int(32), {3, -1}, {4, 1}, {48, -2}),
                    BinaryCase(DType::UInt(8), {129, 1}, {1, 7}, {2, 128}),
                    {.inputs = {I32({2, 3}), I32({3})}, .input_min = 0}}),
    kiln::BinaryOp(
        "right_shift",
        "lhs / 2^rhs, rounded toward minus infinity. rhs is taken modulo the width of the dtype.",
        kIntegers, LowerBinary<ApplyBitwise<loop::BinaryOp::kShr>>,
        {BinaryCase(DType::Int(32), {48, -3}, {4, 1}, {3, -2}),
         BinaryCase(DType::UInt(8), {129, 255}, {1, 7}, {64, 1}),
         {.inputs = {I32({2, 3}), I32({3})}, .input_min = 0}}),
};
KILN_REGISTER_OPS(kBitwise);

}  // namespace
}  // namespace kiln
