// SPDX-License-Identifier: Apache-2.0
// What `kiln validate` prints.
#ifndef KILN_TOOLS_VALIDATE_REPORT_H_
#define KILN_TOOLS_VALIDATE_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/base/tensor.h"
#include "tools/validate/agreement.h"

namespace kiln::tools {

struct ValidatedOutput {
  std::string name;
  TensorType type;
  Agreement agreement;
};

struct Validation {
  std::string model;  // the file
  std::string where;  // "on this machine (host)", "cortex-m4f in QEMU"
  std::vector<ValidatedOutput> outputs;
  std::vector<int64_t> instructions;  // of each inference; empty where they are not counted
};

// Whether no element of any output is beyond the bounds.
bool IsWithinBounds(const Validation& validation);

// A table of the outputs, at most `columns` wide if that is not 0, and of each output that is not
// equal a histogram.
std::string ValidationText(const Validation& validation, int columns);
// "Identity: 1000 of 1000 samples equal, agrees", a line.
std::string Verdict(const ValidatedOutput& output);
// The same numbers; null for one that is not finite.
std::string ValidationJson(const Validation& validation);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_VALIDATE_REPORT_H_
