// SPDX-License-Identifier: Apache-2.0
// nn.pad and nn.mirror_pad.
#include "compiler/base/limits.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

struct PadDim {
  int64_t before = 0, after = 0;
};

// Returns the padding. Constraint 1: pad_width has a pair of non-negative
// numbers for every dimension.
absl::StatusOr<std::vector<PadDim>> PadWidth(const Attrs& attrs, const Shape& data) {
  std::vector<PadDim> pads;
  const AttrValue& pad_width = attrs.Get("pad_width");
  const std::string wanted = absl::StrCat(data.size(), " pairs of numbers that are not negative");
  for (const std::vector<int64_t>& pair : attrs.IntLists("pad_width")) {
    KILN_CONSTRAINT(1,
                    pair.size() == 2 && std::min(pair[0], pair[1]) >= 0 &&
                        std::max(pair[0], pair[1]) <= kMaxTensorElements,
                    absl::StrCat("pad_width ", pad_width.ToString()), wanted);
    pads.push_back({pair[0], pair[1]});
  }
  KILN_CONSTRAINT(1, pads.size() == data.size(), absl::StrCat("pad_width ", pad_width.ToString()),
                  wanted);
  return pads;
}

InferResult InferPadded(const TensorType& data, const std::vector<PadDim>& pads) {
  TensorType type = data;
  for (size_t d = 0; d < pads.size(); ++d) type.shape[d] += pads[d].before + pads[d].after;
  return OutputTypes({std::move(type)});
}

// Treatment of indices beyond the data.
enum class Mode { kConstant, kEdge, kReflect, kSymmetric };

// Checks constraint 3: there are enough places of data to copy.
absl::Status CheckReflection(const Shape& data, const std::vector<PadDim>& pads, Mode mode) {
  for (size_t d = 0; d < pads.size(); ++d) {
    const int64_t most = std::max(pads[d].before, pads[d].after);
    const int64_t limit = mode == Mode::kReflect ? data[d] - 1 : data[d];
    const bool fits = most == 0 || mode == Mode::kConstant ||
                      (mode == Mode::kEdge ? data[d] >= 1 : most <= limit);
    KILN_CONSTRAINT(3, fits, absl::StrCat("padding of ", most, " around ", data[d], " places"),
                    "no more places than there are to copy");
  }
  return absl::OkStatus();
}

absl::StatusOr<Mode> ModeOf(const Attrs& attrs) {
  if (attrs.Has("mode")) {
    const std::string& mode = attrs.String("mode");
    KILN_CONSTRAINT(2, mode == "SYMMETRIC" || mode == "REFLECT", absl::StrCat("mode ", mode),
                    "SYMMETRIC or REFLECT");
    return mode == "REFLECT" ? Mode::kReflect : Mode::kSymmetric;
  }
  const std::string& mode = attrs.String("pad_mode");
  KILN_CONSTRAINT(2, mode == "constant" || mode == "edge" || mode == "reflect",
                  absl::StrCat("pad_mode ", mode), "constant, edge or reflect");
  return mode == "constant" ? Mode::kConstant : mode == "edge" ? Mode::kEdge : Mode::kReflect;
}

InferResult InferPad(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const std::vector<PadDim> pads, PadWidth(c.attrs, c.inputs[0].shape));
  KILN_ASSIGN_OR_RETURN(const Mode mode, ModeOf(c.attrs));
  KILN_RETURN_IF_ERROR(CheckReflection(c.inputs[0].shape, pads, mode));
  if (c.inputs.size() > 1) {
    const TensorType& value = c.inputs[1];
    KILN_CONSTRAINT(4, value.num_elements() == 1, absl::StrCat("pad_val of ", value.ToString()),
                    "one value");
  }
  return InferPadded(c.inputs[0], pads);
}

// The place of data that is read at index `i` of the padded tensor.
Expr Source(const Expr& i, const PadDim& pad, int64_t extent, Mode mode) {
  const Expr place = i - Expr(pad.before), last = extent - 1;
  if (mode == Mode::kEdge || mode == Mode::kConstant) return ClampIndex(place, extent);
  const auto select_below = [&](const Expr& reflected, const Expr& otherwise) {
    return loop::MakeSelect(place < Expr(0), reflected, otherwise);
  };
  // kReflect leaves the border itself out, kSymmetric repeats it.
  const int64_t shift = mode == Mode::kReflect ? 0 : 1;
  const Expr above = loop::MakeSelect(place > last, Expr(2 * (extent - 1) + shift) - place, place);
  return ClampIndex(select_below(Expr(-shift) - place, above), extent);
}

absl::Status LowerPad(StageBuilder& b) {
  const Shape& data = b.input_shape(0);
  KILN_ASSIGN_OR_RETURN(const std::vector<PadDim> pads, PadWidth(b.attrs(), data));
  KILN_ASSIGN_OR_RETURN(const Mode mode, ModeOf(b.attrs()));
  b.Output(0, [&](const Indices& i) {
    Indices at;
    Expr in_bounds = loop::IntConst(loop::Type::Of(DType::Bool()), 1);
    for (size_t d = 0; d < data.size(); ++d) {
      const PadDim& pad = pads[d];
      at.push_back(pad.before == 0 && pad.after == 0 ? i[d] : Source(i[d], pad, data[d], mode));
      if (pad.before > 0) in_bounds = in_bounds && i[d] >= Expr(pad.before);
      if (pad.after > 0) in_bounds = in_bounds && i[d] < Expr(pad.before + data[d]);
    }
    if (mode != Mode::kConstant) return b.Input(0)(at);
    const DType dtype = ComputeType(b.input_dtype(0));
    Expr padding = loop::Const(dtype, 0);
    if (b.num_inputs() > 1) {
      padding = b.Input(1)(Indices(b.input_shape(1).size(), Expr(0)));
      if (padding.type().dtype != dtype) padding = loop::MakeCast(dtype, padding);
    }
    if (NumElements(data) == 0) return padding;
    return loop::MakeSelect(in_bounds, b.Input(0)(at), padding);
  });
  return absl::OkStatus();
}

const AttrSchema kPadWidth = {"pad_width",
                              AttrType::kIntLists,
                              {},
                              true,
                              "numbers of positions added before and after data, per dimension"};

const OpDef kPads[] = {
    {{.name = "nn.pad",
      .doc =
          "data with positions added around it. They hold pad_val (constant), the nearest element "
          "of data (edge), or data reflected at its border, which is not repeated (reflect).",
      .inputs = {{"data", "any type"},
                 {"pad_val", "one value, cast to the dtype of data; 0 if it is left out"}},
      .attrs = {kPadWidth,
                {"pad_mode", AttrType::kString, "constant", false, "constant, edge or reflect"}},
      .num_optional_inputs = 1},
     {"pad_width has a pair of nonnegative numbers per dimension",
      "pad_mode is constant, edge or reflect", "data has enough elements to copy",
      "pad_val has one element"},
     {.fusion = Fusion::kInjective,
      .layout = {LayoutRule::kPerAxis, "pad_width"},
      .is_read_in_place = true},
     InferPad,
     LowerPad,
     {Case({Values(F32({1, 2}), {1, 2}), Values(F32({}), {9})},
           {{"pad_width", Lists({{0, 1}, {1, 2}})}},
           {Values(F32({2, 5}), {9, 1, 2, 9, 9, 9, 9, 9, 9, 9})}),
      Case({Values(I8({3}), {1, 2, 3}), Values(I8({}), {0})},
           {{"pad_width", Lists({{2, 1}})}, {"pad_mode", "edge"}},
           {Values(I8({6}), {1, 1, 1, 2, 3, 3})}),
      Case({Values(F32({1}), {1}), Values(I32({}), {3})}, {{"pad_width", Lists({{1, 0}})}},
           {Values(F32({2}), {3, 1})}),
      Case({Values(F32({3}), {1, 2, 3}), Values(F32({}), {0})},
           {{"pad_width", Lists({{2, 2}})}, {"pad_mode", "reflect"}},
           {Values(F32({7}), {3, 2, 1, 2, 3, 2, 1})}),
      {.inputs = {F32({1, 2, 3, 3}), F32({})},
       .attrs = {{"pad_width", Lists({{0, 0}, {0, 0}, {1, 1}, {2, 0}})}}},
      {.inputs = {F16({2, 2})}, .attrs = {{"pad_width", Lists({{0, 0}, {1, 0}})}}}}},
    {{.name = "nn.mirror_pad",
      .doc = "data with positions added around it. They hold data reflected at its border, which "
             "is repeated (SYMMETRIC) or not (REFLECT).",
      .inputs = {{"data", "any type"}},
      .attrs = {{"mode", AttrType::kString, "SYMMETRIC", false, "SYMMETRIC or REFLECT"},
                kPadWidth}},
     {"pad_width has a pair of nonnegative numbers per dimension", "mode is SYMMETRIC or REFLECT",
      "data has enough elements to copy"},
     {.fusion = Fusion::kInjective,
      .layout = {LayoutRule::kPerAxis, "pad_width"},
      .origin = Origin::kMoved},
     InferPad,
     LowerPad,
     {Case({Values(F32({3}), {1, 2, 3})}, {{"pad_width", Lists({{2, 3}})}},
           {Values(F32({8}), {2, 1, 1, 2, 3, 3, 2, 1})}),
      Case({Values(I32({3}), {1, 2, 3})}, {{"pad_width", Lists({{2, 1}})}, {"mode", "REFLECT"}},
           {Values(I32({6}), {3, 2, 1, 2, 3, 2})}),
      {.inputs = {F16({2, 3})}, .attrs = {{"pad_width", Lists({{1, 0}, {0, 2}})}}}}},
};
KILN_REGISTER_OPS(kPads);

}  // namespace
}  // namespace kiln
