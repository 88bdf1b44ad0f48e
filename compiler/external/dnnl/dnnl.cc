// SPDX-License-Identifier: Apache-2.0
// dnnl: an external code generator for oneDNN. A subgraph becomes a serialized program of layers.
#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/external/dnnl/patterns.h"
#include "compiler/external/external_codegen.h"
#include "runtime_cpp/dnnl/format/program.pb.h"

namespace kiln::dnnl {
namespace {

class ProgramWriter {
 public:
  explicit ProgramWriter(const ExternalSubgraph& subgraph)
      : body_(*subgraph.body), function_{.name = subgraph.symbol} {}

  absl::StatusOr<ExternalModule> Run() && {
    proto::Program program;
    program.set_version(proto::FORMAT_VERSION);
    proto::Function& function = *program.add_functions();
    function.set_name(function_.name);
    for (size_t i = 0; i < body_.inputs.size(); ++i) {
      values_[body_.inputs[i]].set_input(static_cast<int32_t>(i));
    }
    for (const Node& node : body_.nodes) {
      KILN_RETURN_IF_ERROR(AddLayer(node, *function.add_layers()));
      values_[node.outputs[0]].set_layer(function.layers_size() - 1);
    }
    for (ValueId output : body_.outputs) {
      const proto::Value& value = values_[output];
      if (value.origin_case() != proto::Value::kLayer) {
        return absl::UnimplementedError(
            absl::StrCat(function_.name, ": an output of the subgraph is not computed in it"));
      }
      function.add_outputs(value.layer());
    }
    return ExternalModule{.codegen = "dnnl",
                          .type_key = "dnnl",
                          .payload = WithLength(program.SerializeAsString()),
                          .functions = {std::move(function_)}};
  }

 private:
  static std::string WithLength(const std::string& bytes) {
    std::string result;
    for (int shift = 0; shift < 64; shift += 8) {
      result.push_back(static_cast<char>(uint64_t{bytes.size()} >> shift & 0xff));
    }
    return result + bytes;
  }

  // Adds the match of a pattern: a group whose operators are one layer.
  absl::Status AddLayer(const Node& match, proto::Layer& layer) {
    const Graph& graph = *match.body;
    std::vector<const Node*> nodes;
    for (const Node& node : graph.nodes) nodes.push_back(&node);
    KILN_ASSIGN_OR_RETURN(const Layer read, ReadLayer(graph, nodes));
    std::map<ValueId, proto::Value> inside;
    for (size_t i = 0; i < match.inputs.size(); ++i) {
      inside[graph.inputs[i]] = values_.at(match.inputs[i]);
    }
    *layer.mutable_data() = inside.at(read.product->inputs[0]);
    layer.mutable_weight()->set_constant(AddConstant(graph.value(read.product->inputs[1])));
    if (read.bias != kNoId) {
      layer.mutable_bias()->set_constant(AddConstant(graph.value(read.bias)));
    }
    if (read.residual != kNoId) *layer.mutable_residual() = inside.at(read.residual);
    layer.set_relu(read.relu);
    if (read.product->op_name() == "nn.dense") {
      layer.mutable_dense();
    } else {
      SetConvolution(*read.product, *layer.mutable_convolution());
    }
    return absl::OkStatus();
  }

  static void SetConvolution(const Node& node, proto::Convolution& convolution) {
    const auto twice = [&](const char* name) {
      std::vector<int64_t> values = node.attrs.Ints(name);
      if (values.size() == 1) values.push_back(values[0]);
      return values;
    };
    for (int64_t stride : twice("strides")) convolution.add_strides(stride);
    for (int64_t dilation : twice("dilation")) convolution.add_dilation(dilation);
    for (int64_t padding : Padding(node)) convolution.add_padding(padding);
    convolution.set_groups(node.attrs.Int("groups"));
    convolution.set_data_layout(node.attrs.String("data_layout"));
    convolution.set_kernel_layout(node.attrs.String("kernel_layout"));
  }

  int32_t AddConstant(const Value& value) {
    const size_t index = function_.constants.size();
    function_.constants.push_back(
        {.name = absl::StrCat(function_.name, "_const_", index), .tensor = value.constant});
    return static_cast<int32_t>(index);
  }

  const Graph& body_;
  ExternalFunction function_;
  std::map<ValueId, proto::Value> values_;
};

absl::StatusOr<std::vector<ExternalModule>> Generate(const ExternalRequest& request) {
  std::vector<ExternalModule> modules;
  for (const ExternalSubgraph& subgraph : request.subgraphs) {
    KILN_ASSIGN_OR_RETURN(ExternalModule module, ProgramWriter(subgraph).Run());
    modules.push_back(std::move(module));
  }
  return modules;
}

const ExternalCodegen kDnnl = {
    .name = "dnnl",
    .doc = "oneDNN: convolutions and dense layers of float32 with bias, residual add and relu",
    .linkable = false,
    .patterns = Patterns(),
    .generate = Generate,
};
KILN_REGISTER_EXTERNAL_CODEGEN(kDnnl);

}  // namespace
}  // namespace kiln::dnnl
