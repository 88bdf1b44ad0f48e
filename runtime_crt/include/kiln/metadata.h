// SPDX-License-Identifier: Apache-2.0
//
// The central metadata of a module as constant C data.
//
// The compiler renders its one description of a module into these structs. In a shared object the
// packed function `get_model_metadata` returns the address of the `struct Metadata` as an opaque
// handle; in C programs the generated code names it directly. Everything is read-only data of the
// module, strings are NUL-terminated, and nothing is ever freed. Arrays of length 0 may be NULL.
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

// Version of these structs, the value of Metadata.version. It grows with every change of layout.
#define KILN_METADATA_VERSION 8

// Values of PoolInfo.kind.
#define KILN_POOL_WORKSPACE 0
#define KILN_POOL_CONSTANT 1

// A device that the module runs on.
struct DeviceInfo {
  DLDevice device;
  const char* name;     // "cpu"; of an accelerator, the name that its hooks carry.
  const char* program;  // What is loaded into it, where devices of one kind differ by that; or "".
};

// How integers stand for real numbers: real = scale * (integer - zero_point).
struct QuantizationInfo {
  const float* scales;         // `num_scales` values.
  const int32_t* zero_points;  // `num_scales` values.
  int32_t num_scales;          // 1 is per tensor; more is one per index along `axis`.
  int32_t axis;                // Dimension of the scales; of no meaning where num_scales is 1.
};

// One tensor argument of a function.
struct ParameterInfo {
  const char* relay_name_hint;  // Name in the model, as the user wrote it.
  const char* tir_name_hint;    // Letters, digits and '_'; for TVM's runtimes and C.
  const int64_t* shape;         // `ndim` extents, in elements.
  int32_t ndim;                 // 0 is a scalar.
  DLDataType dtype;             // Type of each element.
  DLDevice target_device;       // Where its memory must lie.
  int64_t size_bytes;           // Bytes of the whole compact tensor.
  const struct QuantizationInfo* quantization;  // NULL if the tensor is not quantized.
};

// One buffer of a pool: a tensor between two functions, or the scratch memory of one.
struct PoolBufferInfo {
  const char* name;
  int64_t offset_bytes;
  int64_t size_bytes;
  int32_t first_call;  // It is alive from this call on; call k is that of functions[k + 1].
  int32_t last_call;   // Inclusive.
};

// How a function wants to be started.
struct LaunchParameterInfo {
  const char* name;  // "parallel_iterations": of its outermost parallel loop.
  int64_t value;
};

// A region of memory that the plan placed buffers in.
struct PoolInfo {
  const char* name;
  int64_t size_bytes;
  int64_t alignment_bytes;  // A power of two.
  int32_t kind;             // KILN_POOL_WORKSPACE (scratch) or KILN_POOL_CONSTANT (read-only).
  int32_t num_buffers;
  int64_t lower_bound_bytes;             // Most bytes of its buffers that are alive at once.
  const struct PoolBufferInfo* buffers;  // `num_buffers`.
  int32_t external;     // 1: described by the application, which gives the memory or the section.
  int64_t limit_bytes;  // external: what there is; -1: no limit.
  double speed;         // Relative to the module's other pools.
};

// How much arithmetic and memory traffic a function asks for, whatever schedule computes it.
struct CostInfo {
  int64_t operations;  // Of floats and integers; a multiplication and its addition are 2. -1: not
                       // known.
  int64_t accessed_bytes;  // Least: inputs, outputs and constants once. -1: not known.
};

// One function of the module.
struct FunctionInfo {
  const char* function_name;           // The linker symbol; empty if there is none.
  const struct ParameterInfo* params;  // The inputs, then the outputs.
  int32_t num_params;                  // num_inputs + num_outputs.
  int32_t num_inputs;
  int32_t num_outputs;
  int64_t workspace_size_bytes;  // Scratch memory while it runs.
  int64_t io_size_bytes;         // Its inputs and outputs together.
  int64_t constant_size_bytes;   // Constants that it reads.
  DLDevice device;               // Where it runs.
  const char* op_names;          // "nn.conv2d nn.relu", for profiles; may be NULL.
  const char* source;            // The model's nodes that it computes; may be NULL.
  const char* schedule;          // How it computes them, in the compiler's words; may be NULL, and
                                 // is for the C runtime.
  const char* module_type;       // Type key of the module that holds it; "library": compiled code.
  const struct LaunchParameterInfo* launch_params;  // `num_launch_params`.
  int32_t num_launch_params;
};

// An input of the model's function that is state: a run passes it the output of the run before.
struct StateInfo {
  const char* input;     // relay_name_hint of the input.
  const char* output;    // And of the output.
  double initial_value;  // Of every element of the input, for the first run.
  int32_t is_in_place;   // 1: both may be one memory, which a run then changes.
};

// A text of the model's file about itself.
struct PropertyInfo {
  const char* key;
  const char* value;
};

// What the module was made of and by.
struct OriginInfo {
  const char* compiler;        // "kiln 0.1.0".
  const char* model_sha256;    // Of the model's file, 64 hexadecimal digits; "" if there is none.
  const char* options_sha256;  // Of all that was asked of the compiler.
  const struct PropertyInfo* properties;  // `num_properties`.
  int32_t num_properties;
};

// The module. functions[0] is the model as a whole: with the C interface its symbol is
// `tvmgen_<module>_run_model`, with the packed one `tvmgen_<module>___tvm_main__`, and the model of
// a graph executor has none. The others are its operator functions in the order of their first
// call, each once.
struct Metadata {
  int32_t version;                       // KILN_METADATA_VERSION of the compiler.
  const char* module_name;               // Without the prefix "tvmgen_".
  const char* executor;                  // "aot" or "graph".
  const char* runtime;                   // "cpp" or "crt".
  const char* interface_api;             // "packed" or "c".
  const char* calling_convention;        // "packed", "cpacked" or "unpacked".
  const char* target;                    // The target description that the user gave.
  const struct FunctionInfo* functions;  // `num_functions`, at least 1.
  int32_t num_functions;
  const struct PoolInfo* pools;  // `num_pools`.
  int32_t num_pools;
  const struct DeviceInfo* devices;  // `num_devices`.
  int32_t num_devices;
  const struct CostInfo* costs;  // `num_functions`, in the order of `functions`; of the first that
                                 // of all calls. NULL for the C runtime, to save its memory.
  // Targets that there is code for, lowest first; none: `target` alone. Which one runs is found at
  // run time.
  const char* const* cpu_variants;  // `num_cpu_variants`.
  int32_t num_cpu_variants;
  const struct StateInfo* states;  // `num_states`.
  int32_t num_states;
  // The CPU that the code is for, by LLVM's name, and the features that it needs beyond the baseline
  // of its architecture; with CPU variants, those of the lowest one. NULL for the C runtime, to save
  // its memory.
  const char* cpu;
  const char* const* cpu_features;  // `num_cpu_features`.
  int32_t num_cpu_features;
  const struct OriginInfo* origin;  // NULL for the C runtime, to save its memory.
};

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // KILN_METADATA_H_
