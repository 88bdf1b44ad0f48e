// SPDX-License-Identifier: Apache-2.0
// Values of one tensor of a model for many samples.
//
//   // (1000, 49, 10, 1) or (1000, 1, 49, 10, 1) for an input (1, 49, 10, 1): 1000 samples.
//   KILN_ASSIGN_OR_RETURN(Samples samples, ReadSamples("input 'audio'", "audio.npy", type));
//   samples.sample(999)
#ifndef KILN_TOOLS_JUDGE_SAMPLES_H_
#define KILN_TOOLS_JUDGE_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/tensor.h"

namespace kiln::tools {

struct Samples {
  TensorType type;  // of one sample
  int64_t count = 0;
  std::string bytes;  // of all samples, one after the other

  absl::string_view sample(int64_t i) const {
    const size_t size = static_cast<size_t>(type.num_bytes());
    return absl::string_view(bytes).substr(static_cast<size_t>(i) * size, size);
  }
};

// Returns the type of a tensor that contains `count` samples. A first dimension of 1 becomes
// `count`; any other type gets an additional first dimension.
TensorType StackedType(const TensorType& type, int64_t count);

// Returns the number of samples of `type` in a tensor of type `file`. It is 1 if the types are
// equal, the first dimension if the other dimensions equal those of `type`, and the number of
// batches if only the first dimensions differ. 0 if the types do not match.
int64_t CountSamples(const TensorType& file, const TensorType& type);

// Reads samples from a file (tools/kiln/tensor_file.h). InvalidArgument, beginning with `what`, if
// it contains something else.
absl::StatusOr<Samples> ReadSamples(absl::string_view what, const std::string& path,
                                    const TensorType& type);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_JUDGE_SAMPLES_H_
