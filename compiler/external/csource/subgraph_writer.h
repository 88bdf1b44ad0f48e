// SPDX-License-Identifier: Apache-2.0
// The C function that computes a subgraph.
#ifndef KILN_COMPILER_EXTERNAL_CSOURCE_SUBGRAPH_WRITER_H_
#define KILN_COMPILER_EXTERNAL_CSOURCE_SUBGRAPH_WRITER_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"

namespace kiln::csource {

// Of the results of dense layers that are needed at the same time inside of a function.
inline constexpr int64_t kMaxStackBytes = 4096;

// `int32_t name(void* in0, …, void* out0, …)`, with the constants that it reads before it. Every
// operator of the body is one that csource takes. Unimplemented if it takes more stack than that.
absl::StatusOr<std::string> WriteSubgraph(const Graph& body, const std::string& name,
                                          bool exported);

// "float" or "int32_t".
std::string CType(DType dtype);

// "void* in0, void* in1, void* out0".
std::string ParameterList(const Graph& body);

}  // namespace kiln::csource

#endif  // KILN_COMPILER_EXTERNAL_CSOURCE_SUBGRAPH_WRITER_H_
