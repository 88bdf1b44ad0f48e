// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes. A schedule writes, for int32 lanes l of a vector,
//
//   acc + x[i] * w[j + 4 * l] + x[i + 1] * w[j + 1 + 4 * l] + x[i + 2] * w[j + 2 + 4 * l] + x[i +
//   3] * w[j + 3 + 4 * l]
//
// with x and w bytes cast to int32: what one instruction (vpdpbusd, sdot, udot) computes. Integer
// addition wraps around, so the order of the terms does not matter and the result is the same bits.
#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/codegen/llvm/function_emitter.h"
#include "compiler/loop/passes.h"
#include "llvm/IR/IntrinsicsAArch64.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace kiln::codegen {
namespace {

using loop::Expr;

constexpr int kBytes = 4;          // in one lane of the instruction
constexpr size_t kMaxTerms = 256;  // of a sum that is looked at
constexpr int64_t kHighestBit = 0x80;
constexpr uint32_t kHighestBits = 0x80808080;  // of four bytes

// Bytes cast to int32, at `base` in all lanes (stride 0) or at base + 4 * lane. `flipped`: with
// their highest bit inverted, as unsigned numbers.
struct ByteOperand {
  loop::Buffer buffer;
  Expr base;
  int64_t stride;
  bool flipped = false;

  bool is_signed() const { return buffer->dtype.is_int() && !flipped; }
};

struct Product {
  Expr term;
  ByteOperand same;     // stride 0
  ByteOperand by_lane;  // stride 4
  bool taken = false;
};

Expr WithoutBroadcast(Expr e) {
  while (const auto* broadcast = e.As<loop::Broadcast>()) e = broadcast->a;
  return e;
}

std::optional<ByteOperand> AsByteOperand(Expr e) {
  e = WithoutBroadcast(e);
  const auto* cast = e.As<loop::Cast>();
  if (cast == nullptr) return std::nullopt;
  Expr source = WithoutBroadcast(cast->a);
  bool flipped = false;
  if (const auto* flip = source.As<loop::Binary>();
      flip != nullptr && flip->op == loop::BinaryOp::kXor) {
    const Expr mask = WithoutBroadcast(flip->b);
    const auto* byte = WithoutBroadcast(flip->a).As<loop::Cast>();
    if (byte == nullptr || source.type().dtype != DType::UInt(8) ||
        !loop::IsInt(mask, kHighestBit)) {
      return std::nullopt;
    }
    flipped = true;
    source = WithoutBroadcast(byte->a);
  }
  const auto* load = source.As<loop::Load>();
  if (load == nullptr || load->index.size() != 1 || !load->buffer->dtype.is_integral() ||
      load->buffer->dtype.bits != 8) {
    return std::nullopt;
  }
  Expr index = load->index[0];
  if (const auto* ramp = index.As<loop::Ramp>()) {
    return ByteOperand{load->buffer, ramp->base, ramp->stride, flipped};
  }
  index = WithoutBroadcast(index);
  if (index.type().lanes != 1) return std::nullopt;
  return ByteOperand{load->buffer, index, 0, flipped};
}

std::optional<Product> AsProduct(const Expr& e) {
  const auto* binary = e.As<loop::Binary>();
  if (binary == nullptr || binary->op != loop::BinaryOp::kMul) return std::nullopt;
  std::optional<ByteOperand> a = AsByteOperand(binary->a);
  std::optional<ByteOperand> b = AsByteOperand(binary->b);
  if (!a || !b) return std::nullopt;
  if (a->stride == 0 && b->stride == kBytes) return Product{e, *a, *b};
  if (b->stride == 0 && a->stride == kBytes) return Product{e, *b, *a};
  return std::nullopt;
}

// Operands of a tree of additions.
void CollectTerms(const Expr& e, std::vector<Expr>& terms) {
  const auto* binary = e.As<loop::Binary>();
  if (binary != nullptr && binary->op == loop::BinaryOp::kAdd && terms.size() < kMaxTerms) {
    CollectTerms(binary->a, terms);
    CollectTerms(binary->b, terms);
  } else {
    terms.push_back(e);
  }
}

// Whether `b` is `distance` elements behind `a`.
bool IsBehind(const ByteOperand& a, const ByteOperand& b, int64_t distance) {
  int64_t difference = 0;
  return a.buffer == b.buffer && a.flipped == b.flipped &&
         loop::AsInt(loop::Simplify(b.base - a.base), &difference) && difference == distance;
}

// The products that follow products[first], one for each of the other bytes; empty if one is
// missing.
std::vector<size_t> GroupOf(const std::vector<Product>& products, size_t first) {
  std::vector<size_t> group = {first};
  for (int byte = 1; byte < kBytes; ++byte) {
    for (size_t i = 0; i < products.size(); ++i) {
      if (products[i].taken || i == first) continue;
      if (IsBehind(products[first].by_lane, products[i].by_lane, byte) &&
          IsBehind(products[first].same, products[i].same, byte)) {
        group.push_back(i);
        break;
      }
    }
    if (group.size() != static_cast<size_t>(byte) + 1) return {};
  }
  return group;
}

bool HasInstruction(const MachineTraits& traits, const Product& product) {
  const bool same_signed = product.same.is_signed();
  const bool by_lane_signed = product.by_lane.is_signed();
  // Signed by signed becomes unsigned by signed, at the price of a correction.
  if (traits.dot_u8_i8) return same_signed || by_lane_signed;
  return same_signed == by_lane_signed;
}

std::optional<llvm::Intrinsic::ID> X86Dot(int lanes) {
  if (lanes == 4) return llvm::Intrinsic::x86_avx512_vpdpbusd_128;
  if (lanes == 8) return llvm::Intrinsic::x86_avx512_vpdpbusd_256;
  if (lanes == 16) return llvm::Intrinsic::x86_avx512_vpdpbusd_512;
  return std::nullopt;
}

}  // namespace

llvm::Value* FunctionEmitter::EmitByteDot(const Expr& e) {
  const MachineTraits& traits = machine_.traits;
  const int lanes = e.type().lanes;
  if (!(traits.dot_u8_i8 && X86Dot(lanes)) && !(traits.dot_same_sign && lanes == 4)) return nullptr;
  if (e.type() != loop::Type::Of(DType::Int(32), lanes)) return nullptr;
  std::vector<Expr> terms;
  CollectTerms(e, terms);
  std::vector<Product> products;
  std::vector<Expr> rest;
  for (const Expr& term : terms) {
    if (std::optional<Product> product = AsProduct(term)) {
      products.push_back(*std::move(product));
    } else {
      rest.push_back(term);
    }
  }
  std::vector<size_t> firsts;
  for (size_t i = 0; i < products.size(); ++i) {
    if (products[i].taken || !HasInstruction(traits, products[i])) continue;
    const std::vector<size_t> group = GroupOf(products, i);
    if (group.empty()) continue;
    for (size_t member : group) products[member].taken = true;
    firsts.push_back(i);
  }
  if (firsts.empty()) return nullptr;
  for (const Product& product : products) {
    if (!product.taken) rest.push_back(product.term);
  }
  llvm::Value* sum = llvm::Constant::getNullValue(types_.Value(e.type()));
  for (size_t i = 0; i < rest.size(); ++i) {
    llvm::Value* term = EmitExpr(rest[i]);
    sum = i == 0 ? term : builder_.CreateAdd(sum, term);
  }
  for (size_t first : firsts) {
    const ByteOperand& same = products[first].same;
    const ByteOperand& by_lane = products[first].by_lane;
    llvm::Value* word = builder_.CreateAlignedLoad(
        types_.i32, ElementPointer(same.buffer, EmitExpr(same.base)), llvm::Align(1));
    llvm::Value* splat = builder_.CreateVectorSplat(lanes, word);
    llvm::Value* vector = builder_.CreateAlignedLoad(
        types_.Value(e.type()), ElementPointer(by_lane.buffer, EmitExpr(by_lane.base)),
        llvm::Align(1));
    llvm::Value* highest = llvm::ConstantInt::get(sum->getType(), kHighestBits);
    if (same.flipped) splat = builder_.CreateXor(splat, highest);
    if (by_lane.flipped) vector = builder_.CreateXor(vector, highest);
    if (traits.dot_u8_i8) {
      auto dot = [&](llvm::Value* to, llvm::Value* u8, llvm::Value* i8) {
        return builder_.CreateIntrinsic(*X86Dot(lanes), {}, {to, u8, i8});
      };
      const bool same_signed = same.is_signed();
      if (same_signed && by_lane.is_signed()) {
        // x * w = (x + 128) * w - 128 * w; x + 128 is unsigned. The second term is the same for all
        // rows of a tile.
        llvm::Value* zero = llvm::Constant::getNullValue(sum->getType());
        sum = dot(sum, builder_.CreateXor(splat, highest), vector);
        sum = builder_.CreateSub(sum, dot(zero, highest, vector));
      } else {
        sum = same_signed ? dot(sum, vector, splat) : dot(sum, splat, vector);
      }
    } else {
      auto* bytes = llvm::FixedVectorType::get(types_.i8, lanes * kBytes);
      sum = builder_.CreateIntrinsic(
          same.is_signed() ? llvm::Intrinsic::aarch64_neon_sdot
                           : llvm::Intrinsic::aarch64_neon_udot,
          {sum->getType(), bytes},
          {sum, builder_.CreateBitCast(splat, bytes), builder_.CreateBitCast(vector, bytes)});
    }
  }
  return sum;
}

}  // namespace kiln::codegen
