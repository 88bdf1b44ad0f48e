// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/npy.h"

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/base/status.h"

namespace kiln::tools {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kPrefix = 10;     // magic, version, length of the header
constexpr size_t kAlignment = 64;  // of the data, by NumPy's format

std::string Descr(DType dtype) {
  const char kind = dtype.is_bool() ? 'b' : dtype.is_float() ? 'f' : dtype.is_int() ? 'i' : 'u';
  return absl::StrCat(dtype.bytes() == 1 ? "|" : "<", std::string(1, kind), dtype.bytes());
}

absl::StatusOr<DType> FromDescr(absl::string_view descr) {
  for (DType dtype : {DType::Float(16), DType::Float(32), DType::Float(64), DType::Int(8),
                      DType::Int(16), DType::Int(32), DType::Int(64), DType::UInt(8),
                      DType::UInt(16), DType::UInt(32), DType::UInt(64), DType::Bool()}) {
    if (Descr(dtype) == descr) return dtype;
  }
  return absl::InvalidArgumentError(absl::StrCat("element type '", descr, "' is not supported"));
}

// What follows `'key':` in the header's dictionary.
absl::StatusOr<absl::string_view> Entry(absl::string_view header, absl::string_view key) {
  const size_t at = header.find(absl::StrCat("'", key, "':"));
  if (at == absl::string_view::npos)
    return absl::InvalidArgumentError(absl::StrCat("the header has no ", key));
  return absl::StripLeadingAsciiWhitespace(header.substr(at + key.size() + 3));
}

}  // namespace

absl::StatusOr<Tensor> ParseNpy(absl::string_view bytes) {
  if (!absl::StartsWith(bytes, kMagic) || bytes.size() < kPrefix)
    return absl::InvalidArgumentError("not a .npy file");
  if (bytes[6] != 1)
    return absl::InvalidArgumentError(
        absl::StrCat("found version ", static_cast<int>(bytes[6]), ", wanted 1"));
  const size_t length =
      static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  if (bytes.size() < kPrefix + length)
    return absl::InvalidArgumentError("the file is cut off in its header");
  const absl::string_view header = bytes.substr(kPrefix, length);
  KILN_ASSIGN_OR_RETURN(absl::string_view descr, Entry(header, "descr"));
  KILN_ASSIGN_OR_RETURN(const absl::string_view order, Entry(header, "fortran_order"));
  KILN_ASSIGN_OR_RETURN(absl::string_view shape_text, Entry(header, "shape"));
  if (!absl::StartsWith(order, "False"))
    return absl::InvalidArgumentError("found Fortran order, wanted C order");
  if (!absl::ConsumePrefix(&descr, "'"))
    return absl::InvalidArgumentError("the header's descr is no string");
  TensorType type;
  KILN_ASSIGN_OR_RETURN(type.dtype, FromDescr(descr.substr(0, descr.find('\''))));
  const size_t close = shape_text.find(')');
  if (!absl::ConsumePrefix(&shape_text, "(") || close == absl::string_view::npos) {
    return absl::InvalidArgumentError("the header's shape is no tuple");
  }
  for (absl::string_view extent :
       absl::StrSplit(shape_text.substr(0, close - 1), ',', absl::SkipWhitespace())) {
    int64_t value;
    if (!absl::SimpleAtoi(extent, &value))
      return absl::InvalidArgumentError(absl::StrCat("extent '", extent, "' is no number"));
    type.shape.push_back(value);
  }
  KILN_RETURN_IF_ERROR(CheckTensorType(type));
  const absl::string_view data = bytes.substr(kPrefix + length);
  if (data.size() != static_cast<size_t>(type.num_bytes())) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", data.size(), " bytes of data, wanted ", type.num_bytes()));
  }
  return Tensor(std::move(type), std::string(data));
}

std::string ToNpy(const Tensor& tensor) {
  std::string header = absl::StrCat(
      "{'descr': '", Descr(tensor.type().dtype),
      "', 'fortran_order': False, 'shape': ", ShapeToString(tensor.type().shape), ", }");
  header.append(kAlignment - (kPrefix + header.size() + 1) % kAlignment, ' ');
  header.push_back('\n');
  std::string bytes(kMagic);
  bytes += {1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return absl::StrCat(bytes, header, tensor.bytes());
}

}  // namespace kiln::tools
