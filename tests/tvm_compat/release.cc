// SPDX-License-Identifier: Apache-2.0
#include "tests/tvm_compat/release.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <utility>

#include "gtest/gtest.h"

namespace tvm09 {
namespace {

std::string last_error;
int open_workspaces = 0;

void SetLastError(const char* text) { last_error = text; }

// Never called, because GetFuncFromEnv returns no handle.
int FuncCall(void*, Value*, int*, int, Value*, int*) { return -1; }

// Searches the imports of the module, which are empty for these libraries, and then the global
// registry, but never the module itself.
int GetFuncFromEnv(void*, const char* name, void**) {
  last_error =
      "Cannot find function " + std::string(name) + " in the imported modules or global registry.";
  return -1;
}

void* AllocWorkspace(int device_type, int device_id, uint64_t size, int, int) {
  EXPECT_EQ(device_type, kCpu);
  EXPECT_EQ(device_id, 0);
  EXPECT_GT(size, 0u);
  ++open_workspaces;
  return std::aligned_alloc(kAllocAlignment,
                            (size + kAllocAlignment - 1) / kAllocAlignment * kAllocAlignment);
}

int FreeWorkspace(int, int, void* memory) {
  --open_workspaces;
  std::free(memory);
  return 0;
}

// Runs all tasks one after the other.
int ParallelLaunch(int (*task)(int, ParallelEnv*, void*), void* data, int num_task) {
  ParallelEnv env = {nullptr, num_task == 0 ? 3 : num_task};
  for (int i = 0; i < env.num_task; ++i) {
    if (const int error = task(i, &env, data); error != 0) return error;
  }
  return 0;
}

int ParallelBarrier(int, ParallelEnv*) { return -1; }

}  // namespace

Library::Library(const std::string& path) {
  // RTLD_NOW resolves all symbols, so a symbol that only Kiln's runtime has is an error.
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  EXPECT_NE(handle_, nullptr) << dlerror();
  if (handle_ == nullptr) return;
  const std::map<std::string, void*> functions = {
      {"__TVMFuncCall", reinterpret_cast<void*>(FuncCall)},
      {"__TVMAPISetLastError", reinterpret_cast<void*>(SetLastError)},
      {"__TVMBackendGetFuncFromEnv", reinterpret_cast<void*>(GetFuncFromEnv)},
      {"__TVMBackendAllocWorkspace", reinterpret_cast<void*>(AllocWorkspace)},
      {"__TVMBackendFreeWorkspace", reinterpret_cast<void*>(FreeWorkspace)},
      {"__TVMBackendParallelLaunch", reinterpret_cast<void*>(ParallelLaunch)},
      {"__TVMBackendParallelBarrier", reinterpret_cast<void*>(ParallelBarrier)}};
  for (const auto& [name, function] : functions) {
    if (void* const slot = Symbol(name)) std::memcpy(slot, &function, sizeof(function));
  }
  if (void* const context = Symbol("__tvm_module_ctx")) {
    std::memcpy(context, &handle_, sizeof(handle_));
  }
}

Library::~Library() {
  if (handle_ != nullptr) dlclose(handle_);
}

void* Library::Symbol(const std::string& name) const { return dlsym(handle_, name.c_str()); }

size_t Library::SymbolBytes(const std::string& name) const {
  Dl_info info = {};
  void* found = nullptr;
  if (dladdr1(Symbol(name), &info, &found, RTLD_DL_SYMENT) == 0 || found == nullptr) return 0;
  return static_cast<const ElfW(Sym)*>(found)->st_size;
}

std::vector<const char*> Codegens() {
#ifdef KILN_WITH_LLVM
  return {"c", "llvm"};
#else
  return {"c"};
#endif
}

const std::string& LastError() { return last_error; }

int OpenWorkspaces() { return open_workspaces; }

Array::Array(std::vector<int64_t> shape, DataType dtype) : shape_(std::move(shape)) {
  size_t bytes = static_cast<size_t>(dtype.bits + 7) / 8;
  for (const int64_t extent : shape_) bytes *= static_cast<size_t>(extent);
  const size_t rounded = (bytes + kAllocAlignment) / kAllocAlignment * kAllocAlignment;
  memory_.reset(std::aligned_alloc(kAllocAlignment, rounded), std::free);
  std::memset(memory_.get(), 0x5a, rounded);
  tensor_ = {.data = memory_.get(),
             .device = {kCpu, 0},
             .ndim = static_cast<int32_t>(shape_.size()),
             .dtype = dtype,
             .shape = shape_.data(),
             .strides = nullptr,
             .byte_offset = 0};
}

Array Array::View(Array& array, std::vector<int64_t> shape, DataType dtype) {
  Array view;
  view.shape_ = std::move(shape);
  view.memory_ = array.memory_;
  view.tensor_ = array.tensor_;
  view.tensor_.ndim = static_cast<int32_t>(view.shape_.size());
  view.tensor_.shape = view.shape_.data();
  view.tensor_.dtype = dtype;
  return view;
}

int CallWithTensors(PackedFunction function, std::vector<Tensor*> tensors) {
  std::vector<Value> values(tensors.size());
  std::vector<int> codes(tensors.size(), kTensor);
  for (size_t i = 0; i < tensors.size(); ++i) values[i].v_handle = tensors[i];
  Value result = {.v_int64 = 0};
  int result_code = kNull;
  const int status = function(values.data(), codes.data(), static_cast<int>(values.size()), &result,
                              &result_code, nullptr);
  EXPECT_EQ(result_code, kNull) << "compiled code returns no value";
  return status;
}

}  // namespace tvm09
