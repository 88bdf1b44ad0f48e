// SPDX-License-Identifier: Apache-2.0
// Dot products of integers, by the instruction that the schedule has named where the machine has
// it, by plain vector arithmetic elsewhere.
#include <numeric>
#include <vector>

#include "compiler/codegen/llvm/function_emitter.h"
#include "compiler/target/instructions.h"
#include "llvm/IR/Intrinsics.h"

namespace kiln::codegen {
namespace {

const DotChoice* FindDot(const MachineTraits& traits, const loop::Dot& node, int lanes) {
  for (const DotChoice& dot : traits.dots) {
    const DotInstruction& row = *dot.row;
    if (row.name == node.instruction && dot.form->lanes == lanes && row.group == node.group &&
        row.a == node.a.type().dtype && row.b == node.b.type().dtype) {
      return &dot;
    }
  }
  return nullptr;
}

// `value` with as many lanes as `type` has: repeated, where it has fewer.
llvm::Value* RepeatedTo(llvm::IRBuilder<>& builder, llvm::Value* value, int from, int to) {
  if (from == to) return value;
  // A group of one word is broadcast as such, which is an operand of many instructions.
  const unsigned bits = value->getType()->getPrimitiveSizeInBits();
  if (bits == 32) {
    llvm::Value* word = builder.CreateBitCast(value, builder.getInt32Ty());
    llvm::Value* splat = builder.CreateVectorSplat(to / from, word);
    llvm::Type* element = value->getType()->getScalarType();
    return builder.CreateBitCast(splat, llvm::FixedVectorType::get(element, to));
  }
  std::vector<int> mask(static_cast<size_t>(to));
  for (int i = 0; i < to; ++i) mask[static_cast<size_t>(i)] = i % from;
  return builder.CreateShuffleVector(value, mask);
}

}  // namespace

llvm::Value* FunctionEmitter::EmitDot(const loop::Dot& node, const loop::Type& type) {
  llvm::Value* sum = EmitExpr(node.sum);
  llvm::Value* a = EmitExpr(node.a);
  llvm::Value* b = EmitExpr(node.b);
  const loop::DotShape shape =
      *loop::DotShape::Of(type.lanes, node.a.type().lanes, node.b.type().lanes, node.group);
  const DotChoice* dot = FindDot(machine_.traits, node, type.lanes);
  if (dot != nullptr && (shape.paired || shape.rows == 1 || shape.columns == 1)) {
    a = RepeatedTo(builder_, a, node.a.type().lanes, type.lanes * node.group);
    b = RepeatedTo(builder_, b, node.b.type().lanes, type.lanes * node.group);
    return EmitDotInstruction(*dot, sum, a, b);
  }
  return EmitPlainDot(node, shape, sum, a, b);
}

llvm::Value* FunctionEmitter::EmitDotInstruction(const DotChoice& dot, llvm::Value* sum,
                                                 llvm::Value* a, llvm::Value* b) {
  const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID(
      llvm::StringRef(dot.form->llvm.data(), dot.form->llvm.size()));
  llvm::FunctionType* declared = llvm::Intrinsic::isOverloaded(id)
                                     ? nullptr
                                     : llvm::Intrinsic::getType(builder_.getContext(), id);
  std::vector<llvm::Value*> args;
  bool adds = false;
  for (const char operand : dot.row->llvm_operands) {
    if (operand == '+') {
      adds = true;
      continue;
    }
    llvm::Value* value = operand == 's'   ? sum
                         : operand == 'a' ? a
                         : operand == 'b' ? b
                                          : builder_.getInt32(0);
    if (declared != nullptr) {
      value = builder_.CreateBitCast(value, declared->getParamType(args.size()));
    }
    args.push_back(value);
  }
  llvm::Value* result = builder_.CreateIntrinsic(sum->getType(), id, args);
  return adds ? builder_.CreateAdd(sum, result) : result;
}

llvm::Value* FunctionEmitter::EmitPlainDot(const loop::Dot& node, const loop::DotShape& shape,
                                           llvm::Value* sum, llvm::Value* a, llvm::Value* b) {
  // Element k of every lane's group, in the sum's type.
  const auto factor = [&](llvm::Value* groups, const loop::Expr& source, auto first_of, int k) {
    const bool is_vector = source.type().is_vector();
    llvm::Value* value = groups;
    if (is_vector && shape.lanes() == 1) {
      value = builder_.CreateExtractElement(
          groups, static_cast<uint64_t>(first_of(0)) + static_cast<uint64_t>(k));
    } else if (is_vector) {
      std::vector<int> mask(static_cast<size_t>(shape.lanes()));
      for (int l = 0; l < shape.lanes(); ++l) mask[static_cast<size_t>(l)] = first_of(l) + k;
      value = builder_.CreateShuffleVector(groups, mask);
    } else if (shape.lanes() > 1) {
      value = builder_.CreateVectorSplat(shape.lanes(), groups);
    }
    return builder_.CreateIntCast(value, sum->getType(), source.type().dtype.is_int());
  };
  for (int k = 0; k < shape.group; ++k) {
    llvm::Value* x = factor(a, node.a, [&](int l) { return shape.FirstOfA(l); }, k);
    llvm::Value* y = factor(b, node.b, [&](int l) { return shape.FirstOfB(l); }, k);
    sum = builder_.CreateAdd(sum, builder_.CreateMul(x, y));
  }
  return sum;
}

}  // namespace kiln::codegen
