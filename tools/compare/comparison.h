// SPDX-License-Identifier: Apache-2.0
// TensorComparison: the tensors of a model beside those of a reference, layer by layer.
#ifndef KILN_TOOLS_COMPARE_COMPARISON_H_
#define KILN_TOOLS_COMPARE_COMPARISON_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "compiler/base/tensor.h"
#include "tools/compare/quantization.h"
#include "tools/compare/tensor_error.h"

namespace kiln::tools {

struct NamedTensor {
  std::string name;
  Tensor tensor;
  std::optional<TensorScale> scale;  // of a quantised one
  std::string layer;                 // the model's node that makes it; may be empty
};

struct ComparedTensor {
  std::string name, layer;
  std::string reference_name;  // where it is another
  TensorType type, reference_type;
  std::string layout;  // "NHWC to NCHW": how the reference was transposed; may be empty
  std::optional<TensorError> error;  // none: the shapes do not fit
  bool off = false;
};

struct TensorComparison {
  std::string model, reference;  // what is compared, for people
  ErrorTolerance tolerance;
  std::vector<ComparedTensor> tensors;  // in the order in which the model computes them
  std::vector<std::string> missing;     // tensors that the reference does not have

  // The first tensor that is off; null if none is.
  const ComparedTensor* first_off() const;
};

// Compares tensors of the same name. A quantised one without a counterpart is compared with the
// tensor of real numbers that it was made of. Quantised values are compared as real numbers. Values
// of a reference in channels-last or channels-first order are transposed to the model's own, and
// extents of 1 count for nothing.
TensorComparison CompareTensors(const std::vector<NamedTensor>& tensors,
                                const std::vector<NamedTensor>& reference,
                                const ErrorTolerance& tolerance);

std::string ComparisonText(const TensorComparison& comparison);
nlohmann::ordered_json ComparisonJson(const TensorComparison& comparison);
// A page of HTML that needs no other file and no network.
std::string ComparisonPage(const TensorComparison& comparison);

// When a tensor counts as off, in words.
std::string ToText(const ErrorTolerance& tolerance);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_COMPARE_COMPARISON_H_
