// SPDX-License-Identifier: Apache-2.0
//
// A library as the compiler makes it for executor=aot: output0 = (x + y) + x, float32 (4). The
// inner sum is in a workspace of 64 bytes. Macros select variants:
//   - KILN_PROFILE: the library has a profile hook.
//   - ADD_NEXT_VERSION: it computes (x + y) + (x + y) instead.
//   - ADD_STATE: output0 is the next x, which is 1.5 at first.
//   - ADD_IN_PLACE: x and output0 may share memory.
//   - ADD_ZERO_BYTES: size of an array that takes memory, but no space in the file.
//   - ADD_SCRATCH_BYTES: size of the scratch memory that the metadata states for its operator.
#include <string.h>

#include "add_model.h"
#include "tvm/runtime/metadata_types.h"

#ifdef KILN_PROFILE
EXPORT void (*__kiln_profile_hook)(int32_t function_index, int32_t begin) = NULL;
#define PROFILE(index, begin) \
  if (__kiln_profile_hook != NULL) __kiln_profile_hook(index, begin)
#else
#define PROFILE(index, begin) (void)0
#endif

#ifdef ADD_ZERO_BYTES
EXPORT char zeros[ADD_ZERO_BYTES];
#endif

static const int64_t kShape[] = {4};
static const float kScales[] = {0.5f};
static const int32_t kZeroPoints[] = {3};
static const struct QuantizationInfo kQuantization = {kScales, kZeroPoints, 1, 0};
static const struct ParameterInfo kParams[] = {
    {"x", "x", kShape, 1, {kDLFloat, 32, 1}, {kDLCPU, 0}, 16, &kQuantization},
    {"y:0", "y_0", kShape, 1, {kDLFloat, 32, 1}, {kDLCPU, 0}, 16, NULL},
    {"output0", "output0", kShape, 1, {kDLFloat, 32, 1}, {kDLCPU, 0}, 16, NULL},
};
static const struct LaunchParameterInfo kLaunch[] = {{"parallel_iterations", 4}};
static const struct DeviceInfo kDevices[] = {{{kDLCPU, 0}, "cpu", ""}};
#ifndef ADD_SCRATCH_BYTES
#define ADD_SCRATCH_BYTES 0
#endif
static const struct FunctionInfo kFunctions[] = {
    {"tvmgen_add___tvm_main__",
     kParams,
     3,
     2,
     1,
     64,
     48,
     0,
     {kDLCPU, 0},
     NULL,
     NULL,
     NULL,
     "library",
     NULL,
     0},
    {"tvmgen_add_fused_add",
     kParams,
     3,
     2,
     1,
     ADD_SCRATCH_BYTES,
     48,
     0,
     {kDLCPU, 0},
     "add",
     "a1 a2",
     "naive",
     "library",
     kLaunch,
     1},
};
// Two calls of four additions.
static const struct CostInfo kCosts[] = {{8, 96}, {4, 48}};
static const struct PoolBufferInfo kBuffers[] = {{"t2", 0, 16, 0, 0}};
static const struct PoolInfo kPools[] = {
    {"workspace", 64, 64, KILN_POOL_WORKSPACE, 1, 16, kBuffers, 0, -1, 1}};
#ifdef ADD_STATE
#ifndef ADD_IN_PLACE
#define ADD_IN_PLACE 0
#endif
static const struct StateInfo kStates[] = {{"x", ADD_STATE, 1.5, ADD_IN_PLACE}};
#define NUM_STATES 1
#else
#define kStates NULL
#define NUM_STATES 0
#endif
static const struct PropertyInfo kProperties[] = {{"names", "sum"}, {"note", ""}};
static const struct OriginInfo kOrigin = {"by hand", "ab12", "cd34", kProperties, 2};
static const struct Metadata kMetadata = {KILN_METADATA_VERSION,
                                          "add",
                                          "aot",
                                          "cpp",
                                          "packed",
                                          "packed",
                                          "c",
                                          kFunctions,
                                          2,
                                          kPools,
                                          1,
                                          kDevices,
                                          1,
                                          kCosts,
                                          NULL,
                                          0,
                                          kStates,
                                          NUM_STATES,
                                          "x86-64",
                                          NULL,
                                          0,
                                          &kOrigin};

EXPORT int get_model_metadata(TVMValue* args, int* codes, int num_args, TVMValue* ret,
                              int* ret_code, void* resource) {
  (void)args, (void)codes, (void)num_args, (void)resource;
  ret->v_handle = (void*)&kMetadata;
  *ret_code = kTVMOpaqueHandle;
  return 0;
}

EXPORT int tvmgen_add_fused_add(TVMValue* args, int* codes, int num_args, TVMValue* ret,
                                int* ret_code, void* resource) {
  (void)codes, (void)num_args, (void)ret, (void)ret_code, (void)resource;
  return Add4(DataOf(args[0]), DataOf(args[1]), DataOf(args[2]));
}

EXPORT int tvmgen_add___tvm_main__(TVMValue* args, int* codes, int num_args, TVMValue* ret,
                                   int* ret_code, void* resource) {
  (void)codes, (void)ret, (void)ret_code, (void)resource;
  if (num_args != 5) {
    __TVMAPISetLastError("tvmgen_add___tvm_main__: num_args should be 5");
    return -1;
  }
  const DLTensor* const constants = (const DLTensor*)args[3].v_handle;
  const DLTensor* const workspace = (const DLTensor*)args[4].v_handle;
  if (constants->shape[0] != 0 || workspace->shape[0] != 64) {
    __TVMAPISetLastError("tvmgen_add___tvm_main__: pools of another size");
    return -1;
  }
  float* const sum = (float*)workspace->data;
  PROFILE(1, 1);
  int status = Add4(DataOf(args[0]), DataOf(args[1]), sum);
  PROFILE(1, 0);
  PROFILE(1, 1);
#ifdef ADD_NEXT_VERSION
  const float* const summand = sum;
#else
  const float* const summand = DataOf(args[0]);
#endif
  if (status == 0) status = Add4(sum, summand, DataOf(args[2]));
  PROFILE(1, 0);
  return status;
}

// Factory → metadata module → library.
#pragma pack(push, 1)
EXPORT extern const struct Blob __tvm_dev_mblob;
struct Blob {
  uint64_t num_bytes, num_entries;
  uint64_t factory_bytes;
  char factory[18] UNTERMINATED;
  uint64_t num_params, num_names, name_bytes;
  char name[3] UNTERMINATED;
  uint64_t metadata_bytes;
  char metadata[15] UNTERMINATED;
  uint64_t lib_bytes;
  char lib[4] UNTERMINATED;
  uint64_t tree_bytes;
  char tree[12] UNTERMINATED;
  uint64_t num_rows, rows[4], num_children, children[2];
};
#pragma pack(pop)
const struct Blob __tvm_dev_mblob = {sizeof(struct Blob) - 8,
                                     4,
                                     18,
                                     "AotExecutorFactory",
                                     0,
                                     0,
                                     3,
                                     "add",
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
