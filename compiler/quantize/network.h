// SPDX-License-Identifier: Apache-2.0
// Network: an ONNX model for rewriting, with its constants in a map next to the nodes.
//
//   KILN_ASSIGN_OR_RETURN(Network network, Network::Read(bytes, "model.onnx"));
//   network.constants["w"] = …;
//   KILN_ASSIGN_OR_RETURN(std::string bytes, network.Bytes());
#ifndef KILN_COMPILER_QUANTIZE_NETWORK_H_
#define KILN_COMPILER_QUANTIZE_NETWORK_H_

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/tensor.h"
#include "onnx/onnx_pb.h"

namespace kiln::quantize {

// The readers of a value.
struct Uses {
  std::vector<int> nodes;  // in order; a node that reads the value twice is listed twice
  bool outside = false;    // true for an output of the model or if a body of a node reads it
};

struct Network {
  onnx::ModelProto model;                   // without initializers and value_info
  std::map<std::string, Tensor> constants;  // the initializers

  // `bytes` must be a model that ImportOnnx accepts. External data is read from the folder of
  // `path`.
  static absl::StatusOr<Network> Read(absl::string_view bytes, const std::string& path);

  // Returns the model with the constants that are read. InvalidArgument if it is larger than a file
  // can be.
  absl::StatusOr<std::string> Bytes() const;

  onnx::GraphProto& graph() { return *model.mutable_graph(); }
  const onnx::GraphProto& graph() const { return model.graph(); }
  int opset() const;  // opset of ONNX's own operators

  bool is_constant(const std::string& name) const { return constants.contains(name); }
  // Returns a constant of type float32, or null.
  const Tensor* Floats(const std::string& name) const;

  std::map<std::string, Uses> FindUses() const;
  // Returns the names of all values, including those in bodies of nodes.
  std::set<std::string> Names() const;
};

// True for operators of ONNX itself, in the default domain.
bool IsOnnx(const onnx::NodeProto& node);
bool Is(const onnx::NodeProto& node, absl::string_view op);

const onnx::AttributeProto* FindAttr(const onnx::NodeProto& node, absl::string_view name);
int64_t IntAttr(const onnx::NodeProto& node, absl::string_view name, int64_t fallback);
float FloatAttr(const onnx::NodeProto& node, absl::string_view name, float fallback);

// Returns input i, or "" if it is absent.
const std::string& Input(const onnx::NodeProto& node, int i);

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_NETWORK_H_
