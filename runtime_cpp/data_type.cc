// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/data_type.h"

#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln::runtime {
namespace {

struct CodeName {
  uint8_t code;
  absl::string_view name;
};

// If a name is the prefix of another one, the longer name comes first.
constexpr CodeName kCodeNames[] = {
    {kDLBfloat, "bfloat"},       {kDLComplex, "complex"}, {kDLFloat, "float"},
    {kDLOpaqueHandle, "handle"}, {kDLInt, "int"},         {kDLUInt, "uint"},
};

absl::string_view DeviceTypeName(int32_t device_type) {
  switch (device_type) {
    case kDLCPU:
      return "cpu";
    case kDLCUDA:
      return "cuda";
    case kDLCUDAHost:
      return "cuda_host";
    case kDLOpenCL:
      return "opencl";
    case 5:
      return "aocl";
    case 6:
      return "sdaccel";
    case kDLVulkan:
      return "vulkan";
    case kDLMetal:
      return "metal";
    case kDLVPI:
      return "vpi";
    case kDLROCM:
      return "rocm";
    case 11:
      return "opengl";
    case kDLExtDev:
      return "ext_dev";
    case 13:
      return "micro_dev";
    case 14:
      return "hexagon";
    case 15:
      return "webgpu";
    default:
      return "";
  }
}

}  // namespace

std::string DataTypeName(DLDataType dtype) {
  if (dtype.code == kDLUInt && dtype.bits == 1 && dtype.lanes == 1) return "bool";
  std::string name = absl::StrCat("type_code(", dtype.code, ")");
  for (const CodeName& entry : kCodeNames) {
    if (entry.code == dtype.code) name = std::string(entry.name);
  }
  absl::StrAppend(&name, dtype.bits);
  if (dtype.lanes != 1) absl::StrAppend(&name, "x", dtype.lanes);
  return name;
}

absl::StatusOr<DLDataType> ParseDataType(absl::string_view name) {
  const auto error = [name] {
    return absl::InvalidArgumentError(absl::StrCat("'", name, "' is not a data type"));
  };
  if (name == "bool") return DLDataType{kDLUInt, 1, 1};
  for (const CodeName& entry : kCodeNames) {
    if (!absl::StartsWith(name, entry.name)) continue;
    absl::string_view rest = name.substr(entry.name.size());
    int bits = 0;
    int lanes = 1;
    const size_t x = rest.find('x');
    if (x != absl::string_view::npos) {
      if (!absl::SimpleAtoi(rest.substr(x + 1), &lanes) || lanes < 1 || lanes > 65535) {
        return error();
      }
      rest = rest.substr(0, x);
    }
    if (!absl::SimpleAtoi(rest, &bits) || bits < 1 || bits > 255) return error();
    return DLDataType{entry.code, static_cast<uint8_t>(bits), static_cast<uint16_t>(lanes)};
  }
  return error();
}

std::string DeviceName(DLDevice device) {
  const absl::string_view name = DeviceTypeName(device.device_type);
  if (name.empty()) {
    return absl::StrCat("device_type(", device.device_type, "):", device.device_id);
  }
  return absl::StrCat(name, ":", device.device_id);
}

std::string ShapeName(absl::Span<const int64_t> shape) {
  return absl::StrCat("(", absl::StrJoin(shape, ", "), ")");
}

std::string TensorName(const DLTensor& tensor) {
  return absl::StrCat(DataTypeName(tensor.dtype), " ", ShapeName(ShapeOf(tensor)), " on ",
                      DeviceName(tensor.device));
}

int64_t ElementBytes(DLDataType dtype) {
  return (static_cast<int64_t>(dtype.bits) * dtype.lanes + 7) / 8;
}

absl::StatusOr<int64_t> TensorBytes(absl::Span<const int64_t> shape, DLDataType dtype) {
  if (shape.size() > static_cast<size_t>(kMaxNdim)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a tensor has ", shape.size(), " dimensions, at most ", kMaxNdim, " work"));
  }
  int64_t bytes = ElementBytes(dtype);
  bool empty = false;
  for (const int64_t extent : shape) {
    if (extent < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("shape ", ShapeName(shape), " has a negative extent"));
    }
    empty = empty || extent == 0;
    if (extent != 0 && (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > kMaxTensorBytes)) {
      return absl::InvalidArgumentError(
          absl::StrCat("a tensor of shape ", ShapeName(shape), " is too large"));
    }
  }
  return empty ? 0 : bytes;
}

DLTensor CompactTensor(void* data, DLDevice device, DLDataType dtype,
                       absl::Span<const int64_t> shape) {
  return {.data = data,
          .device = device,
          .ndim = static_cast<int32_t>(shape.size()),
          .dtype = dtype,
          .shape = const_cast<int64_t*>(shape.data()),
          .strides = nullptr,
          .byte_offset = 0};
}

bool IsCompact(const DLTensor& tensor) {
  if (tensor.strides == nullptr) return true;
  int64_t expected = 1;
  for (int32_t i = tensor.ndim - 1; i >= 0; --i) {
    // The stride of a dimension of extent 1 is never used.
    if (tensor.shape[i] != 1 && tensor.strides[i] != expected) return false;
    expected *= tensor.shape[i];
  }
  return true;
}

bool SameDataType(DLDataType a, DLDataType b) {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

bool SameDevice(DLDevice a, DLDevice b) {
  return a.device_type == b.device_type && a.device_id == b.device_id;
}

}  // namespace kiln::runtime
