/* SPDX-License-Identifier: Apache-2.0
 *
 * Elements of tensors, given the name of their dtype: "float32", "int8", "bool".
 */
#ifndef KILN_TOOLS_MODEL_TEST_ELEMENT_H_
#define KILN_TOOLS_MODEL_TEST_ELEMENT_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the bytes of an element; 0 for an unknown dtype. */
size_t ElementBytes(const char* dtype);

/* Returns the element at `p`, whose dtype is known. 64-bit integers are rounded. */
double ElementValue(const char* dtype, const unsigned char* p);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_TOOLS_MODEL_TEST_ELEMENT_H_ */
