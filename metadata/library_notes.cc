// SPDX-License-Identifier: Apache-2.0
#include "metadata/library_notes.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/string_view.h"
#include "kiln/library_notes.h"
#include "metadata/json.h"

namespace kiln {
namespace {

void AppendWord(uint64_t value, std::string& out) {
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>(value >> 8 * i));
}

// Appends the bytes and pads with zeros to the next multiple of 4.
void AppendPadded(absl::string_view bytes, std::string& out) {
  out.append(bytes.data(), bytes.size());
  out.append((4 - bytes.size() % 4) % 4, '\0');
}

void AppendNote(uint32_t type, absl::string_view descriptor, std::string& out) {
  const absl::string_view owner(KILN_NOTE_OWNER, sizeof(KILN_NOTE_OWNER));  // includes the
                                                                            // terminating NUL
  AppendWord(owner.size(), out);
  AppendWord(descriptor.size(), out);
  AppendWord(type, out);
  AppendPadded(owner, out);
  AppendPadded(descriptor, out);
}

}  // namespace

std::string LibraryNotes(const proto::Metadata& metadata) {
  std::string notes;
  AppendNote(KILN_NOTE_CPU,
             absl::StrCat(metadata.cpu(), "\n", absl::StrJoin(metadata.cpu_features(), ",")),
             notes);
  AppendNote(KILN_NOTE_METADATA, CompactMetadataJson(metadata), notes);
  return notes;
}

}  // namespace kiln
