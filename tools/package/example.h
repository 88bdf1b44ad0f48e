// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_TOOLS_PACKAGE_EXAMPLE_H_
#define KILN_TOOLS_PACKAGE_EXAMPLE_H_

#include <string>
#include <vector>

#include "metadata/model_names.h"

namespace kiln::tools {

// Parts of a program with a model that has the C interface. They are valid C and C++.
struct Example {
  std::vector<std::string> memory;  // definitions of memory that the application provides
  // Statements that run the model once. They define `status` and `outputs`.
  std::vector<std::string> run;
  std::string value;  // an expression whose integer part shows something of the first output
};

Example ExampleOf(const ModelNames& names);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_PACKAGE_EXAMPLE_H_
