// SPDX-License-Identifier: Apache-2.0
// Canonicalize: writes operators in one way, so that later passes and schedules meet few forms.
// - An operator with a canonical form (traits.h) is replaced by that form: nn.batch_norm with
//   constant statistics by multiply and add per channel, nn.dropout by its input.
// - The last of several operators with a joint form (traits.h) is replaced by that form: a multiply
//   of x and a function of erf(x / sqrt(2)) by nn.gelu, a convolution of padded data by one that
//   pads.
// - A view with the shape of its input (copy) is replaced by its input.
// - A view with another shape (squeeze, nn.batch_flatten, …) becomes a reshape. A transpose that
//   moves only extents of 1 becomes a reshape, too.
// - A reshape of a reshape becomes one reshape. A reshape to the same shape is dropped.
// - A transpose of a transpose becomes one transpose.
// - A reshape of the batch axes of a matrix product, whose factors are reshaped, becomes a product
//   with these batch axes.
// - An element-wise operator, or one of rows (softmax), on a reshape of computed data is moved
//   before the reshape. There it is next to the operator that computes the data and can join it.
#include <algorithm>
#include <optional>

#include "compiler/base/status.h"
#include "compiler/graph/rewrite.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/make.h"
#include "compiler/ops/op_queries.h"
#include "compiler/passes/pass.h"

namespace kiln {
namespace {

// Limit on the rounds for a model. Most models take two, and the last round changes nothing.
constexpr int kMaxRounds = 100;

class Canonicalizer {
 public:
  explicit Canonicalizer(const Graph& old)
      : old_(old), rewriter_(old), consumers_(old.Consumers()) {}

  absl::StatusOr<Graph> Run() {
    for (NodeId id = 0; id < static_cast<NodeId>(old_.nodes.size()); ++id) {
      KILN_ASSIGN_OR_RETURN(const bool done, Rewrite(id));
      if (!done) rewriter_.Copy(id);
    }
    return std::move(rewriter_).Finish();
  }

  // True if a rule has changed something, so that another rule may apply now.
  bool has_changed() const { return has_changed_; }

 private:
  Graph& graph() { return rewriter_.graph(); }

  // Returns true if the node has been replaced.
  absl::StatusOr<bool> Rewrite(NodeId id) {
    const Node& node = old_.node(id);
    if (node.is_group()) return false;
    const OpTraits& traits = FindOp(node.op->name)->traits;
    if (traits.canonical != nullptr) return InOtherWords(node, traits.canonical);
    if (traits.canonical_with_producers != nullptr) {
      KILN_ASSIGN_OR_RETURN(const bool done, InOtherWords(node, traits.canonical_with_producers));
      if (done) return true;
    }
    if (traits.layout.rule == LayoutRule::kTranspose) return Transpose(node);
    switch (traits.view) {
      case View::kNone:
        return ReshapeBehind(node);
      case View::kSame:
        has_changed_ = true;
        rewriter_.Replace(node.outputs[0], rewriter_.Map(node.inputs[0]));
        return true;
      case View::kReshaped:
        return Reshape(node, rewriter_.Map(node.inputs[0]));
    }
    return false;
  }

  absl::StatusOr<bool> InOtherWords(const Node& node, CanonicalForm form) {
    std::vector<ValueId> inputs;
    for (ValueId input : node.inputs) inputs.push_back(rewriter_.Map(input));
    KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> outputs, form(graph(), node, inputs));
    for (size_t k = 0; k < outputs.size(); ++k) rewriter_.Replace(node.outputs[k], outputs[k]);
    has_changed_ |= !outputs.empty();
    return !outputs.empty();
  }

  // The node of the new graph that makes the value if its operator has the trait; else null.
  template <typename HasTrait>
  const Node* ProducerIf(HasTrait has_trait, ValueId value) {
    const Node* producer = ProducerOf(graph(), value);
    const OpTraits* traits = producer == nullptr ? nullptr : TraitsOf(*producer);
    return traits != nullptr && has_trait(*traits) ? producer : nullptr;
  }
  static bool Transposes(const OpTraits& traits) {
    return traits.layout.rule == LayoutRule::kTranspose;
  }
  static bool GivesReshaped(const OpTraits& traits) { return traits.view == View::kReshaped; }

  absl::StatusOr<bool> Transpose(const Node& node) {
    const int rank = static_cast<int>(old_.type(node.outputs[0]).rank());
    KILN_ASSIGN_OR_RETURN(std::vector<int> axes, TransposeAxes(node.attrs, rank, 1));
    const ValueId direct = rewriter_.Map(node.inputs[0]);
    ValueId input = direct;
    if (const Node* before = ProducerIf(Transposes, input)) {
      KILN_ASSIGN_OR_RETURN(const std::vector<int> first, TransposeAxes(before->attrs, rank, 1));
      for (int& axis : axes) axis = first[static_cast<size_t>(axis)];
      input = before->inputs[0];
    }
    if (MovesOnlyOnes(graph().type(input).shape, {axes.begin(), axes.end()})) {
      return Reshape(node, input);
    }
    if (input == direct) return false;
    has_changed_ = true;
    KILN_ASSIGN_OR_RETURN(const ValueId transposed,
                          MakeTranspose(graph(), input, {axes.begin(), axes.end()}, node.source));
    rewriter_.Replace(node.outputs[0], transposed);
    return true;
  }

  // Replaces the node by `input`, a value of the new graph, in the shape of the node's output.
  absl::StatusOr<bool> Reshape(const Node& node, ValueId input) {
    const Shape& shape = old_.type(node.outputs[0]).shape;
    // Looks through a reshape that has been rewritten before.
    if (const Node* before = ProducerIf(GivesReshaped, input)) input = before->inputs[0];
    KILN_ASSIGN_OR_RETURN(const bool done, ReshapeBatches(node, input));
    has_changed_ |=
        done || graph().type(input).shape == shape || input != rewriter_.Map(node.inputs[0]);
    if (done) return true;
    if (graph().type(input).shape == shape) {
      rewriter_.Replace(node.outputs[0], input);
      return true;
    }
    KILN_ASSIGN_OR_RETURN(const ValueId reshaped, MakeReshape(graph(), input, shape, node.source));
    const Node* made = ProducerOf(graph(), reshaped);
    has_changed_ |= made == nullptr || made->op != node.op;
    rewriter_.Replace(node.outputs[0], reshaped);
    return true;
  }

  // `matrix` with the extents of the batch (all but the last two) of `batch`.
  static Shape WithBatchOf(const Shape& batch, const Shape& matrix) {
    Shape shape(batch.begin(), batch.end() - 2);
    shape.insert(shape.end(), matrix.end() - 2, matrix.end());
    return shape;
  }

  // Replaces the node, which reshapes `input`, if `input` is a product of matrices and the
  // node gives it the batch axes that a factor had before it was reshaped. The factors are
  // then multiplied with these batch axes, and the result needs no reshape. Returns true if
  // it has replaced the node.
  absl::StatusOr<bool> ReshapeBatches(const Node& node, ValueId input) {
    const ValueId old_input = node.inputs[0];
    const Node* product = ProducerIf(
        [](const OpTraits& t) { return t.fusion == Fusion::kContraction && t.by_rows != nullptr; },
        input);
    const Shape& wanted = old_.type(node.outputs[0]).shape;
    if (product == nullptr || product->inputs.size() != 2 || input != rewriter_.Map(old_input) ||
        consumers_[static_cast<size_t>(old_input)].size() != 1 || LeavesGraph(old_input) ||
        wanted.size() < 3) {
      return false;
    }
    const Node multiply = *product;
    const Shape& now = graph().type(input).shape;
    std::vector<ValueId> factors;
    bool falls_away = false;
    for (const ValueId factor : multiply.inputs) {
      const Shape& shape = graph().type(factor).shape;
      if (shape.size() < 3 || WithBatchOf(now, shape) != shape) return false;
      const Node* reshape = ProducerIf(GivesReshaped, factor);
      falls_away |= reshape != nullptr &&
                    graph().type(reshape->inputs[0]).shape == WithBatchOf(wanted, shape);
    }
    if (!falls_away || WithBatchOf(now, wanted) != now) return false;
    for (const ValueId factor : multiply.inputs) {
      KILN_ASSIGN_OR_RETURN(
          const ValueId reshaped,
          Reshaped(factor, WithBatchOf(wanted, graph().type(factor).shape), node.source));
      factors.push_back(reshaped);
    }
    KILN_ASSIGN_OR_RETURN(
        const ValueId result,
        AddOp(graph(), multiply.op->name, std::move(factors), multiply.attrs, multiply.source));
    rewriter_.Replace(node.outputs[0], result);
    return true;
  }

  // A value of the new graph in another shape. If it is a reshape of a value with that
  // shape, returns the latter.
  absl::StatusOr<ValueId> Reshaped(ValueId value, const Shape& shape,
                                   const SourceLocation& source) {
    if (graph().type(value).shape == shape) return value;
    const Node* before = ProducerIf(GivesReshaped, value);
    if (before != nullptr && graph().type(before->inputs[0]).shape == shape) {
      return before->inputs[0];
    }
    return MakeReshape(graph(), value, shape, source);
  }

  bool LeavesGraph(ValueId value) const {
    return std::find(old_.outputs.begin(), old_.outputs.end(), value) != old_.outputs.end();
  }

  // If input k of the node, a value of the old graph, is a reshape in the new graph, returns the
  // value that it reshapes. kNoId if something else reads the reshape, or if no operator that
  // fuses computes the value.
  ValueId BeforeReshape(const Node& node, size_t k) {
    const ValueId input = node.inputs[k];
    if (consumers_[static_cast<size_t>(input)].size() != 1 || LeavesGraph(input)) return kNoId;
    const Node* reshape = ProducerIf(GivesReshaped, rewriter_.Map(input));
    if (reshape == nullptr) return kNoId;
    return Gain(reshape->inputs[0]) == 0 ? kNoId : reshape->inputs[0];
  }

  // The benefit of being next to the operator that makes the value, of the new graph: 2 if others
  // join the operator (a convolution), 1 if it joins others, 0 if it does not fuse.
  int Gain(ValueId value) {
    const Node* producer = ProducerOf(graph(), value);
    const OpTraits* traits = producer == nullptr ? nullptr : TraitsOf(*producer);
    if (traits == nullptr) return 0;
    if (traits->fusion == Fusion::kContraction) return 2;
    return traits->fusion == Fusion::kElementwise || traits->by_rows != nullptr ? 1 : 0;
  }

  // Replaces the node by its operator on the operands before input k was reshaped, and a reshape
  // after it. Returns true if it has.
  absl::StatusOr<bool> ReshapeBehind(const Node& node) {
    const OpTraits& traits = FindOp(node.op->name)->traits;
    const bool elementwise =
        traits.fusion == Fusion::kElementwise && traits.layout.rule == LayoutRule::kElementwise;
    const bool by_rows =
        node.inputs.size() == 1 && traits.layout.rule == LayoutRule::kAxis && IsByRows(old_, node);
    if (node.outputs.size() != 1 || LeavesGraph(node.outputs[0]) || (!elementwise && !by_rows)) {
      return false;
    }
    const Shape& shape = old_.type(node.outputs[0]).shape;
    for (size_t k = 0; k < node.inputs.size(); ++k) {
      const ValueId before = BeforeReshape(node, k);
      if (before == kNoId || old_.type(node.inputs[k]).shape != shape) continue;
      const Shape wanted = graph().type(before).shape;
      if (by_rows && (wanted.empty() || wanted.back() != shape.back())) continue;
      std::vector<std::optional<Shape>> shapes;
      for (ValueId input : node.inputs) {
        shapes.push_back(OperandShape(old_.type(input).shape, shape, wanted));
      }
      if (!std::all_of(shapes.begin(), shapes.end(), [](const auto& s) { return s.has_value(); })) {
        continue;
      }
      // Another operand is reshaped instead, which separates it from the operator that makes it.
      // The benefit lost must be smaller, or the next round would move the reshape back.
      bool tears = false;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        tears |= i != k && *shapes[i] != old_.type(node.inputs[i]).shape &&
                 Gain(rewriter_.Map(node.inputs[i])) >= Gain(before);
      }
      if (tears) continue;
      std::vector<ValueId> inputs;
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        const ValueId operand = i == k ? before : rewriter_.Map(node.inputs[i]);
        KILN_ASSIGN_OR_RETURN(const ValueId input, Reshaped(operand, *shapes[i], node.source));
        inputs.push_back(input);
      }
      Attrs attrs = node.attrs;
      if (by_rows) attrs.Set(traits.layout.attr, -1);
      KILN_ASSIGN_OR_RETURN(const ValueId result, AddOp(graph(), node.op->name, std::move(inputs),
                                                        std::move(attrs), node.source));
      KILN_ASSIGN_OR_RETURN(const ValueId reshaped,
                            MakeReshape(graph(), result, shape, node.source));
      rewriter_.Replace(node.outputs[0], reshaped);
      has_changed_ = true;
      return true;
    }
    return false;
  }

  // The shape in which an operand of shape `own`, which broadcasts to `shape`, broadcasts in the
  // same way to `wanted`, another shape with the elements of `shape`; nothing if there is none.
  static std::optional<Shape> OperandShape(const Shape& own, const Shape& shape,
                                           const Shape& wanted) {
    if (own == shape) return wanted;
    const auto first = std::find_if(own.begin(), own.end(), [](int64_t e) { return e != 1; });
    const Shape whole(first, own.end());
    const auto [a, b] = std::mismatch(shape.rbegin(), shape.rend(), wanted.rbegin(), wanted.rend());
    const bool fits = static_cast<std::ptrdiff_t>(whole.size()) <= a - shape.rbegin();
    return fits ? std::optional<Shape>(whole) : std::nullopt;
  }

  const Graph& old_;
  GraphRewriter rewriter_;
  std::vector<std::vector<NodeId>> consumers_;
  bool has_changed_ = false;
};

}  // namespace

absl::StatusOr<Graph> Canonicalize(const Graph& graph, const PassContext&) {
  Canonicalizer once(graph);
  KILN_ASSIGN_OR_RETURN(Graph result, once.Run());
  bool has_changed = once.has_changed();
  for (int i = 0; has_changed && i < kMaxRounds; ++i) {
    Canonicalizer again(result);
    KILN_ASSIGN_OR_RETURN(result, again.Run());
    has_changed = again.has_changed();
  }
  return result;
}

}  // namespace kiln
