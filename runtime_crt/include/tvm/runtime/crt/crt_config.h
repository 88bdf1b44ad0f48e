// SPDX-License-Identifier: Apache-2.0
//
// Sizes of the static data of the C runtime. Each can be set on the command line of the C compiler.
#ifndef TVM_RUNTIME_CRT_CRT_CONFIG_H_
#define TVM_RUNTIME_CRT_CRT_CONFIG_H_

// Maximum number of modules that are registered at the same time.
#ifndef TVM_CRT_MAX_REGISTERED_MODULES
#define TVM_CRT_MAX_REGISTERED_MODULES 2
#endif

// Size of the table of global functions: their names and addresses.
#ifndef TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES
#define TVM_CRT_GLOBAL_FUNC_REGISTRY_SIZE_BYTES 512
#endif

// Size of the text of the last error. With 0, the program contains no texts of the runtime, and
// TVMGetLastError returns "".
#ifndef TVM_CRT_ERROR_TEXT_BYTES
#define TVM_CRT_ERROR_TEXT_BYTES 256
#endif

// Alignment of the executors' inputs, outputs and workspaces, which compiled models rely on. Kiln
// aligns buffers to 64 bytes for targets with an operating system, and to 16 bytes for others.
#ifndef TVM_CRT_TENSOR_ALIGNMENT_BYTES
#if defined(__unix__) || defined(__APPLE__) || defined(_WIN32)
#define TVM_CRT_TENSOR_ALIGNMENT_BYTES 64
#else
#define TVM_CRT_TENSOR_ALIGNMENT_BYTES 16
#endif
#endif

// Alignment of the blocks of the stack allocator.
#ifndef TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES
#define TVM_RUNTIME_ALLOC_ALIGNMENT_BYTES 16
#endif

#endif  // TVM_RUNTIME_CRT_CRT_CONFIG_H_
