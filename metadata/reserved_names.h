// SPDX-License-Identifier: Apache-2.0
// Names that generated C and C++ must not give to something of its own.
#ifndef KILN_METADATA_RESERVED_NAMES_H_
#define KILN_METADATA_RESERVED_NAMES_H_

#include "absl/strings/string_view.h"

namespace kiln {

// Keywords of C99, C11, C23 and C++20.
bool IsKeyword(absl::string_view name);

// Macros that gcc and clang define by themselves without -std=c99: "linux".
bool IsCompilerMacro(absl::string_view name);

// A macro that a header of the C library may define in C or C++, and that would replace the name of a
// struct's member: "errno", "stdin", "M_PI", "INT_MAX", "SIGINT", "PRId32". The headers are those of
// C99 to C23 and POSIX in newlib, picolibc and glibc. Macros with arguments are left out, because a
// member is not followed by '(', but for those that C++ keeps: there "assert" names a type.
bool IsLibraryMacro(absl::string_view name);

// What the C library defines, or a compiler knows as built-in: functions, objects and macros of
// C99 (annex B), with `f` or `l` behind for other types; functions that gcc knows as built-in
// outside of strict modes; and what firmware implements for newlib, such as `read`.
bool IsLibraryName(absl::string_view name);

}  // namespace kiln

#endif  // KILN_METADATA_RESERVED_NAMES_H_
