// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/gate_activation.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"
#include "compiler/frontend/common/functions.h"

namespace kiln::onnx_frontend {
namespace {

absl::StatusOr<ValueId> GateScaled(Converter& c, ValueId x, double factor) {
  if (factor == 1) return x;
  return c.Op("multiply", {x, c.Scalar(x, factor)});
}

absl::StatusOr<ValueId> Shifted(Converter& c, ValueId x, double term) {
  if (term == 0) return x;
  return c.Op("add", {x, c.Scalar(x, term)});
}

absl::StatusOr<ValueId> Affine(Converter& c, ValueId x, const Activation& f) {
  KILN_ASSIGN_OR_RETURN(x, GateScaled(c, x, f.alpha));
  return Shifted(c, x, f.beta);
}

absl::StatusOr<ValueId> GateHardSigmoid(Converter& c, ValueId x, const Activation& f) {
  KILN_ASSIGN_OR_RETURN(x, Affine(c, x, f));
  return c.Op("clip", {x}, {{"a_min", 0.0}, {"a_max", 1.0}});
}

absl::StatusOr<ValueId> ScaledTanh(Converter& c, ValueId x, const Activation& f) {
  KILN_ASSIGN_OR_RETURN(x, GateScaled(c, x, f.beta));
  KILN_ASSIGN_OR_RETURN(x, c.Op("tanh", {x}));
  return GateScaled(c, x, f.alpha);
}

absl::StatusOr<ValueId> GateElu(Converter& c, ValueId x, const Activation& f) {
  return frontend::Elu(c, x, f.alpha);
}

// x if x > alpha, else 0.
absl::StatusOr<ValueId> GateThresholdedRelu(Converter& c, ValueId x, const Activation& f) {
  const DType dtype = c.type(x).dtype;
  const ValueId zero = c.Constant(Tensor::Scalar(dtype, 0));
  KILN_ASSIGN_OR_RETURN(const ValueId above,
                        c.Op("greater", {x, c.Constant(Tensor::Scalar(dtype, f.alpha))}));
  return c.Op("where", {above, x, zero});
}

absl::StatusOr<ValueId> GateLeakyRelu(Converter& c, ValueId x, const Activation& f) {
  return c.Op("nn.leaky_relu", {x}, {{"alpha", f.alpha}});
}

absl::StatusOr<ValueId> GateSoftsign(Converter& c, ValueId x, const Activation&) {
  KILN_ASSIGN_OR_RETURN(ValueId d, c.Op("abs", {x}));
  KILN_ASSIGN_OR_RETURN(d, Shifted(c, d, 1));
  return c.Op("divide", {x, d});
}

absl::StatusOr<ValueId> GateSoftplus(Converter& c, ValueId x, const Activation&) {
  return frontend::Softplus(c, x);
}

struct GateRow {
  absl::string_view name;
  absl::StatusOr<ValueId> (*make)(Converter&, ValueId, const Activation&);
  bool has_alpha = false, has_beta = false;
  double alpha = 0, beta = 0;  // defaults if the node gives no values
};

constexpr GateRow kGateActivationRows[] = {
    {"affine", Affine, true, true, 1, 0},
    {"elu", GateElu, true, false, 1, 0},
    {"hardsigmoid", GateHardSigmoid, true, true, 0.2, 0.5},
    {"leakyrelu", GateLeakyRelu, true, false, 0.01, 0},
    {"relu", [](Converter& c, ValueId x, const Activation&) { return c.Op("nn.relu", {x}); }},
    {"scaledtanh", ScaledTanh, true, true, 1, 1},
    {"sigmoid", [](Converter& c, ValueId x, const Activation&) { return c.Op("sigmoid", {x}); }},
    {"softplus", GateSoftplus},
    {"softsign", GateSoftsign},
    {"tanh", [](Converter& c, ValueId x, const Activation&) { return c.Op("tanh", {x}); }},
    {"thresholdedrelu", GateThresholdedRelu, true, false, 1, 0},
};

const GateRow* FindRow(absl::string_view name) {
  for (const GateRow& row : kGateActivationRows) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<Activation> MakeActivation(absl::string_view name,
                                          const std::vector<double>& values) {
  const GateRow* const row = FindRow(absl::AsciiStrToLower(name));
  if (row == nullptr) {
    return Wrong("activation", absl::StrCat("'", name, "'"),
                 absl::StrJoin(kGateActivationRows, ", ", [](std::string* out, const GateRow& r) {
                   absl::StrAppend(out, r.name);
                 }));
  }
  Activation f = {std::string(row->name), row->alpha, row->beta};
  if (row->has_alpha && !values.empty()) f.alpha = values[0];
  if (row->has_beta && values.size() > 1) f.beta = values[1];
  return f;
}

absl::StatusOr<std::vector<Activation>> ActivationsOf(const Converter& c,
                                                      std::vector<std::string> defaults,
                                                      size_t count) {
  std::vector<std::string> names = c.Strings("activations");
  if (names.empty()) names = std::move(defaults);
  if (names.size() != count) {
    return Wrong("activations", absl::StrCat(names.size()), absl::StrCat(count));
  }
  const std::vector<double> alphas = c.Floats("activation_alpha");
  const std::vector<double> betas = c.Floats("activation_beta");
  size_t next_alpha = 0, next_beta = 0;
  std::vector<Activation> activations;
  for (const std::string& name : names) {
    KILN_ASSIGN_OR_RETURN(Activation f, MakeActivation(name, {}));
    const GateRow* const row = FindRow(f.name);
    if (row->has_alpha && next_alpha < alphas.size()) f.alpha = alphas[next_alpha++];
    if (row->has_beta && next_beta < betas.size()) f.beta = betas[next_beta++];
    activations.push_back(std::move(f));
  }
  return activations;
}

absl::StatusOr<ValueId> Activate(Converter& c, const Activation& f, ValueId x) {
  return FindRow(f.name)->make(c, x, f);
}

}  // namespace kiln::onnx_frontend
