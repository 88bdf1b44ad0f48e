// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/bytes.h"

#include <type_traits>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {

template <typename T>
absl::StatusOr<T> ByteReader::Fixed() {
  KILN_ASSIGN_OR_RETURN(const absl::string_view bytes, Bytes(sizeof(T)));
  using Unsigned = std::make_unsigned_t<T>;
  Unsigned value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<Unsigned>(
        value | (static_cast<Unsigned>(static_cast<uint8_t>(bytes[i])) << (8 * i)));
  }
  return static_cast<T>(value);
}

absl::StatusOr<uint8_t> ByteReader::U8() { return Fixed<uint8_t>(); }
absl::StatusOr<uint16_t> ByteReader::U16() { return Fixed<uint16_t>(); }
absl::StatusOr<int32_t> ByteReader::I32() { return Fixed<int32_t>(); }
absl::StatusOr<int64_t> ByteReader::I64() { return Fixed<int64_t>(); }
absl::StatusOr<uint64_t> ByteReader::U64() { return Fixed<uint64_t>(); }

absl::StatusOr<absl::string_view> ByteReader::Bytes(uint64_t size) {
  if (size > remaining()) {
    return Error(absl::StrCat("needs ", size, " more bytes, only ", remaining(), " are left"));
  }
  const absl::string_view result = bytes_.substr(offset_, size);
  offset_ += size;
  return result;
}

absl::StatusOr<std::string> ByteReader::String() {
  KILN_ASSIGN_OR_RETURN(const uint64_t size, U64());
  KILN_ASSIGN_OR_RETURN(const absl::string_view bytes, Bytes(size));
  return std::string(bytes);
}

absl::StatusOr<uint64_t> ByteReader::Count(uint64_t min_element_bytes) {
  KILN_ASSIGN_OR_RETURN(const uint64_t count, U64());
  if (count > remaining() / min_element_bytes) {
    return Error(absl::StrCat("claims ", count, " elements of at least ", min_element_bytes,
                              " bytes, only ", remaining(), " bytes are left"));
  }
  return count;
}

absl::StatusOr<std::vector<std::string>> ByteReader::Strings() {
  KILN_ASSIGN_OR_RETURN(const uint64_t count, Count(sizeof(uint64_t)));
  std::vector<std::string> result;
  result.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    KILN_ASSIGN_OR_RETURN(std::string value, String());
    result.push_back(std::move(value));
  }
  return result;
}

absl::StatusOr<std::vector<uint64_t>> ByteReader::U64s() {
  KILN_ASSIGN_OR_RETURN(const uint64_t count, Count(sizeof(uint64_t)));
  std::vector<uint64_t> result;
  result.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    KILN_ASSIGN_OR_RETURN(const uint64_t value, U64());
    result.push_back(value);
  }
  return result;
}

absl::Status ByteReader::Error(absl::string_view message) const {
  return absl::DataLossError(absl::StrCat(name_, ": at byte ", offset_, ": ", message));
}

void ByteWriter::String(absl::string_view value) {
  U64(value.size());
  Bytes(value);
}

void ByteWriter::Strings(const std::vector<std::string>& values) {
  U64(values.size());
  for (const std::string& value : values) String(value);
}

void ByteWriter::U64s(const std::vector<uint64_t>& values) {
  U64(values.size());
  for (const uint64_t value : values) U64(value);
}

}  // namespace kiln::runtime
