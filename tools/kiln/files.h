// SPDX-License-Identifier: Apache-2.0
// Whole files in and out.
//
//   KILN_RETURN_IF_ERROR(WriteFiles("out", {{"my_mod.h", header}, {"my_mod.c", source}}));
#ifndef KILN_TOOLS_KILN_FILES_H_
#define KILN_TOOLS_KILN_FILES_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::tools {

// The size up to which models, libraries, archives and other files are read.
inline constexpr int64_t kMaxFileBytes = int64_t{4} << 30;

// The bytes of a regular file; clear errors for a folder, a file that is empty, too large or not
// there.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes);

// The first bytes of a regular file of any size, fewer if it has no more; the same errors.
absl::StatusOr<std::string> ReadBeginning(const std::string& path, int64_t bytes);

// The same of what a pipe gives, too, such as <(command) of a shell; "-" is standard input.
absl::StatusOr<std::string> ReadFileOrPipe(const std::string& path, int64_t max_bytes);

// All of standard input; the same errors.
absl::StatusOr<std::string> ReadStandardInput(int64_t max_bytes);

// A folder for output, with all above it. Those that had to be made are gone with the object if
// nothing is in them then.
class OutputFolder {
 public:
  // InvalidArgument if it cannot be made or not be written to. An empty path is the working folder.
  static absl::StatusOr<OutputFolder> Make(const std::string& path);
  OutputFolder(OutputFolder&& other) noexcept { made_.swap(other.made_); }
  OutputFolder& operator=(OutputFolder&&) = delete;
  ~OutputFolder();

 private:
  OutputFolder() = default;
  std::vector<std::string> made_;  // the outermost first
};

struct OutputFile {
  std::string path;
  std::string bytes;
};

// What changes on the disk together.
struct FileChanges {
  // Their folders are made if they are missing. The first is the one that the others describe or
  // go with, such as a library.
  std::vector<OutputFile> files;
  std::vector<std::string> inputs;  // what the bytes were made of: writing to one is an error
};

// Either all changes are there in the end, or nothing has changed. If the process is killed on the
// way, the first file is the old or the new one, and of the others only such are there as belong to
// it; what else is left is removed by the next call for the same folder. A symbolic link stays, and
// what it leads to is written. A device or a FIFO is written to, which is the one thing that is not
// undone when something else fails.
absl::Status Apply(const FileChanges& changes);

// Writes all files into `folder`, as Apply does.
absl::Status WriteFiles(const std::string& folder, const std::map<std::string, std::string>& files);

// InvalidArgument, beginning with `option`, if a file cannot have this path because it is that of a
// folder.
absl::Status CheckIsNoFolder(absl::string_view option, const std::string& path);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_FILES_H_
