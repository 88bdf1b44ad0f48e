// SPDX-License-Identifier: Apache-2.0
// Names that generated C and C++ must not define.
#ifndef KILN_METADATA_RESERVED_NAMES_H_
#define KILN_METADATA_RESERVED_NAMES_H_

#include "absl/strings/string_view.h"

namespace kiln {

// True for keywords of C99, C11, C23 and C++20.
bool IsKeyword(absl::string_view name);

// True for macros that gcc and clang predefine without -std=c99, such as "linux".
bool IsCompilerMacro(absl::string_view name);

// True for macros that a header of the C library may define in C or C++ and that would replace the
// name of a struct member: "errno", "stdin", "M_PI", "INT_MAX", "SIGINT", "PRId32". The headers are
// those of C99 to C23 and POSIX in newlib, picolibc and glibc. Macros with arguments are left out,
// because a member is not followed by '('. Included are macros with arguments that C++ keeps, such
// as "assert", because there the name denotes a type.
bool IsLibraryMacro(absl::string_view name);

// True for names that the C library defines or that a compiler treats as built-in: functions,
// objects and macros of C99 (annex B), also with the suffix `f` or `l` for other types; functions
// that gcc treats as built-in outside its strict modes; functions that firmware implements for
// newlib, such as `read`.
bool IsLibraryName(absl::string_view name);

}  // namespace kiln

#endif  // KILN_METADATA_RESERVED_NAMES_H_
