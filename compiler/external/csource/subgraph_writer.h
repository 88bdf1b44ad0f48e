// SPDX-License-Identifier: Apache-2.0
// The C function that computes a subgraph.
#ifndef KILN_COMPILER_EXTERNAL_CSOURCE_SUBGRAPH_WRITER_H_
#define KILN_COMPILER_EXTERNAL_CSOURCE_SUBGRAPH_WRITER_H_

#include <string>

#include "compiler/graph/graph.h"

namespace kiln::csource {

// `int32_t name(void* in0, …, void* out0, …)`, with the constants that it reads before it. Every
// operator of the body is one that csource takes.
std::string WriteSubgraph(const Graph& body, const std::string& name, bool exported);

// "float" or "int32_t".
std::string CType(DType dtype);

// "void* in0, void* in1, void* out0".
std::string ParameterList(const Graph& body);

}  // namespace kiln::csource

#endif  // KILN_COMPILER_EXTERNAL_CSOURCE_SUBGRAPH_WRITER_H_
