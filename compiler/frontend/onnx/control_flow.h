// SPDX-License-Identifier: Apache-2.0
// The conversions of operators that have graphs as attributes. Kiln's graphs have no branches and
// no loops: a branch is taken, and a loop is written out, while the model is imported.
#ifndef KILN_COMPILER_FRONTEND_ONNX_CONTROL_FLOW_H_
#define KILN_COMPILER_FRONTEND_ONNX_CONTROL_FLOW_H_

#include "absl/status/status.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

absl::Status If(Converter& c);    // conditional.cc
absl::Status Loop(Converter& c);  // loops.cc
absl::Status Scan(Converter& c);  // scan.cc

// The values that the iterations of a loop make for one of its outputs, along a new axis. With no
// iteration, a constant without elements of the type that the body says it would make.
absl::StatusOr<ValueId> ScanOutput(Converter& c, const std::vector<ValueId>& values, int64_t axis,
                                   const onnx::ValueInfoProto& declared);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_CONTROL_FLOW_H_
