// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/llvm/ir_types.h"

namespace kiln::codegen {

IrTypes::IrTypes(llvm::LLVMContext& context, int pointer_bits, bool short_enums)
    : pointer(llvm::PointerType::getUnqual(context)),
      index(llvm::IntegerType::get(context, pointer_bits)),
      i8(llvm::Type::getInt8Ty(context)),
      i16(llvm::Type::getInt16Ty(context)),
      i32(llvm::Type::getInt32Ty(context)),
      i64(llvm::Type::getInt64Ty(context)),
      device_type(short_enums ? i8 : i32),
      dl_tensor(llvm::StructType::create(
          context, {pointer, device_type, i32, i32, i32, pointer, pointer, i64}, "DLTensor")),
      group_env(llvm::StructType::create(context, {pointer, i32}, "TVMParallelGroupEnv")),
      context_(context) {}

llvm::Type* IrTypes::Scalar(DType dtype) const {
  switch (dtype.kind) {
    case DTypeKind::kBool:
      return llvm::Type::getInt1Ty(context_);
    case DTypeKind::kBFloat:
      return i16;  // its bits, like float16
    case DTypeKind::kFloat:
      // Only for storage: its bits.
      if (dtype.bits == 16) return i16;
      return dtype.bits == 32 ? llvm::Type::getFloatTy(context_)
                              : llvm::Type::getDoubleTy(context_);
    case DTypeKind::kInt:
    case DTypeKind::kUInt:
      break;
  }
  return llvm::IntegerType::get(context_, dtype.bits);
}

llvm::Type* IrTypes::Value(const loop::Type& type) const {
  llvm::Type* scalar = type.index ? index : Scalar(type.dtype);
  return type.lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, type.lanes);
}

llvm::Type* IrTypes::Storage(DType dtype, int lanes) const {
  llvm::Type* scalar = dtype.is_bool() ? i8 : Scalar(dtype);
  return lanes == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes);
}

llvm::FunctionType* IrTypes::PackedFunction() const {
  return llvm::FunctionType::get(i32, {pointer, pointer, i32, pointer, pointer, pointer}, false);
}

const llvm::ConstantInt* SplatInt(llvm::Value* value) {
  auto* constant = llvm::dyn_cast<llvm::Constant>(value);
  if (constant != nullptr && constant->getType()->isVectorTy()) {
    constant = constant->getSplatValue();
  }
  return llvm::dyn_cast_or_null<llvm::ConstantInt>(constant);
}

llvm::Type* TypeLike(llvm::Value* like, llvm::Type* scalar) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(like->getType());
  return vector == nullptr ? scalar : llvm::FixedVectorType::get(scalar, vector->getNumElements());
}

}  // namespace kiln::codegen
