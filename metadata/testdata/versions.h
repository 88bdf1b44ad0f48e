// SPDX-License-Identifier: Apache-2.0
//
// kiln/metadata.h as it was in version KILN_METADATA_VERSION, which the build defines. Each version
// added members and changed nothing else. Comments are in kiln/metadata.h.
#ifndef KILN_METADATA_TESTDATA_VERSIONS_H_
#define KILN_METADATA_TESTDATA_VERSIONS_H_

#include <stdint.h>

#include "dlpack/dlpack.h"

#define KILN_POOL_WORKSPACE 0
#define KILN_POOL_CONSTANT 1

struct DeviceInfo {
  DLDevice device;
  const char* name;
  const char* program;
};

struct QuantizationInfo {
  const float* scales;
  const int32_t* zero_points;
  int32_t num_scales;
  int32_t axis;
};

struct ParameterInfo {
  const char* relay_name_hint;
  const char* tir_name_hint;
  const int64_t* shape;
  int32_t ndim;
  DLDataType dtype;
  DLDevice target_device;
  int64_t size_bytes;
  const struct QuantizationInfo* quantization;
};

struct PoolBufferInfo {
  const char* name;
  int64_t offset_bytes;
  int64_t size_bytes;
  int32_t first_call;
  int32_t last_call;
};

struct LaunchParameterInfo {
  const char* name;
  int64_t value;
};

struct PoolInfo {
  const char* name;
  int64_t size_bytes;
  int64_t alignment_bytes;
  int32_t kind;
#if KILN_METADATA_VERSION >= 2
  int32_t num_buffers;
  int64_t lower_bound_bytes;
  const struct PoolBufferInfo* buffers;
#endif
#if KILN_METADATA_VERSION >= 3
  int32_t external;
  int64_t limit_bytes;
  double speed;
#endif
};

struct CostInfo {
  int64_t operations;
  int64_t accessed_bytes;
};

struct FunctionInfo {
  const char* function_name;
  const struct ParameterInfo* params;
  int32_t num_params;
  int32_t num_inputs;
  int32_t num_outputs;
  int64_t workspace_size_bytes;
  int64_t io_size_bytes;
  int64_t constant_size_bytes;
  DLDevice device;
  const char* op_names;
#if KILN_METADATA_VERSION >= 2
  const char* source;
  const char* schedule;
#endif
#if KILN_METADATA_VERSION >= 3
  const char* module_type;
  const struct LaunchParameterInfo* launch_params;
  int32_t num_launch_params;
#endif
};

struct StateInfo {
  const char* input;
  const char* output;
  double initial_value;
#if KILN_METADATA_VERSION >= 8
  int32_t is_in_place;
#endif
};

struct PropertyInfo {
  const char* key;
  const char* value;
};

struct OriginInfo {
  const char* compiler;
  const char* model_sha256;
  const char* options_sha256;
  const struct PropertyInfo* properties;
  int32_t num_properties;
};

struct Metadata {
  int32_t version;
  const char* module_name;
  const char* executor;
  const char* runtime;
  const char* interface_api;
  const char* calling_convention;
  const char* target;
  const struct FunctionInfo* functions;
  int32_t num_functions;
  const struct PoolInfo* pools;
  int32_t num_pools;
#if KILN_METADATA_VERSION >= 3
  const struct DeviceInfo* devices;
  int32_t num_devices;
#endif
#if KILN_METADATA_VERSION >= 4
  const struct CostInfo* costs;
  const char* const* cpu_variants;
  int32_t num_cpu_variants;
#endif
#if KILN_METADATA_VERSION >= 6
  const struct StateInfo* states;
  int32_t num_states;
#endif
#if KILN_METADATA_VERSION >= 7
  const char* cpu;
  const char* const* cpu_features;
  int32_t num_cpu_features;
#endif
#if KILN_METADATA_VERSION >= 8
  const struct OriginInfo* origin;
#endif
};

#endif  // KILN_METADATA_TESTDATA_VERSIONS_H_
