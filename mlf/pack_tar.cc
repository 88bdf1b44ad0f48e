// SPDX-License-Identifier: Apache-2.0
#include <archive.h>
#include <archive_entry.h>

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "mlf/tar.h"

namespace kiln::mlf {
namespace {

using Writer = std::unique_ptr<struct archive, decltype(&archive_write_free)>;
using Entry = std::unique_ptr<struct archive_entry, decltype(&archive_entry_free)>;

la_ssize_t Append(struct archive*, void* output, const void* bytes, size_t size) {
  static_cast<std::string*>(output)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

absl::Status Check(int result, struct archive* writer) {
  if (result == ARCHIVE_OK) return absl::OkStatus();
  const char* const text = archive_error_string(writer);
  return absl::InternalError(
      absl::StrCat("an archive cannot be written: ", text == nullptr ? "unknown" : text));
}

absl::Status AddFile(const std::string& path, const std::string& bytes, int64_t time,
                     struct archive* writer) {
  const Entry entry(archive_entry_new(), archive_entry_free);
  archive_entry_set_pathname(entry.get(), absl::StrCat("./", path).c_str());
  archive_entry_set_filetype(entry.get(), AE_IFREG);
  archive_entry_set_perm(entry.get(), 0644);
  archive_entry_set_size(entry.get(), static_cast<int64_t>(bytes.size()));
  archive_entry_set_uid(entry.get(), 0);
  archive_entry_set_gid(entry.get(), 0);
  archive_entry_set_uname(entry.get(), "root");
  archive_entry_set_gname(entry.get(), "root");
  archive_entry_set_mtime(entry.get(), time, 0);
  KILN_RETURN_IF_ERROR(Check(archive_write_header(writer, entry.get()), writer));
  const la_ssize_t written = archive_write_data(writer, bytes.data(), bytes.size());
  if (written != static_cast<la_ssize_t>(bytes.size())) return Check(ARCHIVE_FATAL, writer);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> PackTar(const Artifacts& files, int64_t time) {
  const Writer writer(archive_write_new(), archive_write_free);
  std::string output;
  // POSIX 1988, with extended headers only for paths of over 100 characters.
  KILN_RETURN_IF_ERROR(Check(archive_write_set_format_pax_restricted(writer.get()), writer.get()));
  KILN_RETURN_IF_ERROR(Check(archive_write_add_filter_none(writer.get()), writer.get()));
  // No padding after the two blocks that end the archive.
  KILN_RETURN_IF_ERROR(Check(archive_write_set_bytes_per_block(writer.get(), 0), writer.get()));
  KILN_RETURN_IF_ERROR(
      Check(archive_write_open(writer.get(), &output, nullptr, Append, nullptr), writer.get()));
  for (const auto& [path, bytes] : files) {
    KILN_RETURN_IF_ERROR(AddFile(path, bytes, time, writer.get()));
  }
  KILN_RETURN_IF_ERROR(Check(archive_write_close(writer.get()), writer.get()));
  return output;
}

}  // namespace kiln::mlf
