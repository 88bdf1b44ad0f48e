// SPDX-License-Identifier: Apache-2.0
// A plugin whose constructor loads a model. The system's loader runs it under a lock of its own.

// The program that loads the plugin defines it.
void LoadInConstructor(void);

__attribute__((constructor)) static void Construct(void) { LoadInConstructor(); }
