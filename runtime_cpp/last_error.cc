// SPDX-License-Identifier: Apache-2.0
#include <new>
#include <string>

#include "tvm/runtime/c_runtime_api.h"

namespace {

std::string& LastError() {
  thread_local std::string text;
  return text;
}

}  // namespace

// C code calls it, also to say that there is no memory: a text that a string holds by itself takes
// the place of one that finds none.
void TVMAPISetLastError(const char* msg) {
  try {
    LastError() = msg == nullptr ? "" : msg;
  } catch (const std::bad_alloc&) {
    LastError() = "out of memory";
  }
}

const char* TVMGetLastError() { return LastError().c_str(); }
