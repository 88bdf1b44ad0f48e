// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_MLF_TESTING_SAMPLE_H_
#define KILN_MLF_TESTING_SAMPLE_H_

#include <string>

#include "mlf/model_library.h"

namespace kiln::mlf {

// Returns a module with every kind of file. Its operator function takes "x" and "y", two float32
// each. The model's output is their sum. `executor` is "aot" or "graph".
Module SampleModule(const std::string& name, const std::string& executor);

// Returns a small library of two modules, one per executor, with two files of a runtime.
ModelLibrary SampleLibrary();

}  // namespace kiln::mlf

#endif  // KILN_MLF_TESTING_SAMPLE_H_
