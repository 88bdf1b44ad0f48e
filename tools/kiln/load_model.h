// SPDX-License-Identifier: Apache-2.0
// Reading a model file of any format that Kiln knows.
#ifndef KILN_TOOLS_KILN_LOAD_MODEL_H_
#define KILN_TOOLS_KILN_LOAD_MODEL_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/graph/graph.h"

namespace kiln::tools {

// The format is told by the contents: Relay text begins with `#[version`, ONNX is a protobuf.
// `pins` are the values of --input: "name:1x3x224x224" or "name:1x3x224x224:float32". Errors name
// the file.
absl::StatusOr<Graph> LoadModel(const std::string& path, const std::vector<std::string>& pins);

// The bytes of a regular file; clear errors for a folder, a file that is empty, too large or not
// there.
absl::StatusOr<std::string> ReadFile(const std::string& path, int64_t max_bytes);

// Writes all files into `folder`, which is made if it is missing: either all of them are there in
// the end, or none has changed.
absl::Status WriteFiles(const std::string& folder, const std::map<std::string, std::string>& files);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_LOAD_MODEL_H_
