// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TESTS_LAYERING_UNDECLARED_INNER_H_
#define KILN_TESTS_LAYERING_UNDECLARED_INNER_H_

inline constexpr int kInner = 1;

#endif  // KILN_TESTS_LAYERING_UNDECLARED_INNER_H_
