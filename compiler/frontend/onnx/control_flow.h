// SPDX-License-Identifier: Apache-2.0
// The conversions of operators that have graphs as attributes. Kiln's graphs have no branches or
// loops: a branch is taken, and a loop is unrolled, while the model is imported.
#ifndef KILN_COMPILER_FRONTEND_ONNX_CONTROL_FLOW_H_
#define KILN_COMPILER_FRONTEND_ONNX_CONTROL_FLOW_H_

#include "absl/status/status.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

absl::Status If(Converter& c);    // conditional.cc
absl::Status Loop(Converter& c);  // loops.cc
absl::Status Scan(Converter& c);  // scan.cc

// Stacks the values that the iterations of a loop give to one of its outputs along a new axis.
// Without iterations, returns a constant without elements of the type that the body declares.
absl::StatusOr<ValueId> ScanOutput(Converter& c, const std::vector<ValueId>& values, int64_t axis,
                                   const onnx::ValueInfoProto& declared);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_CONTROL_FLOW_H_
