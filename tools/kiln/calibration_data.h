// SPDX-License-Identifier: Apache-2.0
// Samples of a model's inputs, in .npy files.
#ifndef KILN_TOOLS_KILN_CALIBRATION_DATA_H_
#define KILN_TOOLS_KILN_CALIBRATION_DATA_H_

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/quantize/quantize.h"

namespace kiln::tools {

// Reads samples from `path`, in the order of the files' names:
//   - of a model with one input, a .npy file, or a folder with .npy files;
//   - of one with several inputs, a folder that has for every input a file NAME.npy or a folder
//     NAME with .npy files. Of a name, what is no letter, digit, '-', '.' or '_' is '_' there.
// An array is one sample if its shape is the input's, several if it has a leading axis more, or if
// its first extent is a multiple of the input's; axes of extent 1 count for nothing. At most
// `max_samples`; 0: all. Adds the files that were read to `read`. InvalidArgument where files are
// missing, do not fit the inputs, hold a number that is not finite, or not the same number of
// samples for all inputs.
absl::StatusOr<std::vector<quantize::Sample>> ReadSamples(
    const std::string& path, const std::vector<quantize::ModelInput>& inputs, size_t max_samples,
    std::vector<std::string>& read);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_CALIBRATION_DATA_H_
