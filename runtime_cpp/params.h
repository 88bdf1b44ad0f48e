// SPDX-License-Identifier: Apache-2.0
//
// Named parameters of a model, and the file that holds them.
//
// Models usually have their parameters in their code. This file is for other models.
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

// Returns the content of a params file.
absl::StatusOr<std::string> SaveParams(const Params& params);

// Reads the content of a params file. Returns DataLoss if it is damaged or has a name twice.
absl::StatusOr<Params> LoadParams(absl::string_view bytes);

// Reads one array per name from `reader`, in this order. Returns DataLoss if there is a name twice.
absl::StatusOr<Params> LoadArrays(const std::vector<std::string>& names, ByteReader& reader);

// Reads the main part of a params file: names, number of arrays, arrays.
absl::StatusOr<Params> LoadNamedArrays(ByteReader& reader);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_PARAMS_H_
