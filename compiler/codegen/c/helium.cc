// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/helium.h"

#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "compiler/codegen/c/literals.h"
#include "compiler/loop/mutate.h"
#include "compiler/target/instructions.h"

namespace kiln::codegen {
namespace {

using loop::BinaryOp;
using loop::CompareOp;
using loop::Expr;
using loop::Type;
using loop::UnaryOp;

constexpr int kRegisterBits = 128;

constexpr char kHeliumRoundingMulHigh[] =
    "/* a * b / 2^31, rounded to nearest, halves up. The instruction saturates the product of the "
    "lowest\n"
    " * number by itself, which wraps around here: of that pair alone, `lowest` is negative. */\n"
    "static inline int32x4_t kiln_rounding_mul_high_i32x4(int32x4_t a, int32x4_t b) {\n"
    "  const int32x4_t lowest = vabsq_s32(vrhaddq_s32(a, b));\n"
    "  return vsubq_s32(vqrdmulhq_s32(a, b), vshrq_n_s32(lowest, 31));\n"
    "}\n";
constexpr char kHeliumRoundingShr[] =
    "/* a / 2^n, rounded to nearest, halves away from zero. */\n"
    "static inline int32x4_t kiln_rounding_shr_i32x4(int32x4_t a, int32x4_t n) {\n"
    "  const int32x4_t right = vnegq_s32(vandq_s32(n, vdupq_n_s32(31)));\n"
    "  const int32x4_t less = vshrq_n_s32(vandq_s32(a, right), 31);\n"
    "  return vrshlq_s32(vqaddq_s32(a, less), right);\n"
    "}\n";
// Saturates without limits in registers. It sets only the lower half of each lane, which is enough
// for a store of narrow elements.
constexpr char kNarrow[] =
    "static inline int32x4_t kiln_narrow_i16x4(int32x4_t x) {\n"
    "  return vreinterpretq_s32_s16(vqmovnbq_s32(vreinterpretq_s16_s32(x), x));\n"
    "}\n";
constexpr char kHeliumSaturate[] =
    "static inline int32x4_t kiln_saturate_i16x4(int32x4_t x) {\n"
    "  return vmovlbq_s16(vqmovnbq_s32(vreinterpretq_s16_s32(x), x));\n"
    "}\n";
// `$0`: the type of the vector; `$1`: that of its elements; `$2`: its short name. Compilers keep
// arrays in registers if they are accessed only by these functions.
constexpr char kLoad[] =
    "static inline $0 kiln_load_$2(const $1* elements) {\n"
    "  $0 vector;\n"
    "  KILN_COPY(&vector, elements, sizeof(vector));\n"
    "  return vector;\n"
    "}\n";
constexpr char kStore[] =
    "static inline void kiln_store_$2($1* elements, $0 vector) {\n"
    "  KILN_COPY(elements, &vector, sizeof(vector));\n"
    "}\n";

// Bits of a lane, or 0 if no register has this number of lanes.
int LaneBits(const Type& type) {
  const bool fits = type.lanes == 4 || type.lanes == 8 || type.lanes == 16;
  return fits ? kRegisterBits / type.lanes : 0;
}

// True if the vector is one register of integers.
bool IsRegister(const Type& type) {
  return !type.index && type.dtype.is_integral() && !type.dtype.is_bool() &&
         type.dtype.bits <= LaneBits(type);
}
bool IsPredicate(const Type& type) { return type.dtype.is_bool() && LaneBits(type) > 0; }
// True if each element has all bits of its lane, so that it wraps around like the lane.
bool FillsLanes(const Type& type) { return IsRegister(type) && type.dtype.bits == LaneBits(type); }

// Suffix of intrinsics by the type of the lanes: "s32".
std::string Suffix(const Type& type) {
  return absl::StrCat(type.dtype.is_uint() ? "u" : "s", LaneBits(type));
}

std::string Reinterpreted(std::string text, const Type& from, const Type& to) {
  if (from.dtype.is_uint() == to.dtype.is_uint()) return text;
  return absl::StrCat("vreinterpretq_", Suffix(to), "_", Suffix(from), "(", text, ")");
}

// The letter for the size of elements in intrinsics that load and store.
const char* Letter(int bits) { return bits == 8 ? "b" : bits == 16 ? "h" : "w"; }

// Extends elements that are in the lower bits of lanes of `type`. VMOVLB extends the lower half of
// each lane.
std::string Extended(const std::string& text, const Type& type) {
  const char* sign = type.dtype.is_uint() ? "u" : "s";
  std::string result =
      absl::StrCat("vreinterpretq_", sign, type.dtype.bits, "_", Suffix(type), "(", text, ")");
  for (int bits = type.dtype.bits; bits < LaneBits(type); bits *= 2) {
    result = absl::StrCat("vmovlbq_", sign, bits, "(", result, ")");
  }
  return result;
}

// The scalar of a vector that has the same value in all lanes, or null.
const Expr* AsBroadcast(const Expr& e) {
  const auto* broadcast = e.As<loop::Broadcast>();
  return broadcast == nullptr ? nullptr : &broadcast->a;
}

bool IsNonNegative(const Expr& e) {
  int64_t value = 0;
  return loop::AsInt(e, &value) && value >= 0;
}

// "vaddq" of two vectors, or of a vector and a scalar if the instruction accepts one.
HeliumCall OfTwo(const char* name, const Type& type, const Expr& a, const Expr& b,
                 bool takes_scalar) {
  const Expr* scalar = takes_scalar ? AsBroadcast(b) : nullptr;
  return {absl::StrCat(name, scalar == nullptr ? "_" : "_n_", Suffix(type), "($0, $1)"),
          {a, scalar == nullptr ? b : *scalar}};
}

// A call of a function of two vectors, which `definition` defines.
HeliumCall CallOf(const char* name, const char* definition, std::vector<Expr> operands) {
  return {absl::StrCat(name, "($0, $1)"), std::move(operands), {name, definition}};
}

// True for local memory, which is an array of whole vectors.
bool IsOfVectors(const loop::Buffer& buffer, const Type& type) {
  return buffer->scope == loop::BufferScope::kLocal && FillsLanes(type);
}
HeliumFunction FunctionOfMemory(const char* verb, const char* definition, const Type& type) {
  const std::string name = absl::StrCat(ShortName(type.dtype), "x", type.lanes);
  return {absl::StrCat("kiln_", verb, "_", name),
          absl::Substitute(definition, HeliumType(type), CType(type.dtype), name)};
}

std::optional<HeliumCall> Shift(const loop::Binary& n, const Type& type) {
  const bool left = n.op == BinaryOp::kShl;
  if (!(left ? FillsLanes(type) : IsRegister(type))) return std::nullopt;
  int64_t amount = 0;
  const int64_t last = type.dtype.bits - 1;
  if (loop::AsInt(n.b, &amount)) {
    amount &= last;
    if (amount == 0) return std::nullopt;
    return HeliumCall{
        absl::StrCat(left ? "vshlq_n_" : "vshrq_n_", Suffix(type), "($0, ", amount, ")"), {n.a}};
  }
  // VSHL shifts to the right by negative amounts.
  if (!type.dtype.is_int()) return std::nullopt;
  const std::string s = Suffix(type);
  const std::string masked = absl::StrCat("vandq_", s, "($1, vdupq_n_", s, "(", last, "))");
  return HeliumCall{absl::StrCat("vshlq_", s, "($0, ",
                                 left ? masked : absl::StrCat("vnegq_", s, "(", masked, ")"), ")"),
                    {n.a, n.b}};
}

std::optional<HeliumCall> OfBools(const loop::Binary& n) {
  const char* symbol = n.op == BinaryOp::kAnd   ? "&"
                       : n.op == BinaryOp::kOr  ? "|"
                       : n.op == BinaryOp::kXor ? "^"
                                                : nullptr;
  if (symbol == nullptr) return std::nullopt;
  return HeliumCall{absl::StrCat("(mve_pred16_t)($0 ", symbol, " $1)"), {n.a, n.b}};
}

// The operand of `e` if that limits four int32 to the range of int16.
std::optional<Expr> AsSaturatedTo16(const Expr& e) {
  const auto* n = e.As<loop::Unary>();
  const bool is = n != nullptr && n->op == UnaryOp::kSaturateInt16 && FillsLanes(e.type());
  return is ? std::optional(n->a) : std::nullopt;
}

std::optional<HeliumCall> OfBinary(const loop::Binary& n, const Type& type) {
  if (IsPredicate(type)) return OfBools(n);
  if (!IsRegister(type)) return std::nullopt;
  const bool fills = FillsLanes(type), is_int32 = type.dtype == DType::Int(32);
  switch (n.op) {
    case BinaryOp::kAdd:
    case BinaryOp::kMul: {
      if (!fills) return std::nullopt;
      const char* name = n.op == BinaryOp::kAdd ? "vaddq" : "vmulq";
      return AsBroadcast(n.a) != nullptr ? OfTwo(name, type, n.b, n.a, true)
                                         : OfTwo(name, type, n.a, n.b, true);
    }
    case BinaryOp::kSub:
      if (!fills) return std::nullopt;
      return OfTwo("vsubq", type, n.a, n.b, true);
    case BinaryOp::kMin:
      return OfTwo("vminq", type, n.a, n.b, false);
    case BinaryOp::kMax:
      return OfTwo("vmaxq", type, n.a, n.b, false);
    case BinaryOp::kAnd:
      return OfTwo("vandq", type, n.a, n.b, false);
    case BinaryOp::kOr:
      return OfTwo("vorrq", type, n.a, n.b, false);
    case BinaryOp::kXor:
      return OfTwo("veorq", type, n.a, n.b, false);
    case BinaryOp::kShl:
    case BinaryOp::kShr:
      return Shift(n, type);
    case BinaryOp::kRoundingMulTop:
      if (!is_int32) return std::nullopt;
      return OfTwo("vrmulhq", type, n.a, n.b, false);
    case BinaryOp::kRoundingMulHigh:
      if (!is_int32) return std::nullopt;
      // VQRDMULH saturates if both operands are the lowest number.
      if (IsNonNegative(n.a) || IsNonNegative(n.b)) return OfTwo("vqrdmulhq", type, n.a, n.b, true);
      return CallOf("kiln_rounding_mul_high_i32x4", kHeliumRoundingMulHigh, {n.a, n.b});
    case BinaryOp::kRoundingShr:
      if (!is_int32) return std::nullopt;
      return CallOf("kiln_rounding_shr_i32x4", kHeliumRoundingShr, {n.a, n.b});
    default:
      return std::nullopt;
  }
}

std::optional<HeliumCall> OfUnary(const loop::Unary& n, const Type& type) {
  if (IsPredicate(type) && n.op == UnaryOp::kNot) return HeliumCall{"(mve_pred16_t)~$0", {n.a}};
  if (!FillsLanes(type)) return std::nullopt;
  const std::string s = Suffix(type);
  if (n.op == UnaryOp::kNot) return HeliumCall{absl::StrCat("vmvnq_", s, "($0)"), {n.a}};
  if (!type.dtype.is_int()) return std::nullopt;
  if (n.op == UnaryOp::kNeg) return HeliumCall{absl::StrCat("vnegq_", s, "($0)"), {n.a}};
  if (n.op == UnaryOp::kAbs) return HeliumCall{absl::StrCat("vabsq_", s, "($0)"), {n.a}};
  if (const std::optional<DType> to = loop::SaturationOf(n.op)) {
    const auto all = [](int64_t limit) {
      return absl::StrCat("vdupq_n_s32(", IntLiteral(DType::Int(32), limit), ")");
    };
    return HeliumCall{
        absl::StrCat("vmaxq_s32(vminq_s32($0, ", all(static_cast<int64_t>(to->MaxInt())), "), ",
                     all(to->MinInt()), ")"),
        {n.a}};
  }
  return std::nullopt;
}

// GCC 12 fails on comparisons for equality of a vector with a scalar.
std::optional<HeliumCall> OfCompare(const loop::Compare& n) {
  const Type& type = n.a.type();
  if (!IsRegister(type)) return std::nullopt;
  const auto call = [&](const char* name, bool swaps) {
    return OfTwo(name, type, swaps ? n.b : n.a, swaps ? n.a : n.b, false);
  };
  const bool is_uint = type.dtype.is_uint();
  switch (n.op) {
    case CompareOp::kEq:
      return call("vcmpeqq", false);
    case CompareOp::kNe:
      return call("vcmpneq", false);
    case CompareOp::kLt:
      return is_uint ? call("vcmphiq", true) : call("vcmpltq", false);
    case CompareOp::kLe:
      return is_uint ? call("vcmpcsq", true) : call("vcmpleq", false);
    case CompareOp::kGt:
      return call(is_uint ? "vcmphiq" : "vcmpgtq", false);
    case CompareOp::kGe:
      return call(is_uint ? "vcmpcsq" : "vcmpgeq", false);
  }
  return std::nullopt;
}

std::optional<HeliumCall> OfCast(const loop::Cast& n, const Type& to) {
  const Type& from = n.a.type();
  if (!IsRegister(to)) return std::nullopt;
  const std::string s = Suffix(to);
  if (IsPredicate(from)) {
    return HeliumCall{absl::StrCat("vpselq_", s, "(vdupq_n_", s, "(1), vdupq_n_", s, "(0), $0)"),
                      {n.a}};
  }
  if (!IsRegister(from)) return std::nullopt;
  std::string text = Reinterpreted("$0", from, to);
  const bool stays = to.dtype.bits > from.dtype.bits
                         ? from.dtype.is_uint() || to.dtype.is_int() || FillsLanes(to)
                         : to.dtype == from.dtype || FillsLanes(to);
  if (!stays) text = Extended(text, to);
  return HeliumCall{std::move(text), {n.a}};
}

// Elements at the positions in another vector, each in a lane of 32 bits.
std::optional<HeliumCall> Gather(const loop::Load& n, const Type& type) {
  const auto* index = n.index.size() == 1 ? n.index[0].As<loop::Cast>() : nullptr;
  if (index == nullptr || LaneBits(type) != 32 || !IsRegister(index->a.type()) ||
      !FillsLanes(index->a.type()) || n.buffer->dtype != type.dtype) {
    return std::nullopt;
  }
  const int bits = type.dtype.bits;
  return HeliumCall{
      absl::StrCat("vldr", Letter(bits),
                   bits == 8 ? "q_gather_offset_" : "q_gather_shifted_offset_", Suffix(type),
                   "($0, ", Reinterpreted("$1", index->a.type(), {DType::UInt(32), type.lanes}),
                   ")"),
      {index->a}};
}

std::optional<HeliumCall> OfLoad(const loop::Load& n, const Type& type) {
  const auto* ramp = n.index.size() == 1 ? n.index[0].As<loop::Ramp>() : nullptr;
  if (!IsRegister(type)) return std::nullopt;
  if (ramp == nullptr) return Gather(n, type);
  if (ramp->stride != 1 || n.buffer->dtype != type.dtype) return std::nullopt;
  if (IsOfVectors(n.buffer, type)) {
    HeliumFunction load = FunctionOfMemory("load", kLoad, type);
    return HeliumCall{absl::StrCat(load.name, "($0)"), {}, std::move(load)};
  }
  return HeliumCall{absl::StrCat("vldr", Letter(type.dtype.bits), "q_", Suffix(type), "($0)"), {}};
}

// True if the value and all of its vector operands have a spelling.
bool HasSpelling(const Expr& value) {
  std::unordered_set<const loop::ExprNode*> seen;
  std::vector<Expr> open = {value};
  while (!open.empty()) {
    const Expr e = open.back();
    open.pop_back();
    if (!e.type().is_vector() || !seen.insert(e.get()).second) continue;
    const std::optional<HeliumCall> call = HeliumCallOf(e);
    if (!call.has_value()) return false;
    open.insert(open.end(), call->operands.begin(), call->operands.end());
  }
  return true;
}

// True if the lanes may be stored one after the other: each lane reads no element of the buffer but
// its own.
bool HasLanesApart(const loop::Store& store) {
  const std::string index = ToString(store.index[0]);
  bool apart = true;
  loop::VisitExpr(store.value, [&](const Expr& e) {
    const auto* load = e.As<loop::Load>();
    if (load == nullptr || load->buffer != store.buffer) return;
    apart &= load->index.size() == 1 && ToString(load->index[0]) == index;
  });
  return apart;
}

}  // namespace

absl::string_view HeliumGuard() { return FindDotInstruction("vmlava.s8")->c.guard; }

std::optional<HeliumCall> HeliumCallOf(const Expr& e) {
  const Type& type = e.type();
  if (const auto* n = e.As<loop::Broadcast>()) {
    if (IsPredicate(type)) return HeliumCall{"(mve_pred16_t)($0 ? 0xffff : 0)", {n->a}};
    if (!IsRegister(type)) return std::nullopt;
    return HeliumCall{absl::StrCat("vdupq_n_", Suffix(type), "($0)"), {n->a}};
  }
  if (const auto* n = e.As<loop::Load>()) return OfLoad(*n, type);
  if (const std::optional<Expr> x = AsSaturatedTo16(e)) {
    return HeliumCall{"kiln_saturate_i16x4($0)", {*x}, {"kiln_saturate_i16x4", kHeliumSaturate}};
  }
  if (const auto* n = e.As<loop::Binary>()) return OfBinary(*n, type);
  if (const auto* n = e.As<loop::Unary>()) return OfUnary(*n, type);
  if (const auto* n = e.As<loop::Compare>()) return OfCompare(*n);
  if (const auto* n = e.As<loop::Cast>()) return OfCast(*n, type);
  if (const auto* n = e.As<loop::Select>()) {
    if (!IsRegister(type) || !IsPredicate(n->condition.type())) return std::nullopt;
    return HeliumCall{absl::StrCat("vpselq_", Suffix(type), "($1, $2, $0)"),
                      {n->condition, n->if_true, n->if_false}};
  }
  return std::nullopt;
}

std::optional<HeliumStore> HeliumStoreOf(const loop::Store& store) {
  const auto* ramp = store.index.size() == 1 ? store.index[0].As<loop::Ramp>() : nullptr;
  const Type type = store.value.type();
  if (ramp == nullptr || ramp->stride != 1 || !IsRegister(type)) return std::nullopt;
  Expr value = store.value;
  // Only the lower bits are stored, so a cast to a narrower type is not needed.
  const auto* cast = value.As<loop::Cast>();
  if (cast != nullptr && IsRegister(cast->a.type()) &&
      cast->a.type().dtype.bits >= type.dtype.bits) {
    value = cast->a;
  }
  if (!HasSpelling(value) || !HasLanesApart(store)) return std::nullopt;
  if (const std::optional<Expr> x = AsSaturatedTo16(value);
      x.has_value() && type.dtype == DType::Int(16)) {
    return HeliumStore{
        "vstrhq_s32($0, kiln_narrow_i16x4($1));", *x, ramp->base, {"kiln_narrow_i16x4", kNarrow}};
  }
  const std::string arguments =
      absl::StrCat("($0, ", Reinterpreted("$1", value.type(), type), ");");
  if (IsOfVectors(store.buffer, type)) {
    HeliumFunction function = FunctionOfMemory("store", kStore, type);
    return HeliumStore{function.name + arguments, value, ramp->base, std::move(function)};
  }
  return HeliumStore{absl::StrCat("vstr", Letter(type.dtype.bits), "q_", Suffix(type), arguments),
                     value, ramp->base};
}

std::string HeliumType(const Type& type) {
  if (type.dtype.is_bool()) return "mve_pred16_t";
  return absl::StrCat(type.dtype.is_uint() ? "uint" : "int", LaneBits(type), "x", type.lanes, "_t");
}

}  // namespace kiln::codegen
