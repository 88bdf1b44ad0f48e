// SPDX-License-Identifier: Apache-2.0
// Output of `kiln validate`.
#ifndef KILN_TOOLS_JUDGE_VALIDATION_H_
#define KILN_TOOLS_JUDGE_VALIDATION_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/base/tensor.h"
#include "tools/judge/agreement.h"

namespace kiln::tools {

struct ValidatedOutput {
  std::string name;
  TensorType type;
  Agreement agreement;
};

struct Validation {
  std::string model;  // path of the file
  std::string where;  // such as "on this machine (host)", "cortex-m4f in QEMU"
  std::vector<ValidatedOutput> outputs;
  std::vector<int64_t> instructions;  // of each inference; empty if they are not counted
};

// True if all elements of all outputs are within the bounds.
bool IsWithinBounds(const Validation& validation);

// Returns a table of the outputs, at most `columns` wide if that is not 0, and a histogram for each
// output that is not equal.
std::string ValidationText(const Validation& validation, int columns);
// Returns a line such as "Identity: 1000 of 1000 samples equal, agrees".
std::string Verdict(const ValidatedOutput& output);
// Returns the same numbers. In JSON a number that is not finite is null.
nlohmann::ordered_json ValidationJson(const Validation& validation);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_VALIDATION_H_
