// SPDX-License-Identifier: Apache-2.0
// Makes system calls fail in the program that this library is linked into or loaded before:
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

// Counts calls of the kind by all threads. Call number `at` (from 0) fails; if `on` is nonzero, all
// later calls fail, too, until a large block is freed. If `at` is negative, no call fails. Calls of
// the dynamic linker while it opens a library are not counted.
void FaultsBegin(enum FaultKind kind, long at, int on);

// Makes no further call fail. Returns the number of counted calls.
long FaultsEnd(void);

// Returns the number of blocks from malloc and related functions that are not freed.
long FaultsBlocks(void);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // KILN_TESTS_FAULTS_FAULTS_H_
