// SPDX-License-Identifier: Apache-2.0
// The `#[metadata]` section of Relay text: the constants that `meta[relay.Constant][i]` refers to,
// as TVM's JSON node graph:
//
//   {"root": 1,
//    "nodes": [{"type_key": ""},
//              {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
//              {"type_key": "Array", "data": [3]},
//              {"type_key": "relay.Constant", "attrs": {"data": "0"}}],
//    "b64ndarrays": ["…"],
//    "attrs": {"tvm_version": "0.9.0"}}
//
// Each element of b64ndarrays is a serialized NDArray (compiler/base/ndarray_bytes.h) in base64.
// Other nodes are ignored.
#ifndef KILN_COMPILER_GRAPH_METADATA_SECTION_H_
#define KILN_COMPILER_GRAPH_METADATA_SECTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/base/tensor.h"

namespace kiln::relay {

// Returns the constants in the order of their indices. `json` is the text that follows
// `#[metadata]`. It may come from an untrusted source.
absl::StatusOr<std::vector<Tensor>> ReadMetadata(absl::string_view json);

// Returns the text that follows `#[metadata]`.
std::string WriteMetadata(absl::Span<const Tensor> constants);

}  // namespace kiln::relay

#endif  // KILN_COMPILER_GRAPH_METADATA_SECTION_H_
