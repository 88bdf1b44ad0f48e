// SPDX-License-Identifier: Apache-2.0
// The LLVM types of the loop IR's types and of the C ABI's structs.
#ifndef KILN_COMPILER_CODEGEN_LLVM_IR_TYPES_H_
#define KILN_COMPILER_CODEGEN_LLVM_IR_TYPES_H_

#include "compiler/loop/expr.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"

namespace kiln::codegen {

// DLDeviceType of memory of the CPU.
inline constexpr int kDeviceCpu = 1;

// Returns `scalar` as a vector with as many lanes as `like`, or as it is.
llvm::Type* TypeLike(llvm::Value* like, llvm::Type* scalar);

class IrTypes {
 public:
  IrTypes(llvm::LLVMContext& context, int pointer_bits, bool short_enums);

  // Type in a register. A bool is an i1.
  llvm::Type* Value(const loop::Type& type) const;
  // Type in memory, for one or more lanes. A bool is an i8.
  llvm::Type* Storage(DType dtype, int lanes = 1) const;

  // int32_t (TVMValue* args, int* type_codes, int num_args, TVMValue* ret, int* ret_code, void*
  // resource).
  llvm::FunctionType* PackedFunction() const;

  llvm::PointerType* pointer;
  llvm::IntegerType* index;
  llvm::IntegerType* i8;
  llvm::IntegerType* i16;
  llvm::IntegerType* i32;
  llvm::IntegerType* i64;
  // DLDevice.device_type, as wide as an enum with few values. The rest of its 32 bits is padding.
  llvm::IntegerType* device_type;
  llvm::StructType* dl_tensor;  // fields as enumerated below
  llvm::StructType* group_env;  // TVMParallelGroupEnv

  // Fields of dl_tensor; `dtype` is one 32-bit word.
  enum DlTensorField {
    kData,
    kDeviceType,
    kDeviceId,
    kNdim,
    kDtype,
    kShape,
    kStrides,
    kByteOffset
  };

 private:
  llvm::Type* Scalar(DType dtype) const;
  llvm::LLVMContext& context_;
};

// The value of a constant integer, scalar or equal in all lanes, or null.
const llvm::ConstantInt* SplatInt(llvm::Value* value);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_LLVM_IR_TYPES_H_
