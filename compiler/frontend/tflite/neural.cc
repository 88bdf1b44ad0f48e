// SPDX-License-Identifier: Apache-2.0
// Matrix products, softmax and normalization.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/converter.h"
#include "compiler/frontend/tflite/quantized.h"
#include "compiler/frontend/tflite/wide_sums.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using tflite_schema::BuiltinOperator;

// Multiplies the rows of the data, whatever its rank, by the rows of the weight.
absl::Status FullyConnected(Converter& c) {
  const auto& options = c.Options<schema::FullyConnectedOptions>();
  KILN_ASSIGN_OR_RETURN(ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId w, c.Input(1));
  if (options.weights_format() != schema::WeightsFormat::DEFAULT) {
    return absl::UnimplementedError("shuffled weights");
  }
  const Shape weight = c.type(w).shape;
  if (weight.size() != 2 || weight[1] == 0) {
    return Wrong("weight", c.type(w).ToString(), "(units, inputs)");
  }
  Shape out = c.type(x).shape;
  const int64_t elements = NumElements(out);
  if (elements % weight[1] != 0) {
    return Wrong("data", c.type(x).ToString(), absl::StrCat("rows of ", weight[1], " numbers"));
  }
  if (!options.keep_num_dims()) {
    out = {elements / weight[1], weight[1]};
    KILN_ASSIGN_OR_RETURN(x, c.Reshape(x, out));
  }
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, InputQuantization(c, 1));
  const ProductOperands operands = {
      .x = x,
      .weight = w,
      .x_input = 0,
      .weight_input = 1,
      .bias_input = 2,
      .single_scale = q.has_value() && !q->per_channel(),
      .wide_sums = options.quantized_bias_type() != schema::TensorType::INT32};
  return c.Output(0, Product(c, "dense", operands, {{"units", weight[0]}},
                             options.fused_activation_function()));
}

// Returns the products of two batches, inputs 0 and 1.
absl::StatusOr<ValueId> Multiplied(Converter& c, ValueId a, ValueId b, Attrs attrs) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> a_q, InputQuantization(c, 0));
  if (!a_q.has_value()) return c.Op("nn.batch_matmul", {a, b}, std::move(attrs));
  KILN_ASSIGN_OR_RETURN(const Quantization b_q, QuantizationOfInput(c, 1));
  KILN_ASSIGN_OR_RETURN(const Quantization out, QuantizationOfOutput(c, 0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  if (a_q->per_channel() || b_q.per_channel() || dtype.bits > 16) {
    return absl::UnimplementedError("operands with several scales, or of more than 16 bits");
  }
  // The differences of 8-bit numbers to their zero points fit 16 bits.
  if (dtype.bits == 16 && (a_q->zero_points[0] != 0 || b_q.zero_points[0] != 0)) {
    return absl::UnimplementedError("operands of 16 bits with zero points");
  }
  const DType i16 = DType::Int(16);
  KILN_ASSIGN_OR_RETURN(a, CentredAs(c, {a, *a_q}, i16));
  KILN_ASSIGN_OR_RETURN(b, CentredAs(c, {b, b_q}, i16));
  const Shape& rows = c.type(a).shape;
  const auto terms = static_cast<double>(rows[rows.size() - (attrs.Bool("transpose_a") ? 2 : 1)]);
  const bool beyond_int32 =
      dtype.bits == 8 && BeyondInt32(terms * LargestDifference(dtype, a_q->zero_points[0]) *
                                     LargestDifference(dtype, b_q.zero_points[0]));
  attrs.Set("out_dtype", dtype.bits == 16 || beyond_int32 ? "int64" : "int32");
  KILN_ASSIGN_OR_RETURN(const ValueId sums, c.Op("nn.batch_matmul", {a, b}, std::move(attrs)));
  const float product = a_q->scales[0] * b_q.scales[0];
  const double factor = static_cast<double>(product) / static_cast<double>(out.scales[0]);
  return RescaledSums(c, sums, beyond_int32, {factor}, out.zero_points[0], dtype);
}

absl::Status BatchMatMul(Converter& c) {
  const auto& options = c.Options<schema::BatchMatMulOptions>();
  KILN_ASSIGN_OR_RETURN(ValueId a, c.Input(0));
  KILN_ASSIGN_OR_RETURN(ValueId b, c.Input(1));
  const Shape sa = c.type(a).shape, sb = c.type(b).shape;
  if (sa.size() < 2 || sb.size() < 2) {
    return Wrong("operands", c.type(a).ToString() + " and " + c.type(b).ToString(), "matrices");
  }
  // Matrices without a batch get a batch of one.
  const size_t rank = std::max({sa.size(), sb.size(), size_t{3}});
  const auto of_rank = [&](Shape shape) {
    shape.insert(shape.begin(), rank - shape.size(), 1);
    return shape;
  };
  KILN_ASSIGN_OR_RETURN(a, c.Reshape(a, of_rank(sa)));
  KILN_ASSIGN_OR_RETURN(b, c.Reshape(b, of_rank(sb)));
  KILN_ASSIGN_OR_RETURN(
      ValueId y,
      Multiplied(c, a, b, {{"transpose_a", options.adj_x()}, {"transpose_b", options.adj_y()}}));
  Shape product = c.type(y).shape;
  if (std::max(sa.size(), sb.size()) < rank) product.erase(product.begin());
  return c.Output(0, c.Reshape(y, product));
}

absl::Status QuantizedSoftmax(Converter& c, ValueId x, const Quantization& in, double beta) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> out, OutputQuantization(c, 0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  if (!out.has_value()) return Wrong("output", "no scale", "a quantized tensor, as data is");
  const ValueId scale = c.Constant(Tensor::Scalar(DType::Float(64), in.scales[0] * beta));
  return c.Output(
      0, c.Op("qnn.softmax", {x, scale, ZeroPointOf(c, in), ScaleOf(c, *out), ZeroPointOf(c, *out)},
              {{"axis", -1}, {"out_dtype", dtype.ToString()}}));
}

absl::Status Softmax(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ValueId x, c.Input(0));
  const double beta = c.Options<schema::SoftmaxOptions>().beta();
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, InputQuantization(c, 0));
  if (q.has_value()) return QuantizedSoftmax(c, x, *q, beta);
  if (beta != 1) {
    KILN_ASSIGN_OR_RETURN(x, c.Op("multiply", {x, c.Scalar(x, beta)}));
  }
  return c.Output(0, c.Op("nn.softmax", {x}, {{"axis", -1}}));
}

absl::Status LogSoftmax(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, InputQuantization(c, 0));
  return c.Output(0, q.has_value() ? QnnUnary(c, "qnn.log_softmax", x, {{"axis", -1}})
                                   : c.Op("nn.log_softmax", {x}, {{"axis", -1}}));
}

// x / max(length of x along the last dimension, 1e-6)
absl::Status L2Normalization(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, InputQuantization(c, 0));
  return c.Output(0, q.has_value() ? QnnUnary(c, "qnn.l2_normalize", x, {{"axis", -1}})
                                   : c.Op("nn.l2_normalize", {x},
                                          {{"eps", 1e-12}, {"axis", AttrValue::Ints({-1})}}));
}

// x / (bias + alpha * sum of squares of 2 radius + 1 channels)^beta
absl::Status LocalResponseNormalization(Converter& c) {
  const auto& options = c.Options<schema::LocalResponseNormalizationOptions>();
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  if (options.radius() < 0 || options.radius() > (1 << 20)) {
    return Wrong("radius", absl::StrCat(options.radius()), "0 to 1048576");
  }
  const int64_t size = 2 * int64_t{options.radius()} + 1;
  return c.Output(0,
                  c.Op("nn.lrn", {x},
                       {{"size", size},
                        {"axis", -1},
                        {"bias", static_cast<double>(options.bias())},
                        {"alpha", static_cast<double>(options.alpha()) * static_cast<double>(size)},
                        {"beta", static_cast<double>(options.beta())}}));
}

constexpr TfliteOperator kNeuralRows[] = {
    {BuiltinOperator::BATCH_MATMUL, BatchMatMul, nullptr, Quantised::kComputes},
    {BuiltinOperator::FULLY_CONNECTED, FullyConnected, nullptr, Quantised::kComputes},
    {BuiltinOperator::L2_NORMALIZATION, L2Normalization, nullptr, Quantised::kComputesInt8},
    {BuiltinOperator::LOCAL_RESPONSE_NORMALIZATION, LocalResponseNormalization},
    {BuiltinOperator::LOG_SOFTMAX, LogSoftmax, nullptr, Quantised::kComputesInt8},
    {BuiltinOperator::SOFTMAX, Softmax, nullptr, Quantised::kComputes},
};

}  // namespace

absl::Span<const TfliteOperator> NeuralOperators() { return kNeuralRows; }

}  // namespace kiln::tflite_frontend
