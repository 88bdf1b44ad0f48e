// SPDX-License-Identifier: Apache-2.0
// What a compiled object takes of a machine, from the object alone: `kiln inspect my_mod.o`.
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
  int64_t flash_bytes = 0;                         // code, constants, and what data begin with
  int64_t ram_bytes = 0;                           // data
  std::vector<ObjectPart> flash_parts, ram_parts;  // what has a name of these, by name
  // The deepest that a chain of calls inside of the object makes the stack; nullopt if a size is
  // not known, or functions call each other in a circle.
  std::optional<int64_t> stack_bytes;
  std::vector<std::string> deepest_calls;   // that chain
  std::map<std::string, int64_t> stack_of;  // the same of each function for which it is known
  bool has_frames = false;                  // whether the size of any frame is known
  std::vector<std::string> calls;           // functions of others, whose stack comes on top
};

// Bytes of stack by function name, from a file that gcc -fstack-usage has written. A size that is
// not fixed is left out. InvalidArgument, beginning with `file`, for what is no such file.
absl::StatusOr<std::map<std::string, int64_t>> ParseStackUsage(absl::string_view text,
                                                               absl::string_view file);

// Sizes of frames are those of `stack_usage` and of the object's sections .stack_sizes, which LLVM
// writes.
absl::StatusOr<ObjectFigures> MeasureObject(absl::string_view bytes,
                                            std::map<std::string, int64_t> stack_usage);

// As text for people, and as JSON: an object with the names of the struct, null for what is not
// known.
std::string ObjectText(const ObjectFigures& figures);
std::string ObjectJson(const ObjectFigures& figures);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_OBJECT_REPORT_H_
