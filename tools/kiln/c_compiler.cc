// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/c_compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "tools/kiln/files.h"
#include "tools/kiln/runtime_files.h"

extern char** environ;

namespace kiln::tools {
namespace {

namespace fs = std::filesystem;

struct MachineFlag {
  std::string flag;    // of the C compiler
  std::string option;  // of --target
};

// The flags that make the C compiler use what the target has: -m of every LLVM feature that is
// switched on, -mno- of every one that is switched off.
std::vector<MachineFlag> MachineFlags(const Target& target) {
  std::vector<MachineFlag> flags;
  if (!target.cpu.empty()) flags.push_back({"-march=" + target.cpu, "-mcpu=" + target.cpu});
  std::stringstream features(target.features);
  for (std::string f; std::getline(features, f, ',');) {
    if (f.size() < 2 || (f[0] != '+' && f[0] != '-')) continue;
    flags.push_back({(f[0] == '+' ? "-m" : "-mno-") + f.substr(1), "-mattr=" + f});
  }
  return flags;
}

// Runs a program and returns its exit status; its output goes to `log`.
absl::StatusOr<int> RunProgram(const std::vector<std::string>& argv, const std::string& log) {
  std::vector<char*> pointers;
  for (const std::string& arg : argv) pointers.push_back(const_cast<char*>(arg.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  pid_t pid = 0;
  const int error = posix_spawnp(&pid, pointers[0], &actions, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("making a shared object of C needs a C compiler, and '", argv[0],
                     "' cannot be run; install gcc or clang, or use --codegen llvm and no external "
                     "code generator that makes C"));
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// After the C compiler has failed: whether it was because of what the user has said of the machine.
absl::Status CheckMachineFlags(const Target& target, const std::string& folder) {
  const std::string empty = folder + "/empty.c", log = folder + "/flags.log";
  KILN_RETURN_IF_ERROR(WriteFiles(folder, {{"empty.c", "typedef int empty;\n"}}));
  for (const MachineFlag& flag : MachineFlags(target)) {
    KILN_ASSIGN_OR_RETURN(const int status,
                          RunProgram({"cc", flag.flag, "-fsyntax-only", empty}, log));
    if (status == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--target ", target.name, ": the C compiler here does not know ", flag.flag, ", which is ",
        flag.option, " of the target; wanted what it knows, or --codegen llvm"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> TemporaryFolder() {
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  std::string folder = (place / "kiln-XXXXXX").string();
  if (!error && mkdtemp(folder.data()) != nullptr) return folder;
  const char* const variable = std::getenv("TMPDIR");
  return absl::InvalidArgumentError(absl::StrCat(
      "no folder for temporary files can be made in ", variable != nullptr ? variable : "/tmp",
      ": ", error ? error.message() : strerror(errno), "; TMPDIR names another place"));
}

}  // namespace

absl::StatusOr<std::string> LinkSharedObject(const Artifacts& artifacts, const std::string& name,
                                             const Target& target) {
  if (!absl::StartsWith(target.triple, Target::Host().triple.substr(0, 6))) {
    return absl::InvalidArgumentError(
        absl::StrCat("--runtime cpp --target ", target.name,
                     ": the C compiler here makes code for this kind of machine only; use "
                     "--codegen llvm and no external code generator that makes C, or --runtime crt "
                     "and compile the source yourself"));
  }
  KILN_ASSIGN_OR_RETURN(const std::string folder, TemporaryFolder());
  const absl::Cleanup remove = [&] {
    std::error_code ignored;
    fs::remove_all(folder, ignored);
  };
  const std::string so_file = folder + "/" + name + ".so", log = folder + "/log";
  KILN_RETURN_IF_ERROR(WriteFiles(folder + "/include", RuntimeHeaders()));
  Artifacts code;
  std::vector<std::string> files;
  for (const auto& [path, bytes] : artifacts) {
    if (!absl::EndsWith(path, ".c") && !absl::EndsWith(path, ".o")) continue;
    files.push_back(folder + "/" + path);
    code[path] = bytes;
  }
  KILN_RETURN_IF_ERROR(WriteFiles(folder, code));
  std::vector<std::string> argv = {"cc",
                                   "-std=c99",
                                   "-O3",
                                   "-ffp-contract=off",
                                   "-fno-math-errno",
                                   "-fPIC",
                                   "-shared",
                                   "-fvisibility=default",
                                   "-Wl,--build-id=none",
                                   "-Wl,-soname," + name + ".so",
                                   "-I" + folder + "/include"};
  for (const MachineFlag& flag : MachineFlags(target)) argv.push_back(flag.flag);
  argv.insert(argv.end(), {"-o", so_file});
  argv.insert(argv.end(), files.begin(), files.end());
  argv.push_back("-lm");
  KILN_ASSIGN_OR_RETURN(const int status, RunProgram(argv, log));
  if (status != 0) {
    KILN_RETURN_IF_ERROR(CheckMachineFlags(target, folder));
    const absl::StatusOr<std::string> words = ReadFile(log, 1 << 20);
    return absl::InternalError(absl::StrCat("the C compiler failed on generated code:\n",
                                            words.ok() ? words->substr(0, 4000) : std::string()));
  }
  return ReadFile(so_file, kMaxModelFileBytes);
}

}  // namespace kiln::tools
