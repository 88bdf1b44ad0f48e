// SPDX-License-Identifier: Apache-2.0
// Folders for files that are of no use when the work is done.
//
//   KILN_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
//   WriteFile(folder.path() + "/in.o", object);
//
// A killed process leaves its folders on disk. The next process that makes a folder in the same
// place removes them. A lock (flock) marks the folders of living processes.
#ifndef KILN_COMPILER_BASE_TEMPORARY_FOLDER_H_
#define KILN_COMPILER_BASE_TEMPORARY_FOLDER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln {

// A folder that the destructor removes with all of its contents.
class TemporaryFolder {
 public:
  // Makes a folder in the system's place for temporary files, which TMPDIR overrides.
  static absl::StatusOr<TemporaryFolder> Make();

  // Makes a folder in `place`. Its name is kPrefix and six characters. On failure, returns the
  // error of the system (system_error.h), which begins with `what`.
  static absl::StatusOr<TemporaryFolder> MakeIn(const std::string& place, absl::string_view what);

  // Unlocked folders with this prefix are removed as abandoned, so it must be one that users do not
  // choose.
  static constexpr absl::string_view kPrefix = ".kiln-scratch-";

  TemporaryFolder(TemporaryFolder&&) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const;

 private:
  struct Entry;
  friend void RemoveTemporaryFolders();
  explicit TemporaryFolder(std::unique_ptr<Entry> entry);
  static Entry* first_;  // head of the list of all folders
  std::unique_ptr<Entry> entry_;
};

// Removes all folders that this process has made, for a process that exits without running
// destructors.
void RemoveTemporaryFolders();

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_TEMPORARY_FOLDER_H_
