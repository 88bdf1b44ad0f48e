// SPDX-License-Identifier: Apache-2.0
// What the classifiers and regressors of ai.onnx.ml make of their sums: base values, a function of
// the scores, and labels.
#ifndef KILN_COMPILER_FRONTEND_ONNX_CLASS_SCORES_H_
#define KILN_COMPILER_FRONTEND_ONNX_CLASS_SCORES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"

namespace kiln::onnx_frontend {

// Input 0 as (samples, features) of float32; of float64 where it is that and `keep_double`.
absl::StatusOr<ValueId> Samples(Converter& c, bool keep_double = false);

// A vector of floats as a constant of this shape and dtype.
ValueId FloatConstant(Converter& c, const std::vector<double>& values, Shape shape,
                      DType dtype = DType::Float(32));

// The function `post_transform` of scores, (samples, classes).
absl::StatusOr<ValueId> PostTransform(Converter& c, ValueId scores, const std::string& name);

// The labels of the classes: numbers, or 0, 1, … in place of strings. Strings are no tensors of
// Kiln's: a label's position stands for it.
struct ClassLabels {
  std::vector<int64_t> labels;

  int64_t count() const { return static_cast<int64_t>(labels.size()); }
};
// Of the attributes classlabels_strings and `ints`. InvalidArgument if the node has neither.
absl::StatusOr<ClassLabels> LabelsOf(const Converter& c, absl::string_view ints);

// Sets output 0 to the label at each position.
absl::Status SetLabels(Formula& f, Converter& c, const ClassLabels& labels, ValueId positions);
// Sets output 0 to the labels of the highest of the scores, and output 1 to the scores under
// `post_transform`.
absl::Status SetClasses(Converter& c, const ClassLabels& labels, ValueId scores,
                        const std::string& post_transform);
// The same where there are two classes, and one score that speaks for the second, (samples, 1):
// from `threshold` on it wins. The first has the score -s; 1 - s if `is_share` and there is no
// transform.
absl::Status SetTwoClasses(Converter& c, const ClassLabels& labels, ValueId score, double threshold,
                           bool is_share, const std::string& post_transform);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_CLASS_SCORES_H_
