// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/build_facts.h"

#include <dlfcn.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/backend/backend.h"
#include "compiler/external/external_codegen.h"
#include "compiler/target/target.h"
#include "tools/kiln/version.h"
#include "tools/terminal/text.h"

namespace kiln::tools {
namespace {

constexpr size_t kColumns = 80;
#ifdef __clang__
constexpr char kCompiler[] = "";  // it names itself
#else
constexpr char kCompiler[] = "gcc ";
#endif

// Of the library that this process has loaded; empty if it has none, or is linked with one that
// does not say.
std::string LlvmVersion() {
  using GetVersion = void (*)(unsigned* major, unsigned* minor, unsigned* patch);
  const auto get_version = reinterpret_cast<GetVersion>(dlsym(RTLD_DEFAULT, "LLVMGetVersion"));
  if (get_version == nullptr || !HasCodegen(Codegen::kLlvm)) return "";
  unsigned major = 0, minor = 0, patch = 0;
  get_version(&major, &minor, &patch);
  return absl::StrCat("LLVM: ", major, ".", minor, ".", patch, "\n");
}

}  // namespace

std::string BuildFacts() {
  const std::string externals = absl::StrJoin(
      AllExternalCodegens(), ", ",
      [](std::string* out, const ExternalCodegen* e) { absl::StrAppend(out, e->name); });
  const std::string targets =
      absl::StrCat("targets: host, ", absl::StrJoin(ListTargets(), ", "), ", or an LLVM triple");
  return absl::StrCat(
      "kiln ", kVersion, "\ncode generators: ", HasCodegen(Codegen::kLlvm) ? "llvm, c" : "c",
      "\nexternal code generators: ", externals, "\n", LlvmVersion(),
      "compiler of this build: ", kCompiler, __VERSION__, "\n", Wrapped(targets, 0, kColumns));
}

}  // namespace kiln::tools
