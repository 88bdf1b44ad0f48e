// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/npy.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/base/status.h"

namespace kiln::tools {
namespace {

constexpr absl::string_view kMagic("\x93NUMPY", 6);
constexpr size_t kPrefix = 10;     // of version 1: magic number, version, header length
constexpr size_t kAlignment = 64;  // of the data, required by NumPy's format

std::string Descr(DType dtype) {
  const char kind = dtype.is_bool() ? 'b' : dtype.is_float() ? 'f' : dtype.is_int() ? 'i' : 'u';
  return absl::StrCat(dtype.bytes() == 1 ? "|" : "<", std::string(1, kind), dtype.bytes());
}

struct ElementType {
  DType dtype;
  bool big_endian = false;
};

absl::StatusOr<ElementType> FromDescr(absl::string_view descr) {
  for (DType dtype : {DType::Float(16), DType::Float(32), DType::Float(64), DType::Int(8),
                      DType::Int(16), DType::Int(32), DType::Int(64), DType::UInt(8),
                      DType::UInt(16), DType::UInt(32), DType::UInt(64), DType::Bool()}) {
    if (descr.empty() || Descr(dtype).substr(1) != descr.substr(1)) continue;
    if (dtype.bytes() == 1 || descr[0] == '<') return ElementType{dtype};
    if (descr[0] == '>') return ElementType{dtype, /*big_endian=*/true};
  }
  return absl::InvalidArgumentError(absl::StrCat("element type '", descr, "' is not supported"));
}

// The header and the data.
struct Parts {
  absl::string_view header, data;
};

absl::StatusOr<Parts> Split(absl::string_view bytes) {
  if (!absl::StartsWith(bytes, kMagic) || bytes.size() < kPrefix) {
    return absl::InvalidArgumentError("not a .npy file");
  }
  const int version = bytes[6];
  if (version < 1 || version > 3) {
    return absl::InvalidArgumentError(absl::StrCat("found version ", version, ", wanted 1 to 3"));
  }
  // From version 2 on, the length has four bytes.
  const size_t length_bytes = version == 1 ? 2 : 4, prefix = kPrefix - 2 + length_bytes;
  size_t length = 0;
  for (size_t i = prefix; bytes.size() >= prefix && i > kPrefix - 2; --i) {
    length = length << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  if (bytes.size() < prefix || bytes.size() - prefix < length) {
    return absl::InvalidArgumentError("the file is cut off in its header");
  }
  return Parts{bytes.substr(prefix, length), bytes.substr(prefix + length)};
}

// Reverses the bytes of each element.
std::string Swapped(absl::string_view data, size_t element_bytes) {
  std::string swapped(data);
  for (size_t at = 0; at < swapped.size(); at += element_bytes) {
    std::reverse(swapped.begin() + static_cast<std::ptrdiff_t>(at),
                 swapped.begin() + static_cast<std::ptrdiff_t>(at + element_bytes));
  }
  return swapped;
}

// Reorders elements from Fortran's order, in which the first index is fastest, to C's.
std::string RowMajor(const std::string& data, const TensorType& type) {
  const size_t element_bytes = static_cast<size_t>(type.dtype.bytes());
  std::vector<size_t> strides;
  size_t stride = element_bytes;
  for (const int64_t extent : type.shape) {
    strides.push_back(stride);
    stride *= static_cast<size_t>(extent);
  }
  std::string ordered;
  ordered.reserve(data.size());
  Shape index(type.shape.size(), 0);
  for (size_t at = 0; ordered.size() < data.size();) {
    ordered.append(data, at, element_bytes);
    for (size_t axis = index.size(); axis > 0; --axis) {
      at += strides[axis - 1];
      if (++index[axis - 1] < type.shape[axis - 1]) break;
      at -= strides[axis - 1] * static_cast<size_t>(type.shape[axis - 1]);
      index[axis - 1] = 0;
    }
  }
  return ordered;
}

// Returns the text after `'key':` in the header's dictionary.
absl::StatusOr<absl::string_view> Entry(absl::string_view header, absl::string_view key) {
  const size_t at = header.find(absl::StrCat("'", key, "':"));
  if (at == absl::string_view::npos)
    return absl::InvalidArgumentError(absl::StrCat("the header has no ", key));
  return absl::StripLeadingAsciiWhitespace(header.substr(at + key.size() + 3));
}

}  // namespace

absl::StatusOr<Tensor> ParseNpy(absl::string_view bytes) {
  KILN_ASSIGN_OR_RETURN(const Parts parts, Split(bytes));
  const absl::string_view header = parts.header, data = parts.data;
  KILN_ASSIGN_OR_RETURN(absl::string_view descr, Entry(header, "descr"));
  KILN_ASSIGN_OR_RETURN(const absl::string_view order, Entry(header, "fortran_order"));
  KILN_ASSIGN_OR_RETURN(absl::string_view shape_text, Entry(header, "shape"));
  const bool is_fortran = absl::StartsWith(order, "True");
  if (!is_fortran && !absl::StartsWith(order, "False")) {
    return absl::InvalidArgumentError("the header's fortran_order is neither True nor False");
  }
  if (!absl::ConsumePrefix(&descr, "'"))
    return absl::InvalidArgumentError("the header's descr is no string");
  KILN_ASSIGN_OR_RETURN(const ElementType element, FromDescr(descr.substr(0, descr.find('\''))));
  TensorType type = {.shape = {}, .dtype = element.dtype};
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
  if (data.size() != static_cast<size_t>(type.num_bytes())) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", data.size(), " bytes of data, wanted ", type.num_bytes()));
  }
  const size_t element_bytes = static_cast<size_t>(type.dtype.bytes());
  std::string values = element.big_endian ? Swapped(data, element_bytes) : std::string(data);
  if (is_fortran) values = RowMajor(values, type);
  return Tensor(std::move(type), std::move(values));
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
