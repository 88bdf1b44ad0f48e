// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/c_compiler.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace kiln::codegen {
namespace {

// Returns a new path in the test's directory for temporary files.
std::string NewFile(const char* suffix) {
  static int count = 0;
  const char* dir = getenv("TEST_TMPDIR");
  return absl::StrCat(dir != nullptr ? dir : "/tmp", "/kiln_c_", getpid(), "_", count++, suffix);
}

std::string ReadFile(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

absl::Status RunCompiler(const std::string& source, const std::vector<std::string>& command,
                         const std::vector<std::string>& more) {
  if (!HasCompiler(command[0]))
    return absl::NotFoundError(absl::StrCat("no compiler ", command[0]));
  const std::string input = NewFile(".c"), log = NewFile(".log");
  std::ofstream(input) << source;
  std::vector<std::string> words = command;
  words.insert(words.end(), kStrictFlags.begin(), kStrictFlags.end());
  words.push_back(input);
  words.insert(words.end(), more.begin(), more.end());
  const int status = system(absl::StrCat(absl::StrJoin(words, " "), " > ", log, " 2>&1").c_str());
  if (status == 0) {
    unlink(input.c_str());
    unlink(log.c_str());
    return absl::OkStatus();
  }
  return absl::InternalError(
      absl::StrCat(absl::StrJoin(words, " "), ":\n", ReadFile(log).substr(0, 4000)));
}

}  // namespace

const std::vector<std::string> kStrictFlags = {
    "-Wall", "-Wextra", "-pedantic", "-Wconversion", "-Wshadow", "-Wmissing-prototypes", "-Werror"};

bool HasCompiler(absl::string_view compiler) {
  const char* path = getenv("PATH");
  for (absl::string_view dir : absl::StrSplit(path != nullptr ? path : "/usr/bin", ':')) {
    if (access(absl::StrCat(dir, "/", compiler).c_str(), X_OK) == 0) return true;
  }
  return false;
}

absl::Status CheckC(const std::string& source, const std::vector<std::string>& command) {
  const std::string object = NewFile(".o");
  const absl::Status status = RunCompiler(source, command, {"-c", "-o", object});
  unlink(object.c_str());
  return status;
}

absl::StatusOr<std::string> AssemblyOfC(const std::string& source,
                                        const std::vector<std::string>& command) {
  const std::string assembly = NewFile(".s");
  const absl::Status status = RunCompiler(source, command, {"-S", "-o", assembly});
  if (!status.ok()) return status;
  std::string text = ReadFile(assembly);
  unlink(assembly.c_str());
  return text;
}

absl::StatusOr<std::unique_ptr<LoadedC>> LoadedC::Compile(const std::string& source,
                                                          const std::vector<std::string>& command) {
  const std::string library = NewFile(".so");
  const absl::Status status =
      RunCompiler(source, command, {"-shared", "-fPIC", "-o", library, "-lm"});
  if (!status.ok()) return status;
  void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return absl::InternalError(dlerror());
  unlink(library.c_str());
  return std::unique_ptr<LoadedC>(new LoadedC(handle));
}

LoadedC::~LoadedC() { dlclose(handle_); }

void* LoadedC::Symbol(const std::string& name) const { return dlsym(handle_, name.c_str()); }

}  // namespace kiln::codegen
