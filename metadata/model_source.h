// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_METADATA_MODEL_SOURCE_H_
#define KILN_METADATA_MODEL_SOURCE_H_

#include <string>

#include "metadata/metadata.pb.h"

namespace kiln {

// Returns C source of the constant `TVMModel <module>` (kiln/model.h), for programs that call a
// model with the C interface through TVMExecute. The source includes the model's header and needs
// the C runtime's include directory. Tensors in the workspace are copied to and from their places,
// unless the program passes pointers to these places.
std::string ModelSource(const proto::Metadata& metadata);

}  // namespace kiln

#endif  // KILN_METADATA_MODEL_SOURCE_H_
