// SPDX-License-Identifier: Apache-2.0
//
// Named parameters of a model, and the file that holds them.
//
// Models normally carry their parameters inside their code; this is for those that do not.
//
//   absl::StatusOr<Params> params = LoadParams(bytes);
//   params->at("p0").shape();
#ifndef KILN_RUNTIME_CPP_PARAMS_H_
#define KILN_RUNTIME_CPP_PARAMS_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime_cpp/bytes.h"
#include "runtime_cpp/ndarray.h"

namespace kiln::runtime {

using Params = std::map<std::string, NDArray>;

// The content of a params file.
absl::StatusOr<std::string> SaveParams(const Params& params);

// Reads the content of a params file. DataLoss if it is damaged or has a name twice.
absl::StatusOr<Params> LoadParams(absl::string_view bytes);

// One array per name, as they follow each other in `reader`. DataLoss if a name comes twice.
absl::StatusOr<Params> LoadArrays(const std::vector<std::string>& names, ByteReader& reader);

// Names, number of arrays, arrays: the core of a params file.
absl::StatusOr<Params> LoadNamedArrays(ByteReader& reader);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_PARAMS_H_
