// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/c_compiler.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/backend/backend.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/base/temporary_folder.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "kiln/library_notes.h"
#include "metadata/library_notes.h"
#include "runtime_cpp/library_checksum.h"
#include "tools/kiln/files.h"
#include "tools/kiln/run_program.h"
#include "tools/kiln/runtime_files.h"

namespace kiln::tools {
namespace {

struct MachineFlag {
  std::string flag;    // of the C compiler
  std::string option;  // of --target
};

// Returns flags that let the C compiler use the target's instructions: -m for every enabled LLVM
// feature and -mno- for every disabled one.
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

// Runs the C compiler and returns its exit status.
absl::StatusOr<int> RunCompiler(const std::vector<std::string>& argv, const std::string& log) {
  absl::StatusOr<int> status = RunProgram(argv, log);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      absl::StrCat("making a shared object of C needs a C compiler, and '", argv[0],
                   "' cannot be run; install gcc or clang, or use --codegen llvm and no external "
                   "code generator that makes C"));
}

// After a failure of the C compiler: InvalidArgument if it does not know a flag for the target.
absl::Status CheckMachineFlags(const Target& target, const std::string& folder) {
  const std::string empty = folder + "/empty.c", log = folder + "/flags.log";
  KILN_RETURN_IF_ERROR(WriteFiles(folder, {{"empty.c", "typedef int empty;\n"}}));
  for (const MachineFlag& flag : MachineFlags(target)) {
    KILN_ASSIGN_OR_RETURN(const int status,
                          RunCompiler({"cc", flag.flag, "-fsyntax-only", empty}, log));
    if (status == 0) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "--target ", target.name, ": the C compiler here does not know ", flag.flag, ", which is ",
        flag.option, " of the target; wanted what it knows, or --codegen llvm"));
  }
  return absl::OkStatus();
}

// Writes a file to a folder that no other process uses.
absl::Status WriteTemporary(const std::string& path, absl::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (file.flush()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": cannot be written: ", std::strerror(errno)));
}

// Returns assembly language of the section with the notes. Assemblers derive the type of a section
// from the prefix of its name.
std::string NotesSource(const std::string& notes) {
  std::string text = absl::StrCat("\t.section ", KILN_NOTE_SECTION, ",\"a\"\n\t.balign 4\n");
  for (const char byte : notes) {
    absl::StrAppend(&text, "\t.byte ", static_cast<unsigned char>(byte), "\n");
  }
  return absl::StrCat(text, "\t.section .note.GNU-stack,\"\",%progbits\n");
}

// `constants` is the constants file of generated C; empty if there is none.
absl::StatusOr<std::string> LinkSharedObject(const Artifacts& artifacts,
                                             const std::string& constants, const std::string& notes,
                                             const std::string& name, const Target& target) {
  if (!absl::StartsWith(target.triple, Target::Host().triple.substr(0, 6))) {
    return absl::InvalidArgumentError(
        absl::StrCat("--runtime cpp --target ", target.name,
                     ": the C compiler here makes code for this kind of machine only; use "
                     "--codegen llvm and no external code generator that makes C, or --runtime crt "
                     "and compile the source yourself"));
  }
  KILN_ASSIGN_OR_RETURN(const TemporaryFolder temporary, TemporaryFolder::Make());
  const std::string& folder = temporary.path();
  const std::string so_file = folder + "/" + name + ".so", log = folder + "/log";
  KILN_RETURN_IF_ERROR(WriteFiles(folder + "/include", RuntimeHeaders()));
  std::vector<std::string> files;
  for (const auto& [path, bytes] : artifacts) {
    if (!absl::EndsWith(path, ".c") && !absl::EndsWith(path, ".o")) continue;
    files.push_back(folder + "/" + path);
    KILN_RETURN_IF_ERROR(WriteTemporary(files.back(), bytes));
  }
  files.push_back(folder + "/notes.s");
  KILN_RETURN_IF_ERROR(WriteTemporary(files.back(), NotesSource(notes)));
  std::vector<std::string> argv = {"cc", "-std=c99",
                                   // Not -O3: GCC 12 miscompiles loops with several sums.
                                   "-O2", "-ftree-vectorize", "-fvect-cost-model=dynamic",
                                   "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-shared",
                                   "-fvisibility=default", "-Wl,--build-id=none",
                                   "-Wl,-soname," + name + ".so", "-I" + folder + "/include"};
  for (const MachineFlag& flag : MachineFlags(target)) argv.push_back(flag.flag);
  if (!constants.empty()) {
    const std::string file = folder + "/constants.bin";
    KILN_RETURN_IF_ERROR(WriteTemporary(file, constants));
    argv.push_back(absl::StrCat("-DKILN_CONSTANTS_FILE=\"", file, "\""));
  }
  argv.insert(argv.end(), {"-o", so_file});
  argv.insert(argv.end(), files.begin(), files.end());
  argv.push_back("-lm");
  KILN_ASSIGN_OR_RETURN(const int status, RunCompiler(argv, log));
  if (status != 0) {
    KILN_RETURN_IF_ERROR(CheckMachineFlags(target, folder));
    const absl::StatusOr<std::string> words = ReadFile(log, 1 << 20);
    return absl::InternalError(absl::StrCat("the C compiler failed on generated code:\n",
                                            words.ok() ? words->substr(0, 4000) : std::string()));
  }
  return ReadFile(so_file, kMaxModelFileBytes);
}

}  // namespace

absl::Status LinkParts(const CompileOptions& options, Compiled& compiled) {
  Artifacts& artifacts = compiled.artifacts;
  const std::string shared_object = options.module_name + ".so";
  if (options.runtime != Runtime::kCpp || options.system_lib) return absl::OkStatus();
  if (!artifacts.contains(shared_object)) {
    KILN_ASSIGN_OR_RETURN(
        artifacts[shared_object],
        LinkSharedObject(artifacts, ConstantsFileOf(compiled.compilation.program, options),
                         LibraryNotes(compiled.compilation.metadata), options.module_name,
                         CodeTarget(options)));
  }
  runtime::AppendLibraryChecksum(artifacts[shared_object]);
  return absl::OkStatus();
}

}  // namespace kiln::tools
