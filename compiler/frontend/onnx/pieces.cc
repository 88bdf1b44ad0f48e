// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/pieces.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"

namespace kiln::onnx_frontend {
namespace {

// Up to this number of parts, the functions that compute the parts write them into the result.
constexpr size_t kFewParts = 2;

}  // namespace

absl::StatusOr<ValueId> PieceAt(Converter& c, ValueId x, int64_t axis, int64_t index) {
  if (c.type(x).shape[static_cast<size_t>(axis)] == 1) {
    Shape shape = c.type(x).shape;
    shape.erase(shape.begin() + axis);
    return c.Reshape(x, shape);
  }
  const ValueId at = c.Constant(Tensor::From<int64_t>({}, DType::Int(64), {index}));
  return c.Op("take", {x, at}, {{"axis", axis}});
}

absl::StatusOr<std::vector<ValueId>> AllPieces(Converter& c, ValueId x, int64_t axis) {
  Shape shape = c.type(x).shape;
  const int64_t count = shape[static_cast<size_t>(axis)];
  shape.erase(shape.begin() + axis);
  std::vector<ValueId> pieces = {x};
  if (count > 1) {
    KILN_ASSIGN_OR_RETURN(
        pieces, c.TupleOp("split", {x}, {{"indices_or_sections", count}, {"axis", axis}}));
  }
  for (ValueId& piece : pieces) {
    KILN_ASSIGN_OR_RETURN(piece, c.Reshape(piece, shape));
  }
  return pieces;
}

absl::StatusOr<ValueId> Piece(Converter& c, ValueId x, int64_t axis, int64_t begin, int64_t end) {
  if (begin == 0 && end == c.type(x).shape[static_cast<size_t>(axis)]) return x;
  return c.Op("strided_slice", {x},
              {{"begin", AttrValue::Ints({begin})},
               {"end", AttrValue::Ints({end})},
               {"axes", AttrValue::Ints({axis})}});
}

absl::StatusOr<ValueId> Joined(Converter& c, const std::vector<ValueId>& values, int64_t axis) {
  std::vector<ValueId> parts;
  for (ValueId value : values) {
    const Shape& shape = c.type(value).shape;
    const bool is_empty =
        axis < static_cast<int64_t>(shape.size()) && shape[static_cast<size_t>(axis)] == 0;
    if (!is_empty) parts.push_back(value);
  }
  if (parts.empty()) return values.front();
  if (parts.size() == 1) return parts.front();
  return c.Op("concatenate", parts, {{"axis", axis}});
}

absl::StatusOr<ValueId> Stacked(Converter& c, const std::vector<ValueId>& values, int64_t axis) {
  const TensorType type = c.type(values.front());
  Shape shape = type.shape;
  shape.insert(shape.begin() + axis, 1);
  for (ValueId value : values) {
    if (c.type(value) != type) {
      return Wrong("tensors that are stacked",
                   absl::StrCat(type.ToString(), " and ", c.type(value).ToString()), "one type");
    }
  }
  if (values.size() > kFewParts) return c.Op("stack", values, {{"axis", axis}});
  std::vector<ValueId> parts;
  for (ValueId value : values) {
    KILN_ASSIGN_OR_RETURN(parts.emplace_back(), c.Reshape(value, shape));
  }
  return parts.size() == 1 ? parts.front() : c.Op("concatenate", parts, {{"axis", axis}});
}

absl::StatusOr<ValueId> Permuted(Converter& c, ValueId x, const std::vector<int64_t>& axes) {
  const Shape from = c.type(x).shape;
  Shape to;
  std::vector<int64_t> moved;  // axes whose extent is not 1
  for (int64_t axis : axes) {
    to.push_back(from[static_cast<size_t>(axis)]);
    if (to.back() != 1) moved.push_back(axis);
  }
  if (std::is_sorted(moved.begin(), moved.end())) return c.Reshape(x, to);
  return c.Op("transpose", {x}, {{"axes", AttrValue::Ints(axes)}});
}

absl::StatusOr<bool> AsBool(const Tensor& tensor, absl::string_view what) {
  if (tensor.type().num_elements() != 1) return Wrong(what, tensor.type().ToString(), "one bool");
  return tensor.AsDouble(0) != 0;
}

absl::StatusOr<int64_t> AsInt(const Tensor& tensor, absl::string_view what) {
  if (tensor.type().num_elements() != 1) {
    return Wrong(what, tensor.type().ToString(), "one integer");
  }
  return tensor.AsInt(0);
}

absl::StatusOr<Tensor> AsScalar(const Tensor& tensor, absl::string_view what) {
  if (tensor.type().num_elements() != 1) {
    return Wrong(what, tensor.type().ToString(), "one element");
  }
  return Tensor({{}, tensor.type().dtype}, tensor.bytes());
}

}  // namespace kiln::onnx_frontend
