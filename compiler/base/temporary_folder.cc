// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/temporary_folder.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/base/system_error.h"

namespace kiln {
namespace {

namespace fs = std::filesystem;

constexpr size_t kRandomCharacters = 6;  // mkdtemp's "XXXXXX"
constexpr int kAttempts = 100;

bool IsTemporaryName(absl::string_view name) {
  return absl::ConsumePrefix(&name, TemporaryFolder::kPrefix) && name.size() == kRandomCharacters &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return absl::ascii_isalnum(c); });
}

void Remove(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

int OpenFolder(const std::string& path) {
  return open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

// Removes the folder if it belongs to this user and no process has locked it.
void RemoveIfAbandoned(const std::string& path) {
  const int descriptor = OpenFolder(path);
  if (descriptor < 0) return;
  struct stat status = {};
  if (fstat(descriptor, &status) == 0 && status.st_uid == geteuid() &&
      flock(descriptor, LOCK_EX | LOCK_NB) == 0) {
    Remove(path);
  }
  close(descriptor);
}

void RemoveAbandoned(const std::string& place) {
  std::error_code error;
  fs::directory_iterator it(place, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) {
    if (IsTemporaryName(it->path().filename().string())) RemoveIfAbandoned(it->path());
  }
}

// True if `descriptor` is an open folder and `path` still names that folder.
bool IsAt(int descriptor, const std::string& path) {
  struct stat opened = {}, found = {};
  return fstat(descriptor, &opened) == 0 && lstat(path.c_str(), &found) == 0 &&
         opened.st_dev == found.st_dev && opened.st_ino == found.st_ino;
}

}  // namespace

// A node of an intrusive list. Changing the list allocates no memory, so that
// RemoveTemporaryFolders works even when there is none.
struct TemporaryFolder::Entry {
  std::string path;
  int descriptor = -1;  // holds the lock
  pid_t process = 0;    // its owner; a forked child inherits the entry but does not own it
  Entry* next = nullptr;
};

TemporaryFolder::Entry* TemporaryFolder::first_ = nullptr;

namespace {

constinit std::mutex list_mutex;

}  // namespace

TemporaryFolder::TemporaryFolder(std::unique_ptr<Entry> entry) : entry_(std::move(entry)) {
  const std::lock_guard<std::mutex> lock(list_mutex);
  entry_->next = first_;
  first_ = entry_.get();
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&&) noexcept = default;

TemporaryFolder::~TemporaryFolder() {
  if (entry_ == nullptr) return;
  {
    const std::lock_guard<std::mutex> lock(list_mutex);
    Entry** link = &first_;
    while (*link != entry_.get()) link = &(*link)->next;
    *link = entry_->next;
  }
  if (entry_->process == getpid()) Remove(entry_->path);
  close(entry_->descriptor);
}

const std::string& TemporaryFolder::path() const { return entry_->path; }

absl::StatusOr<TemporaryFolder> TemporaryFolder::MakeIn(const std::string& place,
                                                        absl::string_view what) {
  const std::string folder = place.empty() ? "." : place;
  RemoveAbandoned(folder);
  int error = EEXIST;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto entry = std::make_unique<Entry>();
    entry->path =
        (fs::path(folder) / absl::StrCat(kPrefix, std::string(kRandomCharacters, 'X'))).string();
    if (mkdtemp(entry->path.data()) == nullptr) return SystemError(what, errno);
    entry->descriptor = OpenFolder(entry->path);
    if (entry->descriptor < 0) {
      error = errno;
      if (error == ENOENT) continue;  // another process has removed it as abandoned
      Remove(entry->path);
      return SystemError(what, error);
    }
    // If the file system has no locks, RemoveIfAbandoned removes no folder there.
    flock(entry->descriptor, LOCK_EX);
    // Another process may have removed the folder as abandoned before it was locked.
    if (IsAt(entry->descriptor, entry->path)) {
      entry->process = getpid();
      return TemporaryFolder(std::move(entry));
    }
    close(entry->descriptor);
  }
  return SystemError(what, error);
}

absl::StatusOr<TemporaryFolder> TemporaryFolder::Make() {
  const char* const variable = getenv("TMPDIR");
  const std::string named = variable != nullptr ? variable : "/tmp";
  const std::string what = absl::StrCat("no folder for temporary files can be made in ", named);
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  absl::StatusOr<TemporaryFolder> made =
      error ? SystemError(what, error.value()) : MakeIn(place.string(), what);
  if (made.ok()) return made;
  return absl::Status(made.status().code(),
                      absl::StrCat(made.status().message(), "; TMPDIR names another place"));
}

void RemoveTemporaryFolders() {
  const std::lock_guard<std::mutex> lock(list_mutex);
  for (TemporaryFolder::Entry* entry = TemporaryFolder::first_; entry != nullptr;
       entry = entry->next) {
    if (entry->process == getpid()) Remove(entry->path);
  }
}

}  // namespace kiln
