// SPDX-License-Identifier: Apache-2.0
//
// The central metadata of a module as constant C data.
//
// The compiler renders its description of a module into these structs. In a shared object, the
// packed function `get_model_metadata` returns the address of the `struct Metadata` as an opaque
// handle. For C programs, the generated C function `tvmgen_<module>_get_model_metadata` returns it.
// Everything is read-only data of the module. Strings are NUL-terminated, and nothing is ever
// freed. An array of length 0 may be NULL.
//
//   const struct FunctionInfo* run_model = &metadata->functions[0];
//   for (int32_t i = 0; i < run_model->num_inputs; ++i) {
//     puts(run_model->params[i].relay_name_hint);
//   }
#ifndef KILN_METADATA_H_
#define KILN_METADATA_H_

#include <stdint.h>

#include "dlpack/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

// Version of these structs, the value of Metadata.version. Every change of the layout increases it.
#define KILN_METADATA_VERSION 8

// Values of PoolInfo.kind.
#define KILN_POOL_WORKSPACE 0
#define KILN_POOL_CONSTANT 1

// A device that the module runs on.
struct DeviceInfo {
  DLDevice device;
  const char* name;     // "cpu", or the name that the hooks of an accelerator carry.
  const char* program;  // Program that is loaded into the device, if devices differ by it; or "".
};

// Quantization of a tensor. An integer q represents the real number scale * (q - zero_point).
struct QuantizationInfo {
  const float* scales;         // `num_scales` values.
  const int32_t* zero_points;  // `num_scales` values.
  int32_t num_scales;          // 1: one scale for the whole tensor; more: one per index of `axis`.
  int32_t axis;                // Dimension that the scales belong to. Unused if num_scales is 1.
};

// One tensor argument of a function.
struct ParameterInfo {
  const char* relay_name_hint;  // Name in the model, as the user wrote it.
  const char* tir_name_hint;    // Name of letters, digits and '_'; for TVM's runtimes and C.
  const int64_t* shape;         // `ndim` extents, in elements.
  int32_t ndim;                 // 0 is a scalar.
  DLDataType dtype;             // Type of each element.
  DLDevice target_device;       // Device whose memory must hold the tensor.
  int64_t size_bytes;           // Size of the whole compact tensor.
  const struct QuantizationInfo* quantization;  // NULL if the tensor is not quantized.
};

// One buffer in a pool: a tensor between two functions, or the scratch memory of a function.
struct PoolBufferInfo {
  const char* name;
  int64_t offset_bytes;
  int64_t size_bytes;
  int32_t first_call;  // First call that the buffer is alive in. Call k is functions[k + 1].
  int32_t last_call;   // Last call that the buffer is alive in (inclusive).
};

// A property of the launch of a function.
struct LaunchParameterInfo {
  const char* name;  // "parallel_iterations": iterations of the outermost parallel loop.
  int64_t value;
};

// A region of memory that the memory plan placed buffers in.
struct PoolInfo {
  const char* name;
  int64_t size_bytes;
  int64_t alignment_bytes;  // A power of two.
  int32_t kind;             // KILN_POOL_WORKSPACE (scratch) or KILN_POOL_CONSTANT (read-only).
  int32_t num_buffers;
  int64_t lower_bound_bytes;             // Maximum number of bytes that are alive at once.
  const struct PoolBufferInfo* buffers;  // `num_buffers` entries.
  int32_t external;     // 1: described by the application, which provides the memory or section.
  int64_t limit_bytes;  // Size that the application has for an external pool; -1: no limit.
  double speed;         // Speed relative to the other pools of the module.
};

// Arithmetic and memory traffic that a function needs, independent of its schedule.
struct CostInfo {
  // Operations on floats and integers. A multiplication with its addition counts as 2. -1: unknown.
  int64_t operations;
  // Lower bound: each input, output and constant is accessed once. -1: unknown.
  int64_t accessed_bytes;
};

// One function of the module.
struct FunctionInfo {
  const char* function_name;           // The linker symbol; empty if there is none.
  const struct ParameterInfo* params;  // The inputs, then the outputs.
  int32_t num_params;                  // Equals num_inputs + num_outputs.
  int32_t num_inputs;
  int32_t num_outputs;
  int64_t workspace_size_bytes;  // Size of the scratch memory that the function uses.
  int64_t io_size_bytes;         // Size of its inputs and outputs together.
  int64_t constant_size_bytes;   // Size of the constants that it reads.
  DLDevice device;               // Device that runs it.
  const char* op_names;          // "nn.conv2d nn.relu", for profiles; may be NULL.
  const char* source;            // Nodes of the model that it computes; may be NULL.
  const char* schedule;          // Description of its schedule. May be NULL; for the C runtime it
                                 // always is.
  const char* module_type;       // Type key of the module that holds it; "library": compiled code.
  const struct LaunchParameterInfo* launch_params;  // `num_launch_params` entries.
  int32_t num_launch_params;
};

// A state: an input of the model's function to which a run passes an output of the previous run.
struct StateInfo {
  const char* input;     // relay_name_hint of the input.
  const char* output;    // relay_name_hint of the output.
  double initial_value;  // Value of every element of the input in the first run.
  int32_t is_in_place;   // 1: input and output may share memory, which a run then changes.
};

// A property from the model's file, such as an entry of ONNX's metadata_props.
struct PropertyInfo {
  const char* key;
  const char* value;
};

// The compiler, model file and options that the module was made from.
struct OriginInfo {
  const char* compiler;        // "kiln 0.1.0".
  const char* model_sha256;    // SHA-256 of the model's file, 64 hexadecimal digits; "" if none.
  const char* options_sha256;  // SHA-256 of all options of the compilation.
  const struct PropertyInfo* properties;  // `num_properties` entries.
  int32_t num_properties;
};

// The module. functions[0] is the model as a whole. Its symbol is `tvmgen_<module>_run_model` with
// the C interface and `tvmgen_<module>___tvm_main__` with the packed interface. With a graph
// executor its name is empty. The other functions are the operator functions, each once, in the
// order of their first call.
struct Metadata {
  int32_t version;                       // KILN_METADATA_VERSION of the compiler.
  const char* module_name;               // Without the prefix "tvmgen_".
  const char* executor;                  // "aot" or "graph".
  const char* runtime;                   // "cpp" or "crt".
  const char* interface_api;             // "packed" or "c".
  const char* calling_convention;        // "packed", "cpacked" or "unpacked".
  const char* target;                    // The target description that the user gave.
  const struct FunctionInfo* functions;  // `num_functions` entries, at least 1.
  int32_t num_functions;
  const struct PoolInfo* pools;  // `num_pools` entries.
  int32_t num_pools;
  const struct DeviceInfo* devices;  // `num_devices` entries.
  int32_t num_devices;
  // Cost of one call of each function, in the order of `functions`; `num_functions` entries.
  // costs[0] is the sum over all calls. NULL for the C runtime, to save its memory.
  const struct CostInfo* costs;
  // Targets that the module has code for, lowest first; `num_cpu_variants` entries. The variant is
  // chosen at run time. If there are none, all code is for `target`.
  const char* const* cpu_variants;
  int32_t num_cpu_variants;
  const struct StateInfo* states;  // `num_states` entries.
  int32_t num_states;
  // LLVM's name of the CPU that the code is for, and the features that the code needs beyond the
  // baseline of the architecture. With CPU variants, they describe the lowest variant. NULL for the
  // C runtime, to save its memory.
  const char* cpu;
  const char* const* cpu_features;  // `num_cpu_features` entries.
  int32_t num_cpu_features;
  const struct OriginInfo* origin;  // NULL for the C runtime, to save its memory.
};

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // KILN_METADATA_H_
