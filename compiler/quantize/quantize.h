// SPDX-License-Identifier: Apache-2.0
// Post-training quantization: converts a float32 ONNX model to int8, in the form that ONNX Runtime
// and the pass integer-products read (QuantizeLinear and DequantizeLinear around every layer).
//
//   KILN_ASSIGN_OR_RETURN(Quantizer quantizer, Quantizer::Read(bytes, "model.onnx", options));
//   … make samples of quantizer.inputs() …
//   KILN_ASSIGN_OR_RETURN(Quantized quantized, quantizer.Run(samples));
//   quantized.bytes    // the ONNX file
#ifndef KILN_COMPILER_QUANTIZE_QUANTIZE_H_
#define KILN_COMPILER_QUANTIZE_QUANTIZE_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/graph/graph.h"
#include "compiler/quantize/calibrator.h"
#include "compiler/quantize/network.h"
#include "compiler/quantize/scale.h"
#include "compiler/quantize/select.h"
#include "compiler/quantize/signal_error.h"

namespace kiln::quantize {

// Values of all inputs, keyed by name.
using Sample = std::map<std::string, Tensor>;
// Computes the outputs of a graph.
using Run = std::function<absl::StatusOr<std::vector<Tensor>>(const Sample&)>;
// Prepares a graph for running.
using Compiler = std::function<absl::StatusOr<Run>(const Graph&)>;

struct QuantizeOptions {
  CalibrationOptions calibration;
  bool per_channel = true;  // one scale of weights per output channel
  SelectOptions select;
  onnx_frontend::ImportOptions import;
  onnx_frontend::Evaluator evaluate;
  Compiler compile;
};

// A layer of the int8 model: an operator with the activation after it, or an input of the model.
struct LayerReport {
  std::string name, operators;  // "conv1", "Conv+Relu"
  std::string tensor;           // the result of the layer
  Range range;                  // range found by calibration
  std::optional<Scale> scale;   // absent: the result is float32
  SignalError alone;            // error with only this layer quantized
  SignalError model;            // error of the same tensor in the int8 model
};
struct FloatReport {
  std::string name, operation, reason;
};
struct OutputReport {
  std::string name;
  SignalError error;
};
struct Quantized {
  std::string bytes;
  std::vector<LayerReport> layers;  // in model order
  std::vector<FloatReport> floats;  // operators that stay float32
  std::vector<OutputReport> outputs;
  size_t samples = 0;
};

struct ModelInput {
  std::string name;
  TensorType type;
};

class Quantizer {
 public:
  // `bytes` are untrusted. InvalidArgument if the model is quantized already, or if no layer can be
  // quantized.
  static absl::StatusOr<Quantizer> Read(absl::string_view bytes, const std::string& path,
                                        QuantizeOptions options);

  const std::vector<ModelInput>& inputs() const { return inputs_; }

  // InvalidArgument if a tensor of the float model gets a value that is not finite.
  absl::StatusOr<Quantized> Run(const std::vector<Sample>& samples) const;

 private:
  Quantizer() = default;

  // Compiles a network with additional outputs.
  absl::StatusOr<quantize::Run> Compile(Network network,
                                        const std::vector<std::string>& outputs) const;
  absl::StatusOr<std::map<std::string, TensorType>> FindTypes() const;
  absl::StatusOr<std::map<std::string, Range>> Calibrate(const std::vector<Sample>& samples) const;
  std::vector<LayerReport> Layers() const;
  absl::Status Compare(const std::vector<Sample>& samples,
                       const std::map<std::string, Scale>& scales, Quantized& quantized) const;

  std::string path_;
  QuantizeOptions options_;
  std::vector<ModelInput> inputs_;
  Network network_;  // normalized
  Selection selection_;
};

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_QUANTIZE_H_
