// SPDX-License-Identifier: Apache-2.0
// Dot products: by the instruction that the schedule has chosen if the machine has it, otherwise by
// plain vector arithmetic.
#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/codegen/llvm/function_emitter.h"
#include "compiler/loop/bfloat16.h"
#include "compiler/loop/check.h"
#include "compiler/target/instructions.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/IntrinsicsRISCV.h"

namespace kiln::codegen {
namespace {

const DotChoice* FindDot(const MachineTraits& traits, const loop::Dot& node, int lanes) {
  for (const DotChoice& dot : traits.dots) {
    const DotInstruction& row = *dot.row;
    if (dot.form->lanes == lanes && !row.has_loops_only() &&
        row.IsNamed(node.kind.instruction, node.kind.group, node.kind.swaps, node.kind.column_run,
                    node.a.type().dtype, node.b.type().dtype)) {
      return &dot;
    }
  }
  return nullptr;
}

// True if the lanes of a dot have the instruction's layout, perhaps after a factor is repeated.
bool IsGeometryOf(DotGeometry geometry, const loop::DotShape& shape) {
  if (geometry == DotGeometry::kOuter) {
    return !shape.paired && shape.rows == 2 && shape.columns == 2;
  }
  return shape.paired || shape.rows == 1 || shape.columns == 1;
}

// Repeats the lanes of `value` up to `to` lanes. A scalar stays a scalar.
llvm::Value* RepeatedTo(llvm::IRBuilder<>& builder, llvm::Value* value, int from, int to) {
  if (from == to || from == 1) return value;
  // A group of one word is broadcast as a word, which many instructions accept as an operand.
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

// Emits the instructions in a row's text (DotForm::llvm).
class DotSpelling {
 public:
  DotSpelling(llvm::IRBuilder<>& builder, absl::string_view text, llvm::Value* sum, llvm::Value* a,
              llvm::Value* b)
      : builder_(builder), text_(text), sum_(sum), a_(a), b_(b) {}

  llvm::Value* Emit() {
    llvm::Value* value = Term();
    while (Take("+")) value = builder_.CreateAdd(value, Term());
    return value;
  }

 private:
  bool Take(absl::string_view what) {
    text_ = absl::StripLeadingAsciiWhitespace(text_);
    return absl::ConsumePrefix(&text_, what);
  }

  llvm::Value* Term() {
    text_ = absl::StripLeadingAsciiWhitespace(text_);
    const size_t end = std::min(text_.find_first_of("(), "), text_.size());
    const absl::string_view name = text_.substr(0, end);
    text_.remove_prefix(end);
    if (Take("(")) return Call(name);
    if (name == "0") return builder_.getInt32(0);
    if (name == "s") return sum_;
    KILN_CHECK(name[0] == 'a' || name[0] == 'b', "an instruction's text names no operand");
    llvm::Value* factor = name[0] == 'a' ? a_ : b_;
    return name.size() == 1 ? factor : Word(factor, static_cast<uint64_t>(name[1] - '0'));
  }

  llvm::Value* Word(llvm::Value* factor, uint64_t which) {
    const auto words = static_cast<unsigned>(factor->getType()->getPrimitiveSizeInBits() / 32);
    if (words == 1) return builder_.CreateBitCast(factor, builder_.getInt32Ty());
    auto* type = llvm::FixedVectorType::get(builder_.getInt32Ty(), words);
    return builder_.CreateExtractElement(builder_.CreateBitCast(factor, type), which);
  }

  llvm::Value* Call(absl::string_view name) {
    std::vector<llvm::Value*> args;
    do {
      args.push_back(Emit());
    } while (Take(","));
    KILN_CHECK(Take(")"), "an instruction's text lacks a parenthesis");
    if (name == "riscv.vwmacc") return WideningMultiplyAdd(args[0], args[1], args[2]);
    if (name == "widen") {
      auto* type = llvm::cast<llvm::VectorType>(args[0]->getType());
      return builder_.CreateSExt(args[0], llvm::VectorType::getExtendedElementVectorType(type));
    }
    if (name == "ror8") {
      args.push_back(args[0]);
      args.push_back(builder_.getInt32(8));
      return builder_.CreateIntrinsic(args[0]->getType(), llvm::Intrinsic::fshr, args);
    }
    const llvm::Intrinsic::ID id = llvm::Function::lookupIntrinsicID(absl::StrCat("llvm.", name));
    if (llvm::Intrinsic::isOverloaded(id)) {
      if (auto* type = llvm::dyn_cast<llvm::FixedVectorType>(sum_->getType())) {
        for (llvm::Value*& arg : args) {
          if (!arg->getType()->isVectorTy()) {
            arg = builder_.CreateVectorSplat(type->getNumElements(), arg);
          }
        }
      }
      return builder_.CreateIntrinsic(sum_->getType(), id, args);
    }
    llvm::FunctionType* declared = llvm::Intrinsic::getType(builder_.getContext(), id);
    for (unsigned i = 0; i < args.size(); ++i) {
      args[i] = builder_.CreateBitCast(args[i], declared->getParamType(i));
    }
    return builder_.CreateIntrinsic(declared->getReturnType(), id, args);
  }

  // RISC-V's vector intrinsics take types without a fixed number of lanes. Their registers have at
  // least 128 bits, and so at least `lanes` lanes; an operand is the number of active lanes.
  llvm::Value* WideningMultiplyAdd(llvm::Value* sum, llvm::Value* a, llvm::Value* b) {
    constexpr unsigned kLeastUnits = 2;  // 64-bit units of the smallest register
    const unsigned lanes = llvm::cast<llvm::FixedVectorType>(sum->getType())->getNumElements();
    const auto scalable = [&](llvm::Value* vector) {
      llvm::Type* element = vector->getType()->getScalarType();
      auto* type = llvm::ScalableVectorType::get(element, lanes / kLeastUnits);
      return builder_.CreateInsertVector(type, llvm::PoisonValue::get(type), vector,
                                         builder_.getInt64(0));
    };
    // A factor that is the same in all lanes is a scalar.
    if (!b->getType()->isVectorTy()) std::swap(a, b);
    llvm::Value* wide = scalable(sum);
    llvm::Value* x = a->getType()->isVectorTy() ? scalable(a) : a;
    llvm::Value* y = scalable(b);
    llvm::Type* index = builder_.getInt64Ty();
    constexpr uint64_t kTailAndMaskAgnostic = 3;
    llvm::Value* result = builder_.CreateIntrinsic(
        llvm::Intrinsic::riscv_vwmacc, {wide->getType(), x->getType(), y->getType(), index},
        {wide, x, y, builder_.getInt64(lanes), builder_.getInt64(kTailAndMaskAgnostic)});
    return builder_.CreateExtractVector(sum->getType(), result, builder_.getInt64(0));
  }

  llvm::IRBuilder<>& builder_;
  absl::string_view text_;
  llvm::Value *sum_, *a_, *b_;
};

}  // namespace

llvm::Value* FunctionEmitter::EmitDot(const loop::Dot& node, const loop::Type& type) {
  llvm::Value* sum = EmitExpr(node.sum);
  llvm::Value* a = EmitExpr(node.a);
  llvm::Value* b = EmitExpr(node.b);
  const loop::DotShape shape =
      *loop::DotShape::Of(type.lanes, node.a.type().lanes, node.b.type().lanes, node.kind);
  const DotChoice* dot = FindDot(machine_.traits, node, type.lanes);
  if (dot != nullptr && IsGeometryOf(dot->row->geometry, shape)) {
    if (dot->row->geometry != DotGeometry::kOuter) {
      a = RepeatedTo(builder_, a, node.a.type().lanes, type.lanes * node.kind.group);
      b = RepeatedTo(builder_, b, node.b.type().lanes, type.lanes * node.kind.group);
    }
    return DotSpelling(builder_, dot->form->llvm, sum, a, b).Emit();
  }
  return EmitPlainDot(node, shape, sum, a, b);
}

llvm::Value* FunctionEmitter::EmitPlainDot(const loop::Dot& node, const loop::DotShape& shape,
                                           llvm::Value* sum, llvm::Value* a, llvm::Value* b) {
  // Returns one factor of a product, for every lane.
  const auto factor = [&](llvm::Value* groups, const loop::Expr& source, auto lane_of) {
    const bool is_vector = source.type().is_vector();
    llvm::Value* value = groups;
    if (is_vector && shape.lanes() == 1) {
      value = builder_.CreateExtractElement(groups, static_cast<uint64_t>(lane_of(0)));
    } else if (is_vector) {
      std::vector<int> mask(static_cast<size_t>(shape.lanes()));
      for (int l = 0; l < shape.lanes(); ++l) mask[static_cast<size_t>(l)] = lane_of(l);
      value = builder_.CreateShuffleVector(groups, mask);
    } else if (shape.lanes() > 1) {
      value = builder_.CreateVectorSplat(shape.lanes(), groups);
    }
    return value;
  };
  const auto extended = [&](llvm::Value* value, const loop::Expr& source) {
    return builder_.CreateIntCast(value, sum->getType(), source.type().dtype.is_int());
  };
  const auto add_product = [&](llvm::Value* total, int term, const loop::DotShape::Product& parts) {
    llvm::Value* x = factor(a, node.a, [&](int l) { return shape.InA(l, term, parts.of_a); });
    llvm::Value* y = factor(b, node.b, [&](int l) { return shape.InB(l, term, parts.of_b); });
    if (node.sum.type().dtype.is_float()) return EmitBFloatProduct(x, y, total);
    return builder_.CreateAdd(total, builder_.CreateMul(extended(x, node.a), extended(y, node.b)));
  };
  if (node.sum.type().dtype.is_float()) {
    return loop::SumBFloatProducts<llvm::Value*>(
        shape, sum, llvm::Constant::getNullValue(sum->getType()), add_product,
        [&](llvm::Value* total, llvm::Value* apart) { return EmitSumOfBFloats(total, apart); });
  }
  for (int term = 0; term < shape.terms(); ++term) {
    for (const loop::DotShape::Product& parts : shape.products()) {
      sum = add_product(sum, term, parts);
    }
  }
  return sum;
}

}  // namespace kiln::codegen
