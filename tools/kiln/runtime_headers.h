// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_RUNTIME_HEADERS_H_
#define KILN_TOOLS_KILN_RUNTIME_HEADERS_H_

#include <map>
#include <string>

namespace kiln::tools {

// The headers that generated C includes, by path below the include folder: so that the tool can
// compile C without the source tree.
const std::map<std::string, std::string>& RuntimeHeaders();

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_RUNTIME_HEADERS_H_
