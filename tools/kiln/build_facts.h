// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_BUILD_FACTS_H_
#define KILN_TOOLS_KILN_BUILD_FACTS_H_

#include <string>

#include "nlohmann/json.hpp"

namespace kiln::tools {

// What `kiln --version` prints: the version, and what a build of the tool may have or lack.
std::string BuildFacts();
// The same as a JSON object.
nlohmann::ordered_json BuildFactsJson();

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_BUILD_FACTS_H_
