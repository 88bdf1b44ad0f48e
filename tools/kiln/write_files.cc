// SPDX-License-Identifier: Apache-2.0
// Apply: new contents go to files of other names beside their places, and are moved there when all
// of them are complete.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "tools/kiln/files.h"

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxLinks = 40;  // as the system follows them
constexpr mode_t kPermissions = 0777;

absl::Status CannotBeWritten(const std::string& path, int error) {
  return absl::InvalidArgumentError(absl::StrCat(path, ": cannot be written: ", strerror(error)));
}

// Where the bytes of an output go.
struct Destination {
  std::string path;        // behind all symbolic links
  bool in_place = false;   // a device, a FIFO, or what a descriptor of this process stands for
  bool exists = false;     // as a regular file
  mode_t permissions = 0;  // of the file that exists
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
    return destination;  // what is wrong with its folder is found when that is made
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

// Writes all bytes and closes the file; the number of the error, or 0.
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

// Changes under way. What is not committed is undone at the end.
class Transaction {
 public:
  Transaction() = default;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  ~Transaction() {
    for (auto it = moved_.rbegin(); it != moved_.rend(); ++it) {
      if (it->second.empty()) {
        unlink(it->first.c_str());
      } else {
        rename(it->second.c_str(), it->first.c_str());
      }
    }
    for (const std::string& path : temporary_) unlink(path.c_str());
  }

  // A file of the contents beside `destination`, whose name it is to have.
  absl::Status Prepare(const OutputFile& file, const Destination& destination) {
    std::string path;
    const int descriptor = MakeTemporary(destination.path, path);
    if (descriptor < 0) return CannotBeWritten(file.path, errno);
    fchmod(descriptor, destination.exists ? destination.permissions : DefaultPermissions());
    if (const int error = WriteAndClose(descriptor, file.bytes); error != 0) {
      return CannotBeWritten(file.path, error);
    }
    prepared_.push_back({path, destination, file.path});
    return absl::OkStatus();
  }

  // Moves all that has been prepared to its place.
  absl::Status Move() {
    for (const Prepared& file : prepared_) {
      std::string backup;
      if (file.destination.exists) {
        KILN_RETURN_IF_ERROR(SetAside(file.destination.path, backup));
      }
      if (rename(file.temporary.c_str(), file.destination.path.c_str()) != 0) {
        return CannotBeWritten(file.name, errno);
      }
      if (backup.empty()) moved_.push_back({file.destination.path, ""});
    }
    return absl::OkStatus();
  }

  void Commit() { moved_.clear(); }

 private:
  struct Prepared {
    std::string temporary;
    Destination destination;
    std::string name;  // as the user knows it
  };

  // The descriptor of a new file in the folder of `beside`, or -1.
  int MakeTemporary(const std::string& beside, std::string& path) {
    path = (fs::path(beside).parent_path() / ".kiln-XXXXXX").string();
    const int descriptor = mkstemp(path.data());
    if (descriptor >= 0) temporary_.push_back(path);
    return descriptor;
  }

  // Gives a file a second name from which it can be brought back; it keeps its first if that can
  // be.
  absl::Status SetAside(const std::string& path, std::string& backup) {
    const int descriptor = MakeTemporary(path, backup);
    if (descriptor < 0) return CannotBeWritten(path, errno);
    close(descriptor);
    unlink(backup.c_str());
    const bool linked = link(path.c_str(), backup.c_str()) == 0;
    if (!linked && rename(path.c_str(), backup.c_str()) != 0) return CannotBeWritten(path, errno);
    moved_.push_back({path, backup});
    return absl::OkStatus();
  }

  std::vector<std::string> temporary_;
  std::vector<Prepared> prepared_;
  std::vector<std::pair<std::string, std::string>> moved_;  // a place, and what was in it before
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
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": the output folder cannot be made: ", strerror(number)));
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
    } else if (errno != EEXIST) {  // made by another process since
      return error(errno);
    }
  }
  const std::string place = path.empty() ? "." : path;
  if (!fs::is_directory(place, ignored)) return error(ENOTDIR);
  if (access(place.c_str(), W_OK | X_OK) != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(place, ": the output folder cannot be written to: ", strerror(errno)));
  }
  return folder;
}

OutputFolder::~OutputFolder() {
  // Only what is empty goes.
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
  KILN_RETURN_IF_ERROR(transaction.Move());
  transaction.Commit();
  return absl::OkStatus();
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
