// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_GENERATED_HEADERS_H_
#define KILN_TOOLS_KILN_GENERATED_HEADERS_H_

#include "compiler/base/artifacts.h"

namespace kiln::tools {

// Returns the headers of the runtime that the C sources among `artifacts` include directly or
// indirectly, keyed by include path. In a folder next to the sources they suffice to compile them.
Artifacts HeadersOf(const Artifacts& artifacts);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_GENERATED_HEADERS_H_
