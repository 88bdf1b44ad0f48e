// SPDX-License-Identifier: Apache-2.0
//
// Tests of the layouts and numbers that programs of other compilers rely on.
#include <cstddef>

#include "dlpack/dlpack.h"
#include "gtest/gtest.h"
#include "kiln/metadata.h"
#include "tvm/runtime/c_backend_api.h"
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/metadata_types.h"

namespace {

static_assert(sizeof(TVMValue) == 8);
static_assert(sizeof(DLDevice) == 8);
static_assert(offsetof(DLDevice, device_type) == 0 && offsetof(DLDevice, device_id) == 4);
static_assert(sizeof(DLDataType) == 4);
static_assert(offsetof(DLDataType, code) == 0 && offsetof(DLDataType, bits) == 1 &&
              offsetof(DLDataType, lanes) == 2);
static_assert(sizeof(struct TVMConstantInfo) == 32);

#if UINTPTR_MAX == UINT64_MAX
static_assert(sizeof(DLTensor) == 48);
static_assert(offsetof(DLTensor, data) == 0 && offsetof(DLTensor, device) == 8 &&
              offsetof(DLTensor, ndim) == 16 && offsetof(DLTensor, dtype) == 20 &&
              offsetof(DLTensor, shape) == 24 && offsetof(DLTensor, strides) == 32 &&
              offsetof(DLTensor, byte_offset) == 40);
static_assert(sizeof(DLManagedTensor) == 64);
static_assert(offsetof(DLManagedTensor, manager_ctx) == 48 &&
              offsetof(DLManagedTensor, deleter) == 56);
static_assert(sizeof(TVMParallelGroupEnv) == 16 && offsetof(TVMParallelGroupEnv, num_task) == 8);
static_assert(sizeof(TVMByteArray) == 16 && offsetof(TVMByteArray, size) == 8);
static_assert(sizeof(struct TVMMetadata) == 80);
static_assert(offsetof(struct TVMMetadata, version) == 0 &&
              offsetof(struct TVMMetadata, inputs) == 8 &&
              offsetof(struct TVMMetadata, num_inputs) == 16 &&
              offsetof(struct TVMMetadata, outputs) == 24 &&
              offsetof(struct TVMMetadata, num_outputs) == 32 &&
              offsetof(struct TVMMetadata, workspace_pools) == 40 &&
              offsetof(struct TVMMetadata, num_workspace_pools) == 48 &&
              offsetof(struct TVMMetadata, constant_pools) == 56 &&
              offsetof(struct TVMMetadata, num_constant_pools) == 64 &&
              offsetof(struct TVMMetadata, mod_name) == 72);
static_assert(sizeof(struct TVMTensorInfo) == 32);
static_assert(offsetof(struct TVMTensorInfo, name) == 0 &&
              offsetof(struct TVMTensorInfo, shape) == 8 &&
              offsetof(struct TVMTensorInfo, num_shape) == 16 &&
              offsetof(struct TVMTensorInfo, dtype) == 24);
static_assert(offsetof(struct TVMConstantInfo, byte_offset) == 8 &&
              offsetof(struct TVMConstantInfo, data_len) == 16 &&
              offsetof(struct TVMConstantInfo, data_bytes) == 24);
// Code generators write these structs without a C compiler, so their layouts must not change.
static_assert(sizeof(struct QuantizationInfo) == 24);
static_assert(offsetof(struct QuantizationInfo, scales) == 0 &&
              offsetof(struct QuantizationInfo, zero_points) == 8 &&
              offsetof(struct QuantizationInfo, num_scales) == 16 &&
              offsetof(struct QuantizationInfo, axis) == 20);
static_assert(sizeof(struct ParameterInfo) == 56);
static_assert(offsetof(struct ParameterInfo, relay_name_hint) == 0 &&
              offsetof(struct ParameterInfo, tir_name_hint) == 8 &&
              offsetof(struct ParameterInfo, shape) == 16 &&
              offsetof(struct ParameterInfo, ndim) == 24 &&
              offsetof(struct ParameterInfo, dtype) == 28 &&
              offsetof(struct ParameterInfo, target_device) == 32 &&
              offsetof(struct ParameterInfo, size_bytes) == 40 &&
              offsetof(struct ParameterInfo, quantization) == 48);
static_assert(sizeof(struct PoolBufferInfo) == 32);
static_assert(offsetof(struct PoolBufferInfo, name) == 0 &&
              offsetof(struct PoolBufferInfo, offset_bytes) == 8 &&
              offsetof(struct PoolBufferInfo, size_bytes) == 16 &&
              offsetof(struct PoolBufferInfo, first_call) == 24 &&
              offsetof(struct PoolBufferInfo, last_call) == 28);
static_assert(sizeof(struct PoolInfo) == 72);
static_assert(offsetof(struct PoolInfo, name) == 0 && offsetof(struct PoolInfo, size_bytes) == 8 &&
              offsetof(struct PoolInfo, alignment_bytes) == 16 &&
              offsetof(struct PoolInfo, kind) == 24 &&
              offsetof(struct PoolInfo, num_buffers) == 28 &&
              offsetof(struct PoolInfo, lower_bound_bytes) == 32 &&
              offsetof(struct PoolInfo, buffers) == 40 &&
              offsetof(struct PoolInfo, external) == 48 &&
              offsetof(struct PoolInfo, limit_bytes) == 56 &&
              offsetof(struct PoolInfo, speed) == 64);
static_assert(sizeof(struct FunctionInfo) == 112);
static_assert(offsetof(struct FunctionInfo, function_name) == 0 &&
              offsetof(struct FunctionInfo, params) == 8 &&
              offsetof(struct FunctionInfo, num_params) == 16 &&
              offsetof(struct FunctionInfo, num_inputs) == 20 &&
              offsetof(struct FunctionInfo, num_outputs) == 24 &&
              offsetof(struct FunctionInfo, workspace_size_bytes) == 32 &&
              offsetof(struct FunctionInfo, io_size_bytes) == 40 &&
              offsetof(struct FunctionInfo, constant_size_bytes) == 48 &&
              offsetof(struct FunctionInfo, device) == 56 &&
              offsetof(struct FunctionInfo, op_names) == 64 &&
              offsetof(struct FunctionInfo, source) == 72 &&
              offsetof(struct FunctionInfo, schedule) == 80 &&
              offsetof(struct FunctionInfo, module_type) == 88 &&
              offsetof(struct FunctionInfo, launch_params) == 96 &&
              offsetof(struct FunctionInfo, num_launch_params) == 104);
static_assert(sizeof(struct LaunchParameterInfo) == 16);
static_assert(offsetof(struct LaunchParameterInfo, name) == 0 &&
              offsetof(struct LaunchParameterInfo, value) == 8);
static_assert(sizeof(struct CostInfo) == 16);
static_assert(offsetof(struct CostInfo, operations) == 0 &&
              offsetof(struct CostInfo, accessed_bytes) == 8);
static_assert(sizeof(struct DeviceInfo) == 24);
static_assert(offsetof(struct DeviceInfo, device) == 0 && offsetof(struct DeviceInfo, name) == 8 &&
              offsetof(struct DeviceInfo, program) == 16);
static_assert(sizeof(struct StateInfo) == 32);
static_assert(offsetof(struct StateInfo, input) == 0 && offsetof(struct StateInfo, output) == 8 &&
              offsetof(struct StateInfo, initial_value) == 16 &&
              offsetof(struct StateInfo, is_in_place) == 24);
static_assert(sizeof(struct PropertyInfo) == 16);
static_assert(offsetof(struct PropertyInfo, key) == 0 && offsetof(struct PropertyInfo, value) == 8);
static_assert(sizeof(struct OriginInfo) == 40);
static_assert(offsetof(struct OriginInfo, compiler) == 0 &&
              offsetof(struct OriginInfo, model_sha256) == 8 &&
              offsetof(struct OriginInfo, options_sha256) == 16 &&
              offsetof(struct OriginInfo, properties) == 24 &&
              offsetof(struct OriginInfo, num_properties) == 32);
static_assert(sizeof(struct Metadata) == 176);
static_assert(
    offsetof(struct Metadata, version) == 0 && offsetof(struct Metadata, module_name) == 8 &&
    offsetof(struct Metadata, executor) == 16 && offsetof(struct Metadata, runtime) == 24 &&
    offsetof(struct Metadata, interface_api) == 32 &&
    offsetof(struct Metadata, calling_convention) == 40 &&
    offsetof(struct Metadata, target) == 48 && offsetof(struct Metadata, functions) == 56 &&
    offsetof(struct Metadata, num_functions) == 64 && offsetof(struct Metadata, pools) == 72 &&
    offsetof(struct Metadata, num_pools) == 80 && offsetof(struct Metadata, devices) == 88 &&
    offsetof(struct Metadata, num_devices) == 96 && offsetof(struct Metadata, costs) == 104 &&
    offsetof(struct Metadata, cpu_variants) == 112 &&
    offsetof(struct Metadata, num_cpu_variants) == 120 &&
    offsetof(struct Metadata, states) == 128 && offsetof(struct Metadata, num_states) == 136 &&
    offsetof(struct Metadata, cpu) == 144 && offsetof(struct Metadata, cpu_features) == 152 &&
    offsetof(struct Metadata, num_cpu_features) == 160 && offsetof(struct Metadata, origin) == 168);
#endif

TEST(Abi, TypeCodes) {
  EXPECT_EQ(kTVMArgInt, 0);
  EXPECT_EQ(kTVMArgFloat, 2);
  EXPECT_EQ(kTVMOpaqueHandle, 3);
  EXPECT_EQ(kTVMNullptr, 4);
  EXPECT_EQ(kTVMDataType, 5);
  EXPECT_EQ(kDLDevice, 6);
  EXPECT_EQ(kTVMDLTensorHandle, 7);
  EXPECT_EQ(kTVMObjectHandle, 8);
  EXPECT_EQ(kTVMModuleHandle, 9);
  EXPECT_EQ(kTVMPackedFuncHandle, 10);
  EXPECT_EQ(kTVMStr, 11);
  EXPECT_EQ(kTVMBytes, 12);
  EXPECT_EQ(kTVMNDArrayHandle, 13);
  EXPECT_EQ(kTVMObjectRValueRefArg, 14);
}

TEST(Abi, Numbers) {
  EXPECT_EQ(TVM_METADATA_VERSION, 1);
  EXPECT_EQ(KILN_METADATA_VERSION, 8);
  EXPECT_EQ(kDLCPU, 1);
  EXPECT_EQ(kDLExtDev, 12);
  EXPECT_EQ(kDLHexagon, 14);
  EXPECT_EQ(kDLBfloat, 4);
}

}  // namespace
