// SPDX-License-Identifier: Apache-2.0
// A plugin whose constructor loads a model. The system's loader holds its own lock while it runs
// the constructor.

// Defined by the program that loads the plugin.
void LoadInConstructor(void);

__attribute__((constructor)) static void Construct(void) { LoadInConstructor(); }
