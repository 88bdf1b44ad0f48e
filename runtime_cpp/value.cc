// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/value.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime_cpp/status/annotate.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

absl::Status WrongType(int found, int wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat("found ", TypeCodeName(found), ", wanted ", TypeCodeName(wanted)));
}

// Checks that a module, function, text or bytes is not null, and that bytes have data unless they
// are empty.
absl::Status CheckHandle(const TVMValue& value, int code) {
  const bool is_read = code == kTVMModuleHandle || code == kTVMPackedFuncHandle ||
                       code == kTVMStr || code == kTVMBytes;
  if (!is_read) return absl::OkStatus();
  if (value.v_handle != nullptr && code == kTVMBytes) {
    const auto* const bytes = static_cast<const TVMByteArray*>(value.v_handle);
    if (bytes->data != nullptr || bytes->size == 0) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("the ", bytes->size, " bytes are NULL"));
  }
  if (value.v_handle != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("the ", TypeCodeName(code), " is NULL"));
}

}  // namespace

std::string TypeCodeName(int code) {
  switch (code) {
    case kTVMArgInt:
      return "int";
    case kTVMArgFloat:
      return "float";
    case kTVMOpaqueHandle:
      return "opaque handle";
    case kTVMNullptr:
      return "nothing";
    case kTVMDataType:
      return "data type";
    case kDLDevice:
      return "device";
    case kTVMDLTensorHandle:
      return "tensor";
    case kTVMObjectHandle:
      return "object";
    case kTVMModuleHandle:
      return "module";
    case kTVMPackedFuncHandle:
      return "function";
    case kTVMStr:
      return "string";
    case kTVMBytes:
      return "bytes";
    case kTVMNDArrayHandle:
      return "array";
    default:
      return absl::StrCat("type code ", code);
  }
}

Value Value::Opaque(void* handle) {
  Value value;
  value.value_ = Handle{handle};
  return value;
}

Value Value::BorrowedTensor(DLTensor* tensor) {
  Value value;
  value.value_ = tensor;
  return value;
}

absl::StatusOr<Value> Value::Copy(const TVMValue& value, int code) {
  KILN_RETURN_IF_ERROR(CheckHandle(value, code));
  switch (code) {
    case kTVMModuleHandle:
      return Value(*static_cast<ModulePtr*>(value.v_handle));
    case kTVMPackedFuncHandle:
      return Value(*static_cast<PackedFuncPtr*>(value.v_handle));
    case kTVMNDArrayHandle:
      return Value(NDArray::ShareHandle(static_cast<DLTensor*>(value.v_handle)));
    default:
      return Take(value, code);
  }
}

absl::StatusOr<Value> Value::Take(const TVMValue& value, int code) {
  KILN_RETURN_IF_ERROR(CheckHandle(value, code));
  switch (code) {
    case kTVMArgInt:
      return Value(value.v_int64);
    case kTVMArgFloat:
      return Value(value.v_float64);
    case kTVMOpaqueHandle:
      return Opaque(value.v_handle);
    case kTVMNullptr:
      return Value();
    case kTVMDataType:
      return Value(value.v_type);
    case kDLDevice:
      return Value(value.v_device);
    case kTVMDLTensorHandle:
      return BorrowedTensor(static_cast<DLTensor*>(value.v_handle));
    case kTVMStr:
      return Value(std::string(value.v_str));
    case kTVMBytes: {
      const auto* const bytes = static_cast<const TVMByteArray*>(value.v_handle);
      return Value(Bytes{std::string(bytes->data, bytes->size)});
    }
    case kTVMNDArrayHandle:
      return Value(NDArray::FromHandle(static_cast<DLTensor*>(value.v_handle)));
    case kTVMModuleHandle:
      return Value(std::move(*std::unique_ptr<ModulePtr>(static_cast<ModulePtr*>(value.v_handle))));
    case kTVMPackedFuncHandle:
      return Value(
          std::move(*std::unique_ptr<PackedFuncPtr>(static_cast<PackedFuncPtr*>(value.v_handle))));
    default:
      return absl::UnimplementedError(
          absl::StrCat("a value of ", TypeCodeName(code), " has no form in this runtime"));
  }
}

int Value::code() const {
  // The order is that of the variant's types.
  constexpr int kCodes[] = {kTVMNullptr, kTVMArgInt,        kTVMArgFloat,     kTVMStr,
                            kTVMBytes,   kTVMNDArrayHandle, kTVMModuleHandle, kTVMPackedFuncHandle,
                            kDLDevice,   kTVMDataType,      kTVMOpaqueHandle, kTVMDLTensorHandle};
  static_assert(std::size(kCodes) == std::variant_size_v<decltype(value_)>);
  return kCodes[value_.index()];
}

int Value::ToC(TVMValue* out, TVMByteArray* bytes) const {
  std::visit(Overloaded{
                 [&](std::monostate) { out->v_handle = nullptr; },
                 [&](int64_t value) { out->v_int64 = value; },
                 [&](double value) { out->v_float64 = value; },
                 [&](const std::string& value) { out->v_str = value.c_str(); },
                 [&](const Bytes& value) {
                   *bytes = {value.data.data(), value.data.size()};
                   out->v_handle = bytes;
                 },
                 [&](const NDArray& value) { out->v_handle = value.ToHandle(); },
                 [&](const ModulePtr& value) { out->v_handle = new ModulePtr(value); },
                 [&](const PackedFuncPtr& value) { out->v_handle = new PackedFuncPtr(value); },
                 [&](DLDevice value) { out->v_device = value; },
                 [&](DLDataType value) { out->v_type = value; },
                 [&](Handle value) { out->v_handle = value.pointer; },
                 [&](DLTensor* value) { out->v_handle = value; },
             },
             value_);
  return code();
}

template <typename T>
absl::StatusOr<T> Value::Get(int wanted_code) const {
  if (const T* const value = std::get_if<T>(&value_)) return *value;
  return WrongType(code(), wanted_code);
}

absl::StatusOr<int64_t> Value::Int() const { return Get<int64_t>(kTVMArgInt); }
absl::StatusOr<double> Value::Float() const { return Get<double>(kTVMArgFloat); }
absl::StatusOr<NDArray> Value::Array() const { return Get<NDArray>(kTVMNDArrayHandle); }
absl::StatusOr<ModulePtr> Value::Module() const { return Get<ModulePtr>(kTVMModuleHandle); }

absl::StatusOr<PackedFuncPtr> Value::Function() const {
  return Get<PackedFuncPtr>(kTVMPackedFuncHandle);
}

absl::StatusOr<std::string> Value::String() const {
  if (const auto* const bytes = std::get_if<Bytes>(&value_)) return bytes->data;
  return Get<std::string>(kTVMStr);
}

absl::StatusOr<void*> Value::OpaqueHandle() const {
  KILN_ASSIGN_OR_RETURN(const Handle handle, Get<Handle>(kTVMOpaqueHandle));
  return handle.pointer;
}

absl::Status Args::CheckCode(int i, int wanted) const {
  if (i >= size_) {
    return absl::InvalidArgumentError(
        absl::StrCat("argument ", i, ": found none, wanted ", TypeCodeName(wanted)));
  }
  if (codes_[i] == wanted) {
    return Annotate(CheckHandle(values_[i], wanted), absl::StrCat("argument ", i, ": "));
  }
  return absl::InvalidArgumentError(
      absl::StrCat("argument ", i, ": ", WrongType(codes_[i], wanted).message()));
}

absl::Status Args::CheckSize(int min, int max) const {
  if (size_ >= min && size_ <= max) return absl::OkStatus();
  const std::string wanted = min == max ? absl::StrCat(min) : absl::StrCat(min, " to ", max);
  return absl::InvalidArgumentError(absl::StrCat("found ", size_, " arguments, wanted ", wanted));
}

absl::StatusOr<int64_t> Args::Int(int i) const {
  KILN_RETURN_IF_ERROR(CheckCode(i, kTVMArgInt));
  return values_[i].v_int64;
}

absl::StatusOr<double> Args::Float(int i) const {
  if (i < size_ && codes_[i] == kTVMArgInt) return static_cast<double>(values_[i].v_int64);
  KILN_RETURN_IF_ERROR(CheckCode(i, kTVMArgFloat));
  return values_[i].v_float64;
}

absl::StatusOr<absl::string_view> Args::String(int i) const {
  if (i < size_ && codes_[i] == kTVMBytes) {
    KILN_RETURN_IF_ERROR(CheckCode(i, kTVMBytes));
    const auto* const bytes = static_cast<const TVMByteArray*>(values_[i].v_handle);
    return absl::string_view(bytes->data, bytes->size);
  }
  KILN_RETURN_IF_ERROR(CheckCode(i, kTVMStr));
  return absl::string_view(values_[i].v_str);
}

absl::StatusOr<DLDevice> Args::Device(int i) const {
  KILN_RETURN_IF_ERROR(CheckCode(i, kDLDevice));
  return values_[i].v_device;
}

absl::StatusOr<DLTensor*> Args::Tensor(int i) const {
  if (i >= size_ || codes_[i] != kTVMNDArrayHandle) {
    KILN_RETURN_IF_ERROR(CheckCode(i, kTVMDLTensorHandle));
  }
  if (values_[i].v_handle == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("argument ", i, ": the tensor is NULL"));
  }
  return static_cast<DLTensor*>(values_[i].v_handle);
}

absl::StatusOr<NDArray> Args::Array(int i) const {
  KILN_ASSIGN_OR_RETURN(DLTensor* const tensor, Tensor(i));
  if (codes_[i] == kTVMNDArrayHandle) return NDArray::ShareHandle(tensor);
  if (const absl::Status status = CheckHasShape(*tensor); !status.ok()) {
    return Annotate(status, absl::StrCat("argument ", i, ": "));
  }
  return NDArray::Borrow(*tensor);
}

absl::StatusOr<ModulePtr> Args::Module(int i) const {
  KILN_RETURN_IF_ERROR(CheckCode(i, kTVMModuleHandle));
  return *static_cast<ModulePtr*>(values_[i].v_handle);
}

}  // namespace kiln::runtime
