// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_METADATA_HEADER_H_
#define KILN_METADATA_HEADER_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "metadata/metadata.pb.h"

namespace kiln {

// Returns the generated C header of a model. For every input and output it defines index, size,
// shape, dtype and quantization as macros, and it defines the model's sizes. For the C interface it
// also declares the structs of tensors and the function to call. docs/metadata.md has the rule for
// names. InvalidArgument if two tensors get the same name.
absl::StatusOr<std::string> ModelHeader(const proto::Metadata& metadata);

// Returns the version of the header's interface: a hash of eight hexadecimal digits. With the C
// interface, programs call functions whose names end with the version. An object of another version
// does not define these names.
absl::StatusOr<std::string> InterfaceVersion(const proto::Metadata& metadata);
// Returns the plain names of these functions: those of the model and, if the model has state, of
// its state.
std::vector<std::string> InterfaceFunctions(const proto::Metadata& metadata);
// Returns the name that objects define, such as "tvmgen_my_mod_run_model_0123abcd".
std::string VersionedName(absl::string_view name, absl::string_view version);

}  // namespace kiln

#endif  // KILN_METADATA_HEADER_H_
