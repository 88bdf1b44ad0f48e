// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_METADATA_MODEL_SOURCE_H_
#define KILN_METADATA_MODEL_SOURCE_H_

#include <string>

#include "metadata/metadata.pb.h"

namespace kiln {

// C source of the constant `TVMModel <module>` of kiln/model.h, for programs that call a model with
// the C interface by TVMExecute. It includes the model's header and needs the C runtime's include
// directory. Tensors that lie in the workspace are copied there and from there, unless the program
// gives their very places.
std::string ModelSource(const proto::Metadata& metadata);

}  // namespace kiln

#endif  // KILN_METADATA_MODEL_SOURCE_H_
