// SPDX-License-Identifier: Apache-2.0
// A compiled model as a module of another build system: its code and headers with the files by
// which CMake, make, Zephyr, ESP-IDF, Arduino, PlatformIO or CMSIS-Pack take it as it is.
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
  std::string url;  // where the package comes from; may be empty
};

// What the compiler has made of the model.
struct PackagedModel {
  const Target& target;
  const proto::Metadata& metadata;
  const Artifacts& artifacts;  // of Compiled
  Artifacts headers;           // of the runtime, that the sources include, by that path
  // Of the object. A package of C has those of the object that LLVM makes of the same model, as an
  // estimate, where LLVM is built in and knows the target.
  std::optional<ObjectFigures> figures = {};
};

// The names of the build systems, in order.
std::vector<std::string> PackageSystems();

// InvalidArgument, with what is wanted, for an unknown system, a version, vendor or URL that the
// systems would not take, and for code that no package holds: of another runtime or interface than
// plain C, or an object where the system builds sources.
absl::Status CheckPackage(const PackageRequest& request, const CompileOptions& options);

// The file of a package that lists all others, as lines of `sha256sum`.
inline constexpr char kPackageChecksums[] = "SHA256SUMS";

// All files of the package by their paths in its folder, '/' separated. They name no path of this
// machine and no date: the same model gives the same bytes.
absl::StatusOr<Artifacts> MakePackage(const PackageRequest& request, const PackagedModel& model);

// The files of an earlier package in a folder that are not part of the new one.
struct EarlierFiles {
  std::vector<std::string> as_made;  // may go
  std::vector<std::string> changed;  // by somebody since
};
EarlierFiles FilesOfEarlierPackage(const std::string& folder, const Artifacts& files);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_PACKAGE_PACKAGE_H_
