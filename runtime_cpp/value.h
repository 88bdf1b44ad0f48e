// SPDX-License-Identifier: Apache-2.0
//
// The values that packed functions take and return.
//
// Args is a borrowed view of the arguments of one call, in the form of the C ABI. Value owns a
// value of any type of the C ABI. The getters of both return a value of one type, or an error with
// the type that was found.
//
//   absl::StatusOr<int64_t> index = args.Int(0);
//   absl::StatusOr<NDArray> output = value.Array();
#ifndef KILN_RUNTIME_CPP_VALUE_H_
#define KILN_RUNTIME_CPP_VALUE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime_cpp/ndarray.h"
#include "tvm/runtime/c_runtime_api.h"

namespace kiln::runtime {

class Args;
class ModuleNode;
class Value;

// Objects that a TVMModuleHandle and a TVMFunctionHandle point to.
using ModulePtr = std::shared_ptr<ModuleNode>;
using PackedFuncBody = std::function<absl::StatusOr<Value>(const Args&)>;
using PackedFuncPtr = std::shared_ptr<const PackedFuncBody>;

// Bytes. In contrast to text, they may contain NUL.
struct Bytes {
  std::string data;
};

// Returns the name of a type code: "int", "string"…
std::string TypeCodeName(int code);

class Value {
 public:
  // Makes an empty value.
  Value() = default;
  Value(int64_t value) : value_(value) {}                   // NOLINT(google-explicit-constructor)
  Value(double value) : value_(value) {}                    // NOLINT(google-explicit-constructor)
  Value(std::string value) : value_(std::move(value)) {}    // NOLINT(google-explicit-constructor)
  Value(Bytes value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Value(NDArray value) : value_(std::move(value)) {}        // NOLINT(google-explicit-constructor)
  Value(ModulePtr value) : value_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Value(PackedFuncPtr value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Value(DLDevice value) : value_(value) {}                  // NOLINT(google-explicit-constructor)
  Value(DLDataType value) : value_(value) {}                // NOLINT(google-explicit-constructor)
  static Value Opaque(void* handle);
  static Value BorrowedTensor(DLTensor* tensor);

  // Copies an argument: text is copied, handles get another reference.
  static absl::StatusOr<Value> Copy(const TVMValue& value, int code);
  // Takes ownership of the result of a C function, including the references of its handles.
  static absl::StatusOr<Value> Take(const TVMValue& value, int code);

  // Returns the type code of the C ABI.
  int code() const;
  // Converts the value to the form of the C ABI and returns its type code. Handles get another
  // reference; the value keeps ownership of text. `bytes` is filled for a value of bytes and must
  // live as long as `out` is read.
  int ToC(TVMValue* out, TVMByteArray* bytes) const;

  bool empty() const { return std::holds_alternative<std::monostate>(value_); }
  absl::StatusOr<int64_t> Int() const;
  absl::StatusOr<double> Float() const;
  absl::StatusOr<std::string> String() const;  // Text or bytes.
  absl::StatusOr<NDArray> Array() const;
  absl::StatusOr<ModulePtr> Module() const;
  absl::StatusOr<PackedFuncPtr> Function() const;
  absl::StatusOr<void*> OpaqueHandle() const;

 private:
  struct Handle {
    void* pointer;
  };

  template <typename T>
  absl::StatusOr<T> Get(int wanted_code) const;

  std::variant<std::monostate, int64_t, double, std::string, Bytes, NDArray, ModulePtr,
               PackedFuncPtr, DLDevice, DLDataType, Handle, DLTensor*>
      value_;
};

// The arguments of one call, valid only during the call.
class Args {
 public:
  Args(const TVMValue* values, const int* codes, int size)
      : values_(values), codes_(codes), size_(size) {}

  int size() const { return size_; }
  int code(int i) const { return codes_[i]; }
  const TVMValue* values() const { return values_; }
  const int* codes() const { return codes_; }

  // Return argument `i`, or InvalidArgument if there are fewer arguments or it has another type.
  absl::StatusOr<int64_t> Int(int i) const;
  absl::StatusOr<double> Float(int i) const;              // Also accepts an integer.
  absl::StatusOr<absl::string_view> String(int i) const;  // Text or bytes.
  absl::StatusOr<DLDevice> Device(int i) const;
  absl::StatusOr<DLTensor*> Tensor(int i) const;
  // An NDArray argument shares its memory. A plain DLTensor is borrowed and must outlive the
  // result.
  absl::StatusOr<NDArray> Array(int i) const;
  absl::StatusOr<ModulePtr> Module(int i) const;

  // Returns InvalidArgument unless there are `min` to `max` arguments.
  absl::Status CheckSize(int min, int max) const;

 private:
  absl::Status CheckCode(int i, int wanted) const;

  const TVMValue* values_;
  const int* codes_;
  int size_;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_VALUE_H_
