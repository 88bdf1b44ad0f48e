// SPDX-License-Identifier: Apache-2.0
// A shared object, loaded and called like the C++ runtime of TVM 0.9.0 does.
#ifndef KILN_TESTS_TVM_COMPAT_RELEASE_H_
#define KILN_TESTS_TVM_COMPAT_RELEASE_H_

#include <memory>
#include <string>
#include <vector>

#include "tests/tvm_compat/abi.h"

namespace tvm09 {

class Library {
 public:
  // Opens the file and sets its pointers to functions of the runtime. Fails the test if this is not
  // possible, or if the file needs another function.
  explicit Library(const std::string& path);
  ~Library();

  // Returns null if there is no such symbol.
  void* Symbol(const std::string& name) const;
  PackedFunction Function(const std::string& name) const {
    return reinterpret_cast<PackedFunction>(Symbol(name));
  }
  // Size of the symbol in the file.
  size_t SymbolBytes(const std::string& name) const;

 private:
  void* handle_ = nullptr;
};

// Code generators of this build, by their names in the names of files.
std::vector<const char*> Codegens();

// The last error text that compiled code set.
const std::string& LastError();
// Number of workspaces that compiled code allocated and did not free.
int OpenWorkspaces();

// A compact tensor on the CPU that owns its memory.
class Array {
 public:
  Array(std::vector<int64_t> shape, DataType dtype);

  Tensor* tensor() { return &tensor_; }
  template <typename T>
  T* data() {
    return static_cast<T*>(tensor_.data);
  }
  // Returns an array with another shape that shares the memory of `array`.
  static Array View(Array& array, std::vector<int64_t> shape, DataType dtype);

 private:
  Array() = default;

  std::vector<int64_t> shape_;
  std::shared_ptr<void> memory_;
  Tensor tensor_ = {};
};

// Calls a function with tensors as arguments and the type code of tensors.
int CallWithTensors(PackedFunction function, std::vector<Tensor*> tensors);

}  // namespace tvm09

#endif  // KILN_TESTS_TVM_COMPAT_RELEASE_H_
