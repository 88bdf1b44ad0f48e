// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/llvm/emit_module.h"

#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/llvm/function_emitter.h"
#include "compiler/loop/scalars.h"

namespace kiln::codegen {
namespace {

bool IsDefined(const loop::Func& func) { return func.kind != loop::Func::Kind::kExternal; }

bool IsPacked(const loop::Func& func) {
  return func.convention == loop::Convention::kPacked && func.kind != loop::Func::Kind::kTask;
}

// True if callers outside of the module, which may pass anything, call the function. Calls within
// the module pass pointers to the body.
bool HasPackedEntry(const loop::Func& func) {
  return IsPacked(func) && (func.exported || func.allocate_workspace);
}

// Names of the functions that `stmt` launches.
void CollectLaunches(const loop::Stmt& stmt, std::set<std::string>& names) {
  if (!stmt) return;
  if (const auto* launch = stmt.As<loop::Launch>()) {
    names.insert(launch->function);
  } else if (const auto* loop = stmt.As<loop::For>()) {
    CollectLaunches(loop->body, names);
  } else if (const auto* block = stmt.As<loop::Block>()) {
    for (const loop::Stmt& s : block->stmts) CollectLaunches(s, names);
  } else if (const auto* branch = stmt.As<loop::If>()) {
    CollectLaunches(branch->then_body, names);
    CollectLaunches(branch->else_body, names);
  } else if (const auto* allocate = stmt.As<loop::Allocate>()) {
    CollectLaunches(allocate->body, names);
  }
}

// Functions whose parameters may overlap: those with in_place set, and their tasks.
std::set<std::string> InPlaceFuncs(const loop::LoopProgram& program) {
  std::set<std::string> names;
  for (const loop::Func& func : program.funcs) {
    if (!func.in_place) continue;
    names.insert(func.name);
    CollectLaunches(func.body, names);
  }
  return names;
}

llvm::FunctionType* BodyType(const loop::Func& func, const IrTypes& types) {
  if (TakesArray(func)) return llvm::FunctionType::get(types.i32, {types.pointer}, false);
  std::vector<llvm::Type*> params;
  const size_t leading = loop::NumLeadingScalars(func);
  params.assign(leading, types.index);
  params.insert(params.end(), func.params.size(), types.pointer);
  if (func.workspace != nullptr) params.push_back(types.pointer);
  for (size_t i = leading; i < func.scalars.size(); ++i) {
    params.push_back(types.Value(func.scalars[i].type()));
  }
  return llvm::FunctionType::get(types.i32, params, false);
}

void AddPointerAttributes(const loop::Func& func, bool may_overlap, llvm::Function* body) {
  auto position = static_cast<unsigned>(loop::NumLeadingScalars(func));
  auto add = [&](const loop::BufferNode& buffer) {
    llvm::Argument* argument = body->getArg(position++);
    if (!may_overlap) argument->addAttr(llvm::Attribute::NoAlias);
    llvm::AttrBuilder attributes(body->getContext());
    if (buffer.alignment_bytes > 1) attributes.addAlignmentAttr(buffer.alignment_bytes);
    if (buffer.num_bytes() > 0) attributes.addDereferenceableAttr(buffer.num_bytes());
    argument->addAttrs(attributes);
  };
  for (const loop::Buffer& buffer : func.params) add(*buffer);
  if (func.workspace != nullptr) add(*func.workspace);
}

// True if the function only passes its arguments on, like functions that share the code of another
// one.
bool OnlyCalls(const loop::Func& func) {
  const auto* call = func.body.As<loop::Call>();
  return call != nullptr && call->profile_index < 0;
}

llvm::GlobalValue::LinkageTypes Linkage(bool exported) {
  return exported ? llvm::GlobalValue::ExternalLinkage : llvm::GlobalValue::InternalLinkage;
}

void DeclareFunc(ModuleContext& context, const loop::Func& func, bool may_overlap) {
  const bool packed = IsPacked(func);
  const bool exported = func.exported && func.kind != loop::Func::Kind::kTask;
  if (func.allocate_workspace && !packed) {
    context.Fail(absl::StrCat(func.name, " allocates its workspace but is not packed"));
    return;
  }
  if (context.funcs.count(func.name) != 0) {
    context.Fail(absl::StrCat("two functions have the name ", func.name));
    return;
  }
  FuncSymbols symbols{&func, nullptr, nullptr};
  if (!IsDefined(func)) {
    if (!func.by_name) {
      symbols.entry = llvm::Function::Create(
          packed ? context.types.PackedFunction() : BodyType(func, context.types),
          llvm::GlobalValue::ExternalLinkage, func.name, context.module);
      symbols.entry->setDoesNotThrow();
    }
    context.funcs.emplace(func.name, symbols);
    return;
  }
  const bool has_entry = HasPackedEntry(func);
  symbols.body =
      llvm::Function::Create(BodyType(func, context.types), Linkage(exported && !packed),
                             has_entry ? func.name + ".compute" : func.name, context.module);
  if (!TakesArray(func)) AddPointerAttributes(func, may_overlap, symbols.body);
  context.Decorate(symbols.body, context.MachineOf(func));
  if (!exported && OnlyCalls(func)) symbols.body->addFnAttr(llvm::Attribute::AlwaysInline);
  symbols.entry = symbols.body;
  if (has_entry) {
    symbols.entry = llvm::Function::Create(context.types.PackedFunction(), Linkage(exported),
                                           func.name, context.module);
    context.Decorate(symbols.entry, context.MachineOf(func));
  }
  context.funcs.emplace(func.name, symbols);
}

void DefineProfileHook(ModuleContext& context) {
  const std::string& name = context.program.profile_hook;
  if (name.empty()) return;
  new llvm::GlobalVariable(context.module, context.types.pointer, /*isConstant=*/false,
                           llvm::GlobalValue::ExternalLinkage,
                           llvm::ConstantPointerNull::get(context.types.pointer), name);
}

}  // namespace

absl::Status EmitModule(ModuleContext& context) {
  DefineProfileHook(context);
  const std::set<std::string> in_place = InPlaceFuncs(context.program);
  for (const loop::Func& func : context.program.funcs) {
    DeclareFunc(context, func, in_place.count(func.name) != 0);
  }
  DeclareGetters(context);
  DeclareCpuChoice(context);
  DeclareData(context);
  if (!context.status().ok()) return context.status();
  EmitConstants(context);
  DefineData(context);
  for (const loop::Func& func : context.program.funcs) {
    if (!IsDefined(func)) continue;
    const FuncSymbols& symbols = context.funcs.at(func.name);
    FunctionEmitter(context, symbols).Emit();
    if (HasPackedEntry(func)) EmitPackedEntry(context, symbols);
  }
  DefineGetters(context);
  DefineCpuChoice(context);
  context.DefineModuleVariable();
  return context.status();
}

}  // namespace kiln::codegen
