// SPDX-License-Identifier: Apache-2.0
// Activation functions by name, as in the attribute `activations` of recurrent operators.
#ifndef KILN_COMPILER_FRONTEND_ONNX_GATE_ACTIVATION_H_
#define KILN_COMPILER_FRONTEND_ONNX_GATE_ACTIVATION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

struct Activation {
  std::string name;  // in lower case
  double alpha = 0, beta = 0;
};

// Returns the node's activations, or `defaults` if it has none. The values of activation_alpha and
// activation_beta go in order to the functions that take one. Returns an error if there are not
// `count` functions or one is unknown.
absl::StatusOr<std::vector<Activation>> ActivationsOf(const Converter& c,
                                                      std::vector<std::string> defaults,
                                                      size_t count);

// Returns one function. `values` are its alpha and beta; missing ones get defaults.
absl::StatusOr<Activation> MakeActivation(absl::string_view name,
                                          const std::vector<double>& values);

absl::StatusOr<ValueId> Activate(Converter& c, const Activation& f, ValueId x);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_GATE_ACTIVATION_H_
