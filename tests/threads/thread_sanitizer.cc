// SPDX-License-Identifier: Apache-2.0
// ThreadSanitizer calls this function for its suppressions. It does not see the locks of libraries
// that are not instrumented:
// - Debian's Abseil fills its table of errno texts once, in a call_once.
// - The dynamic loader allocates the description of a library (link_map) under its own lock. If
//   another
//   thread loads the same library at the same time, dlopen reads this description.
extern "C" const char* __tsan_default_suppressions();
extern "C" const char* __tsan_default_suppressions() {
  return "called_from_lib:libabsl_strerror.so\n"
         "called_from_lib:ld-linux\n";
}
