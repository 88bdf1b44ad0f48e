// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/samples.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "compiler/base/status.h"
#include "tools/kiln/tensor_file.h"

namespace kiln::tools {

TensorType StackedType(const TensorType& type, int64_t count) {
  TensorType stacked = type;
  if (!stacked.shape.empty() && stacked.shape[0] == 1) {
    stacked.shape[0] = count;
  } else {
    stacked.shape.insert(stacked.shape.begin(), count);
  }
  return stacked;
}

int64_t CountSamples(const TensorType& file, const TensorType& type) {
  if (file.dtype != type.dtype || file.shape.empty()) return file == type ? 1 : 0;
  const bool leading = file.rank() == type.rank() + 1;
  if (leading && std::equal(type.shape.begin(), type.shape.end(), file.shape.begin() + 1)) {
    return file.shape[0];
  }
  if (file.rank() != type.rank() || type.shape[0] <= 0 || file.shape[0] % type.shape[0] != 0 ||
      !std::equal(type.shape.begin() + 1, type.shape.end(), file.shape.begin() + 1)) {
    return 0;
  }
  return file.shape[0] / type.shape[0];
}

// Returns "Tensor[(N, 3), float32]" for several samples of (1, 3).
static std::string NameOfSamples(const TensorType& type) {
  const std::string one = StackedType(type, 1).ToString();
  return absl::StrCat("Tensor[(N", absl::StripPrefix(one, "Tensor[(1"));
}

absl::StatusOr<Samples> ReadSamples(absl::string_view what, const std::string& path,
                                    const TensorType& type) {
  KILN_ASSIGN_OR_RETURN(const Tensor file, ReadTensorFile(path));
  const int64_t count = CountSamples(file.type(), type);
  if (count > 0) return Samples{.type = type, .count = count, .bytes = file.bytes()};
  return absl::InvalidArgumentError(absl::StrCat(what, ": found ", file.type().ToString(), " in ",
                                                 path, ", wanted ", type.ToString(),
                                                 ", or several samples: ", NameOfSamples(type)));
}

}  // namespace kiln::tools
