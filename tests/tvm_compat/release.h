// SPDX-License-Identifier: Apache-2.0
// A shared object as the C++ runtime of TVM 0.9.0 loads it and calls what is in it.
#ifndef KILN_TESTS_TVM_COMPAT_RELEASE_H_
#define KILN_TESTS_TVM_COMPAT_RELEASE_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/tvm_compat/abi.h"

namespace tvm09 {

class Library {
 public:
  // Opens the file and fills its pointers to functions of the runtime. Fails the test if that is
  // not possible, or if the file wants another function.
  explicit Library(const std::string& path);
  ~Library();

  // Null if there is none.
  void* Symbol(const std::string& name) const;
  PackedFunction Function(const std::string& name) const {
    return reinterpret_cast<PackedFunction>(Symbol(name));
  }
  // Bytes of the symbol as the file says.
  size_t SymbolBytes(const std::string& name) const;

 private:
  void* handle_ = nullptr;
};

// The code generators of this build, as they are called in the names of files.
std::vector<const char*> Codegens();

// The text that compiled code left behind last.
const std::string& LastError();
// Workspaces that compiled code has taken and not given back.
int OpenWorkspaces();

// A compact tensor on the CPU with memory of its own.
class Array {
 public:
  Array(std::vector<int64_t> shape, DataType dtype);

  Tensor* tensor() { return &tensor_; }
  template <typename T>
  T* data() {
    return static_cast<T*>(tensor_.data);
  }
  // Another shape over the memory of `array`.
  static Array View(Array& array, std::vector<int64_t> shape, DataType dtype);

 private:
  Array() = default;

  std::vector<int64_t> shape_;
  std::shared_ptr<void> memory_;
  Tensor tensor_ = {};
};

// Calls with tensors as arguments, each with the code of a tensor.
int CallWithTensors(PackedFunction function, std::vector<Tensor*> tensors);

}  // namespace tvm09

#endif  // KILN_TESTS_TVM_COMPAT_RELEASE_H_
