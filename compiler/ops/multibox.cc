// SPDX-License-Identifier: Apache-2.0
// vision.multibox_prior and vision.multibox_transform_loc: the boxes of single-shot detectors.
#include <algorithm>
#include <cmath>

#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

using loop::Combine;

constexpr size_t kMaxBoxes = 1 << 12;  // per place

InferResult InferPrior(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  KILN_CONSTRAINT(1, data.rank() == 4 && data.dtype.is_float(), data.ToString(),
                  "floats (n, channels, h, w)");
  const std::vector<double> sizes = c.attrs.Floats("sizes"), ratios = c.attrs.Floats("ratios");
  const auto finite = [](const std::vector<double>& values) {
    return std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  };
  KILN_CONSTRAINT(2, !sizes.empty() && !ratios.empty() && sizes.size() + ratios.size() <= kMaxBoxes,
                  absl::StrCat(sizes.size(), " sizes and ", ratios.size(), " ratios"),
                  absl::StrCat("one of each or more, at most ", kMaxBoxes));
  KILN_CONSTRAINT(
      2, finite(sizes) && std::all_of(ratios.begin(), ratios.end(), [](double r) { return r > 0; }),
      "sizes or ratios", "finite sizes and ratios above 0");
  for (const char* name : {"steps", "offsets"}) {
    const std::vector<double> values = c.attrs.Floats(name);
    KILN_CONSTRAINT(3, values.size() == 2 && finite(values), name, "two finite numbers, y and x");
  }
  int64_t boxes = static_cast<int64_t>(sizes.size() + ratios.size() - 1);
  KILN_CONSTRAINT(4, !__builtin_mul_overflow(boxes, data.shape[2] * data.shape[3], &boxes),
                  "more boxes", "a tensor within the limits");
  return OutputTypes({{{1, boxes, 4}, data.dtype}});
}

// The corners of each box of a place, relative to its center: -w, -h, w, h.
Tensor Corners(const Attrs& attrs, const Shape& data, DType dtype) {
  const std::vector<double> sizes = attrs.Floats("sizes"), ratios = attrs.Floats("ratios");
  const double aspect = static_cast<double>(data[2]) / static_cast<double>(data[3]);
  std::vector<double> corners;
  const auto add = [&](double size, double ratio) {
    const double w = size * aspect * std::sqrt(ratio) / 2, h = size / std::sqrt(ratio) / 2;
    corners.insert(corners.end(), {-w, -h, w, h});
  };
  for (double size : sizes) add(size, 1);
  for (size_t k = 1; k < ratios.size(); ++k) add(sizes[0], ratios[k]);
  return Values({{static_cast<int64_t>(corners.size()) / 4, 4}, dtype}, corners);
}

absl::Status LowerPrior(StageBuilder& b) {
  const Shape& data = b.input_shape(0);
  const DType dtype = ComputeType(b.output_dtype(0));
  if (NumElements(b.output_shape(0)) == 0) {
    b.Output(0, [&](const Indices&) { return loop::Const(dtype, 0); });
    return absl::OkStatus();
  }
  const Tensor table = Corners(b.attrs(), data, dtype);
  const int64_t boxes = table.type().shape[0];
  const Access corners = b.Table("corners", table);
  const std::vector<double> steps = b.attrs().Floats("steps"),
                            offsets = b.attrs().Floats("offsets");
  const auto centre = [&](const Expr& place, size_t k) {
    const double step = steps[k] > 0 ? steps[k] : 1 / static_cast<double>(data[k + 2]);
    return (loop::MakeCast(dtype, place) + loop::Const(dtype, offsets[k])) *
           loop::Const(dtype, step);
  };
  b.Output(0, [&](const Indices& i) {
    const Expr place = i[1] / Expr(boxes), width = data[3];
    const Expr along = loop::MakeSelect(i[2] % Expr(2) == Expr(0), centre(place % width, 1),
                                        centre(place / width, 0));
    const Expr value = along + corners({i[1] % Expr(boxes), i[2]});
    if (!b.attrs().Bool("clip")) return value;
    return Max(Min(value, loop::Const(dtype, 1)), loop::Const(dtype, 0));
  });
  return absl::OkStatus();
}

enum { kClasses, kLocations, kAnchors };

InferResult InferTransform(const InferContext& c) {
  const TensorType &classes = c.inputs[kClasses], &locations = c.inputs[kLocations],
                   &anchors = c.inputs[kAnchors];
  const DType dtype = locations.dtype;
  KILN_CONSTRAINT(1, dtype.is_float() && classes.dtype == dtype && anchors.dtype == dtype,
                  absl::StrCat(classes.dtype.ToString(), ", ", dtype.ToString(), " and ",
                               anchors.dtype.ToString()),
                  "floats of one dtype");
  KILN_CONSTRAINT(2, classes.rank() == 3 && classes.shape[1] >= 1 && classes.shape[2] >= 1,
                  ShapeToString(classes.shape), "cls_prob (n, classes, boxes)");
  const int64_t n = classes.shape[0], boxes = classes.shape[2];
  KILN_CONSTRAINT(2, boxes <= INT32_MAX && classes.shape[1] <= INT32_MAX,
                  ShapeToString(classes.shape), "extents of at most 2^31 - 1");
  KILN_CONSTRAINT(3, (locations.shape == Shape{n, boxes * 4}), ShapeToString(locations.shape),
                  ShapeToString({n, boxes * 4}));
  KILN_CONSTRAINT(4, (anchors.shape == Shape{1, boxes, 4}), ShapeToString(anchors.shape),
                  ShapeToString({1, boxes, 4}));
  KILN_CONSTRAINT(5, c.attrs.Floats("variances").size() == 4, "variances", "four");
  return OutputTypes({{{n, boxes, 6}, dtype}, {{n}, DType::Int(32)}});
}

// Coordinate k (x0, y0, x1, y1) of a box: its anchor, moved and stretched by the location.
Expr BoxCoordinate(const StageBuilder& b, const Expr& n, const Expr& box, int64_t k) {
  const DType dtype = ComputeType(b.input_dtype(kLocations));
  const Access locations = b.Input(kLocations), anchors = b.Input(kAnchors);
  const std::vector<double> variances = b.attrs().Floats("variances");
  const auto number = [&](double value) { return loop::Const(dtype, value); };
  const auto location = [&](int64_t at) {
    return locations({n, box * Expr(4) + Expr(at)}) * number(variances[static_cast<size_t>(at)]);
  };
  const int64_t d = k % 2;
  const Expr first = anchors({0, box, Expr(d)}), last = anchors({0, box, Expr(d + 2)});
  const Expr extent = last - first;
  const Expr centre = location(d) * extent + (first + last) / number(2);
  const Expr half = loop::Exp(location(d + 2)) * extent / number(2);
  const Expr value = k < 2 ? centre - half : centre + half;
  return b.attrs().Bool("clip") ? Max(Min(value, number(1)), number(0)) : value;
}

absl::Status LowerTransform(StageBuilder& b) {
  const Shape& shape = b.input_shape(kClasses);
  const int64_t n = shape[0], classes = shape[1], boxes = shape[2];
  const DType dtype = ComputeType(b.input_dtype(kClasses)), i32 = DType::Int(32);
  const Access probabilities = b.Input(kClasses);
  const auto whole = [&](int64_t value) { return loop::IntConst(loop::Type::Of(i32), value); };
  // Class 0 is the background. Finds the best of the other classes, the first one among equals.
  const auto of_class = [&](const Indices& i, const Indices& r) {
    return probabilities({i[0], r[0] + Expr(1), i[1]});
  };
  const Access score = b.Reduce("score", {n, boxes}, {classes - 1}, Combine::kMax, of_class);
  const Access best = b.Reduce(
      "class", {n, boxes}, {classes - 1}, Combine::kMin, [&](const Indices& i, const Indices& r) {
        return loop::MakeSelect(of_class(i, r) == score(i), loop::MakeCast(i32, r[0]),
                                whole(INT32_MAX));
      });
  const auto is_valid = [&](const Indices& i) {
    return score(i) > loop::Const(dtype, -1) &&
           score(i) >= loop::Const(dtype, b.attrs().Float("threshold"));
  };
  const Access count = b.Running("count", {n, boxes}, 1, Combine::kSum, [&](const Indices& i) {
    return loop::MakeCast(i32, is_valid(i));
  });
  b.Output(0, [&](const Indices&) { return loop::Const(dtype, -1); });
  if (n > 0) {
    // A box that is not valid writes the old element back to its own index.
    b.Update(
        0, {n, boxes, 6},
        [&](const Indices& i) {
          const Expr rank = ClampIndex(loop::ToIndex(count({i[0], i[1]})) - Expr(1), boxes);
          return Indices{i[0], loop::MakeSelect(is_valid({i[0], i[1]}), rank, i[1]), i[2]};
        },
        [&](const Indices& i, const Expr& old) {
          Expr value = BoxCoordinate(b, i[0], i[1], 3);
          for (int64_t k = 2; k >= 0; --k) {
            value = loop::MakeSelect(i[2] == Expr(k + 2), BoxCoordinate(b, i[0], i[1], k), value);
          }
          value = loop::MakeSelect(i[2] == Expr(1), score({i[0], i[1]}), value);
          value =
              loop::MakeSelect(i[2] == Expr(0), loop::MakeCast(dtype, best({i[0], i[1]})), value);
          return loop::MakeSelect(is_valid({i[0], i[1]}), value, old);
        });
  }
  b.Output(1, [&](const Indices& i) { return count({i[0], Expr(boxes - 1)}); });
  return absl::OkStatus();
}

AttrValue NumberList(const std::vector<double>& values) {
  return AttrValue(std::vector<AttrValue>(values.begin(), values.end()));
}
AttrSchema NumbersSchema(std::string name, const std::vector<double>& otherwise, std::string doc) {
  return {std::move(name), AttrType::kFloats, NumberList(otherwise), false, std::move(doc)};
}

const OpDef kBoxes[] = {
    {{.name = "vision.multibox_prior",
      .doc = "Anchor boxes (x0, y0, x1, y1) around every position of data. There is one box of "
             "each size, and one of the first size for each ratio except the first. A size is a "
             "share of the height.",
      .inputs = {{"data", "floats, (n, channels, h, w); its elements are not read"}},
      .attrs = {NumbersSchema("sizes", {1}, "heights of boxes"),
                NumbersSchema("ratios", {1}, "ratios of width to height"),
                NumbersSchema(
                    "steps", {-1, -1},
                    "distances between centers, y and x; 1 / h and 1 / w if not positive"),
                NumbersSchema("offsets", {0.5, 0.5}, "offsets of centers, y and x, in steps"),
                {"clip", AttrType::kBool, false, false, "true to cut boxes off at 0 and 1"}}},
     {"data holds floats of rank 4",
      "sizes are finite, ratios are above 0, and there is at least one of each",
      "steps and offsets have two finite numbers each", "the result is a tensor within the limits"},
     {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed},
     InferPrior,
     LowerPrior,
     {Case({Iota(F32({1, 1, 1, 2}))},
           {{"sizes", NumberList({0.5})}, {"ratios", NumberList({1, 4})}},
           {Values(F32({1, 4, 4}), {0.125, 0.25, 0.375, 0.75, 0, 0.375, 0.5, 0.625, 0.625, 0.25,
                                    0.875, 0.75, 0.5, 0.375, 1, 0.625})},
           1e-6),
      Case({Iota(F32({2, 3, 1, 1}))},
           {{"steps", NumberList({0.5, 0.25})}, {"offsets", NumberList({1, 2})}, {"clip", true}},
           {Values(F32({1, 1, 4}), {0, 0, 1, 1})}),
      {.inputs = {F16({1, 2, 3, 4})},
       .attrs = {{"sizes", NumberList({0.2, 0.4})}, {"ratios", NumberList({1, 2, 0.5})}}}}},
    {{.name = "vision.multibox_transform_loc",
      .doc = "Anchors moved by predicted locations. A box is valid if its best class other than "
             "the background, class 0, has a probability of threshold or more. A valid box gives "
             "(class - 1, probability, x0, y0, x1, y1), and -1 fills the rest. The second result "
             "is the number of valid boxes.",
      .inputs = {{"cls_prob", "floats, (n, classes, boxes)"},
                 {"loc_pred", "(n, boxes * 4): x, y, and the logarithms of width and height"},
                 {"anchor", "(1, boxes, 4): x0, y0, x1, y1"}},
      .attrs = {{"clip", AttrType::kBool, true, false, "true to cut boxes off at 0 and 1"},
                {"threshold", AttrType::kFloat, 0.01, false, "least probability of a valid box"},
                NumbersSchema("variances", {0.1, 0.1, 0.2, 0.2},
                              "factors of the four numbers of a location")},
      .num_outputs = [](const Attrs&, size_t) -> absl::StatusOr<int> { return 2; }},
     {"all inputs hold floats of the same dtype", "cls_prob is (n, classes, boxes)",
      "loc_pred is (n, boxes * 4)", "anchor is (1, boxes, 4)", "variances has four numbers"},
     {.fusion = Fusion::kOpaque, .layout = LayoutRule::kFixed},
     InferTransform,
     LowerTransform,
     {Case({Values(F32({1, 3, 3}), {0.2, 0.99, 0.1, 0.5, 0.005, 0.1, 0.3, 0.005, 0.8}),
            Values(F32({1, 12}), {1, 0, 0, 0, 9, 9, 9, 9, 0, 0, 5, -5}),
            Values(F32({1, 3, 4}), {0.1, 0.1, 0.3, 0.3, 0, 0, 1, 1, 0.4, 0.4, 0.6, 0.6})},
           {},
           {Values(F32({1, 3, 6}), {0, 0.5, 0.12, 0.1, 0.32, 0.3,                                //
                                    1, 0.8, 0.228171817, 0.463212056, 0.771828183, 0.536787944,  //
                                    -1, -1, -1, -1, -1, -1}),
            Values(I32({1}), {2})},
           1e-5),
      {.inputs = {F32({2, 4, 5}), F32({2, 20}), F32({1, 5, 4})},
       .attrs = {{"clip", false}, {"threshold", 0.5}},
       .input_min = 0,
       .input_max = 1},
      {.inputs = {F16({2, 1, 5}), F16({2, 20}), F16({1, 5, 4})}}}},
};
KILN_REGISTER_OPS(kBoxes);

}  // namespace
}  // namespace kiln
