// SPDX-License-Identifier: Apache-2.0
// The attributes that the operators have in each operator set, and the checks that a node has no others
// and has each once: a misspelt attribute would otherwise count as one that is left out, and the second of
// two as none.
#ifndef KILN_COMPILER_FRONTEND_ONNX_ATTRIBUTE_NAMES_H_
#define KILN_COMPILER_FRONTEND_ONNX_ATTRIBUTE_NAMES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

struct OperatorAttributes {
  const char* domain;  // "" is ONNX's own
  const char* name;
  // "1 axis broadcast; 7": the names from operator set 1 on, and from 7 on.
  const char* versions;
};
absl::Span<const OperatorAttributes> AttributeTable();

// The attributes of the operator in a version of its domain's operator set, in alphabetical order.
// Null if the table has no such operator.
const std::vector<std::string>* AttributeNames(absl::string_view domain, absl::string_view op,
                                               int version);

// InvalidArgument, naming the attribute, if one is given twice, or has a value of another type than it says.
// Holds for nodes of every operator.
absl::Status CheckAttributeValues(const onnx::NodeProto& node);

// InvalidArgument, naming the attribute and what may have been meant, if the node has one that its
// operator does not have in that version of its domain's operator set.
absl::Status CheckAttributeNames(const onnx::NodeProto& node, int version);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_ATTRIBUTE_NAMES_H_
