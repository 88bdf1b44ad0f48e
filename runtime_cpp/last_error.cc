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

// C code calls this, also to report that there is no memory. If there is no memory for the text, a
// short text that needs no allocation is stored instead.
void TVMAPISetLastError(const char* msg) {
  try {
    LastError() = msg == nullptr ? "" : msg;
  } catch (const std::bad_alloc&) {
    LastError() = "out of memory";
  }
}

const char* TVMGetLastError() { return LastError().c_str(); }
