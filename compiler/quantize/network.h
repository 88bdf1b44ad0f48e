// SPDX-License-Identifier: Apache-2.0
// Network: an ONNX model whose constants stand beside its nodes, to be rewritten.
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

// Who reads a value.
struct Uses {
  std::vector<int> nodes;  // in order; a node that reads it twice stands there twice
  bool outside = false;    // it is an output of the model, or a body of a node reads it
};

struct Network {
  onnx::ModelProto model;                   // without initializers and value_info
  std::map<std::string, Tensor> constants;  // the initializers

  // `bytes` are a model that ImportOnnx has taken. External data is read from the folder of `path`.
  static absl::StatusOr<Network> Read(absl::string_view bytes, const std::string& path);

  // The model with those constants that something reads. InvalidArgument beyond the size that a
  // file can have.
  absl::StatusOr<std::string> Bytes() const;

  onnx::GraphProto& graph() { return *model.mutable_graph(); }
  const onnx::GraphProto& graph() const { return model.graph(); }
  int opset() const;  // of ONNX's own operators

  bool is_constant(const std::string& name) const { return constants.contains(name); }
  // A constant of float32, or null.
  const Tensor* Floats(const std::string& name) const;

  std::map<std::string, Uses> FindUses() const;
  // Of all values, those within the bodies of nodes among them.
  std::set<std::string> Names() const;
};

// ONNX's own operators, in the default domain.
bool IsOnnx(const onnx::NodeProto& node);
bool Is(const onnx::NodeProto& node, absl::string_view op);

const onnx::AttributeProto* FindAttr(const onnx::NodeProto& node, absl::string_view name);
int64_t IntAttr(const onnx::NodeProto& node, absl::string_view name, int64_t fallback);
float FloatAttr(const onnx::NodeProto& node, absl::string_view name, float fallback);

// Input i, "" if it is absent.
const std::string& Input(const onnx::NodeProto& node, int i);

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_NETWORK_H_
