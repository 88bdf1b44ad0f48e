// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "faults.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static const size_t kLargeBlockBytes = (size_t)512 << 10;

static atomic_int kind = kNoFault;
static atomic_long calls = 0;
static atomic_long blocks = 0;
static long fail_at = -1;
static int fail_on = 0;
// Nonzero inside the dynamic linker, whose calls do not count as the program's.
static _Thread_local int is_linking __attribute__((tls_model("initial-exec"))) = 0;

void FaultsBegin(enum FaultKind called, long at, int on) {
  calls = 0;
  fail_at = at;
  fail_on = on;
  kind = (int)called;
}

long FaultsEnd(void) {
  kind = kNoFault;
  return calls;
}

long FaultsBlocks(void) { return blocks; }

// Counts a call. True if this call must fail.
static int Fails(enum FaultKind called) {
  if (called != (enum FaultKind)kind || is_linking) return 0;
  const long number = calls++;
  return fail_at >= 0 && (fail_on ? number >= fail_at : number == fail_at);
}

static void* Counted(void* block) {
  if (block != NULL) ++blocks;
  return block;
}

// ---- malloc and related functions

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void __libc_free(void* block);
extern void* __libc_memalign(size_t alignment, size_t size);

static void* NoMemory(void) {
  errno = ENOMEM;
  return NULL;
}

void* malloc(size_t size) {
  return Fails(kMallocFault) ? NoMemory() : Counted(__libc_malloc(size));
}

void* calloc(size_t count, size_t size) {
  return Fails(kMallocFault) ? NoMemory() : Counted(__libc_calloc(count, size));
}

void* realloc(void* block, size_t size) {
  if (Fails(kMallocFault)) return NoMemory();
  void* const other = __libc_realloc(block, size);
  if (block == NULL) return Counted(other);
  if (size == 0) --blocks;  // the block is freed
  return other;
}

void* aligned_alloc(size_t alignment, size_t size) {
  return Fails(kMallocFault) ? NoMemory() : Counted(__libc_memalign(alignment, size));
}

int posix_memalign(void** block, size_t alignment, size_t size) {
  if (Fails(kMallocFault)) return ENOMEM;
  *block = Counted(__libc_memalign(alignment, size));
  return *block == NULL ? ENOMEM : 0;
}

void free(void* block) {
  if (block == NULL) return;
  if (kind == kMallocFault && fail_at >= 0 && calls > fail_at &&
      malloc_usable_size(block) >= kLargeBlockBytes) {
    kind = kNoFault;
  }
  --blocks;
  __libc_free(block);
}

// ---- Other functions

static void* Next(const char* name) { return dlsym(RTLD_NEXT, name); }

ssize_t write(int file, const void* bytes, size_t size) {
  if (file > STDERR_FILENO && Fails(kWriteFault)) {
    errno = ENOSPC;
    return -1;
  }
  return syscall(SYS_write, file, bytes, size);
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  if (Fails(kMmapFault)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return (void*)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}

void* dlopen(const char* path, int flags) {
  void* (*next)(const char*, int) = (void* (*)(const char*, int))Next("dlopen");
  // If the file does not exist, dlerror() returns the system's text for this error.
  const char* const file = Fails(kDlopenFault) ? "/no/such/library.so" : path;
  ++is_linking;
  void* const library = next(file, flags);
  --is_linking;
  return library;
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) =
      (int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))Next("pthread_create");
  return Fails(kThreadFault) ? EAGAIN : next(thread, attributes, run, argument);
}
