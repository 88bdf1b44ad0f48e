// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_METADATA_CHECK_H_
#define KILN_METADATA_CHECK_H_

#include "absl/status/status.h"
#include "metadata/metadata.pb.h"

namespace kiln {

// What holds of the metadata of every module, whoever has written it: a name that is an identifier,
// a function of the model, as many parameters as inputs and outputs, sizes that are not negative,
// buffers inside of their pools. InvalidArgument says what does not.
absl::Status CheckMetadata(const proto::Metadata& metadata);

}  // namespace kiln

#endif  // KILN_METADATA_CHECK_H_
