// SPDX-License-Identifier: Apache-2.0
// A compiled model as a module of another build system: code and headers, with files for CMake,
// make, Zephyr, ESP-IDF, Arduino, PlatformIO or CMSIS-Pack. The module is usable without changes.
//
//   const PackageRequest request = {.system = "zephyr"};
//   KILN_RETURN_IF_ERROR(CheckPackage(request, options));  // before the model is compiled
//   KILN_ASSIGN_OR_RETURN(Artifacts files, MakePackage(request, model));
#ifndef KILN_TOOLS_PACKAGE_PACKAGE_H_
#define KILN_TOOLS_PACKAGE_PACKAGE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/artifacts.h"
#include "compiler/options/options.h"
#include "metadata/metadata.pb.h"
#include "tools/kiln/object_report.h"

namespace kiln::tools {

struct PackageRequest {
  std::string system;  // one of PackageSystems()
  std::string version = "1.0.0";
  std::string vendor = "Kiln";
  std::string url;  // home page of the package; may be empty
};

// The result of a compilation.
struct PackagedModel {
  const Target& target;
  const proto::Metadata& metadata;
  const Artifacts& artifacts;  // of Compiled
  Artifacts headers;           // of the runtime, keyed by include path
  // Figures of the object. For a package of C they are an estimate: those of the object that LLVM
  // makes of the same model, if LLVM is built in and supports the target.
  std::optional<ObjectFigures> figures = {};
};

// Returns the names of the build systems, sorted.
std::vector<std::string> PackageSystems();

// InvalidArgument, with the wanted value, for an unknown system, or for a version, vendor or URL
// that the systems do not accept. Also for code that packages cannot contain: another runtime or
// interface than plain C, or an object if the system only builds sources.
absl::Status CheckPackage(const PackageRequest& request, const CompileOptions& options);

// The file of a package that lists all other files, in the format of `sha256sum`.
inline constexpr char kPackageChecksums[] = "SHA256SUMS";

// Returns all files of the package, keyed by path in its folder, with '/' as separator. They
// contain no paths of this machine and no dates, so the same model gives the same bytes.
absl::StatusOr<Artifacts> MakePackage(const PackageRequest& request, const PackagedModel& model);

// Files of an earlier package in a folder that are not part of the new one.
struct EarlierFiles {
  std::vector<std::string> as_made;  // unchanged, may be removed
  std::vector<std::string> changed;  // modified since then
};
EarlierFiles FilesOfEarlierPackage(const std::string& folder, const Artifacts& files);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_PACKAGE_PACKAGE_H_
