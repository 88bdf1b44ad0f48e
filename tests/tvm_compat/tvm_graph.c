// SPDX-License-Identifier: Apache-2.0
//
// A library like those of TVM 0.9 for the graph executor, written by hand. output0 = x + p0,
// float32 (4). The parameter p0 = {1, 2, 3, 4} is part of the factory.
#include "tests/tvm_compat/tvm_library.h"

#define GRAPH                                                                                      \
  "{\"nodes\":[{\"op\":\"null\",\"name\":\"x\",\"inputs\":[]},{\"op\":\"null\",\"name\":\"p0\","   \
  "\"inputs\""                                                                                     \
  ":[]},{\"op\":\"tvm_op\",\"name\":\"tvmgen_default_fused_add\",\"attrs\":{\"num_outputs\":\"1\"" \
  ",\"num_inputs\":\"2\",\"flatten_data\":\"0\",\"func_name\":\"tvmgen_default_fused_add\",\"has"  \
  "h\":\"5d0a\"},\"inputs\":[[0,0,0],[1,0,0]]}],\"arg_nodes\":[0,1],\"heads\":[[2,0,0]],\"att"     \
  "rs\":{\"dltype\":[\"list_str\",[\"float32\",\"float32\",\"float32\"]],\"device_index\":[\"list" \
  "_int\",[1,1,1]],\"storage_id\":[\"list_int\",[0,1,2]],\"shape\":[\"list_shape\",[[4],[4],"      \
  "[4]]]},\"node_row_ptr\":[0,1,2,3]}"

#pragma pack(push, 1)
typedef struct {
  uint64_t num_bytes, num_entries;
  uint64_t factory_bytes;
  char factory[20];
  uint64_t graph_bytes;
  char graph[sizeof(GRAPH) - 1];
  uint64_t num_params, num_names, param_name_bytes;
  char param_name[2];
  uint64_t magic, reserved;
  int32_t device_type, device_id, ndim;
  DataType dtype;
  int64_t shape[1], bytes;
  float data[4];
  uint64_t name_bytes;
  char name[7];
  uint64_t lib_bytes;
  char lib[4];
  uint64_t tree_bytes;
  char tree[12];
  uint64_t num_rows, rows[3], num_children, children[1];
} Blob;
#pragma pack(pop)

EXPORT PackedFunction tvmgen_default_fused_add;

int32_t tvmgen_default_fused_add(Value* args, int* codes, int count, Value* result,
                                 int* result_code, void* resource) {
  (void)result, (void)result_code, (void)resource;
  if (count != 3 || codes[2] != kTensorHandle) {
    TVMAPISetLastError("tvmgen_default_fused_add: wrong arguments");
    return -1;
  }
  const float* const x = (const float*)TensorOf(args[0])->data;
  const float* const p = (const float*)TensorOf(args[1])->data;
  for (int i = 0; i < 4; ++i) ((float*)TensorOf(args[2])->data)[i] = x[i] + p[i];
  return 0;
}

// Factory → library.
EXPORT extern const Blob __tvm_dev_mblob;
const Blob __tvm_dev_mblob = {sizeof(Blob) - 8,
                              3,
                              20,
                              "GraphExecutorFactory",
                              sizeof(GRAPH) - 1,
                              GRAPH,
                              1,
                              1,
                              2,
                              "p0",
                              UINT64_C(0xDD5E40F096B4A13F),
                              0,
                              kCpu,
                              0,
                              1,
                              {2, 32, 1},
                              {4},
                              16,
                              {1, 2, 3, 4},
                              7,
                              "default",
                              4,
                              "_lib",
                              12,
                              "_import_tree",
                              3,
                              {0, 1, 1},
                              1,
                              {1}};
