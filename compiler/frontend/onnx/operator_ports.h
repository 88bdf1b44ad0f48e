// SPDX-License-Identifier: Apache-2.0
// The numbers of inputs and outputs of operators in each operator set, and a check that a node does
// not exceed them. Without it, an input that the operator does not have would be ignored.
#ifndef KILN_COMPILER_FRONTEND_ONNX_OPERATOR_PORTS_H_
#define KILN_COMPILER_FRONTEND_ONNX_OPERATOR_PORTS_H_

#include <optional>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

inline constexpr int kAnyNumber = -1;

struct Ports {
  int max_inputs, max_outputs;  // may be kAnyNumber
};

// Returns the ports of an operator in a version of its domain's operator set. An operator that is
// newer than `version` has the ports of its first version. Absent if the table has no such
// operator.
std::optional<Ports> PortsOf(absl::string_view domain, absl::string_view op, int version);

// InvalidArgument if the node has more inputs or outputs than its operator in that version. Unnamed
// inputs and outputs at the end of the lists do not count.
absl::Status CheckPorts(const onnx::NodeProto& node, int version);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_OPERATOR_PORTS_H_
