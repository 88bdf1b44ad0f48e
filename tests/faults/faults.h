// SPDX-License-Identifier: Apache-2.0
// Calls of the system that fail, in the program that this is linked into or loaded before:
//
//   FaultsBegin(kMallocFault, 7, 0);  // the eighth allocation from here on fails
//   Load();
//   const long calls = FaultsEnd();
#ifndef KILN_TESTS_FAULTS_FAULTS_H_
#define KILN_TESTS_FAULTS_FAULTS_H_

#ifdef __cplusplus
extern "C" {
#endif

enum FaultKind { kNoFault, kMallocFault, kWriteFault, kMmapFault, kDlopenFault, kThreadFault };

// Counts calls of the kind, of all threads, and lets number `at` fail, from 0, and with `on` all
// behind it, until a large block is freed; none fails where it is negative. What the dynamic linker
// calls while it opens a library is not counted.
void FaultsBegin(enum FaultKind kind, long at, int on);

// No call fails from here on. How many there were.
long FaultsEnd(void);

// The blocks that malloc and the like have given and that are not freed.
long FaultsBlocks(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // KILN_TESTS_FAULTS_FAULTS_H_
