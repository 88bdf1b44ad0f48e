// SPDX-License-Identifier: Apache-2.0
#include "compiler/quantize/quantize.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/quantize/normalize.h"
#include "compiler/quantize/write.h"

namespace kiln::quantize {
namespace {

// The first opset that has QuantizeLinear, and the first one with scales per channel.
constexpr int kOpset = 10, kOpsetPerChannel = 13;

absl::Status CheckIsFloat(const Network& network) {
  for (const onnx::NodeProto& node : network.graph().node()) {
    if (!IsQuantized(node)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the model is quantized already: found node '",
                     node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name(),
                     "' (", node.op_type(), "), wanted a float32 model"));
  }
  return absl::OkStatus();
}

// True if the results of a node may be something other than tensors.
bool MayComputeNoTensors(const onnx::NodeProto& node) {
  const std::string& op = node.op_type();
  return absl::StrContains(op, "Sequence") || absl::StrContains(op, "Optional") || op == "If" ||
         op == "Loop" || op == "Scan";
}

// Returns the values of tensor i of a run.
absl::Span<const float> Floats(const std::vector<Tensor>& tensors, size_t i) {
  return tensors[i].values<float>();
}

}  // namespace

absl::StatusOr<Quantizer> Quantizer::Read(absl::string_view bytes, const std::string& path,
                                          QuantizeOptions options) {
  // Importing the model reports all its problems before other code reads it.
  KILN_ASSIGN_OR_RETURN(const Graph graph,
                        onnx_frontend::ImportOnnx(bytes, path, options.import, options.evaluate));
  Quantizer quantizer;
  quantizer.path_ = path;
  for (const ValueId id : graph.inputs) {
    quantizer.inputs_.push_back({graph.value(id).name, graph.type(id)});
  }
  const std::string where = path + ": ";
  KILN_ASSIGN_OR_RETURN(quantizer.network_, Network::Read(bytes, path));
  KILN_RETURN_IF_ERROR(Annotate(CheckIsFloat(quantizer.network_), where));
  quantizer.options_ = std::move(options);
  const int opset = quantizer.options_.per_channel ? kOpsetPerChannel : kOpset;
  KILN_ASSIGN_OR_RETURN(auto types, quantizer.FindTypes());
  KILN_RETURN_IF_ERROR(
      Annotate(Normalize(quantizer.network_, opset, types, quantizer.options_.evaluate), where));
  KILN_ASSIGN_OR_RETURN(types, quantizer.FindTypes());
  absl::StatusOr<Selection> selection =
      Select(quantizer.network_, types, quantizer.options_.select);
  if (!selection.ok()) return Annotate(selection.status(), where);
  quantizer.selection_ = *std::move(selection);
  if (!quantizer.selection_.tensors.empty()) return quantizer;
  std::string reasons;
  for (const auto& [i, reason] : quantizer.selection_.reasons) {
    absl::StrAppend(&reasons, "\n  ", quantizer.network_.graph().node(i).name(), ": ", reason);
  }
  return absl::InvalidArgumentError(
      absl::StrCat(where, "no layer can be quantized, wanted one at least", reasons));
}

absl::StatusOr<quantize::Run> Quantizer::Compile(Network network,
                                                 const std::vector<std::string>& outputs) const {
  AddOutputs(network, outputs);
  KILN_ASSIGN_OR_RETURN(const std::string bytes, network.Bytes());
  KILN_ASSIGN_OR_RETURN(const Graph graph, onnx_frontend::ImportOnnx(bytes, path_, options_.import,
                                                                     options_.evaluate));
  return options_.compile(graph);
}

absl::StatusOr<std::map<std::string, TensorType>> Quantizer::FindTypes() const {
  Network network = network_;
  const std::map<std::string, Uses> uses = network.FindUses();
  std::vector<std::string> names;
  for (const onnx::ValueInfoProto& input : network.graph().input()) names.push_back(input.name());
  for (const onnx::NodeProto& node : network.graph().node()) {
    if (MayComputeNoTensors(node)) continue;
    for (const std::string& output : node.output()) {
      if (uses.contains(output)) names.push_back(output);
    }
  }
  AddOutputs(network, names);
  KILN_ASSIGN_OR_RETURN(const std::string bytes, network.Bytes());
  KILN_ASSIGN_OR_RETURN(const Graph graph, onnx_frontend::ImportOnnx(bytes, path_, options_.import,
                                                                     options_.evaluate));
  std::map<std::string, TensorType> types;
  const size_t first = graph.outputs.size() - names.size();
  for (size_t i = 0; i < names.size(); ++i) {
    const ValueId value = graph.outputs[first + i];
    if (!graph.is_constant(value)) types[names[i]] = graph.type(value);
  }
  return types;
}

absl::StatusOr<std::map<std::string, Range>> Quantizer::Calibrate(
    const std::vector<Sample>& samples) const {
  const std::vector<std::string> names(selection_.tensors.begin(), selection_.tensors.end());
  KILN_ASSIGN_OR_RETURN(const quantize::Run run, Compile(network_, names));
  std::vector<Calibrator> calibrators(names.size(), Calibrator(options_.calibration));
  for (const bool counts : {false, true}) {
    if (counts && (calibrators.empty() || !calibrators[0].needs_counts())) break;
    for (size_t s = 0; s < samples.size(); ++s) {
      KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> tensors, run(samples[s]));
      const size_t first = tensors.size() - names.size();
      for (size_t i = 0; i < names.size(); ++i) {
        const absl::Span<const float> values = Floats(tensors, first + i);
        if (counts) {
          calibrators[i].AddToCounts(values);
        } else {
          KILN_RETURN_IF_ERROR(
              Annotate(calibrators[i].AddToRange(values),
                       absl::StrCat(path_, ": sample ", s, ": tensor '", names[i], "': ")));
        }
      }
    }
  }
  std::map<std::string, Range> ranges;
  for (size_t i = 0; i < names.size(); ++i) ranges[names[i]] = calibrators[i].Choose();
  return ranges;
}

std::vector<LayerReport> Quantizer::Layers() const {
  std::vector<LayerReport> layers;
  for (const ModelInput& input : inputs_) {
    if (selection_.tensors.contains(input.name)) {
      layers.push_back({.name = input.name, .operators = "input", .tensor = input.name});
    }
  }
  std::map<std::string, LayerReport> open;  // keyed by the tensor that the rest of the layer reads
  for (int i = 0; i < network_.graph().node_size(); ++i) {
    const onnx::NodeProto& node = network_.graph().node(i);
    const Role role = selection_.roles[static_cast<size_t>(i)];
    if (role == Role::kFloat || role == Role::kMoving) continue;
    LayerReport layer = {.name = node.name(), .operators = node.op_type()};
    for (const std::string& input : node.input()) {
      const auto before = open.find(input);
      if (before == open.end()) continue;
      layer = std::move(before->second);
      absl::StrAppend(&layer.operators, "+", node.op_type());
    }
    layer.tensor = node.output(0);
    if (selection_.inside.contains(layer.tensor)) {
      open[layer.tensor] = std::move(layer);
    } else {
      layers.push_back(std::move(layer));
    }
  }
  return layers;
}

absl::Status Quantizer::Compare(const std::vector<Sample>& samples,
                                const std::map<std::string, Scale>& scales,
                                Quantized& quantized) const {
  const Plan plan = {network_, selection_, scales, options_.per_channel};
  Written model = WriteQuantized(plan), alone = WriteLayersAlone(plan);
  KILN_ASSIGN_OR_RETURN(quantized.bytes, model.network.Bytes());
  std::vector<LayerReport>& layers = quantized.layers;
  std::vector<std::string> floats, alones, models;
  const auto value_of = [](const Written& written, const std::string& tensor) {
    const auto it = written.values.find(tensor);
    return it == written.values.end() ? tensor : it->second;
  };
  for (const LayerReport& layer : layers) {
    floats.push_back(layer.tensor);
    alones.push_back(value_of(alone, layer.tensor));
    models.push_back(value_of(model, layer.tensor));
  }
  std::vector<std::string> both = floats;
  both.insert(both.end(), alones.begin(), alones.end());
  KILN_ASSIGN_OR_RETURN(const quantize::Run run_float, Compile(std::move(alone.network), both));
  KILN_ASSIGN_OR_RETURN(const quantize::Run run_int8, Compile(std::move(model.network), models));
  const size_t outputs = static_cast<size_t>(network_.graph().output_size());
  quantized.outputs.resize(outputs);
  for (size_t i = 0; i < outputs; ++i) {
    quantized.outputs[i].name = network_.graph().output(static_cast<int>(i)).name();
  }
  for (const Sample& sample : samples) {
    KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> wanted, run_float(sample));
    KILN_ASSIGN_OR_RETURN(const std::vector<Tensor> found, run_int8(sample));
    for (size_t i = 0; i < outputs; ++i) {
      if (wanted[i].type().dtype != DType::Float(32)) continue;
      quantized.outputs[i].error.Add(Floats(wanted, i), Floats(found, i));
    }
    for (size_t i = 0; i < layers.size(); ++i) {
      const absl::Span<const float> values = Floats(wanted, outputs + i);
      layers[i].alone.Add(values, Floats(wanted, outputs + layers.size() + i));
      layers[i].model.Add(values, Floats(found, outputs + i));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Quantized> Quantizer::Run(const std::vector<Sample>& samples) const {
  Quantized quantized;
  quantized.samples = samples.size();
  KILN_ASSIGN_OR_RETURN(const auto ranges, Calibrate(samples));
  const auto scales = ShareScales(network_, selection_, ranges, options_.calibration.symmetric);
  quantized.layers = Layers();
  for (LayerReport& layer : quantized.layers) {
    const auto scale = scales.find(layer.tensor);
    if (scale == scales.end()) continue;
    layer.scale = scale->second;
    layer.range = ranges.at(layer.tensor);
  }
  KILN_RETURN_IF_ERROR(Compare(samples, scales, quantized));
  for (const auto& [i, reason] : selection_.reasons) {
    const onnx::NodeProto& node = network_.graph().node(i);
    quantized.floats.push_back({node.name(), node.op_type(), reason});
  }
  return quantized;
}

}  // namespace kiln::quantize
