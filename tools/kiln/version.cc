// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/version.h"

namespace kiln::tools {

const char kVersion[] = KILN_VERSION;

}  // namespace kiln::tools
