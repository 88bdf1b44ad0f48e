// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/packed_func.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace kiln::runtime {

PackedFunc PackedFunc::FromBackend(TVMBackendPackedCFunc function,
                                   std::shared_ptr<const void> owner, std::string name) {
  return PackedFunc([function, owner = std::move(owner),
                     name = std::move(name)](const Args& args) -> absl::StatusOr<Value> {
    TVMValue result = {.v_int64 = 0};
    int code = kTVMNullptr;
    // The C type has no const, but compiled functions only read their arguments.
    if (function(const_cast<TVMValue*>(args.values()), const_cast<int*>(args.codes()), args.size(),
                 &result, &code, nullptr) != 0) {
      return absl::InternalError(absl::StrCat(name, ": ", TVMGetLastError()));
    }
    return Value::Take(result, code);
  });
}

PackedFunc PackedFunc::Failing(absl::Status status) {
  return PackedFunc(
      [status = std::move(status)](const Args&) -> absl::StatusOr<Value> { return status; });
}

absl::StatusOr<Value> PackedFunc::Call(const Args& args) const {
  if (!defined()) return absl::FailedPreconditionError("call of a function that is not defined");
  return (*body_)(args);
}

}  // namespace kiln::runtime
