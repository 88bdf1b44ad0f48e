// SPDX-License-Identifier: Apache-2.0
// Attention and RotaryEmbedding, which were added in operator set 23.
#include "compiler/frontend/onnx/transformer.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/pieces.h"

namespace kiln::onnx_frontend {
namespace {

// The value of a masked score. Its exponential is 0.
constexpr double kMasked = -1e30;

enum { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kLengths };

// Returns input i as (batch, heads, positions, width). If it has rank 3, an attribute is the number
// of heads in its last dimension.
absl::StatusOr<ValueId> HeadsOf(Converter& c, int i, absl::string_view attribute) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(i));
  const Shape shape = c.type(x).shape;
  if (shape.size() == 4) return x;
  const int64_t heads = c.Int(attribute, 0);
  if (heads < 1 || heads > kMaxHeads || shape.size() != 3 || shape[2] % heads != 0) {
    return Wrong(
        absl::StrCat("input '", c.node().input(i), "'"), c.type(x).ToString(),
        absl::StrCat("(batch, positions, a multiple of ", attribute, " = ", heads, "), or rank 4"));
  }
  KILN_ASSIGN_OR_RETURN(const ValueId split,
                        c.Reshape(x, {shape[0], shape[1], heads, shape[2] / heads}));
  return Permuted(c, split, {0, 2, 1, 3});
}

// Returns the past keys or values followed by those of the node.
absl::StatusOr<ValueId> WithPast(Converter& c, int i, int past_input) {
  KILN_ASSIGN_OR_RETURN(const ValueId own, HeadsOf(c, i, "kv_num_heads"));
  if (!c.HasInput(past_input)) return own;
  KILN_ASSIGN_OR_RETURN(const ValueId past, c.Input(past_input));
  Shape wanted = c.type(own).shape;
  const Shape& before = c.type(past).shape;
  if (before.size() == 4) wanted[2] = before[2];
  if (before != wanted) return Wrong("the past", c.type(past).ToString(), ShapeToString(wanted));
  return Joined(c, {past, own}, 2);
}

// Repeats each head for the number of query heads that share it.
absl::StatusOr<ValueId> ForEachQuery(Converter& c, ValueId x, int64_t heads) {
  const int64_t own = c.type(x).shape[1];
  if (own < 1 || heads % own != 0) {
    return Wrong("heads", absl::StrCat(heads, " of queries, ", own, " of keys and values"),
                 "a multiple");
  }
  if (own == heads) return x;
  return c.Op("repeat", {x}, {{"repeats", heads / own}, {"axis", 1}});
}

// Returns bools (1, 1, rows, columns): each position sees itself and earlier ones.
ValueId CausalMask(Converter& c, int64_t rows, int64_t columns, int64_t past) {
  std::vector<uint8_t> visible;
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t t = 0; t < columns; ++t) visible.push_back(t <= past + row);
  }
  return c.Constant(Tensor::From<uint8_t>({1, 1, rows, columns}, DType::Bool(), visible));
}

// Applies the mask to the scores. Bools are true for visible positions. Numbers are added.
absl::StatusOr<ValueId> Masked(Converter& c, ValueId scores, int64_t past) {
  Formula f(c);
  const Shape shape = c.type(scores).shape;
  const ValueId masked = f.Number(kMasked, scores);
  if (c.HasInput(kMask)) {
    const ValueId mask = f.Input(kMask);
    if (!f.ok()) return f.status();
    const Shape& given = c.type(mask).shape;
    if (given.empty() || given.back() != shape[3]) {
      return Wrong("the mask", c.type(mask).ToString(),
                   absl::StrCat("a last dimension of ", shape[3], ", the positions of keys"));
    }
    scores = c.type(mask).dtype.is_bool() ? f("where", {mask, scores, masked})
                                          : f("add", {scores, mask});
  }
  if (c.Int("is_causal", 0) != 0) {
    scores = f("where", {CausalMask(c, shape[2], shape[3], past), scores, masked});
  }
  if (!f.ok()) return f.status();
  return scores;
}

absl::Status CheckAttention(const Converter& c) {
  if (c.HasInput(kLengths)) return absl::UnimplementedError("the input nonpad_kv_seqlen");
  if (c.Int("left_window_size", -1) >= 0 || c.Int("right_window_size", -1) >= 0) {
    return absl::UnimplementedError("windows of positions");
  }
  if (c.WantsOutput(3)) return absl::UnimplementedError("the output qk_matmul_output");
  return absl::OkStatus();
}

// softmax(q kᵀ * scale, masked) v
absl::Status Attention(Converter& c) {
  KILN_RETURN_IF_ERROR(CheckAttention(c));
  KILN_ASSIGN_OR_RETURN(const ValueId q, HeadsOf(c, kQuery, "q_num_heads"));
  KILN_ASSIGN_OR_RETURN(ValueId k, WithPast(c, kKey, kPastKey));
  KILN_ASSIGN_OR_RETURN(ValueId v, WithPast(c, kValue, kPastValue));
  c.SetOutput(1, k);
  c.SetOutput(2, v);
  const Shape shape = c.type(q).shape;
  KILN_ASSIGN_OR_RETURN(k, ForEachQuery(c, k, shape[1]));
  KILN_ASSIGN_OR_RETURN(v, ForEachQuery(c, v, shape[1]));
  const Shape keys = c.type(k).shape, values = c.type(v).shape;
  if (keys[0] != shape[0] || values[0] != shape[0] || keys[2] != values[2] || keys[3] != shape[3]) {
    return Wrong("key and value", c.type(k).ToString() + " and " + c.type(v).ToString(),
                 "the batch of the query, as many positions, and keys as wide as queries");
  }
  Formula f(c);
  const auto flat = [&](ValueId x, const Shape& s) {
    return f.Reshape(x, {s[0] * s[1], s[2], s[3]});
  };
  const double scale = c.Float("scale", 1 / std::sqrt(static_cast<double>(shape[3])));
  ValueId scores = f("nn.batch_matmul", {flat(q, shape), flat(k, keys)}, {{"transpose_b", true}});
  scores = f("multiply", {scores, f.Number(scale, q)});
  if (const double cap = c.Float("softcap", 0); cap > 0) {
    scores = f("tanh", {f("divide", {scores, f.Number(cap, q)})});
    scores = f("multiply", {scores, f.Number(cap, q)});
  }
  scores = f.Reshape(scores, {shape[0], shape[1], shape[2], keys[2]});
  if (!f.ok()) return f.status();
  KILN_ASSIGN_OR_RETURN(const ValueId own_keys, c.Input(kKey));
  const Shape& own = c.type(own_keys).shape;
  KILN_ASSIGN_OR_RETURN(scores, Masked(c, scores, keys[2] - own[own.size() == 4 ? 2 : 1]));
  scores = f("nn.softmax", {scores}, {{"axis", -1}});
  scores = f.Reshape(scores, {shape[0] * shape[1], shape[2], keys[2]});
  ValueId y = f("nn.batch_matmul", {scores, flat(v, values)}, {{"transpose_b", false}});
  y = f.Reshape(y, {shape[0], shape[1], shape[2], values[3]});
  if (!f.ok()) return f.status();
  KILN_ASSIGN_OR_RETURN(const ValueId query, c.Input(kQuery));
  if (c.type(query).rank() == 3) {
    KILN_ASSIGN_OR_RETURN(y, Permuted(c, y, {0, 2, 1, 3}));
    y = f.Reshape(y, {shape[0], shape[2], shape[1] * values[3]});
  }
  return f.Output(0, y);
}

// Returns the cosines or sines of the positions, (batch or 1, 1, positions, angles).
absl::StatusOr<ValueId> Angles(Converter& c, int i, int64_t positions, int64_t angles) {
  KILN_ASSIGN_OR_RETURN(ValueId table, c.Input(i));
  if (c.HasInput(3)) {
    KILN_ASSIGN_OR_RETURN(const ValueId ids, c.Input(3));
    KILN_ASSIGN_OR_RETURN(table, c.Op("take", {table, ids}, {{"axis", 0}}));
  }
  const Shape shape = c.type(table).shape;
  if (shape.size() != 3 || shape[1] != positions || shape[2] != angles) {
    return Wrong("the cosines and sines", c.type(table).ToString(),
                 absl::StrCat("(batch, ", positions, ", ", angles, ")"));
  }
  return c.Reshape(table, {shape[0], 1, positions, angles});
}

// Rotates pairs of elements of each position by its angles.
absl::Status RotaryEmbedding(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, HeadsOf(c, 0, "num_heads"));
  const Shape shape = c.type(x).shape;
  const int64_t given = c.Int("rotary_embedding_dim", 0), width = given > 0 ? given : shape[3];
  if (width > shape[3] || width % 2 != 0) {
    return Wrong("rotary_embedding_dim", absl::StrCat(width),
                 absl::StrCat("an even number up to ", shape[3]));
  }
  KILN_ASSIGN_OR_RETURN(const ValueId cosines, Angles(c, 1, shape[2], width / 2));
  KILN_ASSIGN_OR_RETURN(const ValueId sines, Angles(c, 2, shape[2], width / 2));
  const bool interleaved = c.Int("interleaved", 0) != 0;
  KILN_ASSIGN_OR_RETURN(const ValueId turned, Piece(c, x, 3, 0, width));
  Formula f(c);
  // The two elements of a pair are indexed by a separate axis.
  const Shape pairs = interleaved ? Shape{shape[0], shape[1], shape[2], width / 2, 2}
                                  : Shape{shape[0], shape[1], shape[2], 2, width / 2};
  const ValueId split = f.Reshape(turned, pairs);
  if (!f.ok()) return f.status();
  const int64_t axis = interleaved ? 4 : 3;
  KILN_ASSIGN_OR_RETURN(const ValueId a, PieceAt(c, split, axis, 0));
  KILN_ASSIGN_OR_RETURN(const ValueId b, PieceAt(c, split, axis, 1));
  const auto times = [&](ValueId p, ValueId q) { return f("multiply", {p, q}); };
  const ValueId real = f("subtract", {times(a, cosines), times(b, sines)});
  const ValueId imaginary = f("add", {times(a, sines), times(b, cosines)});
  if (!f.ok()) return f.status();
  KILN_ASSIGN_OR_RETURN(ValueId y, Stacked(c, {real, imaginary}, axis));
  y = f.Reshape(y, {shape[0], shape[1], shape[2], width});
  if (width < shape[3]) {
    KILN_ASSIGN_OR_RETURN(const ValueId rest, Piece(c, x, 3, width, shape[3]));
    KILN_ASSIGN_OR_RETURN(y, Joined(c, {y, rest}, 3));
  }
  KILN_ASSIGN_OR_RETURN(const ValueId input, c.Input(0));
  if (c.type(input).rank() == 3) {
    KILN_ASSIGN_OR_RETURN(y, Permuted(c, y, {0, 2, 1, 3}));
    y = f.Reshape(y, c.type(input).shape);
  }
  return f.Output(0, y);
}

constexpr OnnxOperator kTransformerRows[] = {
    Composite("Attention", Attention),
    Composite("RotaryEmbedding", RotaryEmbedding),
};

}  // namespace

absl::Span<const OnnxOperator> TransformerOperators() { return kTransformerRows; }

}  // namespace kiln::onnx_frontend
