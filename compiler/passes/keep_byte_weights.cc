// SPDX-License-Identifier: Apache-2.0
// KeepByteWeights: products of floats and dequantized constants of 8 bits read the bytes:
//
//   dense(x, dequantize(w, scale, zero)) becomes
//   multiply(dense(x, w - zero, out_dtype="float32"), scale).
//
// If w - zero does not fit int8, the weight is w - center, which does, and the rest of the zero
// point is added: sum(x) * (center - zero) * scale. Results differ by rounding.
//
// The tile converts each vector of weights to floats before it multiplies. Bytes are
// therefore faster only if the product waits for memory: for few rows, and in a model
// whose weights, as floats, exceed the L2 cache. If the compilation is for size, all
// weights stay bytes (decision 0061).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/status.h"
#include "compiler/graph/rewrite.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/make.h"
#include "compiler/ops/op_queries.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

const DType kFloat = DType::Float(32), kByte = DType::Int(8);

// Least number of elements of a weight that is worth the multiplication by scales.
constexpr int64_t kMinElements = 1024;
// Issue slots of vector multiply-adds that pass while a cache line comes from memory, and slots
// that the conversion of a vector of bytes takes. Measured on Sapphire Rapids: decision 0061.
constexpr int64_t kSlotsOfLine = 12, kSlotsOfConversion = 2;

// A matrix of dequantized 8-bit constants: `data`, or its transpose if `transposed`. Scale and zero
// point are numbers, or vectors with one element per row of the matrix.
struct Bytes {
  const Tensor* data = nullptr;
  bool transposed = false;
  const Tensor* scale = nullptr;
  const Tensor* zero_point = nullptr;

  int64_t rows() const { return data->type().shape[transposed ? 1 : 0]; }
  int64_t columns() const { return data->type().shape[transposed ? 0 : 1]; }
  int64_t At(int64_t row, int64_t column) const {
    return data->AsInt(transposed ? column * rows() + row : row * columns() + column);
  }
  int64_t ZeroPointOf(int64_t row) const {
    return zero_point->AsInt(zero_point->type().num_elements() == 1 ? 0 : row);
  }
  double ScaleOf(int64_t row) const {
    return scale->AsDouble(scale->type().num_elements() == 1 ? 0 : row);
  }
};

// The bytes minus a center per row, so that all fit int8, and the center of each
// row minus its zero point.
struct CenteredBytes {
  Tensor weight;
  std::vector<int64_t> center_minus_zero;
};

CenteredBytes Centered(const Bytes& bytes) {
  const int64_t rows = bytes.rows(), columns = bytes.columns();
  std::string weight(static_cast<size_t>(rows * columns), '\0');
  std::vector<int64_t> center_minus_zero;
  auto out = weight.begin();
  for (int64_t row = 0; row < rows; ++row) {
    int64_t least = bytes.At(row, 0), most = least;
    for (int64_t column = 1; column < columns; ++column) {
      least = std::min(least, bytes.At(row, column));
      most = std::max(most, bytes.At(row, column));
    }
    const int64_t zero = bytes.ZeroPointOf(row);
    const int64_t center = std::clamp(zero, most - kByte.MaxInt(), least - kByte.MinInt());
    for (int64_t column = 0; column < columns; ++column) {
      *out++ = static_cast<char>(bytes.At(row, column) - center);
    }
    center_minus_zero.push_back(center - zero);
  }
  return {Tensor({{rows, columns}, kByte}, std::move(weight)), std::move(center_minus_zero)};
}

bool AreFinite(const Tensor& scales) {
  for (int64_t i = 0; i < scales.type().num_elements(); ++i) {
    if (!std::isfinite(static_cast<float>(scales.AsDouble(i)))) return false;
  }
  return true;
}

// The scale in float32, as a number or a vector. TFLite's scales are float64.
Tensor FloatScale(const Bytes& bytes) {
  const int64_t count = bytes.scale->type().num_elements();
  std::vector<float> scales;
  for (int64_t row = 0; row < count; ++row) {
    scales.push_back(static_cast<float>(bytes.ScaleOf(row)));
  }
  return Tensor::From<float>(count == 1 ? Shape() : Shape{count}, kFloat, scales);
}

class WeightRewriter {
 public:
  WeightRewriter(const Graph& old, const PassContext& context)
      : old_(old), context_(context), rewriter_(old), float_bytes_(FloatBytesOfModel()) {}

  absl::StatusOr<Graph> Run() && {
    for (NodeId id = 0; id < static_cast<NodeId>(old_.nodes.size()); ++id) {
      const Node& node = old_.node(id);
      const std::optional<Bytes> bytes = WeightOf(node);
      if (bytes.has_value() && (context_.for_size || IsFaster(node))) {
        KILN_ASSIGN_OR_RETURN(const ValueId product, Product(node, *bytes));
        rewriter_.Replace(node.outputs[0], product);
      } else {
        rewriter_.Copy(id);
      }
    }
    return std::move(rewriter_).Finish();
  }

 private:
  const Tensor* Constant(ValueId value) const {
    return old_.is_constant(value) ? &old_.value(value).constant : nullptr;
  }

  static size_t WeightInput(const Node& node) {
    return static_cast<size_t>(TraitsOf(node)->weight);
  }

  // The weight of a product of floats; nothing for other nodes and other weights.
  std::optional<Bytes> WeightOf(const Node& node) const {
    const OpTraits* traits = TraitsOf(node);
    if (traits == nullptr || !traits->takes_byte_weights ||
        old_.type(node.inputs[0]).dtype != kFloat || old_.type(node.outputs[0]).dtype != kFloat) {
      return std::nullopt;
    }
    const Node* dequantize = ProducerIf(old_, node.inputs[WeightInput(node)], "qnn.dequantize");
    if (dequantize == nullptr) return std::nullopt;
    Bytes bytes = {.scale = Constant(dequantize->inputs[1]),
                   .zero_point = Constant(dequantize->inputs[2])};
    ValueId data = dequantize->inputs[0];
    const TensorType& type = old_.type(data);
    if (type.rank() != 2 || !type.dtype.is_integral() || type.dtype.bits != kByte.bits ||
        type.num_elements() < kMinElements || bytes.scale == nullptr ||
        bytes.zero_point == nullptr || !AreFinite(*bytes.scale)) {
      return std::nullopt;
    }
    if (const Node* transpose = ProducerOf(old_, data)) {
      const OpTraits* of_transpose = TraitsOf(*transpose);
      if (of_transpose == nullptr || of_transpose->layout.rule != LayoutRule::kTranspose) {
        return std::nullopt;
      }
      const auto axes = TransposeAxes(transpose->attrs, 2, 1);
      if (!axes.ok()) return std::nullopt;
      bytes.transposed = axes->front() == 1;
      data = transpose->inputs[0];
    }
    bytes.data = Constant(data);
    const bool has_channels =
        bytes.scale->type().num_elements() != 1 || bytes.zero_point->type().num_elements() != 1;
    const bool of_rows = !has_channels || AxisOf(dequantize->attrs.Int("axis"), 2) == 0;
    return bytes.data != nullptr && of_rows ? std::optional(bytes) : std::nullopt;
  }

  // True if the product takes less time with bytes.
  bool IsFaster(const Node& node) const {
    const Target& target = context_.target;
    const TensorType& out = old_.type(node.outputs[0]);
    const int64_t rows = out.num_elements() / out.shape.back();
    return target.widens_bytes() && float_bytes_ > target.l2_bytes &&
           rows + kSlotsOfConversion <= kSlotsOfLine * target.vector_bits / 8 / kCacheLineBytes;
  }

  // Bytes of the model's constants if all weights of products become floats. If the context does
  // not give the bytes of the constants, only these weights are counted.
  int64_t FloatBytesOfModel() const {
    int64_t bytes = context_.constant_bytes.value_or(0);
    std::set<ValueId> counted;  // several products may read one weight
    for (const Node& node : old_.nodes) {
      const std::optional<Bytes> weight = WeightOf(node);
      if (!weight.has_value() || !counted.insert(node.inputs[WeightInput(node)]).second) continue;
      const int64_t elements = weight->data->type().num_elements();
      bytes += elements * (kFloat.bytes() - (context_.constant_bytes ? kByte.bytes() : 0));
    }
    return bytes;
  }

  absl::StatusOr<ValueId> Product(const Node& node, const Bytes& bytes) {
    Graph& graph = rewriter_.graph();
    CenteredBytes centered = Centered(bytes);
    const ValueId data = rewriter_.Map(node.inputs[0]);
    Attrs attrs = node.attrs;
    attrs.Set("out_dtype", kFloat.ToString());
    KILN_ASSIGN_OR_RETURN(
        const ValueId sums,
        AddOp(graph, node.op->name, {data, graph.AddConstant(std::move(centered.weight))},
              std::move(attrs), node.source));
    KILN_ASSIGN_OR_RETURN(
        const ValueId product,
        MakeProduct(graph, sums, graph.AddConstant(FloatScale(bytes)), node.source));
    std::vector<float> factors;
    bool all_zero = true;
    for (int64_t row = 0; row < bytes.rows(); ++row) {
      const int64_t rest = centered.center_minus_zero[static_cast<size_t>(row)];
      factors.push_back(static_cast<float>(bytes.ScaleOf(row) * static_cast<double>(rest)));
      all_zero &= rest == 0;
    }
    if (all_zero) return product;
    KILN_ASSIGN_OR_RETURN(
        const ValueId sum_of_data,
        AddOp(graph, "sum", {data}, {{"axis", AttrValue::Ints({-1})}, {"keepdims", true}},
              node.source));
    const ValueId factor = graph.AddConstant(Tensor::From<float>({bytes.rows()}, kFloat, factors));
    KILN_ASSIGN_OR_RETURN(const ValueId rest, MakeProduct(graph, sum_of_data, factor, node.source));
    return AddOp(graph, "add", {product, rest}, {}, node.source);
  }

  const Graph& old_;
  const PassContext& context_;
  GraphRewriter rewriter_;
  const int64_t float_bytes_;
};

}  // namespace

absl::StatusOr<Graph> KeepByteWeights(const Graph& graph, const PassContext& context) {
  // External code generators take products of floats.
  if (context.partition != nullptr) return graph;
  return WeightRewriter(graph, context).Run();
}

}  // namespace kiln
