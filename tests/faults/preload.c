// SPDX-License-Identifier: Apache-2.0
// Built with faults.c, and loaded before a program (LD_PRELOAD). One system call fails, as if the
// machine lacked the requested resource.
//
//   KILN_FAULT_KIND   malloc, write, mmap, dlopen or thread: the kind of calls to count
//   KILN_FAULT_AT     the number of the call that fails, from 0. If it is not set, no call fails.
//                     With malloc, all later calls fail, too, as if memory were used up, until a
//                     large block is freed.
//   KILN_FAULT_COUNT  a file to which the number of calls is written at the end
//
// Counting begins with main(). Earlier calls belong to the dynamic linker.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults.h"

static int (*program_main)(int, char**, char**) = NULL;

static int Main(int argc, char** argv, char** environment) {
  static const char* const kNames[] = {"", "malloc", "write", "mmap", "dlopen", "thread"};
  const char* const at = getenv("KILN_FAULT_AT");
  const char* const name = getenv("KILN_FAULT_KIND");
  enum FaultKind kind = kNoFault;
  for (int i = kMallocFault; name != NULL && i <= kThreadFault; ++i) {
    if (strcmp(name, kNames[i]) == 0) kind = (enum FaultKind)i;
  }
  FaultsBegin(kind, at != NULL ? strtol(at, NULL, 10) : -1, kind == kMallocFault);
  const int status = program_main(argc, argv, environment);
  const long calls = FaultsEnd();
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
  Start* next = (Start*)dlsym(RTLD_NEXT, "__libc_start_main");
  program_main = main;
  return next(Main, argc, argv, init, fini, loader_fini, stack_end);
}
