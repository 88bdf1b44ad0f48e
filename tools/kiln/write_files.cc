// SPDX-License-Identifier: Apache-2.0
// Implements Apply: new contents are written to temporary folders next to their destinations, and
// moved when all of them are complete.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/base/system_error.h"
#include "compiler/base/temporary_folder.h"
#include "tools/kiln/files.h"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // the system's limit for following links
constexpr mode_t kPermissions = 0777;

absl::Status CannotBeWritten(const std::string& path, int error) {
  return SystemError(path + ": cannot be written", error);
}

// The destination of an output's bytes.
struct Destination {
  std::string path;        // with all symbolic links resolved
  bool in_place = false;   // a device, a FIFO, or a descriptor of this process
  bool exists = false;     // as a regular file
  mode_t permissions = 0;  // of the existing file
};

absl::StatusOr<Destination> Resolve(const std::string& path) {
  Destination destination{.path = path};
  std::error_code error;
  for (int links = 0; fs::is_symlink(fs::symlink_status(destination.path, error)); ++links) {
    if (links == kMaxLinks) return CannotBeWritten(path, ELOOP);
    const fs::path link = destination.path;
    destination.path = (link.parent_path() / fs::read_symlink(link, error)).lexically_normal();
    if (absl::StartsWith(destination.path, "/proc/")) {
      return Destination{.path = path, .in_place = true};
    }
  }
  struct stat status = {};
  if (stat(destination.path.c_str(), &status) != 0) {
    if (errno != ENOENT && errno != ENOTDIR) return CannotBeWritten(path, errno);
    return destination;  // errors of the folder are found when it is created
  }
  if (S_ISDIR(status.st_mode)) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": cannot be written: found a folder, wanted a file"));
  }
  destination.exists = S_ISREG(status.st_mode);
  destination.in_place = !destination.exists;
  destination.permissions = status.st_mode & kPermissions;
  return destination;
}

// Writes all bytes and closes the file. Returns the error number, or 0.
int WriteAndClose(int file, absl::string_view bytes) {
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t written = write(file, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (close(file) != 0 && error == 0) error = errno;
  return error;
}

mode_t DefaultPermissions() {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

// Pending changes.
class Transaction {
 public:
  // Writes the contents to a file in a temporary folder next to `destination`.
  absl::Status Prepare(const OutputFile& file, const Destination& destination) {
    const std::string place = fs::path(destination.path).parent_path().string();
    auto folder = folders_.find(place);
    if (folder == folders_.end()) {
      KILN_ASSIGN_OR_RETURN(TemporaryFolder made,
                            TemporaryFolder::MakeIn(place, file.path + ": cannot be written"));
      folder = folders_.emplace(place, std::move(made)).first;
    }
    const std::string base = absl::StrCat(folder->second.path(), "/", prepared_.size());
    prepared_.push_back({.made = base + ".new",
                         .before = base + ".old",
                         .place = destination.path,
                         .exists = destination.exists,
                         .name = file.path});
    const int descriptor = open(prepared_.back().made.c_str(),
                                O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (descriptor < 0) return CannotBeWritten(file.path, errno);
    fchmod(descriptor, destination.exists ? destination.permissions : DefaultPermissions());
    if (const int error = WriteAndClose(descriptor, file.bytes); error != 0) {
      return CannotBeWritten(file.path, error);
    }
    return absl::OkStatus();
  }

  // Moves all prepared files to their destinations, or none. The first file always exists, old or
  // new. The other files exist only while they belong to it.
  absl::Status Move() {
    moves_.reserve(2 * prepared_.size());
    const Prepared* failed = nullptr;
    int error = 0;
    const auto attempt = [&](const Prepared& file, int result) {
      if (result == 0 || failed != nullptr) return;
      error = result;
      failed = &file;
    };
    for (size_t i = 1; i < prepared_.size() && failed == nullptr; ++i) {
      const Prepared& file = prepared_[i];
      if (file.exists) attempt(file, Rename(file.place, file.before));
    }
    for (size_t i = 0; i < prepared_.size() && failed == nullptr; ++i) {
      const Prepared& file = prepared_[i];
      attempt(file, i == 0 && file.exists ? Replace(file) : Rename(file.made, file.place));
    }
    if (failed == nullptr) return absl::OkStatus();
    // Undoes moves in reverse order. A move that cannot be undone is kept.
    for (; !moves_.empty(); moves_.pop_back()) {
      rename(moves_.back().second, moves_.back().first);
    }
    return CannotBeWritten(failed->name, error);
  }

 private:
  struct Prepared {
    std::string made, before;  // the new file, and the place for the old one
    std::string place;
    bool exists = false;
    std::string name;  // of the destination, as the user knows it
  };

  // Returns the error number, or 0.
  int Rename(const std::string& from, const std::string& to) {
    if (rename(from.c_str(), to.c_str()) != 0) return errno;
    moves_.emplace_back(from.c_str(), to.c_str());
    return 0;
  }

  // Replaces a file. If the file system has hard links, the file exists at every moment.
  int Replace(const Prepared& file) {
    if (link(file.place.c_str(), file.before.c_str()) != 0) {
      const int error = Rename(file.place, file.before);
      return error != 0 ? error : Rename(file.made, file.place);
    }
    moves_.emplace_back(file.place.c_str(), file.before.c_str());
    return rename(file.made.c_str(), file.place.c_str()) != 0 ? errno : 0;
  }

  std::map<std::string, TemporaryFolder> folders_;  // keyed by the folder that contains them
  std::vector<Prepared> prepared_;
  std::vector<std::pair<const char*, const char*>> moves_;  // moves so far: from, to
};

absl::Status WriteInPlace(const OutputFile& file) {
  const int descriptor = open(file.path.c_str(), O_WRONLY | O_TRUNC | O_CLOEXEC);
  if (descriptor < 0) return CannotBeWritten(file.path, errno);
  if (const int error = WriteAndClose(descriptor, file.bytes); error != 0) {
    return CannotBeWritten(file.path, error);
  }
  return absl::OkStatus();
}

absl::Status CheckIsNoInput(const std::string& path, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    std::error_code error;
    if (fs::equivalent(path, input, error) && !error) {
      return absl::InvalidArgumentError(absl::StrCat(
          path, ": is what is read; wanted another path for the output, this would destroy it"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OutputFolder> OutputFolder::Make(const std::string& path) {
  const auto error = [&](int number) {
    return SystemError(path + ": the output folder cannot be made", number);
  };
  OutputFolder folder;
  std::vector<std::string> missing;
  std::error_code ignored;
  for (fs::path at = path; !at.empty() && !fs::exists(at, ignored); at = at.parent_path()) {
    if (at.has_filename()) missing.push_back(at.string());
  }
  for (auto it = missing.rbegin(); it != missing.rend(); ++it) {
    if (mkdir(it->c_str(), 0777) == 0) {
      folder.made_.push_back(*it);
    } else if (errno != EEXIST) {  // another process has created it since
      return error(errno);
    }
  }
  const std::string place = path.empty() ? "." : path;
  if (!fs::is_directory(place, ignored)) return error(ENOTDIR);
  if (access(place.c_str(), W_OK | X_OK) != 0) {
    return SystemError(place + ": the output folder cannot be written to", errno);
  }
  return folder;
}

OutputFolder::~OutputFolder() {
  // Removes only empty folders.
  for (auto it = made_.rbegin(); it != made_.rend(); ++it) rmdir(it->c_str());
}

absl::Status Apply(const FileChanges& changes) {
  std::vector<OutputFolder> folders;
  const absl::Cleanup innermost_first = [&folders] {
    while (!folders.empty()) folders.pop_back();
  };
  Transaction transaction;
  std::vector<const OutputFile*> in_place;
  std::vector<std::pair<const OutputFile*, Destination>> moved;
  std::set<std::string> paths;
  for (const OutputFile& file : changes.files) {
    KILN_RETURN_IF_ERROR(CheckIsNoInput(file.path, changes.inputs));
    KILN_ASSIGN_OR_RETURN(Destination destination, Resolve(file.path));
    if (!paths.insert(fs::path(destination.path).lexically_normal()).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(file.path, ": two outputs would be written to this path"));
    }
    if (destination.in_place) {
      in_place.push_back(&file);
    } else {
      moved.push_back({&file, std::move(destination)});
    }
  }
  for (const auto& [file, destination] : moved) {
    const std::string folder = fs::path(destination.path).parent_path();
    KILN_ASSIGN_OR_RETURN(OutputFolder made, OutputFolder::Make(folder));
    folders.push_back(std::move(made));
  }
  for (const auto& [file, destination] : moved) {
    KILN_RETURN_IF_ERROR(transaction.Prepare(*file, destination));
  }
  for (const OutputFile* file : in_place) KILN_RETURN_IF_ERROR(WriteInPlace(*file));
  return transaction.Move();
}

absl::Status WriteFiles(const std::string& folder,
                        const std::map<std::string, std::string>& files) {
  FileChanges changes;
  for (const auto& [name, bytes] : files) {
    changes.files.push_back({(fs::path(folder) / name).string(), bytes});
  }
  return Apply(changes);
}

absl::Status CheckIsNoFolder(absl::string_view option, const std::string& path) {
  std::error_code error;
  if (fs::path(path).has_filename() && !fs::is_directory(path, error)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(option, ": found the folder '", path, "', wanted a file"));
}

}  // namespace kiln::tools
