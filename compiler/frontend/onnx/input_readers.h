// SPDX-License-Identifier: Apache-2.0
// Sizes of open dimensions that the operators reading a model's inputs require.
#ifndef KILN_COMPILER_FRONTEND_ONNX_INPUT_READERS_H_
#define KILN_COMPILER_FRONTEND_ONNX_INPUT_READERS_H_

#include <vector>

#include "compiler/frontend/common/import_options.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {

// Sets Extent::wanted, ModelPort::is_convolved and ModelPort::is_state of the inputs. The graph is
// not checked; invalid parts of it are ignored.
void AddFactsOfReaders(const onnx::GraphProto& graph, std::vector<frontend::ModelPort>& inputs);

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_INPUT_READERS_H_
