// SPDX-License-Identifier: Apache-2.0
// Loads and stores. A vector access with stride 1 is one vector instruction. Other strides up to
// kMaxShuffledStride are vector loads and shuffles. All others are lane by lane.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/llvm/function_emitter.h"

namespace kiln::codegen {
namespace {

constexpr int64_t kMaxShuffledStride = 4;

}  // namespace

llvm::Value* FunctionEmitter::BufferBase(const loop::Buffer& buffer) {
  if (auto it = buffers_.find(buffer.get()); it != buffers_.end()) return it->second;
  if (auto it = context_.constants.find(buffer.get()); it != context_.constants.end()) {
    return it->second;
  }
  // Loaded for every use, so that it does not occupy a register.
  if (auto it = array_positions_.find(buffer.get()); it != array_positions_.end()) {
    return builder_.CreateLoad(
        types_.pointer, builder_.CreateConstInBoundsGEP1_64(types_.pointer, function_->getArg(0),
                                                            static_cast<uint64_t>(it->second)));
  }
  context_.Fail(absl::StrCat("buffer ", buffer->name, " of ", func_.name, " is nowhere"));
  return llvm::PoisonValue::get(types_.pointer);
}

llvm::Align FunctionEmitter::ElementAlign(const loop::Buffer& buffer) const {
  return llvm::Align(buffer->dtype.bytes());
}

llvm::Value* FunctionEmitter::ElementPointer(const loop::Buffer& buffer, llvm::Value* index) {
  return builder_.CreateInBoundsGEP(types_.Storage(buffer->dtype), BufferBase(buffer), index);
}

bool FunctionEmitter::AffineOf(const loop::Expr& e, Address* out) {
  if (e.type().lanes == 1) {
    *out = {EmitExpr(e), true, 0, nullptr};
    return true;
  }
  if (const auto* ramp = e.As<loop::Ramp>()) {
    *out = {EmitExpr(ramp->base), true, ramp->stride, nullptr};
    return true;
  }
  if (const auto* broadcast = e.As<loop::Broadcast>()) return AffineOf(broadcast->a, out);
  const auto* binary = e.As<loop::Binary>();
  if (binary == nullptr || !e.type().index) return false;
  Address a, b;
  int64_t factor = 0;
  switch (binary->op) {
    case loop::BinaryOp::kAdd:
      if (!AffineOf(binary->a, &a) || !AffineOf(binary->b, &b)) return false;
      *out = {builder_.CreateNSWAdd(a.base, b.base), true, a.stride + b.stride, nullptr};
      return true;
    case loop::BinaryOp::kSub:
      if (!AffineOf(binary->a, &a) || !AffineOf(binary->b, &b)) return false;
      *out = {builder_.CreateNSWSub(a.base, b.base), true, a.stride - b.stride, nullptr};
      return true;
    case loop::BinaryOp::kMul:
      if (!loop::AsInt(binary->b, &factor) || !AffineOf(binary->a, &a)) return false;
      *out = {builder_.CreateNSWMul(a.base, IndexConst(factor)), true, a.stride * factor, nullptr};
      return true;
    default:
      return false;
  }
}

FunctionEmitter::Address FunctionEmitter::ElementIndex(const loop::Buffer& buffer,
                                                       const std::vector<loop::Expr>& index,
                                                       int lanes) {
  if (index.empty()) return {IndexConst(0), true, 0, nullptr};
  Shape strides = {1};
  if (index.size() > 1) strides = RowMajorStrides(buffer->shape);
  if (strides.size() != index.size()) {
    context_.Fail(absl::StrCat(index.size(), " indices into buffer ", buffer->name, " of rank ",
                               buffer->shape.size()));
    return {IndexConst(0), true, 0, nullptr};
  }
  Address total{IndexConst(0), true, 0, nullptr};
  bool affine = true;
  for (size_t i = 0; i < index.size() && affine; ++i) {
    Address part;
    affine = AffineOf(index[i], &part);
    if (!affine) break;
    total.base =
        builder_.CreateNSWAdd(total.base, builder_.CreateNSWMul(part.base, IndexConst(strides[i])));
    total.stride += part.stride * strides[i];
  }
  if (affine) return total;
  auto widen = [&](llvm::Value* value) {
    return value->getType()->isVectorTy() ? value : builder_.CreateVectorSplat(lanes, value);
  };
  llvm::Value* sum = nullptr;
  for (size_t i = 0; i < index.size(); ++i) {
    llvm::Value* term = builder_.CreateNSWMul(
        widen(EmitExpr(index[i])), builder_.CreateVectorSplat(lanes, IndexConst(strides[i])));
    sum = sum == nullptr ? term : builder_.CreateNSWAdd(sum, term);
  }
  return {nullptr, false, 0, sum};
}

llvm::Value* FunctionEmitter::LaneOf(const Address& address, int lane) {
  if (!address.affine) return builder_.CreateExtractElement(address.lanes, lane);
  return builder_.CreateNSWAdd(address.base, IndexConst(lane * address.stride));
}

llvm::Value* FunctionEmitter::LoadStrided(const loop::Buffer& buffer, const Address& address,
                                          int lanes) {
  // Every load covers `lanes` consecutive elements and ends no later than the last lane, so that
  // none reads beyond the access.
  auto* vector = llvm::cast<llvm::FixedVectorType>(types_.Storage(buffer->dtype, lanes));
  const int64_t stride = address.stride;
  const int64_t span = (lanes - 1) * stride + 1;
  llvm::Value* result = llvm::PoisonValue::get(vector);
  int lane = 0;
  while (lane < lanes) {
    const int64_t start = std::min(lane * stride, span - lanes);
    llvm::Value* pointer =
        ElementPointer(buffer, builder_.CreateNSWAdd(address.base, IndexConst(start)));
    llvm::Value* part = builder_.CreateAlignedLoad(vector, pointer, ElementAlign(buffer));
    std::vector<int> mask(lanes);
    for (int i = 0; i < lanes; ++i) mask[i] = i < lane ? i : -1;
    for (; lane < lanes && lane * stride < start + lanes; ++lane) {
      mask[lane] = lanes + static_cast<int>(lane * stride - start);
    }
    result = builder_.CreateShuffleVector(result, part, mask);
  }
  return result;
}

llvm::Value* FunctionEmitter::EmitLoad(const loop::Load& node, const loop::Type& type) {
  const loop::Buffer& buffer = node.buffer;
  const int lanes = type.lanes;
  const Address address = ElementIndex(buffer, node.index, lanes);
  llvm::Type* element = types_.Storage(buffer->dtype);
  const llvm::Align align = ElementAlign(buffer);
  auto load_lane = [&](llvm::Value* index) {
    return builder_.CreateAlignedLoad(element, ElementPointer(buffer, index), align);
  };
  llvm::Value* value = nullptr;
  if (lanes == 1) {
    value = load_lane(address.base);
  } else if (address.affine && address.stride == 1) {
    value = builder_.CreateAlignedLoad(types_.Storage(buffer->dtype, lanes),
                                       ElementPointer(buffer, address.base), align);
  } else if (address.affine && address.stride == 0) {
    value = builder_.CreateVectorSplat(lanes, load_lane(address.base));
  } else if (address.affine && address.stride > 1 && address.stride <= kMaxShuffledStride) {
    value = LoadStrided(buffer, address, lanes);
  } else {
    value = llvm::PoisonValue::get(types_.Storage(buffer->dtype, lanes));
    for (int lane = 0; lane < lanes; ++lane) {
      value = builder_.CreateInsertElement(value, load_lane(LaneOf(address, lane)), lane);
    }
  }
  if (!buffer->dtype.is_bool()) return value;
  return builder_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType()));
}

void FunctionEmitter::Emit(const loop::Store& node) {
  const std::optional<loop::DotTile> tile = loop::AsDotTile(node);
  if (tile.has_value() && EmitDotTile(*tile)) return;
  const loop::Buffer& buffer = node.buffer;
  llvm::Value* value = EmitExpr(node.value);
  int lanes = node.value.type().lanes;
  for (const loop::Expr& e : node.index) lanes = std::max(lanes, e.type().lanes);
  if (lanes > 1 && node.value.type().lanes == 1) value = builder_.CreateVectorSplat(lanes, value);
  if (buffer->dtype.is_bool()) {
    value = builder_.CreateZExt(value, types_.Storage(buffer->dtype, lanes));
  }
  const Address address = ElementIndex(buffer, node.index, lanes);
  const llvm::Align align = ElementAlign(buffer);
  if (lanes == 1 || (address.affine && address.stride == 1)) {
    builder_.CreateAlignedStore(value, ElementPointer(buffer, address.base), align);
    return;
  }
  for (int lane = 0; lane < lanes; ++lane) {
    builder_.CreateAlignedStore(builder_.CreateExtractElement(value, lane),
                                ElementPointer(buffer, LaneOf(address, lane)), align);
  }
}

void FunctionEmitter::Emit(const loop::Prefetch& node) {
  llvm::Value* offset = EmitExpr(node.offset);
  // Not "in bounds", because the address may be outside of the buffer.
  llvm::Value* address =
      builder_.CreateGEP(types_.Storage(node.buffer->dtype), BufferBase(node.buffer), offset);
  constexpr int kRead = 0, kData = 1;
  const int locality = 4 - node.level;  // 3: in all caches
  builder_.CreateIntrinsic(
      llvm::Intrinsic::prefetch, {address->getType()},
      {address, builder_.getInt32(kRead), builder_.getInt32(locality), builder_.getInt32(kData)});
}

}  // namespace kiln::codegen
