// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/codegen/llvm/codegen_llvm.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace kiln::codegen {
namespace {

namespace fs = std::filesystem;

absl::StatusOr<fs::path> MakePrivateDirectory() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) return absl::InternalError(absl::StrCat("no temporary directory: ", error.message()));
  std::string name = (parent / "kiln-link-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    return absl::InternalError(absl::StrCat("cannot make a directory in ", parent.string()));
  }
  return fs::path(name);
}

absl::Status WriteFile(const fs::path& path, absl::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) return absl::InternalError(absl::StrCat("cannot write ", path.string()));
  return absl::OkStatus();
}

absl::StatusOr<std::string> ReadFile(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  if (error) return absl::InternalError(absl::StrCat("cannot read ", path.string()));
  std::string bytes(size, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(size));
  if (!file) return absl::InternalError(absl::StrCat("cannot read ", path.string()));
  return bytes;
}

}  // namespace

absl::StatusOr<std::string> LinkSharedObject(std::string object, const std::string& soname) {
  // LLD keeps its state in globals.
  static std::mutex& mutex = *new std::mutex;
  std::lock_guard<std::mutex> lock(mutex);
  static bool usable = true;
  if (!usable) return absl::InternalError("the linker has crashed before in this process");

  KILN_ASSIGN_OR_RETURN(const fs::path directory, MakePrivateDirectory());
  absl::Cleanup remove = [&directory] {
    std::error_code ignored;
    fs::remove_all(directory, ignored);
  };
  const std::string input = (directory / "in.o").string();
  const std::string output = (directory / "out.so").string();
  KILN_RETURN_IF_ERROR(WriteFile(input, object));
  std::string().swap(object);  // The linker maps the file.

  const std::string soname_option = absl::StrCat("--soname=", soname);
  const std::vector<const char*> args = {"ld.lld",
                                         "-shared",
                                         "-o",
                                         output.c_str(),
                                         input.c_str(),
                                         "--build-id=none",
                                         soname_option.c_str(),
                                         "--hash-style=gnu",
                                         "-Bsymbolic",
                                         "--nostdlib",
                                         "-znoexecstack",
                                         "-zrelro",
                                         "-znow",
                                         "--threads=1",
                                         "--no-rosegment"};
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  const lld::Result result = lld::lldMain(args, stream, stream, {{lld::Gnu, &lld::elf::link}});
  usable = result.canRunAgain;
  if (result.retCode != 0) {
    return absl::InternalError(absl::StrCat("cannot link ", soname, ": ", messages));
  }
  return ReadFile(output);
}

}  // namespace kiln::codegen
