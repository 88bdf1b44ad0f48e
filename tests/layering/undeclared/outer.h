// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TESTS_LAYERING_UNDECLARED_OUTER_H_
#define KILN_TESTS_LAYERING_UNDECLARED_OUTER_H_

#include "tests/layering/undeclared/inner.h"

inline constexpr int kOuter = kInner + 1;

#endif  // KILN_TESTS_LAYERING_UNDECLARED_OUTER_H_
