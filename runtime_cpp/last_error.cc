// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "tvm/runtime/c_runtime_api.h"

namespace {

std::string& LastError() {
  thread_local std::string text;
  return text;
}

}  // namespace

void TVMAPISetLastError(const char* msg) { LastError() = msg == nullptr ? "" : msg; }

const char* TVMGetLastError() { return LastError().c_str(); }
