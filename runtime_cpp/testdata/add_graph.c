// SPDX-License-Identifier: Apache-2.0
//
// A library as the compiler makes it for executor=graph:
//   sum = x + y, float32 (4); output0 = scale(reshape(sum), p0), float32 (2, 2); output1 = x
// The parameter p0 = 10 is not linked in. It comes with the factory.
#include "add_model.h"

static const int64_t kShape[] = {4};
static const int64_t kSquare[] = {2, 2};
static const int64_t kScalar[] = {1};
static const struct ParameterInfo kParams[] = {
    {"x", "x", kShape, 1, {kDLFloat, 32, 1}, {kDLCPU, 0}, 16, NULL},
    {"y", "y", kShape, 1, {kDLFloat, 32, 1}, {kDLCPU, 0}, 16, NULL},
    {"p0", "p0", kScalar, 1, {kDLFloat, 32, 1}, {kDLCPU, 0}, 4, NULL},
    {"output0", "output0", kSquare, 2, {kDLFloat, 32, 1}, {kDLCPU, 0}, 16, NULL},
    {"output1", "output1", kShape, 1, {kDLFloat, 32, 1}, {kDLCPU, 0}, 16, NULL},
};
static const struct DeviceInfo kDevices[] = {{{kDLCPU, 0}, "cpu", ""}};
static const struct FunctionInfo kFunctions[] = {
    {"", kParams, 5, 3, 2, 64, 68, 0, {kDLCPU, 0}, NULL, NULL, NULL, "library", NULL, 0},
    {"tvmgen_add_fused_add",
     kParams,
     0,
     0,
     0,
     0,
     0,
     0,
     {kDLCPU, 0},
     "add",
     "a1",
     "pointwise",
     "library",
     NULL,
     0},
    {"tvmgen_add_fused_multiply",
     kParams,
     0,
     0,
     0,
     0,
     0,
     0,
     {kDLCPU, 0},
     "multiply",
     NULL,
     NULL,
     "library",
     NULL,
     0},
};
// The costs of two functions are unknown.
static const struct CostInfo kCosts[] = {{-1, -1}, {4, 48}, {-1, -1}};
static const struct Metadata kMetadata = {KILN_METADATA_VERSION,
                                          "add",
                                          "graph",
                                          "cpp",
                                          "packed",
                                          "packed",
                                          "c",
                                          kFunctions,
                                          3,
                                          NULL,
                                          0,
                                          kDevices,
                                          1,
                                          kCosts,
                                          NULL,
                                          0,
                                          NULL,
                                          0,
                                          "x86-64",
                                          NULL,
                                          0,
                                          NULL};

EXPORT int get_model_metadata(TVMValue* args, int* codes, int num_args, TVMValue* ret,
                              int* ret_code, void* resource) {
  (void)args, (void)codes, (void)num_args, (void)resource;
  ret->v_handle = (void*)&kMetadata;
  *ret_code = kTVMOpaqueHandle;
  return 0;
}

EXPORT int tvmgen_add_fused_add(TVMValue* args, int* codes, int num_args, TVMValue* ret,
                                int* ret_code, void* resource) {
  (void)codes, (void)ret, (void)ret_code, (void)resource;
  if (num_args != 3) return -1;
  // Uses scratch memory and frees it again.
  float* const scratch = (float*)__TVMBackendAllocWorkspace(kDLCPU, 0, 16, kDLFloat, 32);
  if (scratch == NULL) return -1;
  int status = Add4(DataOf(args[0]), DataOf(args[1]), scratch);
  for (int i = 0; i < 4; ++i) DataOf(args[2])[i] = scratch[i];
  if (__TVMBackendFreeWorkspace(kDLCPU, 0, scratch) != 0) status = -1;
  return status;
}

EXPORT int tvmgen_add_fused_multiply(TVMValue* args, int* codes, int num_args, TVMValue* ret,
                                     int* ret_code, void* resource) {
  (void)codes, (void)ret, (void)ret_code, (void)resource;
  const DLTensor* const tensor = (const DLTensor*)args[0].v_handle;
  if (num_args != 3 || tensor->ndim != 2 || tensor->shape[0] != 2) {
    __TVMAPISetLastError("tvmgen_add_fused_multiply: arg0.ndim is expected to equal 2");
    return -1;
  }
  for (int i = 0; i < 4; ++i) DataOf(args[2])[i] = DataOf(args[0])[i] * DataOf(args[1])[0];
  return 0;
}

#define CALL(name, inputs)                                                   \
  "\"op\":\"tvm_op\",\"name\":\"" name "\",\"attrs\":{\"func_name\":\"" name \
  "\",\"num_inputs\":\"" inputs "\",\"num_outputs\":\"1\",\"flatten_data\":\"0\",\"hash\":\"1\"}"
#define GRAPH \
  "{\"nodes\":["                                                                                \
  "{\"op\":\"null\",\"name\":\"x\",\"inputs\":[]},"                                             \
  "{\"op\":\"null\",\"name\":\"y\",\"inputs\":[]},"                                             \
  "{\"op\":\"null\",\"name\":\"p0\",\"inputs\":[]},"                                            \
  "{" CALL("tvmgen_add_fused_add", "2") ",\"inputs\":[[0,0,0],[1,0,0]]},"                       \
  "{" CALL("__nop", "1") ",\"inputs\":[[3,0,0]]},"                                              \
  "{" CALL("tvmgen_add_fused_multiply", "2") ",\"inputs\":[[4,0,0],[2,0,0]]}],"                 \
  "\"arg_nodes\":[0,1,2],\"heads\":[[5,0,0],[0,0,0]],"                                          \
  "\"attrs\":{\"dltype\":[\"list_str\",[\"float32\",\"float32\",\"float32\",\"float32\","       \
  "\"float32\",\"float32\"]],\"device_index\":[\"list_int\",[1,1,1,1,1,1]],"                    \
  "\"storage_id\":[\"list_int\",[0,1,2,3,3,4]],"                                                \
  "\"shape\":[\"list_shape\",[[4],[4],[1],[4],[2,2],[2,2]]]},"                                  \
  "\"node_row_ptr\":[0,1,2,3,4,5,6]}"

// Factory → library.
#pragma pack(push, 1)
EXPORT extern const struct Blob __tvm_dev_mblob;
struct Blob {
  uint64_t num_bytes, num_entries;
  uint64_t factory_bytes;
  char factory[20] UNTERMINATED;
  uint64_t graph_bytes;
  char graph[sizeof(GRAPH) - 1] UNTERMINATED;
  uint64_t num_params, num_names, param_bytes;
  char param[2] UNTERMINATED;
  uint64_t magic, reserved;
  int32_t device_type, device_id, ndim;
  DLDataType dtype;
  int64_t extent, data_bytes;
  float data;
  uint64_t name_bytes;
  char name[3] UNTERMINATED;
  uint64_t lib_bytes;
  char lib[4] UNTERMINATED;
  uint64_t tree_bytes;
  char tree[12] UNTERMINATED;
  uint64_t num_rows, rows[3], num_children, children[1];
};
#pragma pack(pop)
const struct Blob __tvm_dev_mblob = {sizeof(struct Blob) - 8,
                                     3,
                                     20,
                                     "GraphExecutorFactory",
                                     sizeof(GRAPH) - 1,
                                     GRAPH,
                                     1,
                                     1,
                                     2,
                                     "p0",
                                     0xDD5E40F096B4A13F,
                                     0,
                                     kDLCPU,
                                     0,
                                     1,
                                     {kDLFloat, 32, 1},
                                     1,
                                     4,
                                     10.0f,
                                     3,
                                     "add",
                                     4,
                                     "_lib",
                                     12,
                                     "_import_tree",
                                     3,
                                     {0, 1, 1},
                                     1,
                                     {1}};
