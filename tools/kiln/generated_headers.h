// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_GENERATED_HEADERS_H_
#define KILN_TOOLS_KILN_GENERATED_HEADERS_H_

#include "compiler/base/artifacts.h"

namespace kiln::tools {

// The headers of the runtime that the C sources among `artifacts` include, and those that these
// include, by the paths that they are included by. Beside the sources, they make them compile.
Artifacts HeadersOf(const Artifacts& artifacts);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_GENERATED_HEADERS_H_
