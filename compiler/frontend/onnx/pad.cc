// SPDX-License-Identifier: Apache-2.0
// Padding and cropping.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/pieces.h"

namespace kiln::onnx_frontend {
namespace {

// Positions added before and after the data along one dimension. Negative numbers are cut off.
struct Pads {
  int64_t before = 0, behind = 0;
};

absl::StatusOr<std::vector<Pads>> PadsOf(const Converter& c, const Shape& data) {
  KILN_ASSIGN_OR_RETURN(const std::optional<std::vector<int64_t>> values,
                        c.IntsAttrOrInput("pads", 1));
  if (!values.has_value()) return Wrong("pads", "none", "some");
  std::vector<int64_t> axes;
  if (c.HasInput(3)) {
    KILN_ASSIGN_OR_RETURN(const Tensor tensor, c.ConstantInput(3, "axes"));
    axes = tensor.ToInts();
  } else {
    KILN_ASSIGN_OR_RETURN(axes, NormalAxes({}, static_cast<int64_t>(data.size())));
  }
  const size_t n = axes.size();
  if (values->size() != 2 * n) {
    return Wrong("pads", absl::StrCat(values->size(), " values"), absl::StrCat(2 * n));
  }
  std::vector<Pads> pads(data.size());
  for (size_t k = 0; k < n; ++k) {
    KILN_ASSIGN_OR_RETURN(const int64_t axis, NormalAxis(axes[k], static_cast<int>(data.size())));
    const auto d = static_cast<size_t>(axis);
    const Pads own{(*values)[k], (*values)[k + n]};
    const int64_t cut_before = std::min<int64_t>(own.before, 0),
                  cut_behind = std::min<int64_t>(own.behind, 0);
    if (cut_before < -data[d] || cut_behind < -data[d] || data[d] + cut_before + cut_behind < 0) {
      return Wrong("pads", absl::StrCat(own.before, " and ", own.behind),
                   absl::StrCat("at most ", data[d], " places cut off"));
    }
    pads[d] = own;
  }
  return pads;
}

// Cuts off the data that negative pads remove, and sets these pads to 0.
ValueId Cropped(Formula& f, ValueId x, const Shape& data, std::vector<Pads>& pads) {
  std::vector<int64_t> begin, end;
  bool cuts = false;
  for (size_t d = 0; d < data.size(); ++d) {
    begin.push_back(std::max<int64_t>(-pads[d].before, 0));
    end.push_back(data[d] + std::min<int64_t>(pads[d].behind, 0));
    cuts = cuts || begin[d] > 0 || end[d] < data[d];
    pads[d] = {std::max<int64_t>(pads[d].before, 0), std::max<int64_t>(pads[d].behind, 0)};
  }
  if (!cuts) return x;
  return f("strided_slice", {x},
           {{"begin", AttrValue::Ints(begin)}, {"end", AttrValue::Ints(end)}});
}

// Returns the pads in the form of nn.pad.
AttrValue PadWidths(const std::vector<Pads>& pads) {
  std::vector<AttrValue> widths;
  for (const Pads& own : pads) widths.push_back(AttrValue::Ints({own.before, own.behind}));
  return AttrValue(widths);
}

// Pads the data by repeating it on both sides.
absl::StatusOr<ValueId> WrappedAround(Converter& c, ValueId x, const std::vector<Pads>& pads) {
  for (size_t d = 0; d < pads.size(); ++d) {
    const auto [before, behind] = pads[d];
    const int64_t extent = c.type(x).shape[d];
    if (before == 0 && behind == 0) continue;
    if (extent < 1 || before > kMaxTableElements || behind > kMaxTableElements ||
        extent > kMaxTableElements) {
      return Wrong("pads", absl::StrCat(before, " and ", behind, " around ", extent, " places"),
                   absl::StrCat("at most ", kMaxTableElements, " around at least one"));
    }
    std::vector<int64_t> places;
    for (int64_t i = -before; i < extent + behind; ++i) {
      places.push_back((i % extent + extent) % extent);
    }
    const auto count = static_cast<int64_t>(places.size());
    const ValueId indices = c.Constant(Tensor::From<int64_t>({count}, DType::Int(64), places));
    KILN_ASSIGN_OR_RETURN(x, c.Op("take", {x, indices}, {{"axis", static_cast<int64_t>(d)}}));
  }
  return x;
}

absl::Status Pad(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const Shape shape = c.type(x).shape;
  KILN_ASSIGN_OR_RETURN(std::vector<Pads> pads, PadsOf(c, shape));
  Tensor fill = Tensor::Scalar(c.type(x).dtype, c.Float("value", 0));
  if (c.HasInput(2)) {
    KILN_ASSIGN_OR_RETURN(const Tensor value, c.ConstantInput(2, "constant_value"));
    KILN_ASSIGN_OR_RETURN(fill, AsScalar(value, "constant_value"));
  }
  Formula f(c);
  ValueId y = Cropped(f, x, shape, pads);
  KILN_RETURN_IF_ERROR(f.status());
  const std::string mode = c.String("mode", "constant");
  if (mode == "wrap") {
    KILN_ASSIGN_OR_RETURN(y, WrappedAround(c, y, pads));
    return f.Output(0, y);
  }
  return f.Output(
      0, f("nn.pad", {y, c.Constant(fill)}, {{"pad_width", PadWidths(pads)}, {"pad_mode", mode}}));
}

// Crops the data to its middle, or pads it with zeros, to the requested extents along each axis. An
// odd position is added or removed after the data.
absl::Status CenterCropPad(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const Tensor wanted, c.ConstantInput(1, "the shape"));
  const Shape data = c.type(x).shape, extents = wanted.ToInts();
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> axes,
                        NormalAxes(c.Ints("axes"), static_cast<int64_t>(data.size())));
  if (extents.size() != axes.size()) {
    return Wrong("shape", absl::StrCat(extents.size(), " extents"), absl::StrCat(axes.size()));
  }
  std::vector<Pads> pads(data.size());
  for (size_t k = 0; k < axes.size(); ++k) {
    const auto d = static_cast<size_t>(axes[k]);
    if (extents[k] < 0) return Wrong("shape", ShapeToString(extents), "no negative extent");
    const int64_t more = extents[k] - data[d];
    pads[d] = {more / 2, more - more / 2};
  }
  Formula f(c);
  const ValueId y = Cropped(f, x, data, pads);
  return f.Output(0, f("nn.pad", {y, f.Number(0, x)}, {{"pad_width", PadWidths(pads)}}));
}

constexpr OnnxOperator kPadRows[] = {
    {"CenterCropPad", CenterCropPad},
    {"Pad", Pad},
};

}  // namespace

absl::Span<const OnnxOperator> PadOperators() { return kPadRows; }

}  // namespace kiln::onnx_frontend
