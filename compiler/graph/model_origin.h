// SPDX-License-Identifier: Apache-2.0
// ModelOrigin: the file that a graph was read from, for the metadata of its library.
#ifndef KILN_COMPILER_GRAPH_MODEL_ORIGIN_H_
#define KILN_COMPILER_GRAPH_MODEL_ORIGIN_H_

#include <string>
#include <utility>
#include <vector>

namespace kiln {

struct ModelOrigin {
  // SHA-256 of the file's bytes as 64 hexadecimal digits. If the model has weights in other files,
  // it is the SHA-256 of lines as `sha256sum` prints them: one for the model with the name "-",
  // then one per weight file with its name in the model, ordered by name. Empty for a graph without
  // a file.
  std::string sha256;
  std::string import_options;  // the user's options for inputs and outputs, as text
  // Descriptive texts in the file: ONNX's metadata_props, TFLite's description and metadata.
  std::vector<std::pair<std::string, std::string>> properties;
};

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_MODEL_ORIGIN_H_
