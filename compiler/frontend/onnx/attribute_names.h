// SPDX-License-Identifier: Apache-2.0
// The attributes of operators in each operator set, and checks of a node's attributes. Without the
// checks, a misspelled attribute would count as omitted, and the second of two equal ones would be
// ignored.
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
  const char* domain;  // "" for ONNX's own
  const char* name;
  // Attribute names by operator set. "1 axis broadcast; 7": two names from set 1 on, none from set
  // 7 on.
  const char* versions;
};
absl::Span<const OperatorAttributes> AttributeTable();

// Returns the attributes of the operator in a version of its domain's operator set, in alphabetical
// order. Null if the table has no such operator.
const std::vector<std::string>* AttributeNames(absl::string_view domain, absl::string_view op,
                                               int version);

// Returns InvalidArgument, naming the attribute, if one is given twice or its value does not have
// the declared type. Applies to nodes of every operator.
absl::Status CheckAttributeValues(const onnx::NodeProto& node);

// Returns InvalidArgument if the node has an attribute that its operator does not have in that
// version of its domain's operator set. The message names the attribute and the one probably meant.
absl::Status CheckAttributeNames(const onnx::NodeProto& node, int version);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_ATTRIBUTE_NAMES_H_
