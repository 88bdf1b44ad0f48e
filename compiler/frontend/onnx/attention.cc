// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/attention.h"

#include <cmath>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/common/functions.h"
#include "compiler/frontend/onnx/pieces.h"
#include "compiler/frontend/onnx/products.h"
#include "compiler/frontend/onnx/quantized.h"

namespace kiln::onnx_frontend {
namespace {

// Value added to the score of a masked position if the node does not give one.
constexpr double kMaskFilterValue = -10000;
// Index of an input that an operator does not have.
constexpr int kNoInput = -1;

// Sizes: batch, new positions, all positions (past ones included), heads.
struct Sizes {
  int64_t batch, rows, columns, heads;
};

// Indices of the node's inputs.
struct MaskInputs {
  int mask, bias;
};

// Converts (B, S, N * h) to (B, N, S, h).
absl::StatusOr<ValueId> Heads(Converter& c, ValueId x, int64_t heads) {
  const Shape shape = c.type(x).shape;
  KILN_ASSIGN_OR_RETURN(x, c.Reshape(x, {shape[0], shape[1], heads, shape[2] / heads}));
  return Permuted(c, x, {0, 2, 1, 3});
}

// Returns bools that broadcast to (B, N, S, T): true if the mask leaves a score visible. kNoId
// without a mask.
absl::StatusOr<ValueId> Visible(Converter& c, const Sizes& n, int input) {
  if (!c.HasInput(input)) return kNoId;
  KILN_ASSIGN_OR_RETURN(ValueId mask, c.Input(input));
  const TensorType type = c.type(mask);
  const ValueId zero = c.Constant(Tensor::Scalar(type.dtype, 0));
  if (type.shape == Shape{n.batch}) {
    // The mask contains the number of visible columns for each row of the batch.
    std::vector<int64_t> positions;
    for (int64_t t = 0; t < n.columns; ++t) positions.push_back(t);
    ValueId columns =
        c.Constant(Tensor::From<int64_t>({1, 1, 1, n.columns}, DType::Int(64), positions));
    KILN_ASSIGN_OR_RETURN(columns, c.Op("cast", {columns}, {{"dtype", type.dtype.ToString()}}));
    KILN_ASSIGN_OR_RETURN(mask, c.Reshape(mask, {n.batch, 1, 1, 1}));
    return c.Op("less", {columns, mask});
  }
  if (type.shape == Shape{n.batch, n.columns}) {
    KILN_ASSIGN_OR_RETURN(mask, c.Reshape(mask, {n.batch, 1, 1, n.columns}));
  } else if (type.shape == Shape{n.batch, n.rows, n.columns}) {
    KILN_ASSIGN_OR_RETURN(mask, c.Reshape(mask, {n.batch, 1, n.rows, n.columns}));
  } else {
    return absl::UnimplementedError(absl::StrCat(
        "the mask: found ", type.ToString(), ", wanted the shape ", ShapeToString({n.batch}), ", ",
        ShapeToString({n.batch, n.columns}), " or ", ShapeToString({n.batch, n.rows, n.columns})));
  }
  return c.Op("greater", {mask, zero});
}

// Returns bools (1, 1, S, T): each position sees itself and earlier ones.
ValueId Causal(Converter& c, const Sizes& n) {
  std::vector<uint8_t> visible;
  for (int64_t row = 0; row < n.rows; ++row) {
    for (int64_t t = 0; t < n.columns; ++t) visible.push_back(t <= n.columns - n.rows + row);
  }
  return c.Constant(Tensor::From<uint8_t>({1, 1, n.rows, n.columns}, DType::Bool(), visible));
}

// Returns softmax(q kᵀ / sqrt(h), masked) v. The inputs have the shape (B, N, …, h), the result (B,
// N, S, h). The dtype is float32 or float64.
absl::StatusOr<ValueId> ScaledDotProducts(Converter& c, const Sizes& n, const MaskInputs& inputs,
                                          ValueId q, ValueId k, ValueId v) {
  const DType dtype = c.type(q).dtype;
  const int64_t head = c.type(q).shape[3];
  const double given = c.Float("scale", 0);
  const double scale = given != 0 ? given : 1 / std::sqrt(static_cast<double>(head));
  KILN_ASSIGN_OR_RETURN(ValueId scores, c.Op("nn.batch_matmul", {q, k}, {{"transpose_b", true}}));
  KILN_ASSIGN_OR_RETURN(scores,
                        c.Op("multiply", {scores, c.Constant(Tensor::Scalar(dtype, scale))}));
  if (c.HasInput(inputs.bias)) {
    KILN_ASSIGN_OR_RETURN(ValueId bias, c.Input(inputs.bias));
    KILN_ASSIGN_OR_RETURN(bias, c.Cast(bias, dtype));
    KILN_ASSIGN_OR_RETURN(scores, c.Op("add", {scores, bias}));
  }
  const ValueId masked =
      c.Constant(Tensor::Scalar(dtype, c.Float("mask_filter_value", kMaskFilterValue)));
  KILN_ASSIGN_OR_RETURN(const ValueId visible, Visible(c, n, inputs.mask));
  if (visible != kNoId) {
    const ValueId zero = c.Constant(Tensor::Scalar(dtype, 0));
    KILN_ASSIGN_OR_RETURN(const ValueId term, c.Op("where", {visible, zero, masked}));
    KILN_ASSIGN_OR_RETURN(scores, c.Op("add", {scores, term}));
  }
  if (c.Int("unidirectional", 0) != 0 && n.rows > 1) {
    KILN_ASSIGN_OR_RETURN(scores, c.Op("where", {Causal(c, n), scores, masked}));
  }
  KILN_ASSIGN_OR_RETURN(scores, c.Op("nn.softmax", {scores}, {{"axis", -1}}));
  return c.Op("nn.batch_matmul", {scores, v}, {{"transpose_b", false}});
}

// Returns the widths of q, k and v, each a multiple of the number of heads.
absl::StatusOr<std::vector<int64_t>> Widths(const Converter& c, int64_t columns, int64_t heads) {
  std::vector<int64_t> widths = c.Ints("qkv_hidden_sizes");
  if (widths.empty()) widths.assign(3, columns / 3);
  int64_t sum = 0;
  for (int64_t width : widths) {
    if (width < 1 || width > columns || width % heads != 0) {
      return Wrong("width of q, k or v", absl::StrCat(width),
                   absl::StrCat("a multiple of num_heads, ", heads));
    }
    sum += width;
  }
  if (widths.size() == 3 && sum == columns && widths[0] == widths[1]) return widths;
  return Wrong("qkv_hidden_sizes", AttrValue::Ints(widths).ToString(),
               absl::StrCat("3 widths that add up to ", columns, ", those of q and k alike"));
}

// Returns input i as (B, N, positions, h), plus its part of the bias, which starts at `begin`. An
// input that already has this form is returned as it is.
absl::StatusOr<ValueId> HeadsOfInput(Converter& c, int i, const Sizes& n, int64_t begin) {
  KILN_ASSIGN_OR_RETURN(ValueId x, c.Input(i));
  const Shape shape = c.type(x).shape;
  const bool fits = shape.size() == 3
                        ? shape[0] == n.batch && shape[2] >= 1 && shape[2] % n.heads == 0
                        : shape.size() == 4 && i > 0 && shape[0] == n.batch && shape[1] == n.heads;
  if (!fits) {
    return Wrong(i == 0   ? "query"
                 : i == 1 ? "key"
                          : "value",
                 c.type(x).ToString(),
                 absl::StrCat("(", n.batch, ", positions, a multiple of ", n.heads, ")"));
  }
  if (shape.size() == 4) return x;
  if (c.HasInput(3)) {
    KILN_ASSIGN_OR_RETURN(ValueId bias, c.Input(3));
    const TensorType type = c.type(bias);
    if (type.rank() != 1 || type.shape[0] < begin + shape[2]) {
      return Wrong("bias", type.ToString(), absl::StrCat(begin + shape[2], " values or more"));
    }
    KILN_ASSIGN_OR_RETURN(bias, Piece(c, bias, 0, begin, begin + shape[2]));
    KILN_ASSIGN_OR_RETURN(x, c.Op("add", {x, bias}));
  }
  return Heads(c, x, n.heads);
}

}  // namespace

absl::Status MultiHeadAttention(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId query, c.Input(0));
  const Shape shape = c.type(query).shape;
  const int64_t heads = c.Int("num_heads", 0);
  if (heads < 1 || heads > kMaxHeads) return Wrong("num_heads", absl::StrCat(heads), "1 or more");
  if (shape.size() != 3 || !c.HasInput(1) || !c.HasInput(2)) {
    return absl::UnimplementedError("a packed query; query, key and value have rank 3");
  }
  if (c.HasInput(8) || c.HasInput(9)) {
    return absl::UnimplementedError("past_sequence_length and cache_indirection");
  }
  Sizes n = {shape[0], shape[1], 0, heads};
  ValueId parts[3];
  int64_t begin = 0;
  for (int i = 0; i < 3; ++i) {
    KILN_ASSIGN_OR_RETURN(parts[i], HeadsOfInput(c, i, n, begin));
    begin += c.type(parts[i]).shape[3] * heads;
  }
  const bool has_past = c.HasInput(6) && c.HasInput(7);
  for (int i = 1; has_past && i < 3; ++i) {
    KILN_ASSIGN_OR_RETURN(const ValueId past, c.Input(5 + i));
    Shape before = c.type(past).shape, own = c.type(parts[i]).shape;
    if (before.size() == 4) own[2] = before[2];
    if (before != own) return Wrong("past", c.type(past).ToString(), ShapeToString(own));
    // A past without positions contributes nothing.
    if (before[2] == 0) continue;
    KILN_ASSIGN_OR_RETURN(parts[i], Joined(c, {past, parts[i]}, 2));
  }
  n.columns = c.type(parts[1]).shape[2];
  const Shape values = c.type(parts[2]).shape;
  if (values[2] != n.columns || c.type(parts[0]).shape[3] != c.type(parts[1]).shape[3]) {
    return Wrong("key and value",
                 c.type(parts[1]).ToString() + " and " + c.type(parts[2]).ToString(),
                 "as many positions, and keys as wide as queries");
  }
  KILN_ASSIGN_OR_RETURN(
      ValueId y, ScaledDotProducts(c, n, {.mask = 4, .bias = 5}, parts[0], parts[1], parts[2]));
  KILN_ASSIGN_OR_RETURN(y, Permuted(c, y, {0, 2, 1, 3}));
  KILN_ASSIGN_OR_RETURN(y, c.Reshape(y, {n.batch, n.rows, heads * values[3]}));
  c.SetOutput(0, y);
  c.SetOutput(1, parts[1]);
  c.SetOutput(2, parts[2]);
  return absl::OkStatus();
}

namespace {

// Indices of the node's inputs.
struct SelfAttentionInputs {
  int mask, past;
  int bias = kNoInput, past_length = kNoInput;
};

// Attention of x (B, S, D) to itself. The product of x and one weight contains q, k and v side by
// side.
absl::Status SelfAttention(Converter& c, ValueId x, ValueId weight,
                           const SelfAttentionInputs& inputs) {
  const Shape shape = c.type(x).shape, weights = c.type(weight).shape;
  const int64_t heads = c.Int("num_heads", 0);
  if (shape.size() != 3 || weights.size() != 2) {
    return Wrong("input and weights", c.type(x).ToString() + " and " + c.type(weight).ToString(),
                 "rank 3 and rank 2");
  }
  if (heads < 1 || heads > kMaxHeads) return Wrong("num_heads", absl::StrCat(heads), "1 or more");
  if (c.HasInput(inputs.past_length) || c.Int("do_rotary", 0) != 0 ||
      c.Int("past_present_share_buffer", 0) != 0) {
    return absl::UnimplementedError(
        "past_sequence_length, do_rotary and past_present_share_buffer");
  }
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> widths, Widths(c, weights[1], heads));
  const DType given = c.type(x).dtype;
  KILN_ASSIGN_OR_RETURN(
      ValueId qkv,
      MatrixProduct(c, x, weight, [&](absl::string_view op, ValueId a, ValueId b, Attrs attrs) {
        return frontend::WideProduct(c, op, a, b, std::move(attrs));
      }));
  const DType dtype = c.type(qkv).dtype;
  if (c.HasInput(2)) {
    KILN_ASSIGN_OR_RETURN(ValueId bias, c.Input(2));
    KILN_ASSIGN_OR_RETURN(bias, c.Cast(bias, dtype));
    KILN_ASSIGN_OR_RETURN(qkv, c.Op("add", {qkv, bias}));
  }
  ValueId parts[3];
  int64_t begin = 0;
  for (size_t i = 0; i < 3; ++i) {
    KILN_ASSIGN_OR_RETURN(parts[i], Piece(c, qkv, 2, begin, begin + widths[i]));
    KILN_ASSIGN_OR_RETURN(parts[i], Heads(c, parts[i], heads));
    begin += widths[i];
  }
  Sizes n = {shape[0], shape[1], shape[1], heads};
  if (c.HasInput(inputs.past)) {
    KILN_ASSIGN_OR_RETURN(const ValueId past, c.Input(inputs.past));
    const Shape before = c.type(past).shape;
    if (before.size() != 5 || before[0] != 2 || widths[0] != widths[2] ||
        before != Shape{2, n.batch, heads, before[3], widths[0] / heads}) {
      return Wrong("past", c.type(past).ToString(),
                   ShapeToString({2, n.batch, heads, 0, widths[0] / heads}) +
                       " with any extent in the place of 0");
    }
    // A past without positions contributes nothing, and no piece of it can be read.
    for (int64_t i = 0; before[3] > 0 && i < 2; ++i) {
      KILN_ASSIGN_OR_RETURN(ValueId old, PieceAt(c, past, 0, i));
      KILN_ASSIGN_OR_RETURN(old, c.Cast(old, dtype));
      ValueId& part = parts[1 + i];
      KILN_ASSIGN_OR_RETURN(part, Joined(c, {old, part}, 2));
    }
    n.columns += before[3];
  }
  KILN_ASSIGN_OR_RETURN(
      ValueId y, ScaledDotProducts(c, n, {.mask = inputs.mask, .bias = inputs.bias}, parts[0],
                                   parts[1], parts[2]));
  KILN_ASSIGN_OR_RETURN(y, Permuted(c, y, {0, 2, 1, 3}));
  KILN_ASSIGN_OR_RETURN(y, c.Reshape(y, {n.batch, n.rows, widths[2]}));
  KILN_RETURN_IF_ERROR(c.Output(0, c.Cast(y, given)));
  if (!c.WantsOutput(1)) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(const ValueId present, Stacked(c, {parts[1], parts[2]}, 0));
  return c.Output(1, c.Cast(present, given));
}

}  // namespace

absl::Status MicrosoftAttention(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId weight, c.Input(1));
  return SelfAttention(c, x, weight, {.mask = 3, .past = 4, .bias = 5, .past_length = 6});
}

absl::Status QAttention(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, Dequantized(c, {.data = 0, .scale = 3, .zero_point = 6}));
  KILN_ASSIGN_OR_RETURN(const ValueId weight,
                        Dequantized(c, {.data = 1, .scale = 4, .zero_point = 7}));
  return SelfAttention(c, x, weight, {.mask = 5, .past = 8});
}

}  // namespace kiln::onnx_frontend
