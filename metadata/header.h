// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_METADATA_HEADER_H_
#define KILN_METADATA_HEADER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "metadata/metadata.pb.h"

namespace kiln {

// The generated C header of a model: for every input and output its index, size, shape, dtype and
// quantization as #defines, the model's sizes, and for the C interface the structs of tensors and
// the function to call. How names are made: metadata/README.md. InvalidArgument if two tensors get
// the same name.
absl::StatusOr<std::string> ModelHeader(const proto::Metadata& metadata);

// The version of what the header says: eight hexadecimal digits, a hash of it. Programs of the C interface
// call functions by names that end with it, which the object of another version does not have.
absl::StatusOr<std::string> InterfaceVersion(const proto::Metadata& metadata);
// These functions, by their plain names: of the model, and of its state if it has one.
std::vector<std::string> InterfaceFunctions(const proto::Metadata& metadata);
// "tvmgen_my_mod_run_model_0123abcd".
std::string VersionedName(absl::string_view name, absl::string_view version);

}  // namespace kiln

#endif  // KILN_METADATA_HEADER_H_
