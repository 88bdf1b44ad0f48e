// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/helium_operations.h"

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/c/codegen_c.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using loop::BinaryOp;
using loop::Buffer;
using loop::CompareOp;
using loop::Expr;
using loop::Func;
using loop::UnaryOp;

constexpr int kLanes[] = {4, 8, 16};
constexpr int kRegisterBits = 128;

const std::vector<DType>& Integers() {
  static const auto& dtypes =
      *new std::vector<DType>{DType::Int(8),  DType::Int(16),  DType::Int(32),
                              DType::UInt(8), DType::UInt(16), DType::UInt(32)};
  return dtypes;
}

using Value = std::function<Expr(const Expr& a, const Expr& b)>;

// Adds the operation if generated C has vectors for it. Returns true if it was added.
bool Add(const std::string& name, DType dtype, int lanes, const Value& value,
         std::vector<Func>& operations) {
  const Buffer a = loop::MakeBuffer("a", dtype, {kElements}, loop::BufferScope::kParam);
  const Buffer b = loop::MakeBuffer("b", dtype, {kElements}, loop::BufferScope::kParam);
  const loop::Var i = loop::MakeVar("i");
  const Expr at = loop::MakeRamp(i * Expr(lanes), 1, lanes);
  const Expr result = value(loop::MakeLoad(a, {at}), loop::MakeLoad(b, {at}));
  const Buffer out =
      loop::MakeBuffer("out", result.type().dtype, {kElements}, loop::BufferScope::kParam);
  const loop::Stmt store = loop::MakeStore(out, {at}, result);
  if (!codegen::HasSpellingInC(*store.As<loop::Store>())) return false;
  const std::string full = absl::StrCat("f", operations.size(), "_", name, "_",
                                        dtype.is_uint() ? "u" : "i", dtype.bits, "x", lanes);
  operations.push_back(
      {.name = full,
       .params = {a, b, out},
       .num_inputs = 2,
       .body = loop::MakeFor(i, 0, kElements / lanes, loop::ForKind::kSerial, store)});
  return true;
}

struct Named {
  std::string name;
  Value value;
  enum { kFullLanes, kAnyLanes, kInt32 } of;
};

template <typename Op>
Value OfBoth(Expr (*make)(Op, Expr, Expr), Op op) {
  return [=](const Expr& a, const Expr& b) { return make(op, a, b); };
}

Expr Number(const Expr& like, int64_t value) {
  return loop::IntConst(loop::Type::Of(like.type().dtype), value);
}

// Selects by a condition for each element.
Value Chosen(const std::function<Expr(const Expr&, const Expr&)>& condition) {
  return [=](const Expr& a, const Expr& b) { return loop::MakeSelect(condition(a, b), a, b); };
}

// Selects all elements by a condition of the first element.
Expr ByOneCondition(const Expr& a, const Expr& b) {
  const Expr first = loop::MakeLoad(a.As<loop::Load>()->buffer, {Expr(0)});
  const int lanes = a.type().lanes;
  return loop::MakeSelect(loop::MakeBroadcast(first < Number(first, 3), lanes), a, b);
}

// Gathers elements of `b` at the indices in `a`.
Expr Gathered(const Expr& a, const Expr& b) {
  const Expr place = loop::MakeCast(DType::Int(32), a);
  const Expr in_buffer = loop::MakeBinary(BinaryOp::kAnd, place, Number(place, kElements / 2 - 1));
  return loop::MakeLoad(b.As<loop::Load>()->buffer, {loop::ToIndex(in_buffer)});
}

// Clamps the int32 values `a` to the range of int16.
Expr Saturated(const Expr& a, const Expr&) { return loop::MakeUnary(UnaryOp::kSaturateInt16, a); }

std::vector<Named> OfElements() {
  std::vector<Named> all;
  for (const auto& [name, op] :
       {std::pair("add", BinaryOp::kAdd), {"sub", BinaryOp::kSub}, {"mul", BinaryOp::kMul}}) {
    all.push_back({name, OfBoth(loop::MakeBinary, op), Named::kFullLanes});
    const BinaryOp of_number = op;
    all.push_back(
        {name,
         [=](const Expr& a, const Expr&) { return loop::MakeBinary(of_number, a, Number(a, 77)); },
         Named::kFullLanes});
  }
  for (const auto& [name, op] : {std::pair("min", BinaryOp::kMin),
                                 {"max", BinaryOp::kMax},
                                 {"and", BinaryOp::kAnd},
                                 {"or", BinaryOp::kOr},
                                 {"xor", BinaryOp::kXor}}) {
    all.push_back({name, OfBoth(loop::MakeBinary, op), Named::kAnyLanes});
  }
  for (const auto& [name, op] : {std::pair("rounding_mul_top", BinaryOp::kRoundingMulTop),
                                 {"rounding_mul_high", BinaryOp::kRoundingMulHigh},
                                 {"rounding_shr", BinaryOp::kRoundingShr}}) {
    all.push_back({name, OfBoth(loop::MakeBinary, op), Named::kInt32});
  }
  all.push_back(
      {"rounding_mul_high_of_number",
       [](const Expr& a, const Expr&) { return loop::RoundingMulHigh(a, Number(a, 1518500250)); },
       Named::kInt32});
  all.push_back({"shl", OfBoth(loop::MakeBinary, BinaryOp::kShl), Named::kInt32});
  all.push_back({"shr", OfBoth(loop::MakeBinary, BinaryOp::kShr), Named::kInt32});
  for (const int amount : {1, 3, 7}) {
    all.push_back({"shl_by_number",
                   [=](const Expr& a, const Expr&) {
                     return loop::MakeBinary(BinaryOp::kShl, a, Number(a, amount));
                   },
                   Named::kFullLanes});
    all.push_back({"shr_by_number",
                   [=](const Expr& a, const Expr&) {
                     return loop::MakeBinary(BinaryOp::kShr, a, Number(a, amount));
                   },
                   Named::kAnyLanes});
  }
  for (const CompareOp op : {CompareOp::kEq, CompareOp::kNe, CompareOp::kLt, CompareOp::kLe,
                             CompareOp::kGt, CompareOp::kGe}) {
    all.push_back({"compare", Chosen([=](const Expr& a, const Expr& b) {
                     return loop::MakeCompare(op, a, b);
                   }),
                   Named::kAnyLanes});
    all.push_back({"compare_with_number", Chosen([=](const Expr& a, const Expr&) {
                     return loop::MakeCompare(op, a, Number(a, 31));
                   }),
                   Named::kAnyLanes});
  }
  for (const BinaryOp op : {BinaryOp::kAnd, BinaryOp::kOr, BinaryOp::kXor}) {
    all.push_back({"conditions", Chosen([=](const Expr& a, const Expr& b) {
                     return loop::MakeBinary(op, loop::Not(a < b), b > Number(b, 7));
                   }),
                   Named::kAnyLanes});
  }
  for (const auto& [op, to] : loop::kSaturations) {
    const UnaryOp saturate = op;
    all.push_back({absl::StrCat("saturate_", to.ToString()),
                   [=](const Expr& a, const Expr&) { return loop::MakeUnary(saturate, a); },
                   Named::kInt32});
  }
  all.push_back(
      {"saturate_and_narrow",
       [](const Expr& a, const Expr& b) { return loop::MakeCast(DType::Int(16), Saturated(a, b)); },
       Named::kInt32});
  all.push_back(
      {"not", [](const Expr& a, const Expr&) { return loop::Not(a); }, Named::kFullLanes});
  all.push_back({"neg", [](const Expr& a, const Expr&) { return -a; }, Named::kInt32});
  all.push_back({"abs",
                 [](const Expr& a, const Expr&) { return loop::MakeUnary(UnaryOp::kAbs, a); },
                 Named::kInt32});
  all.push_back({"shared",
                 [](const Expr& a, const Expr& b) {
                   const Expr sum = a + b;
                   return loop::Max(sum - loop::MakeBinary(BinaryOp::kShr, sum, Number(a, 2)), b);
                 },
                 Named::kFullLanes});
  return all;
}

}  // namespace

loop::LoopProgram HeliumOperations() {
  loop::LoopProgram program;
  std::vector<Func>& operations = program.funcs;
  for (const int lanes : kLanes) {
    const int lane_bits = kRegisterBits / lanes;
    for (const DType dtype : Integers()) {
      const bool fits = dtype.bits <= lane_bits, fills = dtype.bits == lane_bits;
      for (const Named& named : OfElements()) {
        const bool is_wanted = named.of == Named::kAnyLanes    ? fits
                               : named.of == Named::kFullLanes ? fills
                                                               : fills && dtype == DType::Int(32);
        if (named.of == Named::kInt32 && !is_wanted) continue;
        const bool is_there = Add(named.name, dtype, lanes, named.value, operations);
        EXPECT_EQ(is_there, is_wanted) << named.name << " " << dtype.ToString() << "x" << lanes;
      }
      EXPECT_EQ(Add("by_one_condition", dtype, lanes, ByOneCondition, operations), fits);
      EXPECT_EQ(Add("gather", dtype, lanes, Gathered, operations), fits && lanes == 4);
      for (const DType to : Integers()) {
        const bool both_fit = fits && to.bits <= lane_bits;
        const bool is_there = Add(
            absl::StrCat("to_", to.ToString()), dtype, lanes,
            [&](const Expr& a, const Expr&) { return loop::MakeCast(to, a); }, operations);
        EXPECT_EQ(is_there, both_fit) << dtype.ToString() << " to " << to.ToString();
        // The cast is compared, not stored, so that its upper bits count.
        Add(
            absl::StrCat("by_", to.ToString()), dtype, lanes,
            [&](const Expr& a, const Expr& b) {
              return loop::MakeSelect(loop::MakeCast(to, a) < loop::MakeCast(to, b), a, b);
            },
            operations);
      }
    }
  }
  return program;
}

}  // namespace kiln
