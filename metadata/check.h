// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_METADATA_CHECK_H_
#define KILN_METADATA_CHECK_H_

#include "absl/status/status.h"
#include "metadata/metadata.pb.h"

namespace kiln {

// Checks conditions that hold for the metadata of every module, no matter which program wrote it.
// Examples: the module name is an identifier, there is a function of the model, the number of
// parameters matches inputs and outputs, no size is negative, buffers lie within their pools.
// InvalidArgument names the first condition that fails.
absl::Status CheckMetadata(const proto::Metadata& metadata);

}  // namespace kiln

#endif  // KILN_METADATA_CHECK_H_
