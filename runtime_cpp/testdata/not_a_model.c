// SPDX-License-Identifier: Apache-2.0
//
// A shared object without a model.
int answer(void);
int answer(void) { return 42; }
