// SPDX-License-Identifier: Apache-2.0
//
// A model for the graph executor as constant data. Nothing is parsed at startup. The compiler
// generates it as `tvmgen_<module>_graph`.
#ifndef KILN_GRAPH_TABLE_H_
#define KILN_GRAPH_TABLE_H_

#include <stdint.h>

#include "dlpack/dlpack.h"
#include "tvm/runtime/c_backend_api.h"

#ifdef __cplusplus
extern "C" {
#endif

// Version of these structs, the value of GraphTable.version.
#define KILN_GRAPH_TABLE_VERSION 1

// A tensor of the graph: an input or output of the model, or an intermediate value.
struct GraphTensor {
  const int64_t* shape;  // `ndim` extents, in elements.
  int32_t ndim;
  DLDataType dtype;
  // Number of the input or output that the tensor is stored in: input `io`, or output
  // `io - num_inputs`. -1: the tensor is stored in the executor's memory.
  int32_t io;
  int64_t offset_bytes;  // Offset in the executor's memory if `io` is -1.
};

// One call of an operator function.
struct GraphCall {
  TVMBackendPackedCFunc function;
  const char* function_name;
  const int32_t* args;  // `num_args` indices into GraphTable.tensors: inputs, then outputs.
  int32_t num_args;
};

// An input or output of the model.
struct GraphPort {
  const char* name;
  int32_t tensor;  // Index into GraphTable.tensors.
  int64_t size_bytes;
};

struct GraphTable {
  int32_t version;  // KILN_GRAPH_TABLE_VERSION.
  const char* module_name;
  const struct GraphTensor* tensors;  // `num_tensors` entries.
  int32_t num_tensors;
  const struct GraphCall* calls;  // `num_calls` entries, in execution order.
  int32_t num_calls;
  const struct GraphPort* ports;  // The inputs, then the outputs.
  int32_t num_inputs;
  int32_t num_outputs;
  int32_t max_args;      // Largest `num_args` of all calls.
  int64_t memory_bytes;  // Size of the executor's memory: all tensors with `io` -1.
};

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // KILN_GRAPH_TABLE_H_
