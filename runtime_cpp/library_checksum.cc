// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/library_checksum.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "runtime_cpp/checksum_mark.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

constexpr absl::string_view kMagic = {"KILNXXH\x01", 8};
constexpr size_t kBlockBytes = size_t{1} << 20;

void AppendU64(uint64_t value, std::string& out) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<char>(value >> 8 * i));
}

uint64_t ReadU64(absl::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = 8; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::string Hex(uint64_t value) { return absl::StrCat(absl::Hex(value, absl::kZeroPad16)); }

absl::Status Damaged(const std::string& path, absl::string_view what) {
  return absl::DataLossError(absl::StrCat(
      path, ": ", what, ": the file is damaged, or was changed after the compiler had written it"));
}

// Returns the hash of the first `bytes` bytes of a file.
absl::StatusOr<uint64_t> HashOf(const LibraryFile& file, uint64_t bytes) {
  XXH3_state_t hash;
  XXH3_64bits_reset(&hash);
  std::vector<char> block(static_cast<size_t>(std::min<uint64_t>(bytes, kBlockBytes)));
  for (uint64_t at = 0; at < bytes; at += block.size()) {
    if (bytes - at < block.size()) block.resize(static_cast<size_t>(bytes - at));
    KILN_RETURN_IF_ERROR(file.Read(at, absl::MakeSpan(block)));
    XXH3_64bits_update(&hash, block.data(), block.size());
  }
  return XXH3_64bits_digest(&hash);
}

}  // namespace

void AppendLibraryChecksum(std::string& library) {
  AddChecksumMark(library);
  const uint64_t bytes = library.size();
  const uint64_t hash = XXH3_64bits(library.data(), library.size());
  library.append(kMagic.data(), kMagic.size());
  AppendU64(bytes, library);
  AppendU64(hash, library);
}

absl::StatusOr<std::optional<uint64_t>> CheckLibraryChecksum(const LibraryFile& file) {
  KILN_ASSIGN_OR_RETURN(const bool has_mark, HasChecksumMark(file));
  if (file.size() < kLibraryChecksumBytes) return std::nullopt;
  const uint64_t bytes = file.size() - kLibraryChecksumBytes;
  std::string trailer(kLibraryChecksumBytes, '\0');
  KILN_RETURN_IF_ERROR(file.Read(bytes, absl::MakeSpan(trailer)));
  // Either field identifies a checksum, so that damage to one of them does not disable the check.
  const bool has_magic = absl::string_view(trailer).substr(0, kMagic.size()) == kMagic;
  const uint64_t claimed_bytes = ReadU64(absl::string_view(trailer).substr(8));
  if (!has_magic && claimed_bytes != bytes) {
    if (!has_mark) return std::nullopt;
    return Damaged(file.path(), "its last bytes are no checksum, which it has been given");
  }
  if (!has_magic) return Damaged(file.path(), "its checksum begins with the wrong bytes");
  if (claimed_bytes != bytes) {
    return Damaged(file.path(), absl::StrCat("found ", bytes, " bytes before its checksum, wanted ",
                                             claimed_bytes));
  }
  KILN_ASSIGN_OR_RETURN(const uint64_t found, HashOf(file, bytes));
  const uint64_t wanted = ReadU64(absl::string_view(trailer).substr(16));
  if (found == wanted) return found;
  return Damaged(file.path(),
                 absl::StrCat("found the checksum ", Hex(found), ", wanted ", Hex(wanted)));
}

}  // namespace kiln::runtime
