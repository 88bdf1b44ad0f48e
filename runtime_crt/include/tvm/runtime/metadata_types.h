// SPDX-License-Identifier: Apache-2.0
//
// Description of a module's entry function, in the layout of version 1 of this ABI.
//
// The packed function `get_c_metadata` of a library returns the address of a TVMMetadata as an
// opaque handle. If several models share a program, it is called `tvmgen_<module>_get_c_metadata`.
// All of the data are constants of the library. This description exists for programs that know only
// the older layout. Kiln's own description, `struct Metadata` of kiln/metadata.h, has more facts.
#ifndef TVM_RUNTIME_METADATA_TYPES_H_
#define TVM_RUNTIME_METADATA_TYPES_H_

#include <stdint.h>

#include "dlpack/dlpack.h"

#ifdef __cplusplus
extern "C" {
#endif

// Value of TVMMetadata.version.
#define TVM_METADATA_VERSION 1

// One tensor or workspace pool. A pool has one dimension, its size in bytes, and data type uint8.
struct TVMTensorInfo {
  const char* name;      // NUL-terminated.
  const int64_t* shape;  // `num_shape` extents, in elements.
  int64_t num_shape;
  DLDataType dtype;
};

// One constant inside the merged constant pool.
struct TVMConstantInfo {
  const char* name_hint;   // NUL-terminated.
  int64_t byte_offset;     // Offset in the merged pool, in bytes.
  int64_t data_len;        // Length of `data_bytes`, in bytes.
  const void* data_bytes;  // A serialized array with its header, not only its elements.
};

// The entry function `<mod_name>___tvm_main__`. Its arguments are the inputs, then the outputs. If
// there is a workspace pool, one tensor with all constant pools and one tensor per workspace pool
// follow. Readers must use the counts, because the pointer of an empty array may have any value.
struct TVMMetadata {
  int64_t version;  // TVM_METADATA_VERSION.
  const struct TVMTensorInfo* inputs;
  int64_t num_inputs;
  const struct TVMTensorInfo* outputs;
  int64_t num_outputs;
  const struct TVMTensorInfo* workspace_pools;
  int64_t num_workspace_pools;
  const struct TVMConstantInfo* constant_pools;
  int64_t num_constant_pools;
  const char* mod_name;  // "tvmgen_<module>", NUL-terminated.
};

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // TVM_RUNTIME_METADATA_TYPES_H_
