// SPDX-License-Identifier: Apache-2.0
// KILN_CHECK: aborts on a mistake of the compiler itself where no Status can be returned, as in the
// builders of expressions. It is active in all builds.
//
//   KILN_CHECK(a.type() == b.type(), absl::StrCat("operands of type ", a.type().ToString(), ...));
#ifndef KILN_COMPILER_LOOP_CHECK_H_
#define KILN_COMPILER_LOOP_CHECK_H_

#include <string>

// `message` is evaluated only if the condition fails.
#define KILN_CHECK(condition, message)                                                  \
  do {                                                                                  \
    if (!(condition)) ::kiln::loop::FailCheck(__FILE__, __LINE__, #condition, message); \
  } while (false)

namespace kiln::loop {

// Prints the message to stderr and aborts.
[[noreturn]] void FailCheck(const char* file, int line, const char* condition,
                            const std::string& message);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_CHECK_H_
