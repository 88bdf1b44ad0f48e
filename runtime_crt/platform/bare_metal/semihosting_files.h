/* SPDX-License-Identifier: Apache-2.0
 *
 * Access by semihosting to files of the machine that runs the debugger or emulator.
 *
 *   const int32_t file = SemihostingOpen("/tmp/samples", kSemihostingRead);
 *   if (file < 0 || SemihostingRead(file, buffer, sizeof(buffer)) != 0) return 1;
 */
#ifndef KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_SEMIHOSTING_FILES_H_
#define KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_SEMIHOSTING_FILES_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The modes "rb" and "wb" of fopen. */
enum SemihostingMode { kSemihostingRead = 1, kSemihostingWrite = 5 };

/* Returns a file handle, or -1 if the file cannot be opened. */
int32_t SemihostingOpen(const char* path, enum SemihostingMode mode);

/* Read or write `bytes` bytes. Return the number of bytes that were not transferred. */
uint32_t SemihostingRead(int32_t file, void* buffer, uint32_t bytes);
uint32_t SemihostingWriteBytes(int32_t file, const void* buffer, uint32_t bytes);

/* Returns 0, or -1 if something was not written. */
int32_t SemihostingClose(int32_t file);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KILN_RUNTIME_CRT_PLATFORM_BARE_METAL_SEMIHOSTING_FILES_H_ */
