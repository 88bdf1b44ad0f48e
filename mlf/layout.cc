// SPDX-License-Identifier: Apache-2.0
#include "mlf/layout.h"

#include "absl/strings/str_cat.h"

namespace kiln::mlf {

std::string SourcePath(const std::string& name, size_t number) {
  return absl::StrCat("codegen/host/src/", name, "_lib", number, ".c");
}

std::string ObjectPath(const std::string& name, size_t number) {
  return absl::StrCat("codegen/host/lib/", name, "_lib", number, ".o");
}

std::string HeaderPath(const std::string& name) {
  return absl::StrCat("codegen/host/include/tvmgen_", name, ".h");
}

std::string ParamsPath(const std::string& name) {
  return absl::StrCat("parameters/", name, ".params");
}

std::string RelayPath(const std::string& name) { return absl::StrCat("src/", name, ".relay"); }

std::string GraphPath(const std::string& name) {
  return absl::StrCat("executor-config/graph/", name, ".graph");
}

std::string CentralMetadataPath(const std::string& name) {
  return absl::StrCat(kCentralMetadataFolder, name, ".json");
}

}  // namespace kiln::mlf
