// SPDX-License-Identifier: Apache-2.0
//
// oneDNN's CPU engine, and conversion of its exceptions to absl::Status.
#ifndef KILN_RUNTIME_CPP_DNNL_ENGINE_H_
#define KILN_RUNTIME_CPP_DNNL_ENGINE_H_

#include <exception>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "oneapi/dnnl/dnnl.hpp"

namespace kiln::runtime {

inline const ::dnnl::engine& DnnlEngine() {
  static const auto* const engine = new ::dnnl::engine(::dnnl::engine::kind::cpu, 0);
  return *engine;
}

// Runs `f`, which returns an absl::Status. Exceptions of oneDNN and of the allocator become
// Internal.
template <typename F>
absl::Status CatchDnnl(F f) {
  try {
    return f();
  } catch (const ::dnnl::error& error) {
    return absl::InternalError(absl::StrCat("oneDNN: ", error.what()));
  } catch (const std::exception& error) {
    return absl::InternalError(absl::StrCat("oneDNN: ", error.what()));
  }
}

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_DNNL_ENGINE_H_
