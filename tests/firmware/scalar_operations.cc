// SPDX-License-Identifier: Apache-2.0
#include "tests/firmware/scalar_operations.h"

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/firmware/helium_operations.h"

namespace kiln {
namespace {

using loop::Buffer;
using loop::Expr;

constexpr DType kInt32 = DType::Int(32), kFloat = DType::Float(32), kHalf = DType::Float(16);

loop::Func OfElement(const std::string& name, DType dtype,
                     const std::function<Expr(const Expr&)>& value) {
  const auto param = [](const char* called, DType of) {
    return loop::MakeBuffer(called, of, {kElements}, loop::BufferScope::kParam);
  };
  const Buffer a = param("a", dtype), b = param("b", dtype);
  const loop::Var i = loop::MakeVar("i");
  const Expr result = value(loop::MakeLoad(a, {i}));
  const Buffer out = param("out", result.type().dtype);
  return {.name = absl::StrCat("scalar_", name),
          .params = {a, b, out},
          .num_inputs = 2,
          .body = loop::MakeFor(i, 0, kElements, loop::ForKind::kSerial,
                                loop::MakeStore(out, {i}, result))};
}

Expr Int(int64_t value) { return loop::IntConst(loop::Type::Of(kInt32), value); }

// Returns a result of 32 bits, so that all bits are compared.
Expr Saturated(const Expr& x, loop::UnaryOp op, int shift) {
  const Expr shifted = shift == 0 ? x : loop::MakeBinary(loop::BinaryOp::kShr, x, Int(shift));
  return loop::MakeUnary(op, shifted);
}

}  // namespace

std::vector<loop::Func> ScalarOperations() {
  std::vector<loop::Func> operations;
  for (const auto& [saturate, to] : loop::kSaturations) {
    for (const int shift : {0, 1, 23, 31}) {
      operations.push_back(
          OfElement(absl::StrCat("saturate_", to.ToString(), "_", shift), kInt32,
                    [&, op = saturate](const Expr& x) { return Saturated(x, op, shift); }));
    }
  }
  operations.push_back(OfElement("sqrt", kFloat, [](const Expr& x) {
    return loop::MakeUnary(loop::UnaryOp::kSqrt, loop::MakeUnary(loop::UnaryOp::kAbs, x));
  }));
  operations.push_back(
      OfElement("to_half", kFloat, [](const Expr& x) { return loop::MakeCast(kHalf, x); }));
  operations.push_back(
      OfElement("of_half", kHalf, [](const Expr& x) { return loop::MakeCast(kFloat, x); }));
  return operations;
}

}  // namespace kiln
