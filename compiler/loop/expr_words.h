// SPDX-License-Identifier: Apache-2.0
// Text form of the operations of expressions: one row for each, which the printer and the parser
// share.
#ifndef KILN_COMPILER_LOOP_EXPR_WORDS_H_
#define KILN_COMPILER_LOOP_EXPR_WORDS_H_

#include <array>

#include "compiler/loop/expr.h"

namespace kiln::loop {

// The precedences are those of C.
inline constexpr int kPostfixPrecedence = 12;
inline constexpr int kPrefixPrecedence = 11;
// Precedence of operations that are written as functions: "min(a, b)".
inline constexpr int kNoPrecedence = 0;

// Operands for which a word is used.
enum class WordOperands { kAny, kBools, kNoBools };

struct BinaryWord {
  BinaryOp op;
  const char* text;
  int precedence;
  WordOperands operands = WordOperands::kAny;
};
inline constexpr std::array kBinaryWords = {
    BinaryWord{BinaryOp::kMul, "*", 10},
    BinaryWord{BinaryOp::kDiv, "/", 10},
    BinaryWord{BinaryOp::kMod, "%", 10},
    BinaryWord{BinaryOp::kAdd, "+", 9},
    BinaryWord{BinaryOp::kSub, "-", 9},
    BinaryWord{BinaryOp::kShl, "<<", 8},
    BinaryWord{BinaryOp::kShr, ">>", 8},
    BinaryWord{BinaryOp::kAnd, "&", 5, WordOperands::kNoBools},
    BinaryWord{BinaryOp::kXor, "^", 4},
    BinaryWord{BinaryOp::kOr, "|", 3, WordOperands::kNoBools},
    BinaryWord{BinaryOp::kAnd, "&&", 2, WordOperands::kBools},
    BinaryWord{BinaryOp::kOr, "||", 1, WordOperands::kBools},
    BinaryWord{BinaryOp::kMin, "min", kNoPrecedence},
    BinaryWord{BinaryOp::kMax, "max", kNoPrecedence},
    BinaryWord{BinaryOp::kRoundingMulHigh, "rounding_mul_high", kNoPrecedence},
    BinaryWord{BinaryOp::kRoundingMulTop, "rounding_mul_top", kNoPrecedence},
    BinaryWord{BinaryOp::kRoundingShr, "rounding_shr", kNoPrecedence},
};

struct CompareWord {
  CompareOp op;
  const char* text;
  int precedence;
};
inline constexpr std::array kCompareWords = {
    CompareWord{CompareOp::kLt, "<", 7},  CompareWord{CompareOp::kLe, "<=", 7},
    CompareWord{CompareOp::kGt, ">", 7},  CompareWord{CompareOp::kGe, ">=", 7},
    CompareWord{CompareOp::kEq, "==", 6}, CompareWord{CompareOp::kNe, "!=", 6},
};

// A word of kPrefixPrecedence is written before its operand, other words are functions.
struct UnaryWord {
  UnaryOp op;
  const char* text;
  int precedence;
  WordOperands operands = WordOperands::kAny;
};
inline constexpr std::array kUnaryWords = {
    UnaryWord{UnaryOp::kNeg, "-", kPrefixPrecedence},
    UnaryWord{UnaryOp::kNot, "!", kPrefixPrecedence, WordOperands::kBools},
    UnaryWord{UnaryOp::kNot, "~", kPrefixPrecedence, WordOperands::kNoBools},
    UnaryWord{UnaryOp::kAbs, "abs", kNoPrecedence},
    UnaryWord{UnaryOp::kSqrt, "sqrt", kNoPrecedence},
    UnaryWord{UnaryOp::kFloor, "floor", kNoPrecedence},
    UnaryWord{UnaryOp::kCeil, "ceil", kNoPrecedence},
    UnaryWord{UnaryOp::kTrunc, "trunc", kNoPrecedence},
    UnaryWord{UnaryOp::kRoundEven, "round_even", kNoPrecedence},
    UnaryWord{UnaryOp::kSaturateInt8, "saturate_int8", kNoPrecedence},
    UnaryWord{UnaryOp::kSaturateUint8, "saturate_uint8", kNoPrecedence},
    UnaryWord{UnaryOp::kSaturateInt16, "saturate_int16", kNoPrecedence},
    UnaryWord{UnaryOp::kSaturateUint16, "saturate_uint16", kNoPrecedence},
};

constexpr bool TakesOperands(WordOperands operands, bool are_bools) {
  return operands == WordOperands::kAny || (operands == WordOperands::kBools) == are_bools;
}

// Returns the row of an operation. Every operation has one.
template <typename Word, size_t n, typename Op>
constexpr const Word& FindWord(const std::array<Word, n>& words, Op op, bool are_bools) {
  for (const Word& word : words) {
    if (word.op != op) continue;
    if constexpr (requires { word.operands; }) {
      if (!TakesOperands(word.operands, are_bools)) continue;
    }
    return word;
  }
  return words[0];
}

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_EXPR_WORDS_H_
