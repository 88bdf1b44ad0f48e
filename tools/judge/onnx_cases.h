// SPDX-License-Identifier: Apache-2.0
// Test cases in the layout of ONNX's backend tests: a folder with model.onnx and folders
// test_data_set_<n>, each with input_<i>.pb and output_<i>.pb.
//
//   KILN_ASSIGN_OR_RETURN(const std::vector<OnnxCase> cases, FindOnnxCases("data/node"));
//   const CaseResult result = CheckOnnxCase(cases[0], options);
#ifndef KILN_TOOLS_JUDGE_ONNX_CASES_H_
#define KILN_TOOLS_JUDGE_ONNX_CASES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/options/options.h"
#include "tools/judge/difference.h"

namespace kiln::tools {

struct OnnxCase {
  std::string name;    // path of the folder relative to the searched one
  std::string folder;  // its full path
};

// Returns `folder` and the folders below it that contain a model.onnx, sorted by name.
// InvalidArgument if there is none.
absl::StatusOr<std::vector<OnnxCase>> FindOnnxCases(const std::string& folder);

enum class Outcome { kPassed, kFailed, kUnsupported };

struct CaseResult {
  Outcome outcome = Outcome::kPassed;
  std::string reason;  // empty if it has passed
};

struct CaseOptions {
  CompileOptions compile;  // for the C++ runtime on this machine
  Tolerance tolerance = {.relative = 1e-3, .absolute = 1e-7};  // the suite's own
};

// Compiles the model for the shapes of the inputs in every data set, runs it, and compares outputs.
// Inputs whose values are needed during compilation, such as shapes, are fixed to those of the data
// set. The result is kUnsupported if the compiler lacks a feature, or if an input or output is not
// a tensor. Every other error is kFailed.
CaseResult CheckOnnxCase(const OnnxCase& onnx_case, const CaseOptions& options);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_ONNX_CASES_H_
