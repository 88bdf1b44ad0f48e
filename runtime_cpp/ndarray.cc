// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/ndarray.h"

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "runtime_cpp/device_api.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {

// The DLTensor is the first member because handles of the C ABI point to it.
struct NDArray::Container {
  DLTensor tensor = {};
  std::atomic<int> references{1};
  absl::InlinedVector<int64_t, 6> shape;
  absl::InlinedVector<int64_t, 6> strides;
  DeviceApi* allocator = nullptr;      // Frees tensor.data if not null.
  DLManagedTensor* managed = nullptr;  // Released with the container if not null.

  // Makes a container with a copy of everything but the data.
  static Container* Describe(const DLTensor& tensor) {
    static_assert(offsetof(Container, tensor) == 0);
    auto container = std::make_unique<Container>();
    container->tensor = tensor;
    container->shape.assign(tensor.shape, tensor.shape + tensor.ndim);
    container->tensor.shape = container->shape.data();
    if (tensor.strides != nullptr) {
      container->strides.assign(tensor.strides, tensor.strides + tensor.ndim);
      container->tensor.strides = container->strides.data();
    }
    return container.release();
  }

  void Retain() { references.fetch_add(1, std::memory_order_relaxed); }

  void Release() {
    if (references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (allocator != nullptr) allocator->Free(tensor.device, tensor.data);
    if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
    delete this;
  }
};

absl::Status CheckHasShape(const DLTensor& tensor) {
  if (tensor.ndim == 0 || (tensor.ndim > 0 && tensor.shape != nullptr)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("a tensor of ", tensor.ndim, " dimensions",
                                                 tensor.ndim < 0 ? "" : " has no shape"));
}

namespace {

template <typename T>
absl::StatusOr<std::string> BytesOf(double value) {
  if constexpr (std::is_integral_v<T>) {
    // The largest 64-bit value is not a double, but the next number is.
    const double beyond = 2.0 * static_cast<double>(std::numeric_limits<T>::max() / 2 + 1);
    if (!(value >= static_cast<double>(std::numeric_limits<T>::min()) && value < beyond) ||
        static_cast<double>(static_cast<T>(value)) != value) {
      return absl::InvalidArgumentError(absl::StrCat("found the value ", value, ", wanted one of ",
                                                     DataTypeName(DataTypeOf<T>())));
    }
  }
  const T element = static_cast<T>(value);
  return std::string(reinterpret_cast<const char*>(&element), sizeof(element));
}

// Returns the bytes of an element with the given value.
absl::StatusOr<std::string> ElementOf(DLDataType dtype, double value) {
  if (value == 0 && !std::signbit(value)) {
    return std::string(static_cast<size_t>(ElementBytes(dtype)), '\0');
  }
  if (SameDataType(dtype, DataTypeOf<float>())) return BytesOf<float>(value);
  if (SameDataType(dtype, DataTypeOf<double>())) return BytesOf<double>(value);
  if (SameDataType(dtype, DataTypeOf<int8_t>())) return BytesOf<int8_t>(value);
  if (SameDataType(dtype, DataTypeOf<int16_t>())) return BytesOf<int16_t>(value);
  if (SameDataType(dtype, DataTypeOf<int32_t>())) return BytesOf<int32_t>(value);
  if (SameDataType(dtype, DataTypeOf<int64_t>())) return BytesOf<int64_t>(value);
  if (SameDataType(dtype, DataTypeOf<uint8_t>())) return BytesOf<uint8_t>(value);
  if (SameDataType(dtype, DataTypeOf<uint16_t>())) return BytesOf<uint16_t>(value);
  if (SameDataType(dtype, DataTypeOf<uint32_t>())) return BytesOf<uint32_t>(value);
  if (SameDataType(dtype, DataTypeOf<uint64_t>())) return BytesOf<uint64_t>(value);
  if (SameDataType(dtype, DataTypeOf<bool>()) && value == 1) return std::string(1, '\1');
  return absl::UnimplementedError(
      absl::StrCat("an array of ", DataTypeName(dtype), " cannot be filled with ", value));
}

}  // namespace

NDArray::NDArray(const NDArray& other) : container_(other.container_) {
  if (container_ != nullptr) container_->Retain();
}

NDArray& NDArray::operator=(NDArray other) noexcept {
  std::swap(container_, other.container_);
  return *this;
}

NDArray::~NDArray() {
  if (container_ != nullptr) container_->Release();
}

absl::StatusOr<NDArray> NDArray::Empty(absl::Span<const int64_t> shape, DLDataType dtype,
                                       DLDevice device) {
  KILN_ASSIGN_OR_RETURN(const int64_t bytes, TensorBytes(shape, dtype));
  KILN_ASSIGN_OR_RETURN(DeviceApi* const api, GetDeviceApi(device));
  NDArray array(Container::Describe(CompactTensor(nullptr, device, dtype, shape)));
  KILN_ASSIGN_OR_RETURN(array.container_->tensor.data,
                        api->Allocate(device, static_cast<size_t>(bytes), kAllocationAlignment));
  array.container_->allocator = api;
  return array;
}

NDArray NDArray::Borrow(const DLTensor& tensor) { return NDArray(Container::Describe(tensor)); }

absl::StatusOr<NDArray> NDArray::FromDLPack(DLManagedTensor* managed) {
  const DLTensor& tensor = managed->dl_tensor;
  KILN_RETURN_IF_ERROR(CheckHasShape(tensor));
  KILN_RETURN_IF_ERROR(TensorBytes(ShapeOf(tensor), tensor.dtype).status());
  Container* const container = Container::Describe(tensor);
  container->managed = managed;
  return NDArray(container);
}

DLManagedTensor* NDArray::ToDLPack() const {
  auto* const managed = new DLManagedTensor;
  managed->dl_tensor = *tensor();
  managed->manager_ctx = ToHandle();
  managed->deleter = [](DLManagedTensor* self) {
    FromHandle(static_cast<DLTensor*>(self->manager_ctx));
    delete self;
  };
  return managed;
}

DLTensor* NDArray::tensor() const { return container_ == nullptr ? nullptr : &container_->tensor; }

bool NDArray::IsElementType(DLDataType found, DLDataType wanted) {
  if (found.code == wanted.code && found.bits == wanted.bits) return true;
  if (wanted.code != kDLUInt) return false;
  const bool is_half = found.bits == 16 && (found.code == kDLFloat || found.code == kDLBfloat);
  return (wanted.bits == 8 && found.code == kDLUInt && found.bits == 1) ||
         (wanted.bits == 16 && is_half);
}

void NDArray::CheckValues(DLDataType wanted) const {
  const bool is_bytes = wanted.code == kDLOpaqueHandle;
  if (defined() && IsCompact(*tensor()) && (is_bytes || IsElementType(dtype(), wanted))) return;
  std::fprintf(stderr, "kiln: NDArray::values: found %s%s, wanted an array of %s\n",
               defined() ? TensorName(*tensor()).c_str() : "no array",
               defined() && !IsCompact(*tensor()) ? " with gaps" : "",
               is_bytes ? "any type without gaps" : DataTypeName(wanted).c_str());
  std::abort();
}

int64_t NDArray::size_bytes() const {
  // Every function that makes an array has checked its size.
  return TensorBytes(shape(), dtype()).value_or(0);
}

absl::Status CopyTensor(const DLTensor& from, const DLTensor& to) {
  for (const DLTensor* const tensor : {&from, &to}) KILN_RETURN_IF_ERROR(CheckHasShape(*tensor));
  if (!SameDataType(from.dtype, to.dtype) || ShapeOf(from) != ShapeOf(to)) {
    return absl::InvalidArgumentError(
        absl::StrCat("cannot copy ", TensorName(from), " to ", TensorName(to)));
  }
  if (!IsCompact(from) || !IsCompact(to)) {
    return absl::InvalidArgumentError("cannot copy a tensor whose strides are not compact");
  }
  KILN_ASSIGN_OR_RETURN(const int64_t bytes, TensorBytes(ShapeOf(from), from.dtype));
  if (bytes > 0 && (from.data == nullptr || to.data == nullptr)) {
    return absl::InvalidArgumentError("cannot copy a tensor whose data pointer is NULL");
  }
  return CopyBetweenDevices(DataOf(from), from.device, DataOf(to), to.device,
                            static_cast<size_t>(bytes));
}

absl::Status NDArray::CopyFrom(const DLTensor& source) const {
  return CopyTensor(source, *tensor());
}

absl::Status NDArray::CopyTo(const DLTensor& target) const { return CopyTensor(*tensor(), target); }

absl::Status NDArray::CopyFromBytes(absl::string_view bytes) const {
  if (bytes.size() != static_cast<size_t>(size_bytes())) {
    return absl::InvalidArgumentError(
        absl::StrCat("an array of ", size_bytes(), " bytes cannot be filled with ", bytes.size()));
  }
  if (bytes.data() == nullptr && !bytes.empty()) {
    return absl::InvalidArgumentError("cannot copy bytes whose address is NULL");
  }
  return CopyBetweenDevices(bytes.data(), kCpu, data(), device(), bytes.size());
}

absl::Status NDArray::CopyToBytes(absl::Span<char> bytes) const {
  if (bytes.size() != static_cast<size_t>(size_bytes())) {
    return absl::InvalidArgumentError(
        absl::StrCat("an array of ", size_bytes(), " bytes cannot be copied to ", bytes.size()));
  }
  if (bytes.data() == nullptr && !bytes.empty()) {
    return absl::InvalidArgumentError("cannot copy bytes whose address is NULL");
  }
  return CopyBetweenDevices(data(), device(), bytes.data(), kCpu, bytes.size());
}

absl::Status NDArray::Fill(double value) const {
  KILN_ASSIGN_OR_RETURN(const std::string element, ElementOf(dtype(), value));
  if (device().device_type != kDLCPU) {
    KILN_ASSIGN_OR_RETURN(const NDArray host, Empty(shape(), dtype()));
    KILN_RETURN_IF_ERROR(host.Fill(value));
    return CopyFrom(*host);
  }
  char* const begin = static_cast<char*>(data());
  const auto size = static_cast<size_t>(size_bytes());
  for (size_t i = 0; i < size; i += element.size()) {
    std::memcpy(begin + i, element.data(), element.size());
  }
  return absl::OkStatus();
}

DLTensor* NDArray::ToHandle() const {
  if (container_ == nullptr) return nullptr;
  container_->Retain();
  return &container_->tensor;
}

NDArray NDArray::FromHandle(DLTensor* handle) {
  return NDArray(reinterpret_cast<Container*>(handle));
}

NDArray NDArray::ShareHandle(DLTensor* handle) {
  NDArray array = FromHandle(handle);
  if (handle != nullptr) array.container_->Retain();
  return array;
}

}  // namespace kiln::runtime
