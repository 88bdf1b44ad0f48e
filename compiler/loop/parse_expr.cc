// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/parse_expr.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/expr_words.h"
#include "compiler/loop/parse_type.h"
#include "compiler/loop/verify_expr.h"

namespace kiln::loop {
namespace {

constexpr char kWantedExpr[] = "an expression";

// Functions with more than two operands.
struct Function {
  const char* name;
  size_t num_operands;
  Expr (*make)(const std::vector<Expr>& operands);
};
constexpr std::array kFunctions = {Function{"fma", 3,
                                            [](const std::vector<Expr>& a) {
                                              return NewExpr(a[0].type(), Fma{a[0], a[1], a[2]});
                                            }},
                                   Function{"select", 3, [](const std::vector<Expr>& a) {
                                              return NewExpr(a[1].type(), Select{a[0], a[1], a[2]});
                                            }}};

// Returns the constant with these digits and this sign, or an empty expression. `suffix` gives the
// type: "i8", "f32", "" for an index.
Expr ConstantOf(absl::string_view digits, absl::string_view suffix, bool negative) {
  const std::string number = absl::StrCat(negative ? "-" : "", digits);
  int64_t integer;
  if (suffix.empty()) {
    const bool ok = absl::SimpleAtoi(number, &integer);
    return ok ? NewExpr(Type::Index(), IntImm{integer}) : Expr();
  }
  const size_t kind_length = suffix[0] == 'b' ? 2 : 1;
  const absl::string_view kind = suffix.substr(0, kind_length);
  const absl::string_view kind_name = kind == "bf"  ? "bfloat"
                                      : kind == "f" ? "float"
                                      : kind == "i" ? "int"
                                                    : "uint";
  const absl::StatusOr<DType> dtype =
      ParseDType(absl::StrCat(kind_name, suffix.substr(std::min(kind_length, suffix.size()))));
  if (!dtype.ok()) return {};
  const Type type = Type::Of(*dtype);
  if (dtype->is_float()) {
    float narrow;
    double value;
    // A float of fewer bits is the nearest float32.
    const bool ok =
        dtype->bits == 64 ? absl::SimpleAtod(number, &value) : absl::SimpleAtof(number, &narrow);
    if (!ok) return {};
    if (dtype->bits != 64) value = narrow;
    if (!std::isfinite(value)) return {};
    return NewExpr(type, FloatImm{value});
  }
  uint64_t bits;
  if (dtype->is_int() && absl::SimpleAtoi(number, &integer)) return NewExpr(type, IntImm{integer});
  if (!dtype->is_uint() || !absl::SimpleAtoi(number, &bits)) return {};
  if (dtype->bits < 64 && bits > std::numeric_limits<uint32_t>::max()) return {};
  return NewExpr(type, IntImm{static_cast<int64_t>(bits)});
}

// Returns the constant "inf_f32", "nan_f16", "true" and so on, or an empty expression for another
// word.
Expr ConstantOfWord(absl::string_view word, bool negative) {
  if (!negative && (word == "true" || word == "false")) {
    return NewExpr(Type::Of(DType::Bool()), IntImm{word == "true" ? 1 : 0});
  }
  for (const DType dtype :
       {DType::Float(16), DType::Float(32), DType::Float(64), DType::BFloat()}) {
    const Type type = Type::Of(dtype);
    const std::string suffix = absl::StrCat(dtype.is_bfloat() ? "bf" : "f", dtype.bits);
    const double infinity = std::numeric_limits<double>::infinity();
    if (word == absl::StrCat("inf_", suffix)) {
      return NewExpr(type, FloatImm{negative ? -infinity : infinity});
    }
    if (!negative && word == absl::StrCat("nan_", suffix)) {
      return NewExpr(type, FloatImm{std::numeric_limits<double>::quiet_NaN()});
    }
  }
  return {};
}

}  // namespace

absl::StatusOr<Expr> ExprParser::Checked(Expr e, Position position) const {
  const std::string error = FindTypeError(e);
  if (error.empty()) return e;
  return lexer_.ErrorAt(position, error);
}

absl::StatusOr<Expr> ExprParser::Parse() { return ParseBinary(1); }

absl::StatusOr<Expr> ExprParser::ParseIndex() {
  const Position position = lexer_.next().position;
  KILN_ASSIGN_OR_RETURN(Expr e, Parse());
  if (e.type() == Type::Index()) return e;
  return lexer_.ErrorAt(
      position, absl::StrCat("found a value of ", e.type().ToString(), ", wanted an index"));
}

absl::StatusOr<std::vector<Expr>> ExprParser::ParseList(absl::string_view end) {
  std::vector<Expr> list;
  while (!lexer_.At(end)) {
    if (!list.empty()) KILN_RETURN_IF_ERROR(lexer_.Expect(","));
    KILN_ASSIGN_OR_RETURN(Expr e, Parse());
    list.push_back(std::move(e));
  }
  lexer_.Take();
  return list;
}

absl::StatusOr<std::vector<Expr>> ExprParser::ParseIndices() {
  KILN_RETURN_IF_ERROR(lexer_.Expect("["));
  return ParseList("]");
}

absl::StatusOr<Expr> ExprParser::ParseBinary(int min_precedence) {
  KILN_ASSIGN_OR_RETURN(Expr left, ParsePrefix());
  for (;;) {
    const Token token = lexer_.next();
    const bool are_bools = left.type().dtype.is_bool();
    const auto is_next = [&](const auto& word) {
      return word.precedence >= min_precedence && token.kind == TokenKind::kSymbol &&
             token.text == word.text;
    };
    int precedence = kNoPrecedence;
    Expr (*make)(const void*, const Expr&, const Expr&) = nullptr;
    const void* found = nullptr;
    for (const BinaryWord& word : kBinaryWords) {
      if (!is_next(word)) continue;
      if (!TakesOperands(word.operands, are_bools)) {
        return lexer_.ErrorAt(token.position,
                              absl::StrCat("found '", word.text, "' of ", left.type().ToString()));
      }
      precedence = word.precedence;
      found = &word;
      make = [](const void* row, const Expr& a, const Expr& b) {
        return NewExpr(a.type(), Binary{static_cast<const BinaryWord*>(row)->op, a, b});
      };
    }
    for (const CompareWord& word : kCompareWords) {
      if (!is_next(word)) continue;
      precedence = word.precedence;
      found = &word;
      make = [](const void* row, const Expr& a, const Expr& b) {
        return NewExpr(Type::Of(DType::Bool(), a.type().lanes),
                       Compare{static_cast<const CompareWord*>(row)->op, a, b});
      };
    }
    if (make == nullptr) return left;
    lexer_.Take();
    KILN_ASSIGN_OR_RETURN(const Expr right, ParseBinary(precedence + 1));
    KILN_ASSIGN_OR_RETURN(left, Checked(make(found, left, right), token.position));
  }
}

absl::StatusOr<Expr> ExprParser::ParsePrefix() {
  const Token& token = lexer_.next();
  if (depth_ >= kMaxNestingDepth) {
    return lexer_.ErrorAt(token.position, absl::StrCat("an expression in more than ",
                                                       kMaxNestingDepth, " others; use let"));
  }
  ++depth_;
  absl::StatusOr<Expr> result =
      lexer_.At("-") || lexer_.At("!") || lexer_.At("~") ? ParseSigned() : ParsePrimary();
  --depth_;
  return result;
}

// A minus sign before a constant is a part of it.
absl::StatusOr<Expr> ExprParser::ParseSigned() {
  const Token sign = lexer_.Take();
  if (sign.text == "-") {
    if (lexer_.next().is_number()) return ParseNumber(/*negative=*/true);
    if (const Expr constant = ConstantOfWord(lexer_.next().text, /*negative=*/true)) {
      lexer_.Take();
      return constant;
    }
  }
  KILN_ASSIGN_OR_RETURN(const Expr a, ParsePrefix());
  for (const UnaryWord& word : kUnaryWords) {
    if (sign.text != word.text || !TakesOperands(word.operands, a.type().dtype.is_bool())) continue;
    return Checked(NewExpr(a.type(), Unary{word.op, a}), sign.position);
  }
  return lexer_.ErrorAt(sign.position,
                        absl::StrCat("found '", sign.text, "' of ", a.type().ToString()));
}

absl::StatusOr<Expr> ExprParser::ParsePrimary() {
  if (lexer_.Accept("(")) {
    KILN_ASSIGN_OR_RETURN(Expr e, Parse());
    KILN_RETURN_IF_ERROR(lexer_.Expect(")"));
    return e;
  }
  if (lexer_.next().is_number()) return ParseNumber(/*negative=*/false);
  if (lexer_.next().kind == TokenKind::kName) return ParseNamed();
  return lexer_.Unexpected(kWantedExpr);
}

absl::StatusOr<Expr> ExprParser::ParseConstant() {
  const Position position = lexer_.next().position;
  const bool negative = lexer_.Accept("-");
  if (lexer_.next().is_number()) return ParseNumber(negative);
  const Expr constant = ConstantOfWord(lexer_.next().text, negative);
  if (constant.get() == nullptr) return lexer_.Unexpected("a constant");
  lexer_.Take();
  return Checked(constant, position);
}

absl::StatusOr<Expr> ExprParser::ParseNumber(bool negative) {
  const Token token = lexer_.Take();
  const size_t suffix = std::min(token.text.find_first_of("biuf"), token.text.size());
  const Expr constant =
      ConstantOf(token.text.substr(0, suffix), token.text.substr(suffix), negative);
  if (constant.get() == nullptr) {
    return lexer_.ErrorAt(token.position,
                          absl::StrCat("'", token.text.substr(0, kMaxNameBytes),
                                       "' is no constant; wanted 3, 3i32, 200u8 or 0.5f32"));
  }
  return Checked(constant, token.position);
}

bool ExprParser::AtBuffer() const {
  if (lexer_.next().kind != TokenKind::kName) return false;
  const Meaning* meaning = scope_.Find(lexer_.next().text);
  return meaning != nullptr && std::holds_alternative<Buffer>(*meaning);
}

absl::StatusOr<Buffer> ExprParser::ParseBuffer() {
  if (!AtBuffer()) return lexer_.Unexpected("a buffer");
  return std::get<Buffer>(*scope_.Find(lexer_.Take().text));
}

absl::StatusOr<Expr> ExprParser::ParseNamed() {
  const Position position = lexer_.next().position;
  if (Expr constant = ConstantOfWord(lexer_.next().text, /*negative=*/false)) {
    lexer_.Take();
    return constant;
  }
  const bool is_buffer = AtBuffer();
  const Token token = lexer_.Take();
  if (lexer_.At("(") || token.text == "bitcast" || token.text == "dot") {
    return ParseFunction(std::string(token.text), position);
  }
  const Meaning* meaning = scope_.Find(token.text);
  if (meaning == nullptr) {
    return lexer_.ErrorAt(position, absl::StrCat("'", token.text.substr(0, kMaxNameBytes),
                                                 "' is no variable and no buffer"));
  }
  if (!is_buffer) return std::get<Expr>(*meaning);
  const Buffer& buffer = std::get<Buffer>(*meaning);
  KILN_ASSIGN_OR_RETURN(std::vector<Expr> index, ParseIndices());
  const int lanes = index.empty() ? 1 : index[0].type().lanes;
  return Checked(NewExpr(Type::Of(buffer->dtype, lanes), Load{buffer, std::move(index)}), position);
}

absl::StatusOr<Expr> ExprParser::ParseFunction(const std::string& name, Position position) {
  if (name == "ramp") return ParseRamp(position);
  if (name == "broadcast") return ParseBroadcast(position);
  if (name == "bitcast") return ParseBitcast(position);
  if (name == "dot") return ParseDot(position);
  if (name == "interleave") return ParseInterleave(position);
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  KILN_ASSIGN_OR_RETURN(const std::vector<Expr> operands, ParseList(")"));
  return Apply(name, position, operands);
}

// dot<vpdpbusd, 4>(sum, a, b), dot<4>(sum, a, b), dot<smlad, 4, swaps, steps 9, run 2>(sum, a, b),
// dot<tdpbf16ps, 32, steps 9, column_run 2, parts 3>(sum, a, b)
absl::StatusOr<Expr> ExprParser::ParseDot(Position position) {
  KILN_RETURN_IF_ERROR(lexer_.Expect("<"));
  DotKind kind;
  if (!lexer_.next().is_number()) {
    KILN_ASSIGN_OR_RETURN(kind.instruction, lexer_.ExpectSymbol("an instruction or a group"));
    KILN_RETURN_IF_ERROR(lexer_.Expect(","));
  }
  KILN_ASSIGN_OR_RETURN(const int64_t group, lexer_.ExpectInt("a group", 1, kMaxLanes));
  kind.group = static_cast<int>(group);
  while (lexer_.Accept(",")) {
    if (lexer_.Accept("steps")) {
      KILN_ASSIGN_OR_RETURN(const int64_t steps, lexer_.ExpectInt("steps", 1, kMaxLanes));
      kind.steps = static_cast<int>(steps);
    } else if (lexer_.Accept("run")) {
      KILN_ASSIGN_OR_RETURN(const int64_t run, lexer_.ExpectInt("a run", 1, kMaxLanes));
      kind.run = static_cast<int>(run);
    } else if (lexer_.Accept("column_run")) {
      KILN_ASSIGN_OR_RETURN(const int64_t run, lexer_.ExpectInt("a run", 1, kMaxLanes));
      kind.column_run = static_cast<int>(run);
    } else if (lexer_.Accept("parts")) {
      KILN_ASSIGN_OR_RETURN(const int64_t parts,
                            lexer_.ExpectInt("parts", 1, DotKind::kPartsOfFloat));
      kind.parts = static_cast<int>(parts);
    } else {
      KILN_RETURN_IF_ERROR(lexer_.Expect("swaps"));
      kind.swaps = true;
    }
  }
  KILN_RETURN_IF_ERROR(lexer_.Expect(">"));
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  KILN_ASSIGN_OR_RETURN(const std::vector<Expr> operands, ParseList(")"));
  if (operands.size() != 3) {
    return lexer_.ErrorAt(position,
                          absl::StrCat("found ", operands.size(), " operands of dot, wanted 3"));
  }
  const Dot dot = {std::move(kind), operands[0], operands[1], operands[2]};
  return Checked(NewExpr(dot.sum.type(), dot), position);
}

absl::StatusOr<Expr> ExprParser::ParseInterleave(Position position) {
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  KILN_ASSIGN_OR_RETURN(std::vector<Expr> operands, ParseList(")"));
  if (operands.empty()) return lexer_.ErrorAt(position, "found 0 operands of interleave");
  const int64_t lanes = static_cast<int64_t>(operands.size()) * operands[0].type().lanes;
  if (lanes > kMaxLanes) {
    return lexer_.ErrorAt(
        position,
        absl::StrCat("found ", lanes, " lanes of interleave, wanted at most ", kMaxLanes));
  }
  const Type type = operands[0].type().WithLanes(static_cast<int>(lanes));
  return Checked(NewExpr(type, Interleave{std::move(operands)}), position);
}

absl::StatusOr<Expr> ExprParser::ParseRamp(Position position) {
  constexpr int64_t kMaxStride = std::numeric_limits<int32_t>::max();
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  KILN_ASSIGN_OR_RETURN(const Expr base, Parse());
  KILN_RETURN_IF_ERROR(lexer_.Expect(","));
  KILN_ASSIGN_OR_RETURN(const int64_t stride,
                        lexer_.ExpectInt("a stride", -kMaxStride, kMaxStride));
  KILN_RETURN_IF_ERROR(lexer_.Expect(","));
  KILN_ASSIGN_OR_RETURN(const int64_t lanes, lexer_.ExpectInt("lanes", 2, kMaxLanes));
  KILN_RETURN_IF_ERROR(lexer_.Expect(")"));
  const int count = static_cast<int>(lanes);
  return Checked(NewExpr(Type::Index(count), Ramp{base, stride, count}), position);
}

absl::StatusOr<Expr> ExprParser::ParseBroadcast(Position position) {
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  KILN_ASSIGN_OR_RETURN(const Expr a, Parse());
  KILN_RETURN_IF_ERROR(lexer_.Expect(","));
  KILN_ASSIGN_OR_RETURN(const int64_t lanes, lexer_.ExpectInt("lanes", 2, kMaxLanes));
  KILN_RETURN_IF_ERROR(lexer_.Expect(")"));
  const int count = static_cast<int>(lanes);
  return Checked(NewExpr(a.type().WithLanes(count), Broadcast{a, count}), position);
}

absl::StatusOr<Expr> ExprParser::ParseBitcast(Position position) {
  KILN_RETURN_IF_ERROR(lexer_.Expect("<"));
  KILN_ASSIGN_OR_RETURN(const Type type, ParseType(lexer_));
  KILN_RETURN_IF_ERROR(lexer_.Expect(">"));
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  KILN_ASSIGN_OR_RETURN(const Expr a, Parse());
  KILN_RETURN_IF_ERROR(lexer_.Expect(")"));
  return Checked(NewExpr(type, Bitcast{a}), position);
}

absl::StatusOr<Expr> ExprParser::Apply(const std::string& name, Position position,
                                       const std::vector<Expr>& operands) {
  size_t wanted = 0;
  Expr made;
  const auto see = [&](size_t num_operands, const auto& make) {
    wanted = num_operands;
    if (operands.size() == num_operands) made = make();
  };
  for (const UnaryWord& word : kUnaryWords) {
    if (name != word.text) continue;
    see(1, [&] { return NewExpr(operands[0].type(), Unary{word.op, operands[0]}); });
  }
  for (const BinaryWord& word : kBinaryWords) {
    if (name != word.text) continue;
    see(2, [&] { return NewExpr(operands[0].type(), Binary{word.op, operands[0], operands[1]}); });
  }
  for (const Function& function : kFunctions) {
    if (name == function.name) see(function.num_operands, [&] { return function.make(operands); });
  }
  Type type;
  if (TypeOfName(name, &type)) see(1, [&] { return NewExpr(type, Cast{operands[0]}); });
  if (made) return Checked(std::move(made), position);
  return lexer_.ErrorAt(position, wanted == 0
                                      ? absl::StrCat("'", name, "' is no function of expressions")
                                      : absl::StrCat("found ", operands.size(), " operands of ",
                                                     name, ", wanted ", wanted));
}

}  // namespace kiln::loop
