// SPDX-License-Identifier: Apache-2.0
// TensorComparison: the tensors of a model, compared with those of a reference, layer by layer.
#ifndef KILN_TOOLS_JUDGE_COMPARISON_H_
#define KILN_TOOLS_JUDGE_COMPARISON_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/tensor.h"
#include "tools/judge/difference.h"
#include "tools/judge/quantization.h"

namespace kiln::tools {

// Deviation of a tensor. `largest` is in the tensor's own unit.
struct TensorError : Difference {
  std::optional<int64_t> ulp;    // most floats between two values, if both have one float type.
  std::optional<double> quanta;  // `largest` in steps of the quantized tensor, if one is.
};

// Both tensors have the same number of elements. `scale` is the real number that one step of a
// quantized tensor represents. The values are then real numbers.
TensorError MeasureError(const Tensor& found, const Tensor& wanted, std::optional<double> scale);

// Limits beyond which a tensor is off. A number that is finite in only one tensor is always off.
struct ErrorTolerance {
  double relative = 1e-4;  // relative to the largest |wanted|
  double absolute = 1e-6;
  double quanta = 0;             // for quantized tensors, instead of the two above
  std::optional<double> cosine;  // minimum; if set, it replaces all others
};

bool IsOff(const TensorError& error, const ErrorTolerance& tolerance);

struct NamedTensor {
  std::string name;
  Tensor tensor;
  std::optional<TensorScale> scale;  // if it is quantized
  std::string layer;                 // node of the model that computes it; may be empty
};

struct ComparedTensor {
  std::string name, layer;
  std::string reference_name;  // empty if it equals `name`
  TensorType type, reference_type;
  std::string layout;  // such as "NHWC to NCHW", the transposition of the reference; may be empty
  std::optional<TensorError> error;  // none: the shapes differ
  bool off = false;
};

struct TensorComparison {
  std::string model, reference;  // descriptions for people
  ErrorTolerance tolerance;
  std::vector<ComparedTensor> tensors;  // in the order in which the model computes them
  std::vector<std::string> missing;     // tensors that the reference lacks

  // Returns the first tensor that is off; null if there is none.
  const ComparedTensor* first_off() const;
};

// Compares tensors of the same name. A quantized tensor without a counterpart is compared with the
// real tensor from which it is made. Quantized values are compared as real numbers. A reference in
// channels-last or channels-first order is transposed to the model's order. Extents of 1 are
// ignored.
TensorComparison CompareTensors(const std::vector<NamedTensor>& tensors,
                                const std::vector<NamedTensor>& reference,
                                const ErrorTolerance& tolerance);

std::string ComparisonText(const TensorComparison& comparison);
nlohmann::ordered_json ComparisonJson(const TensorComparison& comparison);
// Returns a self-contained HTML page that needs no network.
std::string ComparisonPage(const TensorComparison& comparison);

// Returns a description of the condition under which a tensor is off.
std::string ToText(const ErrorTolerance& tolerance);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_COMPARISON_H_
