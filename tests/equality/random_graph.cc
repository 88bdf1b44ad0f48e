// SPDX-License-Identifier: Apache-2.0
#include "tests/equality/random_graph.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "compiler/ops/add_op.h"
#include "tests/equality/random_source.h"

namespace kiln::equality {
namespace {

constexpr int kMinOperators = 3;
constexpr int kMaxOperators = 12;
constexpr int64_t kMaxElements = 4096;
constexpr DType kFloat = DType::Float(32), kHalf = DType::Float(16);

class Generator : RandomSource {
 public:
  using RandomSource::RandomSource;

  Case Run(uint32_t seed) {
    Case result{.name = absl::StrCat("seed ", seed), .graph = {}, .inputs = {}};
    graph_ = &result.graph;
    AddInput();
    const int operators = kMinOperators + Below(kMaxOperators - kMinOperators);
    for (int i = 0, tries = 0; i < operators && tries < 200; ++tries) i += AddOperator() ? 1 : 0;
    ReturnUnread(*graph_);
    for (ValueId input : graph_->inputs) {
      result.inputs.push_back(
          RandomValues(graph_->type(input), seed * 7 + static_cast<uint32_t>(input), -2, 2));
    }
    return result;
  }

 private:
  ValueId AddInput() {
    TensorType type{{}, Below(4) == 0 ? kHalf : kFloat};
    const int rank = 1 + Below(4);
    for (int i = 0; i < rank; ++i) type.shape.push_back(Extent());
    while (type.num_elements() > kMaxElements / 4)
      *std::max_element(type.shape.begin(), type.shape.end()) = 2;
    return graph_->AddInput(absl::StrCat("x", graph_->inputs.size()), type);
  }

  // Returns an earlier value, preferably a late one. If `like` is given, it has the same dtype.
  ValueId Any(std::optional<ValueId> like = std::nullopt) {
    std::vector<ValueId> values;
    for (size_t v = 0; v < graph_->values.size(); ++v) {
      const DType dtype = graph_->values[v].type->dtype;
      if (graph_->values[v].kind != ValueKind::kConstant &&
          (like ? dtype == DTypeOf(*like) : dtype == kFloat || dtype == kHalf)) {
        values.push_back(static_cast<ValueId>(v));
      }
    }
    const size_t n = values.size();
    const size_t window = std::min<size_t>(n, 4);
    return values[n - 1 - static_cast<size_t>(Below(static_cast<int>(window)))];
  }

  DType DTypeOf(ValueId value) const { return graph_->type(value).dtype; }

  // Returns weights for an operator on `x`, with its dtype.
  ValueId Weight(ValueId x, Shape shape) {
    TensorType type{std::move(shape), DTypeOf(x)};
    return graph_->AddConstant(RandomValues(type, state(), -0.5, 0.5));
  }

  bool Add(absl::string_view op, std::vector<ValueId> inputs, Attrs attrs = {}) {
    const Graph before = *graph_;
    const absl::StatusOr<ValueId> output = AddOp(*graph_, op, std::move(inputs), std::move(attrs));
    if (output.ok() && graph_->type(*output).num_elements() <= kMaxElements &&
        graph_->type(*output).num_elements() > 0)
      return true;
    *graph_ = before;
    return false;
  }

  bool AddOperator() {
    const ValueId x = Any();
    const Shape& shape = graph_->type(x).shape;
    const int rank = static_cast<int>(shape.size());
    if (rank == 0) return Add(Pick({"add", "multiply", "maximum"}), {x, Any(x)});
    switch (Below(15)) {
      case 0:
      case 1:
        return Add(Pick({"nn.relu", "sigmoid", "tanh", "exp", "negative", "abs", "erf", "sqrt",
                         "floor", "round", "rsqrt", "sin"}),
                   {x});
      case 2:
      case 3:
        return Add(Pick({"add", "subtract", "multiply", "maximum", "minimum", "divide"}),
                   {x, Any(x)});
      case 4: {
        Shape small(shape.size(), 1);
        if (rank > 0) small.back() = shape.back();
        return Add(Pick({"add", "multiply", "subtract"}), {x, Weight(x, small)});
      }
      case 5:
        return rank == 4 && Convolution(x, shape);
      case 6:
        return rank == 4 && Add(Pick({"nn.max_pool2d", "nn.avg_pool2d"}), {x},
                                {{"pool_size", AttrValue::Ints({1 + Below(3), 1 + Below(3)})},
                                 {"strides", AttrValue::Ints({1 + Below(2), 1 + Below(2)})},
                                 {"padding", AttrValue::Ints({Below(2), Below(2)})},
                                 {"layout", Pick({"NCHW", "NHWC"})}});
      case 7:
        return rank == 2 && Add("nn.dense", {x, Weight(x, {Extent(), shape[1]})},
                                {{"units", AttrValue::None()}});
      case 8:
        return rank >= 1 &&
               Add(Pick({"nn.softmax", "nn.log_softmax"}), {x}, {{"axis", Below(rank)}});
      case 9:
        return Add(Pick({"mean", "sum", "max", "min"}), {x},
                   {{"axis", AttrValue::Ints({Below(rank)})}, {"keepdims", Below(2) == 0}});
      case 10: {
        std::vector<int64_t> axes;
        for (int i = 0; i < rank; ++i) axes.push_back(i);
        for (int i = rank - 1; i > 0; --i)
          std::swap(axes[static_cast<size_t>(i)], axes[static_cast<size_t>(Below(i + 1))]);
        return Add("transpose", {x}, {{"axes", AttrValue::Ints(axes)}});
      }
      case 11:
        return Add(
            "reshape", {x},
            {{"newshape", AttrValue::Ints(Below(2) == 0 ? Shape{-1} : Shape{shape[0], -1})}});
      case 12:
        return Concatenate(x, rank);
      case 13:
        return Add("cast", {x}, {{"dtype", (DTypeOf(x) == kHalf ? kFloat : kHalf).ToString()}});
      default:
        return Add("strided_slice", {x},
                   {{"begin", AttrValue::Ints({Below(2)})},
                    {"end", AttrValue::Ints({shape[0]})},
                    {"strides", AttrValue::Ints({1})}});
    }
  }

  // Concatenates `x` with earlier tensors and with tensors created for this purpose.
  bool Concatenate(ValueId x, int rank) {
    std::vector<ValueId> parts = {x};
    for (int more = 1 + Below(2); more > 0; --more) {
      if (Below(2) == 0) {
        parts.push_back(Any(x));
      } else if (Add(Pick({"nn.relu", "negative", "abs", "tanh"}), {x})) {
        parts.push_back(static_cast<ValueId>(graph_->values.size()) - 1);
      }
    }
    std::swap(parts[0], parts[static_cast<size_t>(Below(static_cast<int>(parts.size())))]);
    return Add("concatenate", parts, {{"axis", Below(2) == 0 ? 0 : Below(rank)}});
  }

  bool Convolution(ValueId x, const Shape& shape) {
    const bool nhwc = Below(2) == 0;
    const int64_t channels = nhwc ? shape[3] : shape[1];
    const bool depthwise = Below(3) == 0;
    const int64_t kernel = 1 + Below(3);
    const int64_t outputs = depthwise ? channels : Extent();
    const Shape weight =
        depthwise ? Shape{channels, 1, kernel, kernel} : Shape{outputs, channels, kernel, kernel};
    const int64_t padding = Below(2);
    return Add("nn.conv2d", {x, Weight(x, weight)},
               {{"groups", depthwise ? channels : 1},
                {"strides", AttrValue::Ints({1 + Below(2), 1 + Below(2)})},
                {"padding", AttrValue::Ints({padding, padding})},
                {"data_layout", nhwc ? "NHWC" : "NCHW"}});
  }

  Graph* graph_ = nullptr;
};

}  // namespace

void ReturnUnread(Graph& graph) {
  const auto consumers = graph.Consumers();
  for (size_t v = 0; v < graph.values.size(); ++v) {
    if (graph.values[v].kind == ValueKind::kNodeOutput && consumers[v].empty() &&
        graph.outputs.size() < 4) {
      graph.outputs.push_back(static_cast<ValueId>(v));
    }
  }
}

Case RandomCase(uint32_t seed) { return Generator(seed).Run(seed); }

}  // namespace kiln::equality
