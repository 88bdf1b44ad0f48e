// SPDX-License-Identifier: Apache-2.0
// Folders for files that are of no use when the work is done.
//
//   KILN_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
//   WriteFile(folder.path() + "/in.o", object);
//
// A process that is killed leaves its folders behind. Making the next one in the same place removes
// them: a folder is locked (flock) as long as its process lives.
#ifndef KILN_COMPILER_BASE_TEMPORARY_FOLDER_H_
#define KILN_COMPILER_BASE_TEMPORARY_FOLDER_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln {

// The folder, with all that is in it, is gone with the object.
class TemporaryFolder {
 public:
  // Where the system has its temporary files; TMPDIR may name the place.
  static absl::StatusOr<TemporaryFolder> Make();

  // In the folder `place`, by the name kPrefix and six characters. The error of the system
  // (system_error.h), beginning with `what`.
  static absl::StatusOr<TemporaryFolder> MakeIn(const std::string& place, absl::string_view what);

  // Names that begin so are abandoned folders of Kiln's, so it is a name that nobody gives a folder.
  static constexpr absl::string_view kPrefix = ".kiln-scratch-";

  TemporaryFolder(TemporaryFolder&&) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::string& path() const;

 private:
  struct Entry;
  friend void RemoveTemporaryFolders();
  explicit TemporaryFolder(std::unique_ptr<Entry> entry);
  static Entry* first_;  // of all that there are
  std::unique_ptr<Entry> entry_;
};

// Removes all folders that this process has made. For a process that ends without destructors.
void RemoveTemporaryFolders();

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_TEMPORARY_FOLDER_H_
