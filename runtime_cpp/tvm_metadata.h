// SPDX-License-Identifier: Apache-2.0
//
// What is known of a model whose library has no metadata of Kiln's, because another compiler of
// this ABI made it: the struct of its get_c_metadata, or its graph, in the form of kiln/metadata.h.
// What these do not say (targets, costs, operators' names) is left empty.
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

// The struct of the library that `module` is or imports, checked as far as that can be done; NULL
// if it has none. FailedPrecondition, naming both versions, if it is of another version.
absl::StatusOr<const TVMMetadata*> FindTvmMetadata(const Module& module);

// The model in the form of kiln/metadata.h. The result keeps what it points to, but for names and
// shapes of `metadata`, which are the library's.
absl::StatusOr<std::shared_ptr<const ::Metadata>> DescribeTvmModel(const TVMMetadata& metadata);

// The same of a graph.
absl::StatusOr<std::shared_ptr<const ::Metadata>> DescribeGraph(const std::string& module_name,
                                                                absl::string_view graph_json);

// What the entry function takes behind inputs and outputs, if the model has a workspace pool: one
// tensor with all constants, then one per pool.
struct TvmPools {
  NDArray constants;
  std::vector<int64_t> workspace_bytes;
};
absl::StatusOr<TvmPools> PoolsOf(const TVMMetadata& metadata);

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_TVM_METADATA_H_
