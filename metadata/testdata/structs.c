// SPDX-License-Identifier: Apache-2.0
//
// The metadata of a small model, as the compiler of a given version writes it. Only members of
// version 1 are set.
#include <stddef.h>

#include "metadata/testdata/versions.h"

const struct Metadata* metadata_of_a_version(void);

static const int64_t kShape[] = {2, 3};
static const float kScales[] = {0.5f};
static const int32_t kZeroPoints[] = {-3};
static const struct QuantizationInfo kQuantization = {
    .scales = kScales, .zero_points = kZeroPoints, .num_scales = 1, .axis = 0};

static const struct ParameterInfo kParameters[] = {{.relay_name_hint = "input-x",
                                                    .tir_name_hint = "input_x",
                                                    .shape = kShape,
                                                    .ndim = 2,
                                                    .dtype = {kDLInt, 8, 1},
                                                    .target_device = {kDLCPU, 0},
                                                    .size_bytes = 6,
                                                    .quantization = &kQuantization},
                                                   {.relay_name_hint = "y",
                                                    .tir_name_hint = "y",
                                                    .shape = NULL,
                                                    .ndim = 0,
                                                    .dtype = {kDLFloat, 32, 1},
                                                    .target_device = {kDLCPU, 0},
                                                    .size_bytes = 4,
                                                    .quantization = NULL}};

static const struct FunctionInfo kFunctions[] = {{.function_name = "tvmgen_small_run_model",
                                                  .params = kParameters,
                                                  .num_params = 2,
                                                  .num_inputs = 1,
                                                  .num_outputs = 1,
                                                  .workspace_size_bytes = 64,
                                                  .io_size_bytes = 10,
                                                  .constant_size_bytes = 12,
                                                  .device = {kDLCPU, 0},
                                                  .op_names = NULL}};

static const struct PoolInfo kPools[] = {
    {.name = "workspace", .size_bytes = 64, .alignment_bytes = 64, .kind = KILN_POOL_WORKSPACE}};

static const struct Metadata kMetadata = {.version = KILN_METADATA_VERSION,
                                          .module_name = "small",
                                          .executor = "aot",
                                          .runtime = "cpp",
                                          .interface_api = "packed",
                                          .calling_convention = "cpacked",
                                          .target = "host",
                                          .functions = kFunctions,
                                          .num_functions = 1,
                                          .pools = kPools,
                                          .num_pools = 1};

const struct Metadata* metadata_of_a_version(void) { return &kMetadata; }
