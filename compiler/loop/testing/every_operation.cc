// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/testing/every_operation.h"

#include <functional>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace kiln::loop {
namespace {

using Value = std::function<Expr(const Expr& a, const Expr& b)>;

const std::vector<DType>& Dtypes() {
  static const auto& dtypes =
      *new std::vector<DType>{DType::Int(8),    DType::Int(16),   DType::Int(32),  DType::Int(64),
                              DType::UInt(8),   DType::UInt(16),  DType::UInt(32), DType::UInt(64),
                              DType::Float(32), DType::Float(64), DType::Bool()};
  return dtypes;
}

// Returns out[…] = value(a[…], b[…]) for `lanes` elements from `first` on.
Stmt StoreAt(const Buffer& a, const Buffer& b, const Buffer& out, const Expr& first, int lanes,
             const Value& value) {
  const Expr at = lanes == 1 ? first : MakeRamp(first, 1, lanes);
  return MakeStore(out, {at}, value(MakeLoad(a, {at}), MakeLoad(b, {at})));
}

ElementOperation Make(const std::string& name, DType from, Widths widths, const Value& value) {
  const auto param = [](const char* called, DType dtype) {
    return MakeBuffer(called, dtype, {kOperationElements}, BufferScope::kParam);
  };
  const Buffer a = param("a", from), b = param("b", from);
  const DType to = value(MakeLoad(a, {0}), MakeLoad(b, {0})).type().dtype;
  const Buffer out = param("out", to);
  const Var i = MakeVar("i");
  std::vector<Stmt> stores;
  int64_t first = 0;
  for (int lanes = 1; lanes <= (widths == Widths::kAll ? kMaxLanes : 1); ++lanes) {
    const Expr elements = i * Expr(widths == Widths::kAll ? kElementsOfWidths : 1);
    stores.push_back(StoreAt(a, b, out, elements + Expr(first), lanes, value));
    first += lanes;
  }
  const std::string result = name == "cast" ? absl::StrCat("_", to.ToString()) : "";
  Func func = {.name = absl::StrCat(name, "_", from.ToString(), result),
               .params = {a, b, out},
               .num_inputs = 2,
               .body = MakeFor(i, 0, kOperationElements / first, ForKind::kSerial,
                               MakeBlock(std::move(stores)))};
  return {name, from, to, std::move(func)};
}

std::vector<std::pair<const char*, UnaryOp>> UnaryOps(DType dtype) {
  if (dtype.is_bool()) return {{"not", UnaryOp::kNot}};
  std::vector<std::pair<const char*, UnaryOp>> ops = {{"neg", UnaryOp::kNeg},
                                                      {"abs", UnaryOp::kAbs}};
  if (dtype.is_float()) {
    ops.insert(ops.end(), {{"sqrt", UnaryOp::kSqrt},
                           {"floor", UnaryOp::kFloor},
                           {"ceil", UnaryOp::kCeil},
                           {"trunc", UnaryOp::kTrunc},
                           {"round_even", UnaryOp::kRoundEven}});
  } else {
    ops.push_back({"not", UnaryOp::kNot});
  }
  if (dtype == DType::Int(32)) {
    ops.insert(ops.end(), {{"saturate_int8", UnaryOp::kSaturateInt8},
                           {"saturate_uint8", UnaryOp::kSaturateUint8},
                           {"saturate_int16", UnaryOp::kSaturateInt16},
                           {"saturate_uint16", UnaryOp::kSaturateUint16}});
  }
  return ops;
}

std::vector<std::pair<const char*, BinaryOp>> BinaryOps(DType dtype) {
  std::vector<std::pair<const char*, BinaryOp>> ops;
  if (!dtype.is_bool()) {
    ops = {{"add", BinaryOp::kAdd}, {"sub", BinaryOp::kSub}, {"mul", BinaryOp::kMul},
           {"div", BinaryOp::kDiv}, {"min", BinaryOp::kMin}, {"max", BinaryOp::kMax}};
  }
  if (!dtype.is_float()) {
    ops.insert(ops.end(),
               {{"and", BinaryOp::kAnd}, {"or", BinaryOp::kOr}, {"xor", BinaryOp::kXor}});
  }
  if (dtype.is_integral()) {
    ops.insert(ops.end(),
               {{"mod", BinaryOp::kMod}, {"shl", BinaryOp::kShl}, {"shr", BinaryOp::kShr}});
  }
  if (dtype == DType::Int(32)) {
    ops.insert(ops.end(), {{"rounding_mul_high", BinaryOp::kRoundingMulHigh},
                           {"rounding_mul_top", BinaryOp::kRoundingMulTop},
                           {"rounding_shr", BinaryOp::kRoundingShr}});
  }
  return ops;
}

void AddOperationsOf(DType dtype, Widths widths, std::vector<ElementOperation>& all) {
  for (const auto& [name, op] : UnaryOps(dtype)) {
    all.push_back(Make(name, dtype, widths,
                       [op = op](const Expr& a, const Expr&) { return MakeUnary(op, a); }));
  }
  for (const auto& [name, op] : BinaryOps(dtype)) {
    all.push_back(Make(name, dtype, widths,
                       [op = op](const Expr& a, const Expr& b) { return MakeBinary(op, a, b); }));
  }
  for (const CompareOp op : {CompareOp::kEq, CompareOp::kNe, CompareOp::kLt, CompareOp::kLe,
                             CompareOp::kGt, CompareOp::kGe}) {
    all.push_back(Make(
        absl::StrCat("compare_", static_cast<int>(op)), dtype, widths,
        [op](const Expr& a, const Expr& b) { return MakeSelect(MakeCompare(op, a, b), a, b); }));
  }
  for (const DType to : Dtypes()) {
    all.push_back(
        Make("cast", dtype, widths, [to](const Expr& a, const Expr&) { return MakeCast(to, a); }));
  }
}

// Returns pairs of edges: the second operand stays at one edge while the first takes each edge in
// turn. There are kOperationElements pairs.
template <typename T>
std::string InTurn(const std::vector<T>& edges, size_t operand) {
  std::string bytes;
  for (size_t i = 0; i < static_cast<size_t>(kOperationElements); ++i) {
    const T value = edges[(operand == 0 ? i : i / edges.size()) % edges.size()];
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return bytes;
}

template <typename T>
std::string Floats(size_t operand, bool with_nan) {
  using Limits = std::numeric_limits<T>;
  std::vector<T> edges;
  for (const double x : {0.0, 0.5, 1.0, 1.5, 2.5, 3.7, 127.5, 255.9, 32768.0, 65535.5, 8388607.5,
                         2147483648.0, 4294967296.0, 9.3e18, 1.9e19}) {
    edges.insert(edges.end(), {static_cast<T>(x), static_cast<T>(-x)});
  }
  for (const T x : {Limits::min(), Limits::denorm_min(), Limits::max(), Limits::infinity()}) {
    edges.insert(edges.end(), {x, -x});
  }
  if (with_nan) edges.push_back(Limits::quiet_NaN());
  return InTurn(edges, operand);
}

template <typename T>
std::string Integers(size_t operand) {
  using Limits = std::numeric_limits<T>;
  return InTurn<T>(
      {0, 1, 2, 3, 7, 31, 33, 64, 100, static_cast<T>(-1), static_cast<T>(-7), Limits::min(),
       Limits::max(), static_cast<T>(Limits::max() / 2 + 1), static_cast<T>(Limits::max() / 3)},
      operand);
}

}  // namespace

std::vector<ElementOperation> EveryOperation(Widths widths) {
  std::vector<ElementOperation> all;
  for (const DType dtype : Dtypes()) AddOperationsOf(dtype, widths, all);
  constexpr DType kFloat = DType::Float(32);
  all.push_back(
      Make("fma", kFloat, widths, [](const Expr& a, const Expr& b) { return MakeFma(a, b, b); }));
  for (const DType stored : {DType::Float(16), DType::BFloat()}) {
    for (const auto& [from, to] : {std::pair(stored, kFloat), {kFloat, stored}}) {
      all.push_back(Make("cast", from, widths,
                         [to = to](const Expr& a, const Expr&) { return MakeCast(to, a); }));
    }
  }
  return all;
}

std::string OperandValues(const ElementOperation& operation, size_t operand) {
  const DType dtype = operation.from;
  const bool with_nan = operation.name == "cast" && !operation.to.is_float();
  if (dtype == DType::Float(32)) return Floats<float>(operand, with_nan);
  if (dtype == DType::Float(64)) return Floats<double>(operand, with_nan);
  if (dtype.is_bool()) return InTurn<uint8_t>({0, 1}, operand);
  if (dtype.is_float()) {
    // Bits of float16: 0, subnormal, around 1, the largest finite number, and negative ones.
    return InTurn<uint16_t>({0, 1, 0x3c00, 0x3c01, 0x7bff, 0x8000, 0x83ff, 0xbc00}, operand);
  }
  if (dtype.bits == 8) return Integers<uint8_t>(operand);
  if (dtype.bits == 16) return Integers<uint16_t>(operand);
  return dtype.bits == 32 ? Integers<uint32_t>(operand) : Integers<uint64_t>(operand);
}

}  // namespace kiln::loop
