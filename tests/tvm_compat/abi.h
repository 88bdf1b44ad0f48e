// SPDX-License-Identifier: Apache-2.0
// The parts of the C ABI of TVM 0.9.0 on 64-bit machines that these tests use.
#ifndef KILN_TESTS_TVM_COMPAT_ABI_H_
#define KILN_TESTS_TVM_COMPAT_ABI_H_

#include <cstddef>
#include <cstdint>

namespace tvm09 {

// Type codes of arguments and results.
inline constexpr int kHandle = 3;
inline constexpr int kNull = 4;
inline constexpr int kTensor = 7;

// Alignment of tensors that the runtime allocates.
inline constexpr size_t kAllocAlignment = 128;

inline constexpr int32_t kCpu = 1;

union Value {
  int64_t v_int64;
  double v_float64;
  void* v_handle;
  const char* v_str;
};
static_assert(sizeof(Value) == 8);

struct Device {
  int32_t type;
  int32_t id;
};

struct DataType {
  uint8_t code;  // 0 int, 1 unsigned, 2 float
  uint8_t bits;
  uint16_t lanes;
};

struct Tensor {
  void* data;
  Device device;
  int32_t ndim;
  DataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
static_assert(sizeof(Tensor) == 48 && offsetof(Tensor, ndim) == 16 &&
              offsetof(Tensor, shape) == 24);

using PackedFunction = int (*)(Value* args, int* codes, int num_args, Value* result,
                               int* result_code, void* resource);

struct TensorInfo {
  const char* name;
  const int64_t* shape;
  int64_t num_shape;
  DataType dtype;
};
static_assert(sizeof(TensorInfo) == 32);

struct ConstantInfo {
  const char* name_hint;
  int64_t byte_offset;
  int64_t data_len;
  const void* data_bytes;
};
static_assert(sizeof(ConstantInfo) == 32);

struct Metadata {
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
};
static_assert(sizeof(Metadata) == 80 && offsetof(Metadata, mod_name) == 72);

struct FuncRegistry {
  const char* names;
  const PackedFunction* funcs;
};
static_assert(sizeof(FuncRegistry) == 16);

struct Module {
  const FuncRegistry* registry;
};

struct ParallelEnv {
  void* sync_handle;
  int32_t num_task;
};
static_assert(sizeof(ParallelEnv) == 16);

}  // namespace tvm09

#endif  // KILN_TESTS_TVM_COMPAT_ABI_H_
