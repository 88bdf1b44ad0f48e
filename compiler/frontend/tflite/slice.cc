// SPDX-License-Identifier: Apache-2.0
// Splitting, slicing and joining of tensors.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/converter.h"
#include "compiler/frontend/tflite/quantized.h"
#include "compiler/frontend/tflite/quantized_elementwise.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using tflite_schema::BuiltinOperator;

absl::Status Concatenation(Converter& c) {
  const auto& options = c.Options<schema::ConcatenationOptions>();
  KILN_ASSIGN_OR_RETURN(std::vector<ValueId> inputs, c.Inputs());
  // TFLite requantizes uint8 to the scale of the result. For other types it only moves the numbers.
  for (size_t i = 0; i < inputs.size() && c.type(inputs[i]).dtype == DType::UInt(8); ++i) {
    KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q,
                          InputQuantization(c, static_cast<int>(i)));
    if (!q.has_value()) continue;
    KILN_ASSIGN_OR_RETURN(inputs[i], InNumbersOfOutput(c, static_cast<int>(i)));
  }
  ValueId y = inputs[0];
  if (inputs.size() > 1) {
    KILN_ASSIGN_OR_RETURN(y, c.Op("concatenate", inputs, {{"axis", options.axis()}}));
  }
  return c.Output(0, c.Activated(y, options.fused_activation_function()));
}

absl::Status Pack(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> inputs, c.Inputs());
  return c.Output(0, c.Op("stack", inputs, {{"axis", c.Options<schema::PackOptions>().axis()}}));
}

// Returns parts of these sizes along the axis.
absl::StatusOr<std::vector<ValueId>> Parts(Converter& c, ValueId x, int64_t axis,
                                           const std::vector<int64_t>& sizes) {
  const int64_t extent = c.type(x).shape[static_cast<size_t>(axis)];
  std::vector<int64_t> indices;
  int64_t sum = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] < 0 || sizes[i] > extent - sum) {
      return Wrong("sizes", AttrValue::Ints(sizes).ToString(),
                   absl::StrCat("ones that add up to ", extent));
    }
    if (i > 0) indices.push_back(sum);
    sum += sizes[i];
  }
  if (sum != extent) {
    return Wrong("sizes", AttrValue::Ints(sizes).ToString(),
                 absl::StrCat("ones that add up to ", extent));
  }
  if (sizes.size() == 1) return std::vector<ValueId>{x};
  return c.TupleOp("split", {x},
                   {{"indices_or_sections", AttrValue::Ints(indices)}, {"axis", axis}});
}

absl::Status SetParts(Converter& c, ValueId x, int64_t axis, const std::vector<int64_t>& sizes) {
  KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> parts, Parts(c, x, axis, sizes));
  for (size_t i = 0; i < parts.size(); ++i) c.SetOutput(static_cast<int>(i), parts[i]);
  return absl::OkStatus();
}

absl::Status Split(Converter& c) {
  KILN_ASSIGN_OR_RETURN(int64_t axis, c.IntInput(0, "the axis"));
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(1));
  KILN_ASSIGN_OR_RETURN(axis, NormalAxis(axis, c.type(x).rank()));
  const int64_t extent = c.type(x).shape[static_cast<size_t>(axis)];
  const int64_t n = c.num_outputs();
  if (n == 0 || extent % n != 0) {
    return Wrong("outputs", absl::StrCat(n), absl::StrCat("a divisor of ", extent));
  }
  return SetParts(c, x, axis, std::vector<int64_t>(static_cast<size_t>(n), extent / n));
}

// One size may be -1, for the rest.
absl::Status SplitV(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> sizes, c.IntsInput(1, "the sizes"));
  KILN_ASSIGN_OR_RETURN(int64_t axis, c.IntInput(2, "the axis"));
  KILN_ASSIGN_OR_RETURN(axis, NormalAxis(axis, c.type(x).rank()));
  if (sizes.empty() || sizes.size() != static_cast<size_t>(c.num_outputs())) {
    return Wrong("sizes", absl::StrCat(sizes.size()), absl::StrCat(c.num_outputs(), " of them"));
  }
  int64_t left = c.type(x).shape[static_cast<size_t>(axis)];
  for (int64_t size : sizes) left -= size < 0 ? 0 : std::min(size, kMaxTensorElements);
  for (int64_t& size : sizes) {
    if (size == -1) std::swap(size, left);
  }
  return SetParts(c, x, axis, sizes);
}

absl::Status Unpack(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const int64_t axis,
                        NormalAxis(c.Options<schema::UnpackOptions>().axis(), c.type(x).rank()));
  Shape shape = c.type(x).shape;
  const int64_t extent = shape[static_cast<size_t>(axis)];
  if (extent != c.num_outputs()) {
    return Wrong("outputs", absl::StrCat(c.num_outputs()), absl::StrCat(extent));
  }
  shape.erase(shape.begin() + axis);
  KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> parts,
                        Parts(c, x, axis, std::vector<int64_t>(static_cast<size_t>(extent), 1)));
  for (size_t i = 0; i < parts.size(); ++i) {
    KILN_ASSIGN_OR_RETURN(const ValueId part, c.Reshape(parts[i], shape));
    c.SetOutput(static_cast<int>(i), part);
  }
  return absl::OkStatus();
}

// A size may be -1, for the rest of the dimension.
absl::Status Slice(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> begin, c.IntsInput(1, "the begin"));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> size, c.IntsInput(2, "the size"));
  const Shape shape = c.type(x).shape;
  if (begin.size() != shape.size() || size.size() != shape.size()) {
    return Wrong("begin and size", absl::StrCat(begin.size(), " and ", size.size(), " numbers"),
                 absl::StrCat(shape.size(), " of each"));
  }
  std::vector<int64_t> end;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (begin[d] < 0 || begin[d] > shape[d] || size[d] < -1 || size[d] > shape[d] - begin[d]) {
      return Wrong(absl::StrCat("dimension ", d),
                   absl::StrCat("begin ", begin[d], ", size ", size[d]),
                   absl::StrCat("a part of ", shape[d]));
    }
    end.push_back(size[d] == -1 ? shape[d] : begin[d] + size[d]);
  }
  ValueId y = x;
  if (!shape.empty()) {
    KILN_ASSIGN_OR_RETURN(y,
                          c.Op("strided_slice", {x},
                               {{"begin", AttrValue::Ints(begin)}, {"end", AttrValue::Ints(end)}}));
  }
  return c.Output(0, y);
}

// Processes a slice entry by entry. Each entry applies to one dimension of the data, except the
// ellipsis (all dimensions without another entry) and new axes (none).
class StridedSlicer {
 public:
  StridedSlicer(const schema::StridedSliceOptions& options, Shape shape)
      : options_(options), shape_(std::move(shape)) {}

  absl::Status Add(const std::vector<int64_t>& begin, const std::vector<int64_t>& end,
                   const std::vector<int64_t>& strides) {
    const size_t n = begin.size();
    if (end.size() != n || strides.size() != n || n > kMaxEntries) {
      return Wrong("begin, end and strides",
                   absl::StrCat(n, ", ", end.size(), " and ", strides.size(), " numbers"),
                   "as many of each");
    }
    size_t about_one = 0;  // entries for one dimension
    bool has_ellipsis = false;
    for (size_t i = 0; i < n; ++i) {
      const bool ellipsis = Has(options_.ellipsis_mask(), i);
      if (ellipsis && has_ellipsis) return Wrong("ellipses", "two", "at most one");
      has_ellipsis |= ellipsis;
      if (!ellipsis && !Has(options_.new_axis_mask(), i)) ++about_one;
    }
    if (about_one > shape_.size()) {
      return Wrong("begin", absl::StrCat(about_one, " dimensions"), absl::StrCat(shape_.size()));
    }
    size_t left = shape_.size() - about_one;
    for (size_t i = 0; i < n; ++i) {
      if (Has(options_.ellipsis_mask(), i)) {
        for (; left > 0; --left) AddAll();
      } else if (Has(options_.new_axis_mask(), i)) {
        result_.push_back(kOne);
      } else {
        KILN_RETURN_IF_ERROR(AddEntry(i, begin[i], end[i], strides[i]));
      }
    }
    for (; left > 0; --left) AddAll();
    return absl::OkStatus();
  }

  absl::StatusOr<ValueId> Apply(Converter& c, ValueId x) const {
    ValueId y = x;
    if (!shape_.empty()) {
      KILN_ASSIGN_OR_RETURN(y, c.Op("strided_slice", {x},
                                    {{"begin", AttrValue::Ints(begin_)},
                                     {"end", AttrValue::Ints(end_)},
                                     {"strides", AttrValue::Ints(strides_)}}));
    }
    Shape shape;
    for (int64_t dim : result_) {
      shape.push_back(dim == kOne ? 1 : c.type(y).shape[static_cast<size_t>(dim)]);
    }
    return c.Reshape(y, shape);
  }

 private:
  static constexpr size_t kMaxEntries = 31;  // bits of a mask
  static constexpr int64_t kOne = -1;

  static bool Has(int mask, size_t i) { return ((static_cast<uint32_t>(mask) >> i) & 1) != 0; }

  void AddRange(int64_t begin, int64_t end, int64_t stride) {
    begin_.push_back(begin);
    end_.push_back(end);
    strides_.push_back(stride);
  }

  void AddAll() {
    result_.push_back(static_cast<int64_t>(begin_.size()));
    AddRange(0, shape_[begin_.size()], 1);
  }

  absl::Status AddEntry(size_t i, int64_t begin, int64_t end, int64_t stride) {
    const size_t dim = begin_.size();
    const int64_t extent = shape_[dim];
    if (stride == 0) return Wrong("strides", "0", "another number");
    if (options_.offset()) end += begin;
    const int64_t first = begin < 0 ? begin + extent : begin;
    if (Has(options_.shrink_axis_mask(), i)) {
      if (first < 0 || first >= extent) {
        return Wrong(absl::StrCat("the index of dimension ", dim), absl::StrCat(begin),
                     absl::StrCat(-extent, " to ", extent - 1));
      }
      AddRange(first, first + 1, 1);
      return absl::OkStatus();
    }
    // An end before the data. Like NumPy, strided_slice clamps it.
    const int64_t before = -extent - 1;
    if (Has(options_.begin_mask(), i)) begin = stride > 0 ? 0 : extent;
    if (Has(options_.end_mask(), i)) end = stride > 0 ? extent : before;
    result_.push_back(static_cast<int64_t>(dim));
    AddRange(begin, end, stride);
    return absl::OkStatus();
  }

  const schema::StridedSliceOptions& options_;
  Shape shape_;
  std::vector<int64_t> begin_, end_, strides_;  // one per dimension of the data
  std::vector<int64_t> result_;                 // the remaining dimensions, or kOne
};

absl::Status StridedSlice(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> begin, c.IntsInput(1, "the begin"));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> end, c.IntsInput(2, "the end"));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> strides, c.IntsInput(3, "the strides"));
  for (const auto* list : {&begin, &end, &strides}) {
    for (int64_t value : *list) {
      if (value < -kMaxTensorElements || value > kMaxTensorElements) {
        return Wrong("an index", absl::StrCat(value), "one within the limits of a tensor");
      }
    }
  }
  StridedSlicer slicer(c.Options<schema::StridedSliceOptions>(), c.type(x).shape);
  KILN_RETURN_IF_ERROR(slicer.Add(begin, end, strides));
  return c.Output(0, slicer.Apply(c, x));
}

constexpr TfliteOperator kSliceRows[] = {
    {BuiltinOperator::CONCATENATION, Concatenation, nullptr, Quantised::kMoves},
    {BuiltinOperator::PACK, Pack, nullptr, Quantised::kMoves},
    {BuiltinOperator::SLICE, Slice, nullptr, Quantised::kMoves},
    {BuiltinOperator::SPLIT, Split, nullptr, Quantised::kMoves},
    {BuiltinOperator::SPLIT_V, SplitV, nullptr, Quantised::kMoves},
    {BuiltinOperator::STRIDED_SLICE, StridedSlice, nullptr, Quantised::kMoves},
    {BuiltinOperator::UNPACK, Unpack, nullptr, Quantised::kMoves},
};

}  // namespace

absl::Span<const TfliteOperator> SliceOperators() { return kSliceRows; }

}  // namespace kiln::tflite_frontend
