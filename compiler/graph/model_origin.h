// SPDX-License-Identifier: Apache-2.0
// ModelOrigin: which file a graph was read from, for the metadata of its library.
#ifndef KILN_COMPILER_GRAPH_MODEL_ORIGIN_H_
#define KILN_COMPILER_GRAPH_MODEL_ORIGIN_H_

#include <string>
#include <utility>
#include <vector>

namespace kiln {

struct ModelOrigin {
  // SHA-256 of the file's bytes, 64 hexadecimal digits. If the model has weights in other files, that of
  // lines as `sha256sum` prints them: of the model with the name "-", then of each of these files with
  // its name in the model, in the order of names. Empty for a graph of no file.
  std::string sha256;
  std::string import_options;  // what the user said of inputs and outputs, as text
  // Texts of the file about itself: ONNX's metadata_props, TFLite's description and metadata.
  std::vector<std::pair<std::string, std::string>> properties;
};

}  // namespace kiln

#endif  // KILN_COMPILER_GRAPH_MODEL_ORIGIN_H_
