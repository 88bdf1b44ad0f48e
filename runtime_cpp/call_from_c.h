// SPDX-License-Identifier: Apache-2.0
//
// Runs the body of a function that C code calls. CallFromC returns 0, or -1 with the text of the
// error in TVMGetLastError. CodeOfCall returns the code of the error instead of -1. No exception
// passes through C code: lack of memory, and exceptions of functions that a program has registered,
// become errors.
//
//   int TVMModImport(TVMModuleHandle mod, TVMModuleHandle dep) {
//     return CallFromC(__func__, {{"mod", mod}, {"dep", dep}}, [&] { return Import(mod, dep); });
//   }
#ifndef KILN_RUNTIME_CPP_CALL_FROM_C_H_
#define KILN_RUNTIME_CPP_CALL_FROM_C_H_

#include <cxxabi.h>

#include <exception>
#include <initializer_list>
#include <new>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tvm/runtime/c_runtime_api.h"

namespace kiln::runtime {

// An argument of a C function that must not be NULL.
struct NamedPointer {
  const char* name;
  const void* pointer;
};

// Runs `function`, which returns an absl::Status, and returns its code.
template <typename Function>
absl::StatusCode CodeOfCall(const Function& function) {
  try {
    const absl::Status status = function();
    if (!status.ok()) TVMAPISetLastError(std::string(status.message()).c_str());
    return status.code();
  } catch (const std::bad_alloc&) {
    TVMAPISetLastError("out of memory");
    return absl::StatusCode::kResourceExhausted;
  } catch (const std::exception& error) {
    TVMAPISetLastError(error.what());
#ifdef __GLIBCXX__
  } catch (const abi::__forced_unwind&) {
    throw;  // The thread is being canceled. The C library would abort if this were caught.
#endif
  } catch (...) {
    TVMAPISetLastError("an exception of an unknown type");
  }
  return absl::StatusCode::kUnknown;
}

// Does the same for the C function called `name`. Returns an error if one of `pointers` is null.
template <typename Function>
absl::StatusCode CodeOfCall(const char* name, std::initializer_list<NamedPointer> pointers,
                            const Function& function) {
  return CodeOfCall([&]() -> absl::Status {
    for (const NamedPointer& pointer : pointers) {
      if (pointer.pointer == nullptr) {
        return absl::InvalidArgumentError(absl::StrCat(name, ": ", pointer.name, " is NULL"));
      }
    }
    return function();
  });
}

template <typename Function>
int CallFromC(const Function& function) {
  return CodeOfCall(function) == absl::StatusCode::kOk ? 0 : -1;
}

template <typename Function>
int CallFromC(const char* name, std::initializer_list<NamedPointer> pointers,
              const Function& function) {
  return CodeOfCall(name, pointers, function) == absl::StatusCode::kOk ? 0 : -1;
}

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_CALL_FROM_C_H_
