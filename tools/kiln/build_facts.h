// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_KILN_BUILD_FACTS_H_
#define KILN_TOOLS_KILN_BUILD_FACTS_H_

#include <string>

#include "nlohmann/json.hpp"

namespace kiln::tools {

// Returns the output of `kiln --version`: the version and the optional features of this build.
std::string BuildFacts();
// Returns the same facts as a JSON object.
nlohmann::ordered_json BuildFactsJson();

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_BUILD_FACTS_H_
