// SPDX-License-Identifier: Apache-2.0
//
// The values that packed functions take and return.
//
// Args is a borrowed view on the arguments of one call, in the form of the C ABI. Value owns one
// value of any of the types that the C ABI can carry. Both hand a value out by type and say what
// they found if it is another one.
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

// What a TVMModuleHandle and a TVMFunctionHandle point to.
using ModulePtr = std::shared_ptr<ModuleNode>;
using PackedFuncBody = std::function<absl::StatusOr<Value>(const Args&)>;
using PackedFuncPtr = std::shared_ptr<const PackedFuncBody>;

// Bytes, as opposed to text, which ends at the first NUL.
struct Bytes {
  std::string data;
};

// "int", "string"…, for a type code.
std::string TypeCodeName(int code);

class Value {
 public:
  // No value.
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

  // A copy of an argument: text is copied, handles get a reference of their own.
  static absl::StatusOr<Value> Copy(const TVMValue& value, int code);
  // Takes over what a C function returned, with the references that its handles hold.
  static absl::StatusOr<Value> Take(const TVMValue& value, int code);

  // The type code of the C ABI.
  int code() const;
  // In the form of the C ABI. Handles get a reference of their own; text stays this value's.
  // `bytes` is filled for a value of bytes and has to live as long as `out` is read.
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

// Arguments of one call; valid only during it.
class Args {
 public:
  Args(const TVMValue* values, const int* codes, int size)
      : values_(values), codes_(codes), size_(size) {}

  int size() const { return size_; }
  int code(int i) const { return codes_[i]; }
  const TVMValue* values() const { return values_; }
  const int* codes() const { return codes_; }

  // Argument `i`. InvalidArgument if there are fewer, or it has another type.
  absl::StatusOr<int64_t> Int(int i) const;
  absl::StatusOr<double> Float(int i) const;              // Takes an integer as well.
  absl::StatusOr<absl::string_view> String(int i) const;  // Text or bytes.
  absl::StatusOr<DLDevice> Device(int i) const;
  absl::StatusOr<DLTensor*> Tensor(int i) const;
  // An array shares its memory; a bare DLTensor is borrowed and has to outlive the result.
  absl::StatusOr<NDArray> Array(int i) const;
  absl::StatusOr<ModulePtr> Module(int i) const;

  // InvalidArgument unless there are `min` to `max` arguments.
  absl::Status CheckSize(int min, int max) const;

 private:
  absl::Status CheckCode(int i, int wanted) const;

  const TVMValue* values_;
  const int* codes_;
  int size_;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_VALUE_H_
