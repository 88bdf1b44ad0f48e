// SPDX-License-Identifier: Apache-2.0
// Renews docs/ops.md from the operators:   bazel run //docs:update_ops
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "compiler/ops/op_def.h"

int main() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::fprintf(stderr, "wanted: bazel run //docs:update_ops\n");
    return 2;
  }
  std::ofstream file(std::string(workspace) + "/docs/ops.md");
  file << kiln::OpsMarkdown();
  file.close();
  if (!file) {
    std::fprintf(stderr, "docs/ops.md cannot be written\n");
    return 1;
  }
  return 0;
}
