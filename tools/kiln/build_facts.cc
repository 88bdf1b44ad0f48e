// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/build_facts.h"

#include <dlfcn.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/backend/backend.h"
#include "compiler/base/kiln_version.h"
#include "compiler/external/external_codegen.h"
#include "compiler/target/target.h"
#include "tools/terminal/text.h"

namespace kiln::tools {
namespace {

constexpr size_t kColumns = 80;
#ifdef __clang__
constexpr char kCompiler[] = "";  // __VERSION__ names clang itself
#else
constexpr char kCompiler[] = "gcc ";
#endif

// Returns the version of the LLVM library that this process has loaded, such as "19.1.7". Empty if
// there is none or the library does not report its version.
std::string LlvmVersion() {
  using GetVersion = void (*)(unsigned* major, unsigned* minor, unsigned* patch);
  const auto get_version = reinterpret_cast<GetVersion>(dlsym(RTLD_DEFAULT, "LLVMGetVersion"));
  if (get_version == nullptr || !HasCodegen(Codegen::kLlvm)) return "";
  unsigned major = 0, minor = 0, patch = 0;
  get_version(&major, &minor, &patch);
  return absl::StrCat(major, ".", minor, ".", patch);
}

std::vector<std::string> Codegens() {
  if (HasCodegen(Codegen::kLlvm)) return {"llvm", "c"};
  return {"c"};
}

std::vector<std::string> Externals() {
  std::vector<std::string> names;
  for (const ExternalCodegen* external : AllExternalCodegens()) names.push_back(external->name);
  return names;
}

std::string Compiler() { return absl::StrCat(kCompiler, __VERSION__); }

}  // namespace

nlohmann::ordered_json BuildFactsJson() {
  std::vector<std::string> targets = {"host"};
  for (const auto& target : ListTargets()) targets.emplace_back(target);
  return {{"version", std::string(kKilnVersion)},
          {"code_generators", Codegens()},
          {"external_code_generators", Externals()},
          {"llvm", LlvmVersion()},
          {"compiler", Compiler()},
          {"targets", targets}};
}

std::string BuildFacts() {
  const std::string llvm = LlvmVersion();
  const std::string targets =
      absl::StrCat("targets: host, ", absl::StrJoin(ListTargets(), ", "), ", or an LLVM triple");
  return absl::StrCat("kiln ", kKilnVersion, "\ncode generators: ", absl::StrJoin(Codegens(), ", "),
                      "\nexternal code generators: ", absl::StrJoin(Externals(), ", "), "\n",
                      llvm.empty() ? "" : absl::StrCat("LLVM: ", llvm, "\n"),
                      "compiler of this build: ", Compiler(), "\n", Wrapped(targets, 0, kColumns));
}

}  // namespace kiln::tools
