// SPDX-License-Identifier: Apache-2.0
#include "tools/package/package.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/base/sha256.h"
#include "compiler/base/status.h"
#include "tools/kiln/files.h"
#include "tools/kiln/runtime_files.h"
#include "tools/package/marks.h"
#include "tools/package/template.h"

namespace kiln::tools {
namespace {

// Everything else about a system is in templates/<name>.
struct System {
  const char* name;
  const char* headers;   // folder of the headers
  const char* main_c;    // path of the program of templates/common; null: the system has its own
                         // program
  bool takes_objects;    // builds from objects as well as from sources
  bool is_for_firmware;  // never builds for this machine's processor
};

constexpr System kSystems[] = {
    {"arduino", "src/", nullptr, false, true},
    {"cmake", "include/", "examples/run/main.c", true, false},
    {"cmsis-pack", "include/", "examples/run/main.c", true, true},
    {"esp-idf", "include/", nullptr, true, true},
    {"make", "include/", "examples/run/main.c", true, false},
    {"platformio", "include/", "examples/run/main.c", false, true},
    {"zephyr", "include/", "samples/run/src/main.c", true, true},
};

constexpr char kSourceFolder[] = "src/";
// A line of kPackageChecksums: the digits of SHA-256, blanks, a path.
constexpr size_t kDigits = 64;
constexpr absl::string_view kBlanks = "  ";
constexpr int64_t kMaxChecksumsBytes = int64_t{1} << 20;
constexpr char kTemplateSuffix[] = ".in";
constexpr char kUse[] = "use.md";  // usage of the package with the system, a part of README.md

absl::StatusOr<const System*> FindSystem(const std::string& name) {
  for (const System& system : kSystems) {
    if (name == system.name) return &system;
  }
  return absl::InvalidArgumentError(absl::StrCat("--for: found '", name, "', wanted one of ",
                                                 absl::StrJoin(PackageSystems(), ", ")));
}

// True for three numbers without leading zeros, which every system accepts.
bool IsVersion(absl::string_view text) {
  const std::vector<absl::string_view> numbers = absl::StrSplit(text, '.');
  return numbers.size() == 3 && std::all_of(numbers.begin(), numbers.end(), [](auto number) {
           return !number.empty() && (number.size() == 1 || number[0] != '0') &&
                  std::all_of(number.begin(), number.end(), absl::ascii_isdigit);
         });
}

bool ConsistsOf(absl::string_view text, absl::string_view others) {
  return std::all_of(text.begin(), text.end(), [&](unsigned char c) {
    return absl::ascii_isalnum(c) || absl::StrContains(others, static_cast<char>(c));
  });
}

absl::Status CheckNames(const PackageRequest& request, const std::string& module_name) {
  if (!IsVersion(request.version)) {
    return absl::InvalidArgumentError(absl::StrCat("--package-version: found '", request.version,
                                                   "', wanted three numbers, such as 1.0.0"));
  }
  if (request.vendor.empty() || !ConsistsOf(request.vendor, "-_")) {
    return absl::InvalidArgumentError(absl::StrCat("--vendor: found '", request.vendor,
                                                   "', wanted letters, digits, '-' and '_'"));
  }
  const bool is_url =
      absl::StartsWith(request.url, "http://") || absl::StartsWith(request.url, "https://");
  // Only characters without a special meaning in the systems' file formats.
  if (!request.url.empty() && (!is_url || !ConsistsOf(request.url, "-._~:/?#@!$()*+,;=%"))) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--url: found '", request.url, "', wanted https://… without blanks, quotes and '&'"));
  }
  if (module_name[0] == '_') {
    return absl::InvalidArgumentError(absl::StrCat(
        "--module-name: found '", module_name,
        "', wanted a name that begins with a letter, as the names of packages have to"));
  }
  return absl::OkStatus();
}

absl::Status CheckCode(const System& system, const CompileOptions& options) {
  const auto refuse = [](absl::string_view option, absl::string_view wanted) {
    return absl::InvalidArgumentError(absl::StrCat(
        "package: found ", option, ", wanted ", wanted,
        ": a package has the plain C interface, which needs no runtime; kiln compile makes "
        "libraries of other kinds"));
  };
  if (options.runtime != Runtime::kCrt) return refuse("--runtime cpp", "--runtime crt");
  if (options.executor != Executor::kAot) return refuse("--executor graph", "--executor aot");
  if (options.interface != Interface::kC) return refuse("--interface packed", "--interface c");
  if (options.codegen == Codegen::kLlvm && !system.takes_objects) {
    return absl::InvalidArgumentError(absl::StrCat(
        "package: found --codegen llvm, which makes an object, wanted --codegen c: ", system.name,
        " builds libraries from sources"));
  }
  return absl::OkStatus();
}

// Returns the path of the file for a template. "NAME" and "VENDOR" are replaced by those of the
// package.
std::string PathOf(absl::string_view path, const Marks& marks) {
  absl::ConsumeSuffix(&path, kTemplateSuffix);
  return absl::StrReplaceAll(
      path, {{"NAME", marks.values.at("name")}, {"VENDOR", marks.values.at("vendor")}});
}

}  // namespace

std::vector<std::string> PackageSystems() {
  std::vector<std::string> names;
  for (const System& system : kSystems) names.push_back(system.name);
  return names;
}

absl::Status CheckPackage(const PackageRequest& request, const CompileOptions& options) {
  KILN_ASSIGN_OR_RETURN(const System* system, FindSystem(request.system));
  KILN_RETURN_IF_ERROR(CheckNames(request, options.module_name));
  KILN_RETURN_IF_ERROR(CheckCode(*system, options));
  if (system->is_for_firmware && (options.target.name == "host" || !options.cpu_variants.empty())) {
    return absl::InvalidArgumentError(
        absl::StrCat("package: wanted --target with --for ", system->name,
                     ": the processor of the board, such as cortex-m4f"));
  }
  if (system->is_for_firmware && options.target.has_os) {
    return absl::InvalidArgumentError(
        absl::StrCat("package: found --target ", options.target.name,
                     ", a machine with an operating system, wanted with --for ", system->name,
                     " the processor of the board, such as cortex-m4f"));
  }
  const std::string& triple = options.target.triple;
  if (system->name == absl::string_view("cmsis-pack") &&
      (absl::StartsWith(triple, "riscv") || absl::StartsWith(triple, "xtensa"))) {
    return absl::InvalidArgumentError(absl::StrCat("package: found --target ", options.target.name,
                                                   ", wanted with --for cmsis-pack a Cortex-M"));
  }
  return absl::OkStatus();
}

absl::StatusOr<Artifacts> MakePackage(const PackageRequest& request, const PackagedModel& model) {
  KILN_ASSIGN_OR_RETURN(const System* system, FindSystem(request.system));
  Marks marks = MarksOf(request, model);
  const auto& templates = PackageTemplates();
  const std::string own = absl::StrCat(system->name, "/");
  KILN_ASSIGN_OR_RETURN(
      marks.values["use"],
      FillTemplate(templates.at(absl::StrCat(own, kUse, kTemplateSuffix)), marks));
  absl::StripTrailingAsciiWhitespace(&marks.values["use"]);
  Artifacts files;
  for (const auto& [path, text] : templates) {
    absl::string_view below = path;
    if (!absl::ConsumePrefix(&below, own) || absl::StartsWith(below, kUse)) continue;
    KILN_ASSIGN_OR_RETURN(files[PathOf(below, marks)], FillTemplate(text, marks));
  }
  KILN_ASSIGN_OR_RETURN(files["README.md"],
                        FillTemplate(templates.at("common/README.md.in"), marks));
  if (system->main_c != nullptr) {
    KILN_ASSIGN_OR_RETURN(files[system->main_c],
                          FillTemplate(templates.at("common/main.c.in"), marks));
  }
  files["LICENSE"] = LicenseText().begin()->second;
  for (const auto& [path, bytes] : model.artifacts) {
    if (absl::EndsWith(path, ".c") || absl::EndsWith(path, ".o")) {
      files[kSourceFolder + path] = bytes;
    } else if (absl::EndsWith(path, ".h")) {
      files[system->headers + path] = bytes;
    }
  }
  for (const auto& [path, text] : model.headers) files[system->headers + path] = text;
  std::string checksums;
  for (const auto& [path, bytes] : files) {
    absl::StrAppend(&checksums, Sha256(bytes), kBlanks, path, "\n");
  }
  files[kPackageChecksums] = std::move(checksums);
  return files;
}

EarlierFiles FilesOfEarlierPackage(const std::string& folder, const Artifacts& files) {
  const std::filesystem::path root = folder;
  const absl::StatusOr<std::string> list =
      ReadFile((root / kPackageChecksums).string(), kMaxChecksumsBytes);
  EarlierFiles earlier;
  if (!list.ok()) return earlier;
  for (absl::string_view line : absl::StrSplit(*list, '\n')) {
    if (line.size() <= kDigits + kBlanks.size()) continue;
    const std::string path(line.substr(kDigits + kBlanks.size()));
    const std::filesystem::path name = std::filesystem::path(path).lexically_normal();
    if (files.contains(path) || name.is_absolute() || *name.begin() == "..") continue;
    // A link or folder that a user put in the place of a file is kept.
    const std::filesystem::path file = root / name;
    std::error_code error;
    if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(file, error))) continue;
    const std::filesystem::path inside =
        std::filesystem::canonical(file, error)
            .lexically_relative(std::filesystem::canonical(root, error));
    if (error || inside != name) continue;
    const absl::StatusOr<std::string> digest = Sha256OfFile(file.string());
    if (!digest.ok()) continue;
    (*digest == line.substr(0, kDigits) ? earlier.as_made : earlier.changed)
        .push_back(file.string());
  }
  return earlier;
}

}  // namespace kiln::tools
