// SPDX-License-Identifier: Apache-2.0
// Samples of a model's inputs in .npy files.
#ifndef KILN_TOOLS_KILN_CALIBRATION_DATA_H_
#define KILN_TOOLS_KILN_CALIBRATION_DATA_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/quantize/quantize.h"

namespace kiln::tools {

// Reads samples from `path`, in the order of the files' names:
//   - For a model with one input, `path` is a .npy file or a folder with .npy files.
//   - For several inputs, it is a folder with a file NAME.npy, or a folder NAME with .npy files,
//     for every input. Characters of a name other than letters, digits, '-', '.' and '_' are '_'.
// An array is one sample if its shape equals the input's. It is several samples if it has an
// additional leading axis, or if its first extent is a multiple of the input's. Axes of extent 1
// are ignored. Reads at most `max_samples`; 0 reads all. Appends the names of the files to `read`.
// InvalidArgument if files are missing or do not fit the inputs, if a number is not finite, or if
// inputs have different numbers of samples.
absl::StatusOr<std::vector<quantize::Sample>> ReadSamples(
    const std::string& path, const std::vector<quantize::ModelInput>& inputs, size_t max_samples,
    std::vector<std::string>& read);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_CALIBRATION_DATA_H_
