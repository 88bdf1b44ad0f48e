// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_METADATA_HEADER_H_
#define KILN_METADATA_HEADER_H_

#include <string>

#include "absl/status/statusor.h"
#include "metadata/metadata.pb.h"

namespace kiln {

// The generated C header of a model: for every input and output its index, size, shape, dtype and
// quantization as #defines, the model's sizes, and for the C interface the structs of tensors and
// the function to call. How names are made: metadata/README.md. InvalidArgument if two tensors get
// the same name.
absl::StatusOr<std::string> ModelHeader(const proto::Metadata& metadata);

}  // namespace kiln

#endif  // KILN_METADATA_HEADER_H_
