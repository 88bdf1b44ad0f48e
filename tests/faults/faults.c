// SPDX-License-Identifier: Apache-2.0
// To be loaded before a program (LD_PRELOAD): one call of the system's fails, as if the machine
// lacked what it asks for.
//
//   KILN_FAULT_KIND   malloc, write, mmap, dlopen or thread: which calls are counted
//   KILN_FAULT_AT     the number of the call that fails, from 0; with malloc, all behind it fail
//                     too, until a large block is freed, as where memory is used up; none: no call
//                     fails
//   KILN_FAULT_COUNT  a file to which the number of calls is written at the end
//
// Counting begins with main(): what happens before is the affair of the dynamic linker.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum Kind { kNone, kMalloc, kWrite, kMmap, kDlopen, kThread };

static const size_t kLargeBlockBytes = (size_t)512 << 10;

static atomic_int kind = kNone;
static atomic_long calls = 0;
static long fail_at = -1;

// Whether this call is the one.
static int Fails(enum Kind called) {
  if (called != (enum Kind)kind) return 0;
  const long number = calls++;
  return fail_at >= 0 && (called == kMalloc ? number >= fail_at : number == fail_at);
}

// malloc

extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void __libc_free(void* block);
extern void* __libc_memalign(size_t alignment, size_t size);

static void* NoMemory(void) {
  errno = ENOMEM;
  return NULL;
}

void* malloc(size_t size) { return Fails(kMalloc) ? NoMemory() : __libc_malloc(size); }

void* calloc(size_t count, size_t size) {
  return Fails(kMalloc) ? NoMemory() : __libc_calloc(count, size);
}

void* realloc(void* block, size_t size) {
  return Fails(kMalloc) ? NoMemory() : __libc_realloc(block, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  return Fails(kMalloc) ? NoMemory() : __libc_memalign(alignment, size);
}

int posix_memalign(void** block, size_t alignment, size_t size) {
  if (Fails(kMalloc)) return ENOMEM;
  *block = __libc_memalign(alignment, size);
  return *block == NULL ? ENOMEM : 0;
}

void free(void* block) {
  if (block != NULL && kind == kMalloc && fail_at >= 0 && calls > fail_at &&
      malloc_usable_size(block) >= kLargeBlockBytes) {
    kind = kNone;
  }
  __libc_free(block);
}

// All others

static void* Next(const char* name) { return dlsym(RTLD_NEXT, name); }

ssize_t write(int file, const void* bytes, size_t size) {
  if (file > STDERR_FILENO && Fails(kWrite)) {
    errno = ENOSPC;
    return -1;
  }
  return syscall(SYS_write, file, bytes, size);
}

void* mmap(void* address, size_t size, int protection, int flags, int file, off_t offset) {
  if (Fails(kMmap)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return (void*)syscall(SYS_mmap, address, size, protection, flags, file, offset);
}

void* dlopen(const char* path, int flags) {
  void* (*next)(const char*, int) = (void* (*)(const char*, int))Next("dlopen");
  // What dlerror() says then is what the system says of a file that there is not.
  return next(Fails(kDlopen) ? "/no/such/library.so" : path, flags);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*run)(void*),
                   void* argument) {
  int (*next)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*) =
      (int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))Next("pthread_create");
  return Fails(kThread) ? EAGAIN : next(thread, attributes, run, argument);
}

// The beginning and the end

static int (*program_main)(int, char**, char**) = NULL;

static int Main(int argc, char** argv, char** environment) {
  static const char* const kNames[] = {"", "malloc", "write", "mmap", "dlopen", "thread"};
  const char* const at = getenv("KILN_FAULT_AT");
  const char* const name = getenv("KILN_FAULT_KIND");
  if (at != NULL) fail_at = strtol(at, NULL, 10);
  int chosen = kNone;
  for (int i = kMalloc; name != NULL && i <= kThread; ++i) {
    if (strcmp(name, kNames[i]) == 0) chosen = i;
  }
  kind = chosen;
  const int status = program_main(argc, argv, environment);
  kind = kNone;
  const char* const path = getenv("KILN_FAULT_COUNT");
  FILE* const file = path != NULL ? fopen(path, "w") : NULL;
  if (file != NULL) {
    fprintf(file, "%ld\n", calls);
    fclose(file);
  }
  return status;
}

int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(void),
                      void (*fini)(void), void (*loader_fini)(void), void* stack_end) {
  typedef int Start(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void),
                    void (*)(void), void*);
  Start* next = (Start*)Next("__libc_start_main");
  program_main = main;
  return next(Main, argc, argv, init, fini, loader_fini, stack_end);
}
