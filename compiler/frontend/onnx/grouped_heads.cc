// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/grouped_heads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "compiler/base/status.h"
#include "compiler/ops/op_queries.h"

namespace kiln::onnx_frontend {
namespace {

// Returns axes that exchange the last two of `rank` dimensions.
std::vector<int64_t> LastTwoExchanged(int rank) {
  std::vector<int64_t> axes(static_cast<size_t>(rank));
  std::iota(axes.begin(), axes.end(), 0);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return axes;
}

// Matrices that are each repeated, with the copies in succession.
struct Repeated {
  ValueId matrices;  // (…, groups, rows, columns), maybe with a 1 after groups
  Shape shape;       // (…, groups, rows, columns)
  int64_t times;
};

std::optional<Repeated> RepeatedMatrices(const Graph& graph, ValueId value) {
  const Node* const reshape = ProducerIf(graph, value, "reshape");
  if (reshape == nullptr) return std::nullopt;
  const Node* const expand = ProducerIf(graph, reshape->inputs[0], "broadcast_to");
  if (expand == nullptr) return std::nullopt;
  const Shape& to = graph.type(value).shape;
  const Shape& expanded = graph.type(reshape->inputs[0]).shape;
  const Shape& from = graph.type(expand->inputs[0]).shape;
  if (to.size() < 3 || expanded.size() != to.size() + 1 || from.size() != expanded.size()) {
    return std::nullopt;
  }
  const size_t copies = expanded.size() - 3;  // the expanded dimension
  if (from[copies] != 1) return std::nullopt;
  Shape unrepeated = expanded, joined = expanded;
  unrepeated[copies] = 1;
  joined[copies - 1] *= joined[copies];
  joined.erase(joined.begin() + static_cast<std::ptrdiff_t>(copies));
  if (from != unrepeated || to != joined) return std::nullopt;
  unrepeated.erase(unrepeated.begin() + static_cast<std::ptrdiff_t>(copies));
  return Repeated{expand->inputs[0], std::move(unrepeated), expanded[copies]};
}

}  // namespace

absl::StatusOr<std::optional<ValueId>> ProductOfGroupedHeads(Converter& c, ValueId a, ValueId b) {
  bool is_transposed = false;
  ValueId repeated_value = b;
  if (const Node* const transpose = ProducerIf(c.graph(), b, "transpose");
      transpose != nullptr && c.type(b).rank() >= 2 &&
      transpose->attrs.Ints("axes") == LastTwoExchanged(c.type(b).rank())) {
    is_transposed = true;
    repeated_value = transpose->inputs[0];
  }
  const std::optional<Repeated> repeated = RepeatedMatrices(c.graph(), repeated_value);
  const Shape sa = c.type(a).shape, sb = c.type(b).shape;
  const size_t rank = sb.size();
  if (!repeated.has_value() || sa.size() != rank || sa[rank - 1] != sb[rank - 2] ||
      !std::equal(sa.begin(), sa.end() - 2, sb.begin())) {
    return std::nullopt;
  }
  const size_t groups = rank - 3;
  const auto in_groups = [&](Shape shape) {
    shape[groups] /= repeated->times;
    shape[rank - 2] *= repeated->times;
    return shape;
  };
  if (repeated->times == 0) return std::nullopt;
  KILN_ASSIGN_OR_RETURN(ValueId matrices, c.Reshape(repeated->matrices, repeated->shape));
  if (is_transposed) {
    KILN_ASSIGN_OR_RETURN(matrices,
                          c.Transpose(matrices, LastTwoExchanged(static_cast<int>(rank))));
  }
  KILN_ASSIGN_OR_RETURN(const ValueId rows, c.Reshape(a, in_groups(sa)));
  KILN_ASSIGN_OR_RETURN(const ValueId product,
                        c.Op("nn.batch_matmul", {rows, matrices}, {{"transpose_b", false}}));
  Shape out = sa;
  out[rank - 1] = sb[rank - 1];
  KILN_ASSIGN_OR_RETURN(const ValueId result, c.Reshape(product, out));
  return result;
}

}  // namespace kiln::onnx_frontend
