// SPDX-License-Identifier: Apache-2.0
// Test cases in the layout of ONNX's backend tests: a folder with model.onnx and folders
// test_data_set_<n>, each with input_<i>.pb and output_<i>.pb.
//
//   KILN_ASSIGN_OR_RETURN(const std::vector<OnnxCase> cases, FindOnnxCases("data/node"));
//   const CaseResult result = CheckOnnxCase(cases[0], options);
#ifndef KILN_TOOLS_KILN_ONNX_CASES_H_
#define KILN_TOOLS_KILN_ONNX_CASES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/options/options.h"
#include "tools/kiln/compare.h"

namespace kiln::tools {

struct OnnxCase {
  std::string name;    // the folder as seen from the one that was searched
  std::string folder;  // its path
};

// The folders with a model.onnx below `folder`, or itself, by name. InvalidArgument if there is
// none.
absl::StatusOr<std::vector<OnnxCase>> FindOnnxCases(const std::string& folder);

enum class Outcome { kPassed, kFailed, kUnsupported };

struct CaseResult {
  Outcome outcome = Outcome::kPassed;
  std::string reason;  // of those that have not passed
};

struct CaseOptions {
  CompileOptions compile;  // for the C++ runtime of this machine
  Tolerance tolerance = {.relative = 1e-3, .absolute = 1e-7};  // the suite's own
};

// Compiles the model for the shapes of the inputs in every data set, runs it, and compares outputs.
// Inputs whose values the model needs when it is compiled, such as shapes, are fixed to those of
// the data set. A model is unsupported if the compiler says that it lacks something, or if one of
// its inputs and outputs is no tensor; it has failed with every other error.
CaseResult CheckOnnxCase(const OnnxCase& onnx_case, const CaseOptions& options);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_ONNX_CASES_H_
