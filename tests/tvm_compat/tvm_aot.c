// SPDX-License-Identifier: Apache-2.0
//
// A library like those of TVM 0.9 for the AOT executor, written by hand. sum = x + c, float32 (4),
// and product = 2 * x as int8 (2, 2). c = {1, 2, 3, 4} comes from the constant pool. The two
// workspace pools hold copies of x and of the sum. Further scratch memory comes from the runtime.
#include <string.h>

#include "tests/tvm_compat/tvm_library.h"

typedef struct {
  const char* name;
  const int64_t* shape;
  int64_t num_shape;
  DataType dtype;
} TensorInfo;

typedef struct {
  const char* name_hint;
  int64_t byte_offset, data_len;
  const void* data_bytes;
} ConstantInfo;

typedef struct {
  int64_t version;
  const TensorInfo* inputs;
  int64_t num_inputs;
  const TensorInfo* outputs;
  int64_t num_outputs;
  const TensorInfo* workspace_pools;
  int64_t num_workspace_pools;
  const ConstantInfo* constant_pools;
  int64_t num_constant_pools;
  const char* mod_name;
} Metadata;

#pragma pack(push, 1)
typedef struct {
  uint64_t magic, reserved;
  int32_t device_type, device_id, ndim;
  DataType dtype;
  int64_t shape[1], bytes;
  float data[4];
} SavedArray;
typedef struct {
  uint64_t num_bytes, num_entries;
  uint64_t factory_bytes;
  char factory[18];
  uint64_t num_params, num_names, param_name_bytes;
  char param_name[2];
  SavedArray param;
  uint64_t name_bytes;
  char name[7];
  uint64_t metadata_bytes;
  char metadata[15];
  uint64_t lib_bytes;
  char lib[4];
  uint64_t tree_bytes;
  char tree[12];
  uint64_t num_rows, rows[4], num_children, children[2];
} Blob;
#pragma pack(pop)

#define SAVED_ARRAY {UINT64_C(0xDD5E40F096B4A13F), 0, kCpu, 0, 1, {2, 32, 1}, {4}, 16, {1, 2, 3, 4}}

static const int64_t kFour[] = {4}, kSquare[] = {2, 2}, kPool0[] = {16}, kPool1[] = {80};
static const TensorInfo kInputs[] = {{"x", kFour, 1, {2, 32, 1}}};
static const TensorInfo kOutputs[] = {{"output0", kFour, 1, {2, 32, 1}},
                                      {"output1", kSquare, 2, {0, 8, 1}}};
static const TensorInfo kPools[] = {{"fast_var", kPool0, 1, {1, 8, 1}},
                                    {"global_workspace_1_var", kPool1, 1, {1, 8, 1}}};
static const SavedArray kConstant = SAVED_ARRAY;
static const ConstantInfo kConstants[] = {{"constant_0", 32, sizeof(kConstant), &kConstant}};
static const Metadata kMetadata = {1,      kInputs, 1,          kOutputs, 2,
                                   kPools, 2,       kConstants, 1,        "tvmgen_default"};

EXPORT PackedFunction get_c_metadata, tvmgen_default___tvm_main__;

int32_t get_c_metadata(Value* args, int* codes, int count, Value* result, int* result_code,
                       void* resource) {
  (void)args, (void)codes, (void)count, (void)resource;
  result->v_handle = (void*)&kMetadata;
  *result_code = kOpaqueHandle;
  return 0;
}

int32_t tvmgen_default___tvm_main__(Value* args, int* codes, int count, Value* result,
                                    int* result_code, void* resource) {
  (void)codes, (void)result, (void)result_code, (void)resource;
  if (count != 6 || TensorOf(args[3])->shape[0] != 48 || TensorOf(args[4])->shape[0] != 16 ||
      TensorOf(args[5])->shape[0] != 80) {
    TVMAPISetLastError("tvmgen_default___tvm_main__: wrong arguments");
    return -1;
  }
  const float* const constant = (const float*)((const char*)TensorOf(args[3])->data + 32);
  float* const x = (float*)TensorOf(args[4])->data;
  float* const sum = (float*)TensorOf(args[5])->data;
  float* const scratch = (float*)TVMBackendAllocWorkspace(kCpu, 0, 16, 2, 32);
  if (scratch == 0) return -1;
  memcpy(x, TensorOf(args[0])->data, 16);
  for (int i = 0; i < 4; ++i) sum[i] = x[i] + constant[i];
  for (int i = 0; i < 4; ++i) scratch[i] = 2 * x[i];
  memcpy(TensorOf(args[1])->data, sum, 16);
  for (int i = 0; i < 4; ++i) ((int8_t*)TensorOf(args[2])->data)[i] = (int8_t)scratch[i];
  return TVMBackendFreeWorkspace(kCpu, 0, scratch);
}

// Factory → metadata module → library. The factory's parameter is linked in, and is not an input.
EXPORT extern const Blob __tvm_dev_mblob;
const Blob __tvm_dev_mblob = {sizeof(Blob) - 8,
                              4,
                              18,
                              "AotExecutorFactory",
                              1,
                              1,
                              2,
                              "p0",
                              SAVED_ARRAY,
                              7,
                              "default",
                              15,
                              "metadata_module",
                              4,
                              "_lib",
                              12,
                              "_import_tree",
                              4,
                              {0, 1, 2, 2},
                              2,
                              {1, 2}};
