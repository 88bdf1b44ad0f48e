// SPDX-License-Identifier: Apache-2.0
#include "tests/layering/undeclared/outer.h"

static_assert(kOuter == 2);
