// SPDX-License-Identifier: Apache-2.0
// The last steps of the classifiers and regressors of ai.onnx.ml: input samples, a function of the
// scores, and labels.
#ifndef KILN_COMPILER_FRONTEND_ONNX_CLASS_SCORES_H_
#define KILN_COMPILER_FRONTEND_ONNX_CLASS_SCORES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"

namespace kiln::onnx_frontend {

// Returns input 0 as (samples, features) of float32. With `keep_double`, float64 stays float64.
absl::StatusOr<ValueId> Samples(Converter& c, bool keep_double = false);

// Returns a vector of floats as a constant of this shape and dtype.
ValueId FloatConstant(Converter& c, const std::vector<double>& values, Shape shape,
                      DType dtype = DType::Float(32));

// Applies the function `post_transform` to scores (samples, classes).
absl::StatusOr<ValueId> PostTransform(Converter& c, ValueId scores, const std::string& name);

// The labels of the classes as numbers. Kiln has no tensors of strings, so a label that is a string
// is replaced by its position: 0, 1, ….
struct ClassLabels {
  std::vector<int64_t> labels;

  int64_t count() const { return static_cast<int64_t>(labels.size()); }
};
// Returns the labels in the attributes classlabels_strings or `ints`. InvalidArgument if the node
// has neither.
absl::StatusOr<ClassLabels> LabelsOf(const Converter& c, absl::string_view ints);

// Sets output 0 to the label at each position.
absl::Status SetLabels(Formula& f, Converter& c, const ClassLabels& labels, ValueId positions);
// Sets output 0 to the label of the highest score, and output 1 to the scores after
// `post_transform`.
absl::Status SetClasses(Converter& c, const ClassLabels& labels, ValueId scores,
                        const std::string& post_transform);
// Like SetClasses, for two classes and one score s of the second, (samples, 1). The second class
// wins if s > threshold. The score of the first is -s, or 1 - s if `is_share` and there is no
// transform.
absl::Status SetTwoClasses(Converter& c, const ClassLabels& labels, ValueId score, double threshold,
                           bool is_share, const std::string& post_transform);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_CLASS_SCORES_H_
