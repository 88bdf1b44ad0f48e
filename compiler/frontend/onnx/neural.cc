// SPDX-License-Identifier: Apache-2.0
// Products, softmax, and blocks of pixels.
#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/common/functions.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/grouped_heads.h"
#include "compiler/frontend/onnx/operands.h"
#include "compiler/frontend/onnx/products.h"

namespace kiln::onnx_frontend {
namespace {

absl::StatusOr<ValueId> Scaled(Converter& c, ValueId x, double factor) {
  if (factor == 1) return x;
  return c.Op("multiply", {x, c.Scalar(x, factor)});
}

// alpha * A' * B' + beta * C
absl::Status Gemm(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ValueId a, c.Input(0));
  KILN_ASSIGN_OR_RETURN(ValueId b, c.Input(1));
  if (c.type(a).rank() != 2 || c.type(b).rank() != 2) {
    return Wrong("A and B", c.type(a).ToString() + " and " + c.type(b).ToString(), "two matrices");
  }
  if (c.Int("transA", 0) != 0) {
    KILN_ASSIGN_OR_RETURN(a, Transposed(c, a));
  }
  // nn.dense takes its weight as [units, in].
  if (c.Int("transB", 0) == 0) {
    KILN_ASSIGN_OR_RETURN(b, Transposed(c, b));
  }
  KILN_ASSIGN_OR_RETURN(
      ValueId y, frontend::WideProduct(c, "nn.dense", a, b, {{"units", c.type(b).shape[0]}}));
  KILN_ASSIGN_OR_RETURN(y, Scaled(c, y, c.Float("alpha", 1)));
  if (c.HasInput(2)) {
    KILN_ASSIGN_OR_RETURN(ValueId bias, c.Input(2));
    KILN_RETURN_IF_ERROR(CheckBroadcasts(c, bias, "C", c.type(y).shape));
    KILN_ASSIGN_OR_RETURN(bias, c.Cast(bias, c.type(y).dtype));
    KILN_ASSIGN_OR_RETURN(bias, Scaled(c, bias, c.Float("beta", 1)));
    KILN_ASSIGN_OR_RETURN(y, c.Op("add", {y, bias}));
  }
  return c.Output(0, c.Cast(y, c.type(a).dtype));
}

}  // namespace

absl::StatusOr<ValueId> Transposed(Converter& c, ValueId x) {
  const int64_t rank = c.type(x).rank();
  if (rank < 2) return Wrong("an operand", c.type(x).ToString(), "rank 2 or more");
  std::vector<int64_t> axes;
  for (int64_t i = 0; i < rank; ++i) axes.push_back(i);
  std::swap(axes[axes.size() - 1], axes[axes.size() - 2]);
  return c.Op("transpose", {x}, {{"axes", AttrValue::Ints(axes)}});
}

absl::StatusOr<ValueId> MatrixProduct(Converter& c, ValueId a, ValueId b, const MakeProduct& make) {
  Shape sa = c.type(a).shape, sb = c.type(b).shape;
  if (sa.empty() || sb.empty()) return Wrong("operands", "a scalar", "rank 1 or more");
  const bool vector_a = sa.size() == 1, vector_b = sb.size() == 1;
  if (vector_a) sa.insert(sa.begin(), 1);
  if (vector_b) sb.push_back(1);
  KILN_ASSIGN_OR_RETURN(a, c.Reshape(a, sa));
  KILN_ASSIGN_OR_RETURN(b, c.Reshape(b, sb));
  if (sa.back() != sb[sb.size() - 2]) {
    return Wrong("operands", ShapeToString(sa) + " and " + ShapeToString(sb),
                 "inner extents that agree");
  }
  ValueId y;
  if (sb.size() == 2) {
    // A single matrix is the second factor of all batches.
    KILN_ASSIGN_OR_RETURN(b, Transposed(c, b));
    KILN_ASSIGN_OR_RETURN(y, make("nn.dense", a, b, {{"units", sb[1]}}));
  } else {
    const size_t rank = std::max(sa.size(), sb.size());
    while (sa.size() < rank) sa.insert(sa.begin(), 1);
    while (sb.size() < rank) sb.insert(sb.begin(), 1);
    KILN_ASSIGN_OR_RETURN(a, c.Reshape(a, sa));
    KILN_ASSIGN_OR_RETURN(b, c.Reshape(b, sb));
    KILN_ASSIGN_OR_RETURN(y, make("nn.batch_matmul", a, b, {{"transpose_b", false}}));
  }
  Shape out = c.type(y).shape;
  if (vector_a) out.erase(out.end() - 2);
  if (vector_b) out.pop_back();
  return c.Reshape(y, out);
}

namespace {

absl::Status MatMul(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId a, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId b, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const std::optional<ValueId> of_groups, ProductOfGroupedHeads(c, a, b));
  if (of_groups.has_value()) return c.Output(0, Item(*of_groups));
  return c.Output(
      0, MatrixProduct(c, a, b, [&](absl::string_view op, ValueId x, ValueId y, Attrs attrs) {
        return c.Op(op, {x, y}, std::move(attrs));
      }));
}

// Up to opset 12, softmax is taken over all dimensions from `axis` on, flattened. From opset 13 on,
// it is taken over one dimension.
absl::Status SoftmaxOf(Converter& c, absl::string_view relay) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const Shape shape = c.type(x).shape;
  // The attribute `opset` of QLinearSoftmax selects the version of ONNX's operator.
  const bool joins_axes = c.Int("opset", c.opset()) < 13;
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", joins_axes ? 1 : -1),
                                                       std::max(c.type(x).rank(), 1)));
  ValueId y = x;
  if (joins_axes && axis + 1 < static_cast<int64_t>(shape.size()) &&
      NumElements({shape.data() + axis + 1, shape.size() - static_cast<size_t>(axis) - 1}) != 1) {
    const int64_t outer = NumElements({shape.data(), static_cast<size_t>(axis)});
    const int64_t inner =
        NumElements({shape.data() + axis, shape.size() - static_cast<size_t>(axis)});
    KILN_ASSIGN_OR_RETURN(y, c.Reshape(y, {outer, inner}));
    KILN_ASSIGN_OR_RETURN(y, c.Op(relay, {y}, {{"axis", 1}}));
    KILN_ASSIGN_OR_RETURN(y, c.Reshape(y, shape));
  } else {
    KILN_ASSIGN_OR_RETURN(y, c.Op(relay, {y}, {{"axis", axis}}));
  }
  return c.Output(0, y);
}

absl::Status Softmax(Converter& c) { return SoftmaxOf(c, "nn.softmax"); }
absl::Status LogSoftmax(Converter& c) { return SoftmaxOf(c, "nn.log_softmax"); }

absl::Status DepthToSpace(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0,
                  c.Op("nn.depth_to_space", {x},
                       {{"block_size", c.Int("blocksize", 1)}, {"mode", c.String("mode", "DCR")}}));
}

absl::Status SpaceToDepth(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, c.Op("nn.space_to_depth", {x}, {{"block_size", c.Int("blocksize", 1)}}));
}

constexpr OnnxOperator kNeuralRows[] = {
    {"DepthToSpace", DepthToSpace}, {"Gemm", Gemm},
    {"LogSoftmax", LogSoftmax},     {"MatMul", MatMul},
    {"Softmax", Softmax},           {"SpaceToDepth", SpaceToDepth},
};

}  // namespace

absl::Span<const OnnxOperator> NeuralOperators() { return kNeuralRows; }

}  // namespace kiln::onnx_frontend
