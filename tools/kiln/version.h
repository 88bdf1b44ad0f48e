// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_VERSION_H_
#define KILN_TOOLS_KILN_VERSION_H_

namespace kiln::tools {

// "0.1.0"; //tools/bazel:version.bzl has it.
extern const char kVersion[];

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_VERSION_H_
