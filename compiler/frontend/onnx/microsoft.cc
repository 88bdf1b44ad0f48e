// SPDX-License-Identifier: Apache-2.0
// Operators of the domain com.microsoft that ONNX Runtime's optimizer uses to replace several ONNX
// operators: products, activations and normalizations. attention.cc has the attention operators.
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/common/functions.h"
#include "compiler/frontend/onnx/attention.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/gate_activation.h"
#include "compiler/frontend/onnx/normalization.h"
#include "compiler/frontend/onnx/operands.h"
#include "compiler/frontend/onnx/pieces.h"
#include "compiler/frontend/onnx/products.h"
#include "compiler/frontend/onnx/quantized.h"

namespace kiln::onnx_frontend {
namespace {

// Default epsilon of normalizations that include a sum.
constexpr double kSkipEpsilon = 1e-12;

// Returns x plus the optional input i, a vector along the last dimension of x.
absl::StatusOr<ValueId> WithBias(Converter& c, ValueId x, int i) {
  if (!c.HasInput(i)) return x;
  KILN_ASSIGN_OR_RETURN(const ValueId bias, c.Input(i));
  if (c.type(x).rank() < 1) return Wrong("data", c.type(x).ToString(), "rank 1 or more");
  KILN_RETURN_IF_ERROR(CheckVector(c, bias, "bias", c.type(x).shape.back()));
  return c.Op("add", {x, bias});
}

absl::StatusOr<ValueId> Biased(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return WithBias(c, x, 1);
}

absl::Status MicrosoftGelu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, Biased(c));
  return c.Output(0, c.Apply("Gelu", {x}));
}

// The tanh approximation of Gelu.
absl::Status FastGelu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, Biased(c));
  return c.Output(0, frontend::Gelu(c, x, /*approximate=*/true));
}

// x * sigmoid(alpha * x)
absl::Status QuickGelu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const ValueId alpha = c.Scalar(x, c.Float("alpha", 1.702));
  KILN_ASSIGN_OR_RETURN(ValueId t, c.Op("multiply", {x, alpha}));
  KILN_ASSIGN_OR_RETURN(t, c.Op("sigmoid", {t}));
  return c.Output(0, c.Op("multiply", {x, t}));
}

// alpha * A' * B'
absl::Status FusedMatMul(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ValueId a, c.Input(0));
  KILN_ASSIGN_OR_RETURN(ValueId b, c.Input(1));
  if (c.Int("transBatchA", 0) != 0 || c.Int("transBatchB", 0) != 0) {
    return absl::UnimplementedError("transBatchA and transBatchB");
  }
  if (c.Int("transA", 0) != 0) {
    KILN_ASSIGN_OR_RETURN(a, Transposed(c, a));
  }
  if (c.Int("transB", 0) != 0) {
    KILN_ASSIGN_OR_RETURN(b, Transposed(c, b));
  }
  if (c.Float("alpha", 1) == 1) return c.Output(0, c.Apply("MatMul", {a, b}));
  KILN_ASSIGN_OR_RETURN(
      ValueId y,
      MatrixProduct(c, a, b, [&](absl::string_view op, ValueId lhs, ValueId rhs, Attrs attrs) {
        return frontend::WideProduct(c, op, lhs, rhs, std::move(attrs));
      }));
  KILN_ASSIGN_OR_RETURN(y, c.Op("multiply", {y, c.Scalar(y, c.Float("alpha", 1))}));
  return c.Output(0, c.Cast(y, c.type(a).dtype));
}

// Sets output 0 to the function named by the attribute `activation`, applied to y. `values` are its
// parameters.
absl::Status SetActivated(Converter& c, ValueId y, const std::vector<double>& values) {
  const std::string name = c.String("activation", "");
  if (name == "Clip") {
    if (values.size() != 2) {
      return Wrong("activation_params", absl::StrCat(values.size(), " values"), "2");
    }
    KILN_ASSIGN_OR_RETURN(y, c.Op("clip", {y}, {{"a_min", values[0]}, {"a_max", values[1]}}));
  } else if (!name.empty()) {
    KILN_ASSIGN_OR_RETURN(const Activation f, MakeActivation(name, values));
    KILN_ASSIGN_OR_RETURN(y, Activate(c, f, y));
  }
  return c.Output(0, y);
}

// Conv(X, W, B) + Z with an activation.
absl::Status FusedConv(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId w, c.Input(1));
  std::vector<Item> inputs = {x, w};
  if (c.HasInput(2)) inputs.push_back(c.InputItem(2));
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Apply("Conv", std::move(inputs)));
  if (c.HasInput(3)) {
    KILN_ASSIGN_OR_RETURN(const ValueId sum, c.Input(3));
    KILN_RETURN_IF_ERROR(CheckBroadcasts(c, sum, "Z", c.type(y).shape));
    KILN_ASSIGN_OR_RETURN(y, c.Op("add", {y, sum}));
  }
  return SetActivated(c, y, c.Floats("activation_params"));
}

// Gemm with an activation.
absl::Status FusedGemm(Converter& c) {
  std::vector<Item> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.InputItem(i));
  KILN_ASSIGN_OR_RETURN(const ValueId y, c.Apply("Gemm", std::move(inputs)));
  std::vector<double> values;
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    if (c.HasAttr(name)) values.push_back(c.Float(name, 0));
  }
  return SetActivated(c, y, values);
}

// Outputs 1 and 2 of a normalization, mean and inverse deviation, are only for training.
absl::Status RefuseStatistics(const Converter& c) {
  if (!c.WantsOutput(1) && !c.WantsOutput(2)) return absl::OkStatus();
  return absl::UnimplementedError("the outputs mean and inv_std_var");
}

// Like LayerNormalization of ONNX's own domain.
absl::Status MicrosoftLayerNormalization(Converter& c) {
  std::vector<Item> inputs;
  for (int i = 0; i < c.num_inputs(); ++i) inputs.push_back(c.InputItem(i));
  KILN_RETURN_IF_ERROR(RefuseStatistics(c));
  return c.Output(0, c.Apply("LayerNormalization", std::move(inputs)));
}

absl::Status SimplifiedLayerNormalization(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId gamma, c.Input(1));
  KILN_RETURN_IF_ERROR(RefuseStatistics(c));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", -1), c.type(x).rank()));
  return c.Output(
      0, RmsNorm(c, x, {.scale = gamma, .axis = axis, .epsilon = c.Float("epsilon", 1e-5)}));
}

// Normalizes x over its last dimension. gamma and beta have one element per position of that
// dimension. Nothing is added if beta is kNoId.
absl::StatusOr<ValueId> OverLastDimension(Converter& c, ValueId x, ValueId gamma, ValueId beta,
                                          decltype(LayerNorm)& normalize) {
  const TensorType type = c.type(x);
  if (type.rank() < 1) return Wrong("data", type.ToString(), "rank 1 or more");
  KILN_RETURN_IF_ERROR(CheckVector(c, gamma, "gamma", type.shape.back()));
  if (beta != kNoId) KILN_RETURN_IF_ERROR(CheckVector(c, beta, "beta", type.shape.back()));
  return normalize(c, x,
                   {.scale = gamma,
                    .shift = beta,
                    .axis = type.rank() - 1,
                    .epsilon = c.Float("epsilon", kSkipEpsilon)});
}

// Normalizes the sum of inputs 0 and 1 and an optional bias. Output 3 is the sum.
absl::Status SkipNormalization(Converter& c, bool is_simplified) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId skip, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const ValueId gamma, c.Input(2));
  KILN_RETURN_IF_ERROR(RefuseStatistics(c));
  KILN_RETURN_IF_ERROR(CheckBroadcasts(c, skip, "skip", c.type(x).shape));
  KILN_ASSIGN_OR_RETURN(ValueId sum, c.Op("add", {x, skip}));
  KILN_ASSIGN_OR_RETURN(sum, WithBias(c, sum, is_simplified ? 3 : 4));
  ValueId beta = kNoId;
  if (!is_simplified && c.HasInput(3)) {
    KILN_ASSIGN_OR_RETURN(beta, c.Input(3));
  }
  KILN_ASSIGN_OR_RETURN(
      const ValueId y, OverLastDimension(c, sum, gamma, beta, is_simplified ? RmsNorm : LayerNorm));
  c.SetOutput(0, y);
  c.SetOutput(3, sum);
  return absl::OkStatus();
}

absl::Status SkipLayerNormalization(Converter& c) { return SkipNormalization(c, false); }
absl::Status SkipSimplifiedLayerNormalization(Converter& c) { return SkipNormalization(c, true); }

// Tables and factors of an embedding. Input 0 has the words of each row, input 1 their segments,
// and input 7 the mask.
struct Embedding {
  ValueId words, positions, segments;  // tables; segments may be kNoId
  ValueId gamma, beta;
  ValueId position_ids = kNoId;  // kNoId: 0, 1, …
};

// Adds and normalizes the embeddings of words, positions and segments. Output 1 is the number of
// words per row that the mask selects, output 2 is the sum.
absl::Status SetEmbedding(Converter& c, const Embedding& e) {
  KILN_ASSIGN_OR_RETURN(const ValueId ids, c.Input(0));
  const Shape shape = c.type(ids).shape;
  if (shape.size() != 2 || c.type(e.positions).rank() != 2) {
    return Wrong("input_ids and position_embedding",
                 c.type(ids).ToString() + " and " + c.type(e.positions).ToString(), "two matrices");
  }
  // Sums of float16 are rounded once. The tables keep their type.
  const DType given = c.type(e.words).dtype;
  const DType dtype = given == DType::Float(16) ? DType::Float(32) : given;
  const auto widened = [&](absl::StatusOr<ValueId> value) {
    return value.ok() ? c.Cast(*value, dtype) : value;
  };
  const auto rows = [&](ValueId table, ValueId numbers) {
    return widened(c.Op("take", {table, numbers}, {{"axis", 0}}));
  };
  KILN_ASSIGN_OR_RETURN(ValueId sum, rows(e.words, ids));
  ValueId positions = kNoId;
  if (e.position_ids != kNoId) {
    KILN_ASSIGN_OR_RETURN(positions, rows(e.positions, e.position_ids));
  } else {
    if (shape[1] > c.type(e.positions).shape[0]) {
      return Wrong("input_ids", absl::StrCat(shape[1], " positions"),
                   absl::StrCat("at most ", c.type(e.positions).shape[0]));
    }
    KILN_ASSIGN_OR_RETURN(positions, widened(Piece(c, e.positions, 0, 0, shape[1])));
  }
  KILN_ASSIGN_OR_RETURN(sum, c.Op("add", {sum, positions}));
  if (e.segments != kNoId) {
    KILN_ASSIGN_OR_RETURN(ValueId segments, c.Input(1));
    KILN_ASSIGN_OR_RETURN(segments, rows(e.segments, segments));
    KILN_ASSIGN_OR_RETURN(sum, c.Op("add", {sum, segments}));
  }
  KILN_ASSIGN_OR_RETURN(const ValueId gamma, widened(e.gamma));
  KILN_ASSIGN_OR_RETURN(const ValueId beta, widened(e.beta));
  KILN_ASSIGN_OR_RETURN(const ValueId y, OverLastDimension(c, sum, gamma, beta, LayerNorm));
  KILN_RETURN_IF_ERROR(c.Output(0, c.Cast(y, given)));
  ValueId counts = c.Constant(Tensor::Filled({{shape[0]}, DType::Int(32)}, 0));
  if (c.HasInput(7)) {
    KILN_ASSIGN_OR_RETURN(const ValueId mask, c.Input(7));
    KILN_ASSIGN_OR_RETURN(counts, c.Op("sum", {mask}, {{"axis", AttrValue::Ints({1})}}));
  }
  c.SetOutput(1, counts);
  return c.Output(2, c.Cast(sum, given));
}

absl::Status EmbedLayerNormalization(Converter& c) {
  Embedding e = {.segments = kNoId};
  KILN_ASSIGN_OR_RETURN(e.words, c.Input(2));
  KILN_ASSIGN_OR_RETURN(e.positions, c.Input(3));
  if (c.HasInput(1) && c.HasInput(4)) {
    KILN_ASSIGN_OR_RETURN(e.segments, c.Input(4));
  }
  KILN_ASSIGN_OR_RETURN(e.gamma, c.Input(5));
  KILN_ASSIGN_OR_RETURN(e.beta, c.Input(6));
  if (c.HasInput(8)) {
    KILN_ASSIGN_OR_RETURN(e.position_ids, c.Input(8));
  }
  return SetEmbedding(c, e);
}

// After seven inputs and the mask come the scales of inputs 2 to 6, then their zero points.
absl::Status QEmbedLayerNormalization(Converter& c) {
  const auto dequantized = [&](int i) {
    return Dequantized(c, {.data = i, .scale = i + 6, .zero_point = i + 11});
  };
  Embedding e = {.segments = kNoId};
  KILN_ASSIGN_OR_RETURN(e.words, dequantized(2));
  KILN_ASSIGN_OR_RETURN(e.positions, dequantized(3));
  if (c.HasInput(1) && c.HasInput(4)) {
    KILN_ASSIGN_OR_RETURN(e.segments, dequantized(4));
  }
  KILN_ASSIGN_OR_RETURN(e.gamma, dequantized(5));
  KILN_ASSIGN_OR_RETURN(e.beta, dequantized(6));
  return SetEmbedding(c, e);
}

constexpr OnnxOperator kMicrosoftRows[] = {
    {"Attention", MicrosoftAttention, nullptr, kMicrosoftDomain},
    Composite("BiasGelu", MicrosoftGelu, kMicrosoftDomain),
    {"EmbedLayerNormalization", EmbedLayerNormalization, nullptr, kMicrosoftDomain},
    Composite("FastGelu", FastGelu, kMicrosoftDomain),
    {"FusedConv", FusedConv, nullptr, kMicrosoftDomain},
    {"FusedGemm", FusedGemm, nullptr, kMicrosoftDomain},
    {"FusedMatMul", FusedMatMul, nullptr, kMicrosoftDomain},
    Composite("Gelu", MicrosoftGelu, kMicrosoftDomain),
    {"LayerNormalization", MicrosoftLayerNormalization, nullptr, kMicrosoftDomain},
    Composite("MultiHeadAttention", MultiHeadAttention, kMicrosoftDomain),
    {"QAttention", QAttention, nullptr, kMicrosoftDomain},
    {"QEmbedLayerNormalization", QEmbedLayerNormalization, nullptr, kMicrosoftDomain},
    Composite("QuickGelu", QuickGelu, kMicrosoftDomain),
    // ONNX Runtime has this operator in ONNX's own domain.
    Composite("SimplifiedLayerNormalization", SimplifiedLayerNormalization),
    Composite("SimplifiedLayerNormalization", SimplifiedLayerNormalization, kMicrosoftDomain),
    Composite("SkipLayerNormalization", SkipLayerNormalization, kMicrosoftDomain),
    Composite("SkipSimplifiedLayerNormalization", SkipSimplifiedLayerNormalization,
              kMicrosoftDomain),
};

}  // namespace

absl::Span<const OnnxOperator> MicrosoftOperators() { return kMicrosoftRows; }

}  // namespace kiln::onnx_frontend
