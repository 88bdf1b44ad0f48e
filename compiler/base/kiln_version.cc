// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/kiln_version.h"

namespace kiln {

const char kKilnVersion[] = KILN_VERSION;

}  // namespace kiln
