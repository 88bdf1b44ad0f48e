// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/check.h"

#include <cstdio>
#include <cstdlib>

namespace kiln::loop {

void FailCheck(const char* file, int line, const char* condition, const std::string& message) {
  std::fprintf(stderr, "%s:%d: check failed: %s: %s\n", file, line, condition, message.c_str());
  std::abort();
}

}  // namespace kiln::loop
