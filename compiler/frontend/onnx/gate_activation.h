// SPDX-License-Identifier: Apache-2.0
// Activation functions by name, as recurrent operators have them in their attribute `activations`.
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

// The node's activations, `defaults` if it has none, with the values of activation_alpha and
// activation_beta, which go in order to those functions that take one. Wrong if there are not
// `count`, or one is not known.
absl::StatusOr<std::vector<Activation>> ActivationsOf(const Converter& c,
                                                      std::vector<std::string> defaults,
                                                      size_t count);

// One function, with alpha and beta from `values` as far as they go.
absl::StatusOr<Activation> MakeActivation(absl::string_view name,
                                          const std::vector<double>& values);

absl::StatusOr<ValueId> Activate(Converter& c, const Activation& f, ValueId x);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_GATE_ACTIVATION_H_
