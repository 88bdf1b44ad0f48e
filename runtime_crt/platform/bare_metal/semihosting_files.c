/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime_crt/platform/bare_metal/semihosting_files.h"

#include <string.h>

#include "runtime_crt/platform/bare_metal/semihosting_call.h"

#define SYS_OPEN 0x01u
#define SYS_CLOSE 0x02u
#define SYS_WRITE 0x05u
#define SYS_READ 0x06u

/* Addresses of the machine have 32 bits. */
static uint32_t AddressOf(const void* object) { return (uint32_t)(uintptr_t)object; }

static uint32_t Transfer(uint32_t operation, int32_t file, const void* buffer, uint32_t bytes) {
  const volatile uint32_t argument[3] = {(uint32_t)file, AddressOf(buffer), bytes};
  return SemihostingCall(operation, argument);
}

int32_t SemihostingOpen(const char* path, enum SemihostingMode mode) {
  const volatile uint32_t argument[3] = {AddressOf(path), (uint32_t)mode, (uint32_t)strlen(path)};
  return (int32_t)SemihostingCall(SYS_OPEN, argument);
}

uint32_t SemihostingRead(int32_t file, void* buffer, uint32_t bytes) {
  return Transfer(SYS_READ, file, buffer, bytes);
}

uint32_t SemihostingWriteBytes(int32_t file, const void* buffer, uint32_t bytes) {
  return Transfer(SYS_WRITE, file, buffer, bytes);
}

int32_t SemihostingClose(int32_t file) {
  const volatile uint32_t argument[1] = {(uint32_t)file};
  return (int32_t)SemihostingCall(SYS_CLOSE, argument);
}
