// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_RUNTIME_CPP_SHARED_ANSWERS_H_
#define KILN_RUNTIME_CPP_SHARED_ANSWERS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "kiln/runtime.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/model.h"

// Functions that fill the result structs of the C interface from C++ values. If the caller uses an
// older version of a struct, only its first struct_size bytes are filled. Pointers in the structs
// refer to the C++ values.
namespace kiln::runtime::c_api {

// Returns information about tensor `index`. `what` names it in errors: "input" or "output".
absl::Status ReturnInfo(const std::vector<TensorInfo>& infos, absl::string_view what, int32_t index,
                        KilnTensorInfo* result);
absl::Status ReturnState(const std::vector<StateTensor>& states, int32_t index,
                         KilnStateInfo* result);
absl::Status ReturnOrigin(const ModelOrigin& origin, KilnOrigin* result);
absl::Status ReturnProperty(const ModelOrigin& origin, int32_t index, const char** key,
                            const char** value);

}  // namespace kiln::runtime::c_api

#endif  // KILN_RUNTIME_CPP_SHARED_ANSWERS_H_
