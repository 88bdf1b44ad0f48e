// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/tensor_proto.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/common/errors.h"
#include "compiler/frontend/onnx/advice.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/storage_types.h"

namespace kiln::onnx_frontend {
namespace {

namespace fs = std::filesystem;

struct DTypeRow {
  int onnx;
  DType dtype;
};
constexpr DTypeRow kDTypes[] = {
    {onnx::TensorProto::FLOAT, DType::Float(32)},   {onnx::TensorProto::DOUBLE, DType::Float(64)},
    {onnx::TensorProto::FLOAT16, DType::Float(16)}, {onnx::TensorProto::INT8, DType::Int(8)},
    {onnx::TensorProto::INT16, DType::Int(16)},     {onnx::TensorProto::INT32, DType::Int(32)},
    {onnx::TensorProto::INT64, DType::Int(64)},     {onnx::TensorProto::UINT8, DType::UInt(8)},
    {onnx::TensorProto::UINT16, DType::UInt(16)},   {onnx::TensorProto::UINT32, DType::UInt(32)},
    {onnx::TensorProto::UINT64, DType::UInt(64)},   {onnx::TensorProto::BOOL, DType::Bool()},
};

template <typename T, typename Values>
std::string PackAs(const Values& values) {
  std::string bytes;
  bytes.reserve(static_cast<size_t>(values.size()) * sizeof(T));
  for (const auto& value : values) {
    const T narrow = static_cast<T>(value);
    bytes.append(reinterpret_cast<const char*>(&narrow), sizeof narrow);
  }
  return bytes;
}

// Returns the bytes of the typed field for values of `dtype`.
std::string TypedBytes(const onnx::TensorProto& p, DType dtype) {
  if (dtype == DType::Float(32)) return PackAs<float>(p.float_data());
  if (dtype == DType::Float(64)) return PackAs<double>(p.double_data());
  if (dtype == DType::Int(64)) return PackAs<int64_t>(p.int64_data());
  if (dtype == DType::UInt(64)) return PackAs<uint64_t>(p.uint64_data());
  if (dtype == DType::UInt(32)) return PackAs<uint32_t>(p.uint64_data());
  switch (dtype.bytes()) {
    case 1:
      return PackAs<uint8_t>(p.int32_data());
    case 2:
      return PackAs<uint16_t>(p.int32_data());
    default:
      return PackAs<int32_t>(p.int32_data());
  }
}

absl::StatusOr<std::string> ExternalBytes(const onnx::TensorProto& proto, const std::string& folder,
                                          int64_t wanted) {
  const std::string location = ExternalLocation(proto);
  int64_t offset = 0, length = wanted;
  for (const auto& entry : proto.external_data()) {
    bool ok = true;
    if (entry.key() == "offset") ok = absl::SimpleAtoi(entry.value(), &offset);
    if (entry.key() == "length") ok = absl::SimpleAtoi(entry.value(), &length);
    if (!ok || offset < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("external data: ", entry.key(), " is '", entry.value(), "'"));
    }
  }
  KILN_ASSIGN_OR_RETURN(const fs::path file, ExternalFile(location, folder));
  if (length != wanted) {
    return absl::InvalidArgumentError(
        absl::StrCat("external data: found ", length, " bytes, wanted ", wanted));
  }
  std::error_code error;
  if (!fs::exists(file, error)) {
    return absl::InvalidArgumentError(
        absl::StrCat("external data: '", location, "': no such file in the model's folder"));
  }
  const uintmax_t size = fs::file_size(file, error);
  if (error || size < static_cast<uintmax_t>(wanted) ||
      static_cast<uintmax_t>(offset) > size - static_cast<uintmax_t>(wanted)) {
    return absl::InvalidArgumentError(
        absl::StrCat("external data: file '", location, "' has no ", wanted, " bytes at ", offset));
  }
  std::string bytes(static_cast<size_t>(wanted), '\0');
  std::ifstream stream(file, std::ios::binary);
  if (!stream.seekg(offset) || !stream.read(bytes.data(), wanted)) {
    return absl::InvalidArgumentError(
        absl::StrCat("external data: '", location, "' cannot be read"));
  }
  return bytes;
}

// InvalidArgument if two fields have elements, as only one of them could be read.
absl::Status CheckOneField(const onnx::TensorProto& proto) {
  const std::pair<bool, const char*> fields[] = {
      {proto.data_location() == onnx::TensorProto::EXTERNAL, "external data"},
      {!proto.raw_data().empty(), "raw_data"},
      {proto.float_data_size() > 0, "float_data"},
      {proto.int32_data_size() > 0, "int32_data"},
      {proto.string_data_size() > 0, "string_data"},
      {proto.int64_data_size() > 0, "int64_data"},
      {proto.double_data_size() > 0, "double_data"},
      {proto.uint64_data_size() > 0, "uint64_data"},
  };
  const char* found = nullptr;
  for (const auto& [has_elements, name] : fields) {
    if (!has_elements) continue;
    if (found != nullptr) {
      return frontend::Wrong(absl::StrCat("tensor '", proto.name(), "'"),
                             absl::StrCat("elements in ", found, " and ", name), "one of them");
    }
    found = name;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DType> DTypeOf(int onnx_data_type) {
  for (const DTypeRow& row : kDTypes) {
    if (row.onnx == onnx_data_type) return row.dtype;
  }
  if (const StorageType* stored = FindStorageType(onnx_data_type)) return stored->dtype;
  const std::string name = onnx::TensorProto::DataType_IsValid(onnx_data_type)
                               ? onnx::TensorProto::DataType_Name(
                                     static_cast<onnx::TensorProto::DataType>(onnx_data_type))
                               : absl::StrCat(onnx_data_type);
  return absl::UnimplementedError(
      absl::StrCat("data type ", name, " is not supported",
                   onnx_data_type == onnx::TensorProto::STRING ? "; " : "",
                   onnx_data_type == onnx::TensorProto::STRING ? kAdviceOnStrings : ""));
}

std::string ExternalLocation(const onnx::TensorProto& proto) {
  std::string location;
  for (const auto& entry : proto.external_data()) {
    if (entry.key() == "location") location = entry.value();
  }
  return location;
}

absl::StatusOr<std::filesystem::path> ExternalFile(const std::string& location,
                                                   const std::string& folder) {
  if (location.find('\0') != std::string::npos) {
    return absl::InvalidArgumentError(absl::StrCat("external data: found '", location,
                                                   "', which has a character 0, as the location"));
  }
  std::error_code error;
  const fs::path root = fs::weakly_canonical(folder.empty() ? "." : folder, error);
  const fs::path file = fs::weakly_canonical(root / location, error);
  const fs::path relative = file.lexically_relative(root);
  if (location.empty() || fs::path(location).is_absolute() || relative.empty() ||
      *relative.begin() == "..") {
    return absl::InvalidArgumentError(
        absl::StrCat("external data: '", location, "' is not inside the model's folder"));
  }
  return file;
}

absl::StatusOr<Tensor> DecodeTensor(const onnx::TensorProto& proto, const std::string& folder) {
  TensorType type;
  const StorageType* const stored = FindStorageType(proto.data_type());
  KILN_ASSIGN_OR_RETURN(type.dtype, DTypeOf(proto.data_type()));
  type.shape.assign(proto.dims().begin(), proto.dims().end());
  KILN_RETURN_IF_ERROR(CheckTensorType(type));
  KILN_RETURN_IF_ERROR(CheckOneField(proto));
  const int64_t wanted =
      stored == nullptr ? type.num_bytes() : stored->num_bytes(type.num_elements());
  std::string bytes;
  if (proto.data_location() == onnx::TensorProto::EXTERNAL) {
    KILN_ASSIGN_OR_RETURN(bytes, ExternalBytes(proto, folder, wanted));
  } else if (proto.has_raw_data()) {
    bytes = proto.raw_data();
  } else if (stored != nullptr) {
    bytes = stored->bits == 16 ? PackAs<uint16_t>(proto.int32_data())
                               : PackAs<uint8_t>(proto.int32_data());
  } else {
    bytes = TypedBytes(proto, type.dtype);
  }
  if (bytes.size() != static_cast<size_t>(wanted)) {
    return absl::InvalidArgumentError(absl::StrCat("tensor '", proto.name(), "' of type ",
                                                   type.ToString(), ": found ", bytes.size(),
                                                   " bytes, wanted ", wanted));
  }
  if (type.dtype.is_bool()) {
    for (char& c : bytes) c = c != 0 ? 1 : 0;
  }
  if (stored != nullptr) return Unpack(*stored, type.shape, bytes);
  return Tensor(std::move(type), std::move(bytes));
}

absl::StatusOr<Tensor> ParseOnnxTensor(absl::string_view bytes) {
  onnx::TensorProto proto;
  if (!proto.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return absl::InvalidArgumentError("not an ONNX tensor");
  }
  return DecodeTensor(proto, "");
}

}  // namespace kiln::onnx_frontend
