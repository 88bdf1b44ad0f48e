// SPDX-License-Identifier: Apache-2.0
// Constants and structured data.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/llvm/emit_module.h"

namespace kiln::codegen {
namespace {

using loop::DataValue;

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

class DataEmitter {
 public:
  explicit DataEmitter(ModuleContext& context) : context_(context) {}

  llvm::Type* TypeOf(const DataValue& value) {
    llvm::LLVMContext& llvm_context = context_.module.getContext();
    return std::visit(
        Overloaded{
            [&](const DataValue::Integer& v) -> llvm::Type* {
              return llvm::IntegerType::get(llvm_context, v.bits);
            },
            [&](const DataValue::Float& v) -> llvm::Type* {
              return v.bits == 32 ? llvm::Type::getFloatTy(llvm_context)
                                  : llvm::Type::getDoubleTy(llvm_context);
            },
            [&](const DataValue::Bytes& v) -> llvm::Type* {
              return llvm::ArrayType::get(context_.types.i8, v.bytes.size());
            },
            [&](const DataValue::Aggregate& v) -> llvm::Type* { return AggregateType(v); },
            [&](const auto&) -> llvm::Type* { return context_.types.pointer; },
        },
        value.value);
  }

  llvm::Constant* ValueOf(const DataValue& value) {
    llvm::LLVMContext& llvm_context = context_.module.getContext();
    return std::visit(
        Overloaded{
            [&](const DataValue::Integer& v) -> llvm::Constant* {
              return llvm::ConstantInt::get(llvm::IntegerType::get(llvm_context, v.bits),
                                            static_cast<uint64_t>(v.value), /*IsSigned=*/true);
            },
            [&](const DataValue::Float& v) -> llvm::Constant* {
              return llvm::ConstantFP::get(TypeOf(value), v.value);
            },
            [&](const DataValue::Text& v) -> llvm::Constant* { return context_.Text(v.bytes); },
            [&](const DataValue::Bytes& v) -> llvm::Constant* {
              return llvm::ConstantDataArray::getRaw(v.bytes, v.bytes.size(), context_.types.i8);
            },
            [&](const DataValue::Address& v) -> llvm::Constant* { return AddressOf(v.symbol); },
            [&](const DataValue::FuncAddress& v) -> llvm::Constant* {
              return FunctionOf(v.symbol);
            },
            [&](const DataValue::Aggregate& v) -> llvm::Constant* { return AggregateOf(v); },
        },
        value.value);
  }

 private:
  llvm::Type* AggregateType(const DataValue::Aggregate& aggregate) {
    std::vector<llvm::Type*> fields;
    for (const DataValue& field : aggregate.fields) fields.push_back(TypeOf(field));
    if (!aggregate.array) return llvm::StructType::get(context_.module.getContext(), fields);
    if (fields.empty()) return llvm::ArrayType::get(context_.types.i8, 0);
    if (std::any_of(fields.begin(), fields.end(), [&](auto* f) { return f != fields[0]; })) {
      context_.Fail("the elements of a data array differ in type");
    }
    return llvm::ArrayType::get(fields[0], fields.size());
  }

  llvm::Constant* AggregateOf(const DataValue::Aggregate& aggregate) {
    llvm::Type* type = AggregateType(aggregate);
    std::vector<llvm::Constant*> fields;
    for (const DataValue& field : aggregate.fields) fields.push_back(ValueOf(field));
    if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type)) {
      return llvm::ConstantArray::get(array, fields);
    }
    return llvm::ConstantStruct::get(llvm::cast<llvm::StructType>(type), fields);
  }

  llvm::Constant* AddressOf(const std::string& symbol) {
    if (symbol.empty()) return llvm::ConstantPointerNull::get(context_.types.pointer);
    if (llvm::GlobalValue* value = context_.module.getNamedValue(symbol)) return value;
    for (const loop::Constant& constant : context_.program.constants) {
      if (constant.buffer->name == symbol) return context_.constants.at(constant.buffer.get());
    }
    // The symbol belongs to another object.
    return new llvm::GlobalVariable(context_.module, context_.types.i8, /*isConstant=*/true,
                                    llvm::GlobalValue::ExternalLinkage, nullptr, symbol);
  }

  llvm::Constant* FunctionOf(const std::string& symbol) {
    const auto own = context_.funcs.find(symbol);
    if (own != context_.funcs.end() && own->second.body != nullptr &&
        own->second.entry == own->second.body &&
        own->second.func->convention == loop::Convention::kPacked) {
      context_.Fail(absl::StrCat("data has the address of ", symbol, ", which is not exported"));
    }
    if (llvm::GlobalValue* value = context_.module.getNamedValue(symbol)) return value;
    return llvm::Function::Create(context_.types.PackedFunction(),
                                  llvm::GlobalValue::ExternalLinkage, symbol, context_.module);
  }

  ModuleContext& context_;
};

}  // namespace

void EmitConstants(ModuleContext& context) {
  for (const loop::Constant& constant : context.program.constants) {
    const std::string& bytes = constant.tensor.bytes();
    auto* global = new llvm::GlobalVariable(
        context.module, llvm::ArrayType::get(context.types.i8, bytes.size()), /*isConstant=*/true,
        llvm::GlobalValue::InternalLinkage,
        llvm::ConstantDataArray::getRaw(bytes, bytes.size(), context.types.i8),
        constant.buffer->name);
    global->setAlignment(
        llvm::Align(std::max(constant.buffer->dtype.bytes(), constant.buffer->alignment_bytes)));
    if (!constant.pool.empty()) global->setSection(".rodata." + constant.pool);
    context.constants[constant.buffer.get()] = global;
  }
}

void DeclareData(ModuleContext& context) {
  DataEmitter emitter(context);
  for (const loop::DataDef& def : context.program.data) {
    if (context.module.getNamedValue(def.name) != nullptr) {
      context.Fail(absl::StrCat("two symbols have the name ", def.name));
      return;
    }
    auto* global = new llvm::GlobalVariable(
        context.module, emitter.TypeOf(def.value), /*isConstant=*/!def.writable,
        def.exported ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage,
        nullptr, def.name);
    if (def.alignment_bytes > 0) global->setAlignment(llvm::Align(def.alignment_bytes));
  }
}

void DefineData(ModuleContext& context) {
  DataEmitter emitter(context);
  for (const loop::DataDef& def : context.program.data) {
    context.module.getNamedGlobal(def.name)->setInitializer(emitter.ValueOf(def.value));
  }
}

}  // namespace kiln::codegen
