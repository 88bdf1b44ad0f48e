// SPDX-License-Identifier: Apache-2.0
// nn.upsampling and nn.upsampling3d.
#include <algorithm>
#include <cmath>

#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/resize.h"
#include "compiler/ops/window.h"

namespace kiln {
namespace {

// The attributes of the image.resize that an upsampling is equal to.
absl::StatusOr<Attrs> AsResize(const Attrs& attrs) {
  const std::string& method = attrs.String("method");
  const bool is_3d = attrs.Has("scale_d");
  KILN_CONSTRAINT(
      5,
      is_3d ? IsOneOf(method, {"nearest_neighbor", "trilinear"})
            : IsOneOf(method, {"nearest_neighbor", "bilinear", "bicubic"}),
      absl::StrCat("method ", method),
      is_3d ? "nearest_neighbor or trilinear" : "nearest_neighbor, bilinear or bicubic");
  const std::string mode = is_3d ? attrs.String("coordinate_transformation_mode")
                           : attrs.Bool("align_corners") ? "align_corners"
                                                         : "asymmetric";
  KILN_CONSTRAINT(6, IsOneOf(mode, {"half_pixel", "align_corners", "asymmetric"}), mode,
                  "half_pixel, align_corners or asymmetric");
  return Attrs{{"layout", attrs.Get("layout")},
               {"method", method == "bicubic"            ? "cubic"
                          : method == "nearest_neighbor" ? method
                                                         : "linear"},
               {"coordinate_transformation_mode", mode},
               {"rounding_method", ""},
               {"cubic_alpha", -0.5},
               {"cubic_exclude", 0}};
}

template <int kSpatial>
InferResult InferUpsampling(const InferContext& c) {
  KILN_RETURN_IF_ERROR(AsResize(c.attrs).status());
  const std::string& layout = c.attrs.String("layout");
  KILN_CONSTRAINT(
      2, layout == ChannelsFirst(kSpatial) || layout == "N" + SpatialLetters(kSpatial) + "C",
      absl::StrCat("layout ", layout), DataLayoutNames(kSpatial));
  KILN_CONSTRAINT(3, c.inputs[0].rank() == kSpatial + 2, ShapeToString(c.inputs[0].shape),
                  absl::StrCat("rank ", kSpatial + 2));
  const std::vector<int64_t> space =
      DataLayoutOf(c.attrs, "layout", kSpatial).Space(c.inputs[0].shape);
  std::vector<int64_t> size;
  for (size_t k = 0; k < space.size(); ++k) {
    const std::string scale = {'s', 'c', 'a', 'l', 'e', '_', "dhw"[k + 3 - kSpatial]};
    const double out = std::round(static_cast<double>(space[k]) * c.attrs.Float(scale));
    KILN_CONSTRAINT(4, out >= 1 && out <= static_cast<double>(kMaxResizeExtent),
                    absl::StrCat("an extent of ", out), absl::StrCat("1 to ", kMaxResizeExtent));
    size.push_back(static_cast<int64_t>(out));
  }
  return InferResized(c, size, c.inputs[0].dtype, kSpatial);
}

template <int kSpatial>
absl::Status LowerUpsampling(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const Attrs attrs, AsResize(b.attrs()));
  LowerResized(b, attrs, kSpatial);
  return absl::OkStatus();
}

const OpDef kUpsampling[] = {
    {{.name = "nn.upsampling3d",
      .doc = "data resized to scale_d times the depth, scale_h times the height and scale_w times "
             "the width. The extents are rounded.",
      .inputs = {{"data", "dimensions as layout says"}},
      .attrs = {{"scale_d", AttrType::kFloat, {}, true, "factor of the depth"},
                {"scale_h", AttrType::kFloat, {}, true, "factor of the height"},
                {"scale_w", AttrType::kFloat, {}, true, "factor of the width"},
                {"layout", AttrType::kString, "NCDHW", false, "NCDHW or NDHWC"},
                {"method", AttrType::kString, "nearest_neighbor", false,
                 "nearest_neighbor or trilinear"},
                {"coordinate_transformation_mode", AttrType::kString, "half_pixel", false,
                 "half_pixel, align_corners or asymmetric"}}},
     {"data holds numbers", "layout is NCDHW or NDHWC", "data has rank 5",
      "extents are from 1 to 2^28", "method is nearest_neighbor or trilinear",
      "coordinate_transformation_mode is one of the modes named above"},
     {.fusion = Fusion::kInjective, .layout = {LayoutRule::kNamed, "layout"}},
     InferUpsampling<3>,
     LowerUpsampling<3>,
     {Case({Values(F32({1, 1, 1, 1, 2}), {0, 4})},
           {{"scale_d", 1.0}, {"scale_h", 1.0}, {"scale_w", 2.0}, {"method", "trilinear"}},
           {Values(F32({1, 1, 1, 1, 4}), {0, 1, 3, 4})}),
      {.inputs = {F32({1, 2, 2, 3, 2})},
       .attrs = {{"scale_d", 2.0}, {"scale_h", 1.5}, {"scale_w", 2.0}}}}},
    {{.name = "nn.upsampling",
      .doc =
          "data resized to scale_h times the height and scale_w times the width. The extents are "
          "rounded. It equals image.resize2d with asymmetric coordinates, or with align_corners.",
      .inputs = {{"data", "dimensions as layout says"}},
      .attrs = {{"scale_h", AttrType::kFloat, {}, true, "factor of the height"},
                {"scale_w", AttrType::kFloat, {}, true, "factor of the width"},
                {"layout", AttrType::kString, "NCHW", false, "NCHW or NHWC"},
                {"method", AttrType::kString, "nearest_neighbor", false,
                 "nearest_neighbor, bilinear or bicubic"},
                {"align_corners", AttrType::kBool, false, false, "true if corners stay corners"}}},
     {"data holds numbers", "layout is NCHW or NHWC", "data has rank 4",
      "extents are from 1 to 2^28", "method is nearest_neighbor, bilinear or bicubic"},
     {.fusion = Fusion::kInjective, .layout = {LayoutRule::kNamed, "layout"}},
     InferUpsampling<2>,
     LowerUpsampling<2>,
     {Case({Values(F32({1, 1, 1, 2}), {1, 2})}, {{"scale_h", 2.0}, {"scale_w", 2.0}},
           {Values(F32({1, 1, 2, 4}), {1, 1, 2, 2, 1, 1, 2, 2})}),
      Case({Values(F32({1, 1, 1, 2}), {0, 3})},
           {{"scale_h", 1.0}, {"scale_w", 2.0}, {"method", "bilinear"}, {"align_corners", true}},
           {Values(F32({1, 1, 1, 4}), {0, 1, 2, 3})}, 1e-6),
      {.inputs = {F32({1, 3, 4, 2})},
       .attrs = {{"scale_h", 1.5}, {"scale_w", 3.0}, {"layout", "NHWC"}, {"method", "bilinear"}}}}},
};
KILN_REGISTER_OPS(kUpsampling);

}  // namespace
}  // namespace kiln
