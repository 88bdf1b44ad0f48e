// SPDX-License-Identifier: Apache-2.0
// Elements at indices, and indices of elements.
#include <algorithm>
#include <functional>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/converter.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using tflite_schema::BuiltinOperator;

absl::Status Gather(Converter& c) {
  const auto& options = c.Options<schema::GatherOptions>();
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId indices, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(options.axis(), c.type(x).rank()));
  int64_t batch = options.batch_dims();
  if (batch < 0) batch += c.type(indices).rank();
  return c.Output(0, c.Op("take", {x, indices}, {{"axis", axis}, {"batch_dims", batch}}));
}

// Returns rows of input 1 at the indices in input 0.
absl::Status EmbeddingLookup(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId indices, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId table, c.Input(1));
  return c.Output(0, c.Op("take", {table, indices}, {{"axis", 0}}));
}

// The last dimension of the indices in TFLite is the first one in Relay.
absl::Status GatherNd(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(ValueId indices, c.Input(1));
  const int rank = c.type(indices).rank();
  if (rank == 0) return Wrong("indices", c.type(indices).ToString(), "rank 1 or more");
  if (rank > 1) {
    std::vector<int64_t> axes(static_cast<size_t>(rank));
    std::iota(axes.begin() + 1, axes.end(), 0);
    axes[0] = rank - 1;
    KILN_ASSIGN_OR_RETURN(indices, c.Transpose(indices, axes));
  }
  return c.Output(0, c.Op("gather_nd", {x, indices}));
}

// Returns input 0 with a part replaced by input 1. The part begins at the indices in input 2. A
// part beyond the end is moved back.
absl::Status DynamicUpdateSlice(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId update, c.Input(1));
  KILN_ASSIGN_OR_RETURN(const ValueId start, c.Input(2));
  const Shape data = c.type(x).shape, part = c.type(update).shape;
  if (part.size() != data.size() ||
      !std::equal(part.begin(), part.end(), data.begin(), std::less_equal<>())) {
    return Wrong("update", ShapeToString(part),
                 absl::StrCat("no larger than ", ShapeToString(data)));
  }
  if (c.type(start).shape != Shape{static_cast<int64_t>(data.size())}) {
    return Wrong("start indices", c.type(start).ToString(),
                 absl::StrCat("one for each of ", data.size(), " dimensions"));
  }
  // Trailing dimensions that are replaced completely need no index.
  size_t depth = data.size();
  while (depth > 0 && part[depth - 1] == data[depth - 1]) --depth;
  const Shape places_shape(part.begin(), part.begin() + static_cast<std::ptrdiff_t>(depth));
  if (depth == 0 || NumElements(part) == 0) {
    return c.Output(0, depth == 0 ? update : x);
  }
  std::vector<int64_t> last(depth), offsets;
  const Shape strides = RowMajorStrides(places_shape);
  for (size_t d = 0; d < depth; ++d) {
    last[d] = data[d] - part[d];
    for (int64_t i = 0; i < NumElements(places_shape); ++i) {
      offsets.push_back(i / strides[d] % part[d]);
    }
  }
  const DType dtype = c.type(start).dtype;
  const auto count = static_cast<int64_t>(depth);
  Shape first_shape(depth + 1, 1), offsets_shape = places_shape;
  first_shape[0] = count;
  offsets_shape.insert(offsets_shape.begin(), count);
  KILN_ASSIGN_OR_RETURN(const ValueId offset, c.Reshape(c.Ints(offsets, dtype), offsets_shape));
  KILN_ASSIGN_OR_RETURN(ValueId first,
                        c.Op("strided_slice", {start},
                             {{"begin", AttrValue::Ints({0})}, {"end", AttrValue::Ints({count})}}));
  KILN_ASSIGN_OR_RETURN(first, c.Op("maximum", {first, c.Scalar(start, 0)}));
  KILN_ASSIGN_OR_RETURN(first, c.Op("minimum", {first, c.Ints(last, dtype)}));
  KILN_ASSIGN_OR_RETURN(first, c.Reshape(first, first_shape));
  KILN_ASSIGN_OR_RETURN(const ValueId places, c.Op("add", {first, offset}));
  return c.Output(0, c.Op("scatter_nd", {x, places, update}, {{"mode", "update"}}));
}

// Returns the indices of true elements in row-major order. Their number must be known.
absl::Status Where(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const Tensor condition, c.ConstantInput(0, "the condition"));
  const Shape& shape = condition.type().shape;
  const Shape strides = RowMajorStrides(shape);
  std::vector<int64_t> places;
  int64_t count = 0;
  for (int64_t i = 0; i < condition.type().num_elements(); ++i) {
    if (condition.AsDouble(i) == 0) continue;
    ++count;
    for (size_t d = 0; d < shape.size(); ++d) places.push_back(i / strides[d] % shape[d]);
  }
  return c.Output(0, c.Constant(Tensor::From<int64_t>({count, static_cast<int64_t>(shape.size())},
                                                      DType::Int(64), places)));
}

absl::Status OneHot(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId indices, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const int64_t depth, c.IntInput(1, "the depth"));
  KILN_ASSIGN_OR_RETURN(const ValueId on, c.Input(2));
  KILN_ASSIGN_OR_RETURN(const ValueId off, c.Input(3));
  return c.Output(0, c.Op("one_hot", {indices, on, off},
                          {{"depth", depth},
                           {"axis", c.Options<schema::OneHotOptions>().axis()},
                           {"dtype", c.type(on).dtype.ToString()}}));
}

absl::Status Range(Converter& c) {
  std::vector<ValueId> bounds;
  for (int i = 0; i < 3; ++i) {
    KILN_RETURN_IF_ERROR(c.ConstantInput(i, "a bound").status());
    KILN_ASSIGN_OR_RETURN(bounds.emplace_back(), c.Input(i));
  }
  const std::string dtype = c.type(bounds[0]).dtype.ToString();
  return c.Output(0, c.Op("arange", bounds, {{"dtype", dtype}}));
}

constexpr TfliteOperator kIndexRows[] = {
    {BuiltinOperator::DYNAMIC_UPDATE_SLICE, DynamicUpdateSlice, nullptr, Quantised::kMoves},
    {BuiltinOperator::EMBEDDING_LOOKUP, EmbeddingLookup, nullptr, Quantised::kOneScale},
    {BuiltinOperator::GATHER, Gather, nullptr, Quantised::kMoves},
    {BuiltinOperator::GATHER_ND, GatherNd, nullptr, Quantised::kMoves},
    {BuiltinOperator::ONE_HOT, OneHot, nullptr, Quantised::kOneScale},
    {BuiltinOperator::RANGE, Range},
    {BuiltinOperator::WHERE, Where},
};

}  // namespace

absl::Span<const TfliteOperator> IndexOperators() { return kIndexRows; }

}  // namespace kiln::tflite_frontend
