// SPDX-License-Identifier: Apache-2.0
//
// Sizes of what the C runtime holds statically. Each can be set on the command line of the C
// compiler.
#ifndef TVM_RUNTIME_CRT_CRT_CONFIG_H_
#define TVM_RUNTIME_CRT_CRT_CONFIG_H_

// Models that can be registered at once.
#ifndef TVM_CRT_MAX_REGISTERED_MODULES
#define TVM_CRT_MAX_REGISTERED_MODULES 2
#endif

// Names and addresses of global functions.
#ifndef TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES
#define TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES 512
#endif

// Text of the last error. 0 leaves all texts of the runtime out of the program; TVMGetLastError is
// "" then.
#ifndef TVM_CRT_ERROR_TEXT_BYTES
#define TVM_CRT_ERROR_TEXT_BYTES 256
#endif

// Inputs, outputs and workspaces of the executors start at multiples of this: what compiled models
// count on. Kiln aligns buffers to 64 bytes for targets with an operating system, to 16 for others.
#ifndef TVM_CRT_TENSOR_ALIGNMENT_BYTES
#if defined(__unix__) || defined(__APPLE__) || defined(_WIN32)
#define TVM_CRT_TENSOR_ALIGNMENT_BYTES 64
#else
#define TVM_CRT_TENSOR_ALIGNMENT_BYTES 16
#endif
#endif

// Blocks of the stack allocator start at multiples of this.
#ifndef TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES
#define TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES 16
#endif

#endif  // TVM_RUNTIME_CRT_CRT_CONFIG_H_
