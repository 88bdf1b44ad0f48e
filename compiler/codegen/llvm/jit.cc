// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/llvm/jit.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/MemoryBuffer.h"

namespace kiln::codegen {
namespace {

namespace orc = llvm::orc;

thread_local std::string last_error;

// Minimal implementations of the functions of c_backend_api.h.
struct GroupEnv {
  void* sync_handle;
  int32_t num_task;
};

int ParallelLaunch(int (*task)(int, GroupEnv*, void*), void* closure, int num_task) {
  // More than one task, so that the division of iterations is tested.
  GroupEnv env{nullptr, num_task > 0 ? num_task : 2};
  for (int i = 0; i < env.num_task; ++i) {
    if (task(i, &env, closure) != 0) return -1;
  }
  return 0;
}

void* AllocWorkspace(int, int, uint64_t bytes, int, int) {
  constexpr uint64_t kAlignment = 128;
  return std::aligned_alloc(kAlignment, (bytes + kAlignment) / kAlignment * kAlignment);
}

int FreeWorkspace(int, int, void* memory) {
  std::free(memory);
  return 0;
}

void SetLastError(const char* text) { last_error = text; }

Jit::Symbols WithDefaults(Jit::Symbols symbols) {
  symbols.emplace("TVMBackendParallelLaunch", reinterpret_cast<void*>(&ParallelLaunch));
  symbols.emplace("TVMBackendAllocWorkspace", reinterpret_cast<void*>(&AllocWorkspace));
  symbols.emplace("TVMBackendFreeWorkspace", reinterpret_cast<void*>(&FreeWorkspace));
  symbols.emplace("TVMAPISetLastError", reinterpret_cast<void*>(&SetLastError));
  return symbols;
}

absl::Status ToStatus(llvm::Error error) {
  if (!error) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("JIT: ", llvm::toString(std::move(error))));
}

template <size_t>
using Pointer = void*;

template <size_t... I>
int32_t CallWith(void* function, [[maybe_unused]] absl::Span<void* const> args,
                 std::index_sequence<I...>) {
  return reinterpret_cast<int32_t (*)(Pointer<I>...)>(function)(args[I]...);
}

template <size_t N = 0>
int32_t CallFunction(void* function, absl::Span<void* const> args) {
  if constexpr (N < Jit::kMaxRunArgs) {
    if (args.size() != N) return CallFunction<N + 1>(function, args);
  }
  return CallWith(function, args, std::make_index_sequence<N>());
}

}  // namespace

struct Jit::Impl {
  std::unique_ptr<orc::LLJIT> jit;
};

Jit::Jit(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Jit::~Jit() = default;

absl::StatusOr<std::unique_ptr<Jit>> Jit::Create(const loop::LoopProgram& program,
                                                 const Target& target, const Symbols& symbols,
                                                 const LlvmOptions& options) {
  LlvmOptions jit_options = options;
  jit_options.loader_pointers = false;
  jit_options.position_independent = true;
  KILN_ASSIGN_OR_RETURN(const std::string object, EmitObject(program, target, jit_options));
  KILN_ASSIGN_OR_RETURN(std::unique_ptr<Jit> jit, FromObject(object, target, symbols));
  // Links everything at once, so that missing symbols are detected here.
  for (const loop::Func& func : program.funcs) {
    const bool is_defined =
        func.kind != loop::Func::Kind::kTask && func.kind != loop::Func::Kind::kExternal;
    if (!func.exported || !is_defined) continue;
    KILN_RETURN_IF_ERROR(ToStatus(jit->impl_->jit->lookup(func.name).takeError()));
  }
  return jit;
}

absl::StatusOr<std::unique_ptr<Jit>> Jit::FromObject(absl::string_view object, const Target& target,
                                                     const Symbols& symbols) {
  orc::JITTargetMachineBuilder builder{llvm::Triple(target.triple)};
  builder.setRelocationModel(llvm::Reloc::PIC_);
  llvm::Expected<std::unique_ptr<orc::LLJIT>> jit =
      orc::LLJITBuilder().setJITTargetMachineBuilder(std::move(builder)).create();
  if (!jit) return ToStatus(jit.takeError());
  auto impl = std::make_unique<Impl>();
  impl->jit = std::move(*jit);

  orc::SymbolMap table;
  for (const auto& [name, address] : WithDefaults(symbols)) {
    table[impl->jit->mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(address),
                                               llvm::JITSymbolFlags::Exported};
  }
  KILN_RETURN_IF_ERROR(
      ToStatus(impl->jit->getMainJITDylib().define(orc::absoluteSymbols(std::move(table)))));
  KILN_RETURN_IF_ERROR(ToStatus(impl->jit->addObjectFile(
      llvm::MemoryBuffer::getMemBufferCopy(llvm::StringRef(object.data(), object.size())))));
  return std::unique_ptr<Jit>(new Jit(std::move(impl)));
}

void* Jit::Lookup(const std::string& name) const {
  llvm::Expected<orc::ExecutorAddr> address = impl_->jit->lookup(name);
  if (!address) {
    llvm::consumeError(address.takeError());
    return nullptr;
  }
  return address->toPtr<void*>();
}

absl::Status Jit::Run(const std::string& name, absl::Span<void* const> args) const {
  void* function = Lookup(name);
  if (function == nullptr) return absl::InternalError(absl::StrCat("no function ", name));
  if (args.size() > kMaxRunArgs) {
    return absl::InternalError(absl::StrCat(name, " has ", args.size(), " parameters"));
  }
  const int32_t status = CallFunction(function, args);
  if (status == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(name, " returned ", status, ": ", last_error));
}

std::string JitLastError() { return last_error; }

}  // namespace kiln::codegen
