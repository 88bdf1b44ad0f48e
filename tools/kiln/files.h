// SPDX-License-Identifier: Apache-2.0
// Reads and writes whole files.
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

// Maximum size of models, libraries, archives and other files that are read.
inline constexpr int64_t kMaxFileBytes = int64_t{4} << 30;

// Returns the bytes of a regular file. Errors describe a folder, an empty, too large or missing
// file.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes);

// Returns the first bytes of a regular file of any size, or all bytes if it is shorter. Errors are
// those of ReadFile.
absl::StatusOr<std::string> ReadBeginning(const std::string& path, int64_t bytes);

// Like ReadFile, but also accepts a pipe, such as <(command) in a shell. "-" is standard input.
absl::StatusOr<std::string> ReadFileOrPipe(const std::string& path, int64_t max_bytes);

// Returns all of standard input. Errors are those of ReadFile.
absl::StatusOr<std::string> ReadStandardInput(int64_t max_bytes);

// An output folder with all of its parents. The destructor removes the folders that Make created
// and that are still empty.
class OutputFolder {
 public:
  // InvalidArgument if the folder cannot be created or written to. An empty path is the working
  // folder.
  static absl::StatusOr<OutputFolder> Make(const std::string& path);
  OutputFolder(OutputFolder&& other) noexcept { made_.swap(other.made_); }
  OutputFolder& operator=(OutputFolder&&) = delete;
  ~OutputFolder();

 private:
  OutputFolder() = default;
  std::vector<std::string> made_;  // outermost first
};

struct OutputFile {
  std::string path;
  std::string bytes;
};

// Changes on the disk that are applied together.
struct FileChanges {
  // Missing folders are created. The first file is the main one, such as a library. The others
  // describe or complement it.
  std::vector<OutputFile> files;
  std::vector<std::string> inputs;  // files that were read; it is an error to overwrite one
};

// Applies all changes, or none if there is an error. If the process is killed, the first file is
// the old or the new one, and the others either belong to it or are missing. The next call for the
// same folder removes the remaining temporary files. A symbolic link stays, and the file that it
// leads to is replaced. A device or a FIFO is written to directly, which cannot be undone if
// something else fails.
absl::Status Apply(const FileChanges& changes);

// Writes all files into `folder`, like Apply.
absl::Status WriteFiles(const std::string& folder, const std::map<std::string, std::string>& files);

// InvalidArgument, beginning with `option`, if `path` is that of a folder, so that no file can have
// it.
absl::Status CheckIsNoFolder(absl::string_view option, const std::string& path);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_FILES_H_
