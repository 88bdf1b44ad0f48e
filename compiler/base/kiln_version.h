// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_BASE_KILN_VERSION_H_
#define KILN_COMPILER_BASE_KILN_VERSION_H_

namespace kiln {

// The version, such as "0.1.0", from //tools/bazel:version.bzl.
extern const char kKilnVersion[];

}  // namespace kiln

#endif  // KILN_COMPILER_BASE_KILN_VERSION_H_
