// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/merge_padding.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "compiler/base/status.h"
#include "compiler/ops/add_op.h"
#include "compiler/ops/convolution.h"
#include "compiler/ops/op_queries.h"
#include "compiler/ops/quantized_product.h"

namespace kiln {
namespace {

// The value of the places that nn.pad adds; nullopt if they are copies or known only at run time.
std::optional<double> PaddingOf(const Graph& graph, const Node& pad) {
  if (pad.attrs.String("pad_mode") != "constant") return std::nullopt;
  return pad.inputs.size() == 1 ? 0 : ScalarOf(graph, pad.inputs[1]);
}

// The value that a convolution, of floats or of quantized numbers, counts outside of its data.
std::optional<double> OutsideOf(const Graph& graph, const std::vector<ValueId>& inputs) {
  return inputs.size() == 2 ? 0 : ScalarOf(graph, inputs[kProductXZero]);
}

}  // namespace

absl::StatusOr<std::vector<ValueId>> MergePadding(Graph& graph, const Node& node,
                                                  const std::vector<ValueId>& inputs) {
  const std::vector<ValueId> none;
  const Node* pad = ProducerIf(graph, inputs[0], "nn.pad");
  if (pad == nullptr) return none;
  const std::optional<double> value = PaddingOf(graph, *pad);
  if (!value.has_value() || value != OutsideOf(graph, inputs)) return none;
  const TensorType& weight = graph.type(inputs[1]);
  const int spatial = static_cast<int>(weight.shape.size()) - 2;
  KILN_ASSIGN_OR_RETURN(const Convolution convolution,
                        MakeConvolution(node.attrs, graph.type(inputs[0]), weight, spatial));
  std::vector<std::vector<int64_t>> widths = pad->attrs.IntLists("pad_width");
  const auto num_dims = static_cast<size_t>(spatial);
  std::vector<int64_t> padding(2 * num_dims);
  for (size_t k = 0; k < num_dims; ++k) {
    std::vector<int64_t>& width = widths[convolution.layout.spatial_dim(static_cast<int>(k))];
    padding[k] = convolution.window[k].pad_before + width[0];
    padding[num_dims + k] = convolution.window[k].pad_after + width[1];
    width = {0, 0};
  }
  // Padding of the batch or of channels stays.
  for (const std::vector<int64_t>& width : widths) {
    if (width[0] != 0 || width[1] != 0) return none;
  }
  const ValueId data = pad->inputs[0];
  Attrs attrs = node.attrs;
  attrs.Set("padding", AttrValue::Ints(padding));
  if (!MakeConvolution(attrs, graph.type(data), weight, spatial).ok()) return none;
  std::vector<ValueId> operands = inputs;
  operands[0] = data;
  KILN_ASSIGN_OR_RETURN(const ValueId result, AddOp(graph, node.op->name, std::move(operands),
                                                    std::move(attrs), node.source));
  return std::vector<ValueId>{result};
}

}  // namespace kiln
