// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/unary.h"

#include <algorithm>

namespace kiln {
namespace {

OpExample UnaryCase(DType dtype, const std::vector<double>& at, const std::vector<double>& expected,
                    double tolerance) {
  const TensorType type{{static_cast<int64_t>(at.size())}, dtype};
  return Case({Values(type, at)}, {}, {Values(type, expected)}, tolerance);
}

}  // namespace

OpDef FloatUnary(std::string name, std::string doc, absl::Status (*lower)(StageBuilder&),
                 const std::vector<double>& at, const std::vector<double>& expected) {
  const auto [min, max] = std::minmax_element(at.begin(), at.end());
  return {
      {.name = std::move(name), .doc = std::move(doc), .inputs = {{"data", "floats of any shape"}}},
      {"data holds floats"},
      {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
      InferFloat,
      lower,
      {UnaryCase(DType::Float(32), at, expected, 1e-6),
       {.inputs = {F32({3, 5})}, .input_min = *min, .input_max = *max},
       {.inputs = {F16({2, 3})}, .input_min = *min, .input_max = *max}}};
}

OpDef NumericUnary(std::string name, std::string doc, absl::Status (*lower)(StageBuilder&),
                   const std::vector<double>& at, const std::vector<double>& expected,
                   const std::vector<double>& int_at, const std::vector<double>& int_expected) {
  return {{.name = std::move(name),
           .doc = std::move(doc),
           .inputs = {{"data", "numbers of any shape"}}},
          {"data holds numbers"},
          {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
          InferNumeric,
          lower,
          {UnaryCase(DType::Float(32), at, expected, 0),
           UnaryCase(DType::Int(32), int_at, int_expected, 0),
           {.inputs = {F32({3, 5})}},
           {.inputs = {U8({2, 3})}, .input_min = 0}}};
}

}  // namespace kiln
