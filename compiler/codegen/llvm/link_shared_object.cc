// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/base/temporary_folder.h"
#include "compiler/codegen/llvm/codegen_llvm.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace kiln::codegen {
namespace {

namespace fs = std::filesystem;

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

  KILN_ASSIGN_OR_RETURN(const TemporaryFolder folder, TemporaryFolder::Make());
  const std::string input = folder.path() + "/in.o";
  const std::string output = folder.path() + "/out.so";
  KILN_RETURN_IF_ERROR(WriteFile(input, object));
  std::string().swap(object);  // the linker maps the file

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
