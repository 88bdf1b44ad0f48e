// SPDX-License-Identifier: Apache-2.0
//
// A function with arguments and a result of any types, which all languages can call.
//
// Compiled operators, the methods of executors and functions of the program have this form. Use the
// typed C++ classes if there are any. Use PackedFunc to call or to offer a function by name.
//
//   PackedFunc set_input = executor.GetFunction("set_input").value();
//   absl::StatusOr<Value> result = set_input("x", array);
#ifndef KILN_RUNTIME_CPP_PACKED_FUNC_H_
#define KILN_RUNTIME_CPP_PACKED_FUNC_H_

#include <array>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/value.h"
#include "tvm/runtime/c_backend_api.h"

namespace kiln::runtime {

class PackedFunc {
 public:
  // Makes an undefined function. Calls of it fail.
  PackedFunc() = default;
  explicit PackedFunc(PackedFuncPtr body) : body_(std::move(body)) {}
  explicit PackedFunc(PackedFuncBody body)
      : body_(std::make_shared<const PackedFuncBody>(std::move(body))) {}

  // Wraps a compiled function. `owner` keeps its code loaded. `name` appears in errors.
  static PackedFunc FromBackend(TVMBackendPackedCFunc function, std::shared_ptr<const void> owner,
                                std::string name);

  // Makes a function that fails with `status`.
  static PackedFunc Failing(absl::Status status);

  bool defined() const { return body_ != nullptr; }
  const PackedFuncPtr& body() const { return body_; }

  absl::StatusOr<Value> Call(const Args& args) const;

  // Accepts int, double, const char*, std::string, string_view, DLDevice, DLDataType, DLTensor*,
  // NDArray, Module, PackedFunc, void* and nullptr. The caller keeps ownership of the arguments.
  template <typename... A>
  absl::StatusOr<Value> operator()(const A&... args) const {
    Packer<sizeof...(A)> packer;
    (packer.Add(args), ...);
    return Call(Args(packer.values.data(), packer.codes.data(), static_cast<int>(sizeof...(A))));
  }

 private:
  // Converts arguments to the form of the C ABI. All are borrowed.
  template <size_t kSize>
  struct Packer {
    std::array<TVMValue, kSize + 1> values;
    std::array<int, kSize + 1> codes;
    std::array<TVMByteArray, kSize + 1> byte_arrays;
    size_t size = 0;

    void Add(const char* value) { Next(kTVMStr).v_str = value; }
    void Add(const std::string& value) {
      // As text, a string would end at its first NUL.
      if (value.find('\0') != std::string::npos) {
        Add(absl::string_view(value));
      } else {
        Add(value.c_str());
      }
    }
    void Add(absl::string_view value) {
      byte_arrays[size] = {value.data(), value.size()};
      void* const handle = &byte_arrays[size];
      Next(kTVMBytes).v_handle = handle;
    }
    void Add(const Bytes& value) { Add(absl::string_view(value.data)); }
    void Add(DLDevice value) { Next(kDLDevice).v_device = value; }
    void Add(DLDataType value) { Next(kTVMDataType).v_type = value; }
    void Add(DLTensor* value) { Next(kTVMDLTensorHandle).v_handle = value; }
    void Add(const DLTensor* value) { Add(const_cast<DLTensor*>(value)); }
    void Add(const NDArray& value) { Next(kTVMNDArrayHandle).v_handle = value.tensor(); }
    void Add(const ModulePtr& value) {
      Next(kTVMModuleHandle).v_handle = const_cast<ModulePtr*>(&value);
    }
    void Add(const PackedFunc& value) {
      Next(kTVMPackedFuncHandle).v_handle = const_cast<PackedFuncPtr*>(&value.body());
    }
    void Add(void* value) { Next(kTVMOpaqueHandle).v_handle = value; }
    void Add(std::nullptr_t) { Next(kTVMNullptr).v_handle = nullptr; }
    template <typename T>
    std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>> Add(T value) {
      Next(kTVMArgInt).v_int64 = static_cast<int64_t>(value);
    }
    template <typename T>
    std::enable_if_t<std::is_floating_point_v<T>> Add(T value) {
      Next(kTVMArgFloat).v_float64 = static_cast<double>(value);
    }

    TVMValue& Next(int code) {
      codes[size] = code;
      return values[size++];
    }
  };

  PackedFuncPtr body_;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_PACKED_FUNC_H_
