// SPDX-License-Identifier: Apache-2.0
// image.resize1d to 3d.
#include "compiler/ops/resize.h"

#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/window.h"

namespace kiln {
namespace {

// Limits that keep numerators within the range of an index. With tf_crop_and_resize, they are on
// the product of the extents of data and result, and on roi.
constexpr int64_t kMaxCrop = int64_t{1} << 30;
constexpr double kMaxRoi = 16;
constexpr double kMaxScale = 1 << 20;
// Limit on extents with align_corners and scales, for the same reason.
constexpr int64_t kMaxAligned = 1 << 16;

// Checks constraints 8 (scales) and 9 (roi).
absl::Status CheckFloats(const InferContext& c, const Shape& out, int spatial) {
  const auto n = static_cast<size_t>(spatial);
  if (c.attrs.Has("scales") && !c.attrs.IsNone("scales")) {
    const std::vector<double> scales = c.attrs.Floats("scales");
    const bool in_range =
        scales.empty() ||
        (scales.size() == n && std::all_of(scales.begin(), scales.end(), [](double s) {
           return s >= 1 / kMaxScale && s <= kMaxScale;
         }));
    KILN_CONSTRAINT(8, in_range, absl::StrCat("scales ", c.attrs.Get("scales").ToString()),
                    absl::StrCat(spatial, " from ", 1 / kMaxScale, " to ", kMaxScale));
  }
  const DataLayout where = DataLayoutOf(c.attrs, "layout", spatial);
  const std::string& mode = c.attrs.String("coordinate_transformation_mode");
  if (mode == "align_corners" && !c.attrs.IsNone("scales")) {
    for (int k = 0; k < spatial; ++k) {
      const size_t d = where.spatial_dim(k);
      KILN_CONSTRAINT(8, c.inputs[0].shape[d] <= kMaxAligned && out[d] <= kMaxAligned,
                      absl::StrCat("from ", c.inputs[0].shape[d], " to ", out[d]),
                      absl::StrCat("with align_corners at most ", kMaxAligned));
    }
  }
  if (mode != "tf_crop_and_resize") {
    return absl::OkStatus();
  }
  const std::vector<double> roi =
      c.attrs.IsNone("roi") ? std::vector<double>() : c.attrs.Floats("roi");
  const bool in_range = roi.size() == 2 * n && std::all_of(roi.begin(), roi.end(), [](double v) {
                          return v >= -kMaxRoi && v <= kMaxRoi;
                        });
  KILN_CONSTRAINT(9, in_range, absl::StrCat("roi ", c.attrs.Get("roi").ToString()),
                  absl::StrCat(2 * n, " from ", -kMaxRoi, " to ", kMaxRoi));
  for (int k = 0; k < spatial; ++k) {
    const size_t d = where.spatial_dim(k);
    KILN_CONSTRAINT(9, c.inputs[0].shape[d] * out[d] <= kMaxCrop,
                    absl::StrCat("a crop of ", c.inputs[0].shape[d], " to ", out[d]),
                    "extents whose product is at most 2^30");
  }
  return absl::OkStatus();
}

template <int kSpatial>
InferResult InferResize(const InferContext& c) {
  const std::string &method = c.attrs.String("method"),
                    &mode = c.attrs.String("coordinate_transformation_mode"),
                    &rounding = c.attrs.String("rounding_method");
  KILN_CONSTRAINT(5, IsOneOf(method, {"nearest_neighbor", "linear", "cubic"}),
                  absl::StrCat("method ", method), "nearest_neighbor, linear or cubic");
  KILN_CONSTRAINT(
      6,
      IsOneOf(mode, {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel",
                     "tf_half_pixel_for_nn", "half_pixel_symmetric", "tf_crop_and_resize"}),
      absl::StrCat("coordinate_transformation_mode ", mode),
      "half_pixel, align_corners, asymmetric, pytorch_half_pixel, "
      "tf_half_pixel_for_nn, half_pixel_symmetric or tf_crop_and_resize");
  KILN_CONSTRAINT(
      7,
      IsOneOf(rounding, {"", "round", "round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}),
      absl::StrCat("rounding_method ", rounding),
      "round, round_prefer_floor, round_prefer_ceil, floor, ceil or \"\"");
  std::vector<int64_t> size = c.attrs.Ints("size");
  if (size.size() == 1) size.resize(kSpatial, size[0]);
  const DType dtype = c.attrs.DTypeOr("out_dtype", c.inputs[0].dtype);
  KILN_CONSTRAINT(1, IsNumeric(dtype), dtype.ToString(), "numbers");
  KILN_ASSIGN_OR_RETURN(std::vector<TensorType> types, InferResized(c, size, dtype, kSpatial));
  KILN_RETURN_IF_ERROR(CheckFloats(c, types[0].shape, kSpatial));
  return types;
}

template <int kSpatial>
absl::Status LowerResize(StageBuilder& b) {
  LowerResized(b, b.attrs(), kSpatial);
  return absl::OkStatus();
}

OpDef ResizeOp(int spatial, InferResult (*infer)(const InferContext&),
               absl::Status (*lower)(StageBuilder&), std::vector<OpExample> examples) {
  return {
      {.name = absl::StrCat("image.resize", spatial, "d"),
       .doc = "data at another resolution. A value is that of the nearest position, or the "
              "weighted mean of the 2 (linear) or 4 (cubic) positions around it along each "
              "dimension. Positions beyond the border count as those at the border. Integers are "
              "rounded to nearest, with halves to even.",
       .inputs = {{"data", "dimensions as layout says"}},
       .attrs =
           {{"size", AttrType::kInts, {}, true, "extents of the result"},
            {"roi",
             AttrType::kFloats,
             {},
             false,
             "for tf_crop_and_resize: the start of the result per dimension and then its end per "
             "dimension, as fractions of data"},
            {"layout", AttrType::kString, ChannelsFirst(spatial), false, DataLayoutNames(spatial)},
            {"method", AttrType::kString, "linear", false, "nearest_neighbor, linear or cubic"},
            {"coordinate_transformation_mode", AttrType::kString, "half_pixel", false,
             "half_pixel, align_corners, asymmetric, pytorch_half_pixel, tf_half_pixel_for_nn, "
             "half_pixel_symmetric or tf_crop_and_resize"},
            {"rounding_method", AttrType::kString, "round", false,
             "for nearest_neighbor: round, round_prefer_floor, round_prefer_ceil, floor, ceil; "
             "\"\" means round with align_corners, and floor otherwise"},
            {"cubic_alpha", AttrType::kFloat, -0.5, false, "parameter of cubic"},
            {"cubic_exclude", AttrType::kInt, 0, false,
             "for cubic: not 0 if positions beyond the border have no weight"},
            {"extrapolation_value", AttrType::kFloat, 0.0, false,
             "for tf_crop_and_resize: the value beyond data"},
            {"out_dtype", AttrType::kDType, "", false, "dtype of the result; that of data if \"\""},
            {"scales",
             AttrType::kFloats,
             {},
             false,
             "positions of the result per position of data; the quotients of the extents if None. "
             "Not in Relay"}}},
      {"data and the result hold numbers", "layout is " + DataLayoutNames(spatial),
       absl::StrCat("data has rank ", spatial + 2), "extents are from 1 to 2^28",
       "method is nearest_neighbor, linear or cubic",
       "coordinate_transformation_mode is one of the modes named above",
       "rounding_method is one of the methods named above",
       "scales, if given, has one number per dimension, from 2^-20 to 2^20; with align_corners, "
       "extents are then at most 2^16",
       "with tf_crop_and_resize, roi has a start and an end per dimension, from -16 to 16, and the "
       "extents of data and result have a product of at most 2^30"},
      {.fusion = Fusion::kInjective, .layout = {LayoutRule::kNamed, "layout"}},
      infer,
      lower,
      std::move(examples)};
}

const OpDef kResize[] = {
    ResizeOp(1, InferResize<1>, LowerResize<1>,
             {Case({Values(F32({1, 1, 2}), {0, 4})}, {{"size", 4}},
                   {Values(F32({1, 1, 4}), {0, 1, 3, 4})}),
              Case({Values(F32({1, 1, 4}), {1, 2, 3, 4})},
                   {{"size", 3},
                    {"coordinate_transformation_mode", "tf_crop_and_resize"},
                    {"roi", AttrValue(std::vector<AttrValue>{0.5, 1.5})},
                    {"extrapolation_value", 9.0}},
                   {Values(F32({1, 1, 3}), {2.5, 4, 9})}),
              // A place of the result is 1 / 0.4 = 2.5 places of data.
              Case({Values(F32({1, 1, 5}), {0, 1, 2, 3, 4})},
                   {{"size", 2},
                    {"coordinate_transformation_mode", "asymmetric"},
                    {"scales", AttrValue(std::vector<AttrValue>{0.4})}},
                   {Values(F32({1, 1, 2}), {0, 2.5})}),
              {.inputs = {F32({2, 5, 3})}, .attrs = {{"size", 8}, {"layout", "NWC"}}}}),
    ResizeOp(
        2, InferResize<2>, LowerResize<2>,
        {Case({Values(F32({1, 1, 1, 2}), {0, 4})}, {{"size", List({1, 4})}},
              {Values(F32({1, 1, 1, 4}), {0, 1, 3, 4})}),
         Case({Values(F32({1, 1, 1, 3}), {0, 4, 8})},
              {{"size", List({1, 5})}, {"coordinate_transformation_mode", "align_corners"}},
              {Values(F32({1, 1, 1, 5}), {0, 2, 4, 6, 8})}),
         Case({Values(U8({1, 1, 2, 1}), {1, 2})},
              {{"size", List({2, 4})},
               {"layout", "NHWC"},
               {"method", "nearest_neighbor"},
               {"rounding_method", "floor"},
               {"coordinate_transformation_mode", "asymmetric"}},
              {Values(U8({1, 2, 4, 1}), {1, 1, 2, 2, 1, 1, 2, 2})}),
         Case({Values(F32({1, 1, 1, 4}), {1, 2, 3, 4})},
              {{"size", List({1, 8})}, {"method", "cubic"}, {"cubic_alpha", -0.75}},
              {Values(F32({1, 1, 1, 8}), {0.89453125, 1.19140625, 1.66796875, 2.296875, 2.703125,
                                          3.33203125, 3.80859375, 4.10546875})},
              1e-6),
         {.inputs = {F32({1, 2, 5, 4})}, .attrs = {{"size", List({3, 7})}}},
         {.inputs = {F16({1, 2, 3, 3})}, .attrs = {{"size", 2}, {"method", "nearest_neighbor"}}},
         {.inputs = {F32({1, 3, 3, 2})},
          .attrs = {{"size", List({5, 5})},
                    {"method", "cubic"},
                    {"cubic_exclude", 1},
                    {"layout", "NHWC"}}}}),
    ResizeOp(3, InferResize<3>, LowerResize<3>,
             {Case({Values(F32({1, 1, 2, 1, 2}), {0, 4, 8, 12})}, {{"size", List({2, 1, 4})}},
                   {Values(F32({1, 1, 2, 1, 4}), {0, 1, 3, 4, 8, 9, 11, 12})}),
              {.inputs = {F32({1, 2, 3, 4, 5})},
               .attrs = {{"size", List({5, 3, 7})},
                         {"coordinate_transformation_mode", "half_pixel_symmetric"}}},
              {.inputs = {F32({1, 2, 3, 4, 2})},
               .attrs = {{"size", List({4, 5, 6})},
                         {"method", "nearest_neighbor"},
                         {"layout", "NDHWC"}}}}),
};
KILN_REGISTER_OPS(kResize);

}  // namespace
}  // namespace kiln
