// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_PACKAGE_EXAMPLE_H_
#define KILN_TOOLS_PACKAGE_EXAMPLE_H_

#include <string>
#include <vector>

#include "metadata/model_names.h"

namespace kiln::tools {

// The parts of a program around a model with the C interface, each for C and for C++.
struct Example {
  std::vector<std::string> memory;  // definitions of the memory that the application gives
  // Statements that run the model once; `status` and `outputs` are what comes of it.
  std::vector<std::string> run;
  std::string value;  // an expression, whose integer part shows something of the first output
};

Example ExampleOf(const ModelNames& names);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_PACKAGE_EXAMPLE_H_
