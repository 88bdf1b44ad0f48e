// SPDX-License-Identifier: Apache-2.0
//
// Reading and writing little-endian byte streams.
//
// ByteReader treats its bytes as untrusted. Every read checks that enough bytes are left. Before
// elements are allocated, their count is checked against the minimum size of the elements.
//
//   ByteReader reader(bytes, "params file");
//   absl::StatusOr<uint64_t> magic = reader.U64();
#ifndef KILN_RUNTIME_CPP_BYTES_H_
#define KILN_RUNTIME_CPP_BYTES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::runtime {

// Reads from the start of borrowed bytes. Errors are DataLoss, with the stream's name and offset.
class ByteReader {
 public:
  // `name` describes the bytes in errors. It and `bytes` must outlive the reader.
  ByteReader(absl::string_view bytes, absl::string_view name) : bytes_(bytes), name_(name) {}

  absl::StatusOr<uint8_t> U8();
  absl::StatusOr<uint16_t> U16();
  absl::StatusOr<int32_t> I32();
  absl::StatusOr<int64_t> I64();
  absl::StatusOr<uint64_t> U64();

  // Returns the next `size` bytes as a view into the stream.
  absl::StatusOr<absl::string_view> Bytes(uint64_t size);

  // Reads a length of 8 bytes, then the text.
  absl::StatusOr<std::string> String();

  // Reads a number of elements. Each element needs at least `min_element_bytes` more bytes.
  absl::StatusOr<uint64_t> Count(uint64_t min_element_bytes);

  // Reads a count, then the strings.
  absl::StatusOr<std::vector<std::string>> Strings();

  // Reads a count, then the U64 values.
  absl::StatusOr<std::vector<uint64_t>> U64s();

  // Returns an error at the current position.
  absl::Status Error(absl::string_view message) const;

  size_t offset() const { return offset_; }
  size_t remaining() const { return bytes_.size() - offset_; }

 private:
  template <typename T>
  absl::StatusOr<T> Fixed();

  absl::string_view bytes_;
  absl::string_view name_;
  size_t offset_ = 0;
};

// Writes to the end of a string.
class ByteWriter {
 public:
  void U8(uint8_t value) { Fixed(value); }
  void U16(uint16_t value) { Fixed(value); }
  void I32(int32_t value) { Fixed(static_cast<uint32_t>(value)); }
  void I64(int64_t value) { Fixed(static_cast<uint64_t>(value)); }
  void U64(uint64_t value) { Fixed(value); }
  void Bytes(absl::string_view bytes) { bytes_.append(bytes.data(), bytes.size()); }
  void String(absl::string_view value);
  void Strings(const std::vector<std::string>& values);
  void U64s(const std::vector<uint64_t>& values);

  const std::string& bytes() const { return bytes_; }

 private:
  template <typename T>
  void Fixed(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<char>((value >> (8 * i)) & 0xff));
    }
  }

  std::string bytes_;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_BYTES_H_
