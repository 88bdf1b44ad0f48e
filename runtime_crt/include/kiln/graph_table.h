// SPDX-License-Identifier: Apache-2.0
//
// A model for the graph executor as constant data: nothing is parsed at start. The compiler makes
// `tvmgen_<module>_graph`.
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

// A value between two calls, an input or an output.
struct GraphTensor {
  const int64_t* shape;  // `ndim` extents, in elements.
  int32_t ndim;
  DLDataType dtype;
  int32_t io;  // Whose memory it is: input `io`, output `io - num_inputs`, or -1, the executor's.
  int64_t offset_bytes;  // With io -1: where in the executor's memory.
};

// One call of an operator function.
struct GraphCall {
  TVMBackendPackedCFunc function;
  const char* function_name;
  const int32_t* args;  // `num_args` tensors: inputs, then outputs.
  int32_t num_args;
};

// An input or output of the model.
struct GraphPort {
  const char* name;
  int32_t tensor;
  int64_t size_bytes;
};

struct GraphTable {
  int32_t version;  // KILN_GRAPH_TABLE_VERSION.
  const char* module_name;
  const struct GraphTensor* tensors;  // `num_tensors`.
  int32_t num_tensors;
  const struct GraphCall* calls;  // `num_calls`, in the order of execution.
  int32_t num_calls;
  const struct GraphPort* ports;  // The inputs, then the outputs.
  int32_t num_inputs;
  int32_t num_outputs;
  int32_t max_args;      // The most arguments that a call has.
  int64_t memory_bytes;  // Of the tensors that are the executor's.
};

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // KILN_GRAPH_TABLE_H_
