// SPDX-License-Identifier: Apache-2.0
// The C function that computes a subgraph.
#ifndef KILN_COMPILER_EXTERNAL_CSOURCE_SUBGRAPH_WRITER_H_
#define KILN_COMPILER_EXTERNAL_CSOURCE_SUBGRAPH_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"

namespace kiln::csource {

// Limit for the results of dense layers that are live at the same time inside of a function.
inline constexpr int64_t kMaxStackBytes = 4096;

// Returns the function `int32_t name(void* in0, …, void* out0, …)`, preceded by the constants that
// it reads. csource must take every operator of the body. Unimplemented if the function exceeds
// kMaxStackBytes.
absl::StatusOr<std::string> WriteSubgraph(const Graph& body, const std::string& name,
                                          bool exported);

// "float" or "int32_t".
std::string CType(DType dtype);

// "void* in0, void* in1, void* out0".
std::string ParameterList(const Graph& body);

}  // namespace kiln::csource

#endif  // KILN_COMPILER_EXTERNAL_CSOURCE_SUBGRAPH_WRITER_H_
