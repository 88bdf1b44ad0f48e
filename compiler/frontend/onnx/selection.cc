// SPDX-License-Identifier: Apache-2.0
// Operators whose result sizes depend on values. They are evaluated during the import, so their
// inputs must be known.
#include <algorithm>
#include <map>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"

namespace kiln::onnx_frontend {
namespace {

ValueId Int64s(Converter& c, Shape shape, const std::vector<int64_t>& values) {
  return c.Constant(Tensor::From<int64_t>(std::move(shape), DType::Int(64), values));
}

// Returns an input that determines the number of elements of a result.
absl::StatusOr<Tensor> SelectingInput(const Converter& c, int i, absl::string_view what) {
  absl::StatusOr<Tensor> value = c.ConstantInput(i, what);
  if (value.ok()) return value;
  absl::Status error(
      value.status().code(),
      absl::StrCat(value.status().message(),
                   " and select in the program: "
                   "how much is selected depends on the data, and shapes are fixed"));
  CopyInputsToFix(value.status(), error);
  return error;
}

absl::Status Compress(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const Tensor condition, SelectingInput(c, 1, "condition"));
  if (condition.type().rank() != 1)
    return Wrong("condition", condition.type().ToString(), "rank 1");
  Attrs attrs = {{"axis", 0}};
  int64_t extent = c.type(x).num_elements();
  Formula f(c);
  ValueId data = x;
  if (c.HasAttr("axis")) {
    KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(c.Int("axis", 0), c.type(x).rank()));
    extent = c.type(x).shape[static_cast<size_t>(axis)];
    attrs = {{"axis", axis}};
  } else {
    data = f.Reshape(x, {extent});
  }
  if (condition.type().num_elements() > extent) {
    return Wrong("condition", condition.type().ToString(), absl::StrCat("at most ", extent));
  }
  std::vector<int64_t> kept;
  for (int64_t i = 0; i < condition.type().num_elements(); ++i) {
    if (condition.AsInt(i) != 0) kept.push_back(i);
  }
  const ValueId indices = Int64s(c, {static_cast<int64_t>(kept.size())}, kept);
  return f.Output(0, f("take", {data, indices}, attrs));
}

absl::Status NonZero(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const Tensor x, SelectingInput(c, 0, "the data"));
  const Shape& shape = x.type().shape;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < x.type().num_elements(); ++i) {
    if (x.AsDouble(i) != 0) places.push_back(i);
  }
  const Shape strides = RowMajorStrides(shape);
  std::vector<int64_t> indices;
  for (size_t d = 0; d < shape.size(); ++d) {
    for (int64_t place : places) indices.push_back(place / strides[d] % shape[d]);
  }
  return c.Output(0, Int64s(c, {x.type().rank(), static_cast<int64_t>(places.size())}, indices));
}

// The parts of a tensor along an axis, for comparison and copying.
class Parts {
 public:
  Parts(const Tensor& tensor, size_t axis)
      : tensor_(tensor),
        extent_(tensor.type().shape[axis]),
        inner_(RowMajorStrides(tensor.type().shape)[axis]),
        outer_(extent_ == 0
                   ? 0
                   : tensor.type().num_elements() / std::max<int64_t>(inner_, 1) / extent_) {}

  int64_t count() const { return extent_; }
  // Compares the elements in order, with the outermost dimension first.
  bool Less(int64_t a, int64_t b) const {
    for (int64_t i = 0; i < outer_ * inner_; ++i) {
      const int64_t at_a = At(a, i), at_b = At(b, i);
      const bool is_float = tensor_.type().dtype.is_float();
      const auto less = [&](int64_t l, int64_t r) {
        return is_float ? tensor_.AsDouble(l) < tensor_.AsDouble(r)
                        : tensor_.AsInt(l) < tensor_.AsInt(r);
      };
      if (less(at_a, at_b)) return true;
      if (less(at_b, at_a)) return false;
    }
    return false;
  }

 private:
  int64_t At(int64_t part, int64_t i) const {
    return (i / inner_ * extent_ + part) * inner_ + i % inner_;
  }

  const Tensor& tensor_;
  int64_t extent_, inner_, outer_;
};

absl::Status Unique(Converter& c) {
  KILN_ASSIGN_OR_RETURN(Tensor x, SelectingInput(c, 0, "the data"));
  size_t axis = 0;
  if (c.HasAttr("axis")) {
    KILN_ASSIGN_OR_RETURN(const int64_t normal, NormalAxis(c.Int("axis", 0), x.type().rank()));
    axis = static_cast<size_t>(normal);
  } else {
    x = Tensor({{x.type().num_elements()}, x.type().dtype}, x.bytes());
  }
  const Parts parts(x, axis);
  const auto less = [&](int64_t a, int64_t b) { return parts.Less(a, b); };
  std::map<int64_t, std::vector<int64_t>, decltype(less)> groups(less);  // keyed by first member
  for (int64_t i = 0; i < parts.count(); ++i) groups[i].push_back(i);
  std::vector<std::vector<int64_t>> order;
  for (const auto& [first, members] : groups) order.push_back(members);
  if (c.Int("sorted", 1) == 0) std::sort(order.begin(), order.end());
  std::vector<int64_t> firsts, counts, inverse(static_cast<size_t>(parts.count()));
  for (size_t g = 0; g < order.size(); ++g) {
    firsts.push_back(order[g].front());
    counts.push_back(static_cast<int64_t>(order[g].size()));
    for (int64_t i : order[g]) inverse[static_cast<size_t>(i)] = static_cast<int64_t>(g);
  }
  const Shape shape = {static_cast<int64_t>(firsts.size())};
  const ValueId indices = Int64s(c, shape, firsts);
  c.SetOutput(1, indices);
  c.SetOutput(2, Int64s(c, {parts.count()}, inverse));
  c.SetOutput(3, Int64s(c, shape, counts));
  Formula f(c);
  return f.Output(0, f("take", {c.Constant(x), indices}, {{"axis", static_cast<int64_t>(axis)}}));
}

struct Box {
  double y0, x0, y1, x1;

  double area() const { return (y1 - y0) * (x1 - x0); }
};

// Returns the corners of box i in order. With center_point, the box is (x, y, width, height).
Box BoxOf(const Tensor& boxes, int64_t i, bool center_point) {
  double v[4];
  for (int64_t k = 0; k < 4; ++k) v[k] = boxes.AsDouble(4 * i + k);
  if (center_point) {
    return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  }
  return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
}

// Returns the area of the intersection divided by the area of the union.
double Overlap(const Box& a, const Box& b) {
  const double height = std::min(a.y1, b.y1) - std::max(a.y0, b.y0);
  const double width = std::min(a.x1, b.x1) - std::max(a.x0, b.x0);
  if (height <= 0 || width <= 0) return 0;
  return height * width / (a.area() + b.area() - height * width);
}

// Returns an optional input of one element.
absl::StatusOr<double> NumberOr(Converter& c, int i, const char* what, double otherwise) {
  if (!c.HasInput(i)) return otherwise;
  KILN_ASSIGN_OR_RETURN(const Tensor number, c.ConstantInput(i, what));
  if (number.type().num_elements() != 1) return Wrong(what, number.type().ToString(), "one number");
  return number.AsDouble(0);
}

// Maximum number of comparisons of boxes, to bound the work that a file can cause.
constexpr double kMaxComparisons = 1e9;

absl::Status NonMaxSuppression(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const Tensor boxes, SelectingInput(c, 0, "boxes"));
  KILN_ASSIGN_OR_RETURN(const Tensor scores, SelectingInput(c, 1, "scores"));
  const Shape &b = boxes.type().shape, &s = scores.type().shape;
  if (b.size() != 3 || s.size() != 3 || b[2] != 4 || b[0] != s[0] || b[1] != s[2]) {
    return Wrong("boxes and scores", boxes.type().ToString() + " and " + scores.type().ToString(),
                 "(batches, boxes, 4) and (batches, classes, boxes)");
  }
  KILN_ASSIGN_OR_RETURN(const double limit, NumberOr(c, 2, "max_output_boxes_per_class", 0));
  KILN_ASSIGN_OR_RETURN(const double most_overlap, NumberOr(c, 3, "iou_threshold", 0));
  KILN_ASSIGN_OR_RETURN(const double least, NumberOr(c, 4, "score_threshold", -1e300));
  const auto n = static_cast<double>(b[1]);
  if (static_cast<double>(s[0]) * static_cast<double>(s[1]) * n *
          std::min(n, std::max(limit, 0.0)) >
      kMaxComparisons) {
    return absl::UnimplementedError(absl::StrCat(s[0] * s[1], " times ", b[1], " boxes"));
  }
  const bool center_point = c.Int("center_point_box", 0) != 0;
  std::vector<int64_t> selected;
  for (int64_t row = 0; row < s[0] * s[1]; ++row) {
    const int64_t batch = row / s[1];
    const auto score = [&](int64_t i) { return scores.AsDouble(row * b[1] + i); };
    std::vector<int64_t> order;
    for (int64_t i = 0; i < b[1]; ++i) {
      if (score(i) > least) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t l, int64_t r) { return score(l) > score(r); });
    std::vector<Box> kept;
    for (int64_t i : order) {
      if (static_cast<double>(kept.size()) >= limit) break;
      const Box box = BoxOf(boxes, batch * b[1] + i, center_point);
      if (std::any_of(kept.begin(), kept.end(),
                      [&](const Box& k) { return Overlap(k, box) > most_overlap; })) {
        continue;
      }
      kept.push_back(box);
      for (int64_t v : {batch, row % s[1], i}) selected.push_back(v);
    }
  }
  return c.Output(0, Int64s(c, {static_cast<int64_t>(selected.size()) / 3, 3}, selected));
}

constexpr OnnxOperator kSelectionRows[] = {
    {"Compress", Compress},
    {"NonMaxSuppression", NonMaxSuppression},
    {"NonZero", NonZero},
    {"Unique", Unique},
};

}  // namespace

absl::Span<const OnnxOperator> SelectionOperators() { return kSelectionRows; }

}  // namespace kiln::onnx_frontend
