// SPDX-License-Identifier: Apache-2.0
// Flash, RAM and stack of a compiled object, from the object only: `kiln inspect my_mod.o`.
#ifndef KILN_TOOLS_KILN_OBJECT_REPORT_H_
#define KILN_TOOLS_KILN_OBJECT_REPORT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::tools {

// A function, constant or variable.
struct ObjectPart {
  std::string name;
  int64_t size_bytes = 0;
};

struct ObjectFigures {
  int64_t flash_bytes = 0;                         // code, constants and initial values of data
  int64_t ram_bytes = 0;                           // data
  std::vector<ObjectPart> flash_parts, ram_parts;  // their named parts, sorted by name
  // Largest stack of a chain of calls inside of the object. nullopt if a size is not known, or if
  // functions call each other recursively.
  std::optional<int64_t> stack_bytes;
  std::vector<std::string> deepest_calls;   // that chain
  std::map<std::string, int64_t> stack_of;  // the same for each function with a known depth
  bool has_frames = false;                  // true if the size of any frame is known
  std::vector<std::string> calls;           // external functions, which need further stack
};

// Parses a file written by gcc -fstack-usage. Returns bytes of stack, keyed by function. Sizes that
// are not fixed are left out. InvalidArgument, beginning with `file`, if the text is malformed.
absl::StatusOr<std::map<std::string, int64_t>> ParseStackUsage(absl::string_view text,
                                                               absl::string_view file);

// Measures an object. Sizes of frames come from `stack_usage` and from the object's sections
// .stack_sizes, which LLVM writes.
absl::StatusOr<ObjectFigures> MeasureObject(absl::string_view bytes,
                                            std::map<std::string, int64_t> stack_usage);

// Text for people, and a JSON object with the members of the struct. Unknown members are null.
std::string ObjectText(const ObjectFigures& figures);
std::string ObjectJson(const ObjectFigures& figures);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_OBJECT_REPORT_H_
