// SPDX-License-Identifier: Apache-2.0
//
// Description of a model whose library was made by another compiler of this ABI and has no metadata
// of Kiln. The facts come from the struct of its get_c_metadata or from its graph, in the form of
// kiln/metadata.h. Facts that these do not have (targets, costs, names of operators) are empty.
#ifndef KILN_RUNTIME_CPP_TVM_METADATA_H_
#define KILN_RUNTIME_CPP_TVM_METADATA_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "kiln/metadata.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/ndarray.h"
#include "tvm/runtime/metadata_types.h"

namespace kiln::runtime {

// Metadata.target of these models.
inline constexpr char kUnknownTarget[] = "unknown";

// Returns the struct of the library that `module` is or imports, after some checks; null if it has
// none. FailedPrecondition, with both versions, if it has another version.
absl::StatusOr<const TVMMetadata*> FindTvmMetadata(const Module& module);

// Describes the model in the form of kiln/metadata.h. The result owns all that it points to, except
// names and shapes of `metadata`, which the library owns.
absl::StatusOr<std::shared_ptr<const ::Metadata>> DescribeTvmModel(const TVMMetadata& metadata);

// Describes the model of a graph in the same form.
absl::StatusOr<std::shared_ptr<const ::Metadata>> DescribeGraph(const std::string& module_name,
                                                                absl::string_view graph_json);

// Arguments of the entry function after inputs and outputs, if the model has a workspace pool: one
// tensor with all constants, then one per pool.
struct TvmPools {
  NDArray constants;
  std::vector<int64_t> workspace_bytes;
};
absl::StatusOr<TvmPools> PoolsOf(const TVMMetadata& metadata);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_TVM_METADATA_H_
