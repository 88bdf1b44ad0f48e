// SPDX-License-Identifier: Apache-2.0
// Changes of shape: same elements, other order, repetition, padding.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/converter.h"
#include "compiler/frontend/tflite/quantized.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using tflite_schema::BuiltinOperator;

// The shape is input 1 or an option. If it is computed, it is the output's shape in the file.
absl::Status Reshape(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const auto* options = c.Options<schema::ReshapeOptions>().new_shape();
  std::vector<int64_t> shape;
  if (c.HasInput(1) && (c.IsConstant(*c.Input(1)) || options == nullptr)) {
    KILN_ASSIGN_OR_RETURN(shape, c.IntsInput(1, "the shape"));
  } else if (options != nullptr) {
    shape.assign(options->begin(), options->end());
    if (shape.size() == 1 && shape[0] == 0) shape.clear();  // encoding of a scalar in old files
  } else {
    KILN_ASSIGN_OR_RETURN(const TensorInfo* const info, c.OutputInfo(0));
    shape = info->shape;
  }
  if (std::any_of(shape.begin(), shape.end(), [](int64_t extent) { return extent < -1; })) {
    return Wrong("the shape", ShapeToString(shape), "extents, or -1");
  }
  return c.Output(0, c.Reshape(x, shape));
}

absl::Status Squeeze(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const auto* dims = c.Options<schema::SqueezeOptions>().squeeze_dims();
  Attrs attrs;
  if (dims != nullptr && dims->size() > 0) {
    attrs.Set("axis", AttrValue::Ints({dims->begin(), dims->end()}));
  }
  return c.Output(0, c.Op("squeeze", {x}, attrs));
}

absl::Status ExpandDims(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, c.IntInput(1, "the axis"));
  return c.Output(0, c.Op("expand_dims", {x}, {{"axis", axis}}));
}

absl::Status Transpose(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, c.IntsInput(1, "the permutation"));
  return c.Output(0, c.Transpose(x, axes));
}

absl::Status ReverseV2(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> axes, c.IntsInput(1, "the axes"));
  ValueId y = x;
  if (!axes.empty()) {
    KILN_ASSIGN_OR_RETURN(y, c.Op("reverse", {x}, {{"axis", AttrValue::Ints(axes)}}));
  }
  return c.Output(0, y);
}

absl::Status ShapeOf(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  return c.Output(0, c.Ints(c.type(x).shape, dtype));
}

absl::Status Rank(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, c.Constant(Tensor::Scalar(DType::Int(32), c.type(x).rank())));
}

absl::Status BroadcastTo(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, c.IntsInput(1, "the shape"));
  return c.Output(0, c.Op("broadcast_to", {x}, {{"shape", AttrValue::Ints(shape)}}));
}

// Returns the shape that two shapes broadcast to.
absl::Status BroadcastArgs(Converter& c) {
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> a, c.IntsInput(0, "a shape"));
  KILN_ASSIGN_OR_RETURN(std::vector<int64_t> b, c.IntsInput(1, "a shape"));
  const size_t rank = std::max(a.size(), b.size());
  a.insert(a.begin(), rank - a.size(), 1);
  b.insert(b.begin(), rank - b.size(), 1);
  for (size_t i = 0; i < rank; ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) {
      return Wrong("shapes", ShapeToString(a) + " and " + ShapeToString(b), "ones that broadcast");
    }
    if (a[i] == 1) a[i] = b[i];
  }
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  return c.Output(0, c.Ints(a, dtype));
}

absl::Status Fill(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> shape, c.IntsInput(0, "the shape"));
  KILN_ASSIGN_OR_RETURN(const ValueId value, c.Input(1));
  KILN_RETURN_IF_ERROR(CheckTensorType({shape, c.type(value).dtype}));
  return c.Output(0, c.Op("full", {value}, {{"shape", AttrValue::Ints(shape)}}));
}

absl::Status Tile(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> reps, c.IntsInput(1, "the multiples"));
  return c.Output(0, c.Op("tile", {x}, {{"reps", AttrValue::Ints(reps)}}));
}

// Returns the positions added before and after each dimension, from a constant (rank, 2).
absl::StatusOr<AttrValue> PadWidths(Converter& c, int input, int64_t rank) {
  KILN_ASSIGN_OR_RETURN(const Tensor tensor, c.ConstantInput(input, "the padding"));
  if (tensor.type().shape != Shape{rank, 2} || !tensor.type().dtype.is_integral()) {
    return Wrong("the padding", tensor.type().ToString(), absl::StrCat("integers (", rank, ", 2)"));
  }
  const std::vector<int64_t> ints = tensor.ToInts();
  std::vector<AttrValue> widths;
  for (size_t d = 0; d < static_cast<size_t>(rank); ++d) {
    widths.push_back(AttrValue::Ints({ints[2 * d], ints[2 * d + 1]}));
  }
  return AttrValue(widths);
}

// Returns the number that represents 0 in the result.
absl::StatusOr<double> Zero(const Converter& c) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> quantization, OutputQuantization(c, 0));
  return quantization.has_value() ? quantization->zero_points[0] : 0;
}

absl::Status Pad(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const AttrValue widths, PadWidths(c, 1, c.type(x).rank()));
  ValueId fill = kNoId;
  if (c.HasInput(2)) {
    KILN_ASSIGN_OR_RETURN(fill, c.Input(2));
    KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> fill_q, InputQuantization(c, 2));
    KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> out_q, OutputQuantization(c, 0));
    if (fill_q != out_q) return absl::UnimplementedError("a fill of another scale or zero point");
  } else {
    KILN_ASSIGN_OR_RETURN(const double zero, Zero(c));
    fill = c.Scalar(x, zero);
  }
  return c.Output(0, c.Op("nn.pad", {x, fill}, {{"pad_width", widths}}));
}

absl::Status MirrorPad(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const AttrValue widths, PadWidths(c, 1, c.type(x).rank()));
  const schema::MirrorPadMode mode = c.Options<schema::MirrorPadOptions>().mode();
  return c.Output(
      0, c.Op("nn.mirror_pad", {x},
              {{"pad_width", widths}, {"mode", std::string(schema::EnumNameMirrorPadMode(mode))}}));
}

// `sizes` of blocks from input 1, and `pairs` (dimensions, 2) from input 2.
struct Blocks {
  std::vector<int64_t> sizes, pairs;
};
absl::StatusOr<Blocks> ReadBlocks(Converter& c, int rank) {
  Blocks blocks;
  KILN_ASSIGN_OR_RETURN(blocks.sizes, c.IntsInput(1, "the block's shape"));
  KILN_ASSIGN_OR_RETURN(const Tensor pairs, c.ConstantInput(2, "paddings or crops"));
  const int64_t n = static_cast<int64_t>(blocks.sizes.size());
  if (n < 1 || n >= rank || pairs.type().shape != Shape{n, 2} ||
      !pairs.type().dtype.is_integral()) {
    return Wrong("block and pairs",
                 absl::StrCat(n, " dimensions and ", pairs.type().ToString(), " for rank ", rank),
                 "a pair of each dimension, which are fewer than the data's");
  }
  blocks.pairs = pairs.ToInts();
  for (int64_t size : blocks.sizes) {
    if (size < 1 || size > (1 << 24)) return Wrong("a block", absl::StrCat(size), "1 to 2^24");
  }
  return blocks;
}

// Each position in a block becomes a batch.
absl::Status SpaceToBatch(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ValueId x, c.Input(0));
  const size_t rank = static_cast<size_t>(c.type(x).rank());
  KILN_ASSIGN_OR_RETURN(const Blocks blocks, ReadBlocks(c, static_cast<int>(rank)));
  const size_t n = blocks.sizes.size();
  std::vector<AttrValue> widths(rank, AttrValue::Ints({0, 0}));
  for (size_t i = 0; i < n; ++i) {
    widths[i + 1] = AttrValue::Ints({blocks.pairs[2 * i], blocks.pairs[2 * i + 1]});
  }
  KILN_ASSIGN_OR_RETURN(const double zero, Zero(c));
  KILN_ASSIGN_OR_RETURN(x,
                        c.Op("nn.pad", {x, c.Scalar(x, zero)}, {{"pad_width", AttrValue(widths)}}));
  const Shape padded = c.type(x).shape;
  Shape cut = {padded[0]}, out = {padded[0]};
  std::vector<int64_t> places, counts = {0};
  for (size_t i = 0; i < n; ++i) {
    const int64_t size = blocks.sizes[i];
    if (padded[i + 1] % size != 0) {
      return Wrong("padded data", ShapeToString(padded), absl::StrCat("multiples of ", size));
    }
    cut.push_back(padded[i + 1] / size);
    cut.push_back(size);
    counts.push_back(static_cast<int64_t>(2 * i + 1));
    places.push_back(static_cast<int64_t>(2 * i + 2));
    out[0] *= size;
    KILN_RETURN_IF_ERROR(CheckTensorType({{out[0]}, c.type(x).dtype}));
    out.push_back(padded[i + 1] / size);
  }
  std::vector<int64_t> axes = places;
  axes.insert(axes.end(), counts.begin(), counts.end());
  for (size_t d = n + 1; d < rank; ++d) {
    axes.push_back(static_cast<int64_t>(cut.size()));
    cut.push_back(padded[d]);
    out.push_back(padded[d]);
  }
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Reshape(x, cut));
  KILN_ASSIGN_OR_RETURN(y, c.Transpose(y, axes));
  return c.Output(0, c.Reshape(y, out));
}

// The inverse of SpaceToBatch, followed by crops.
absl::Status BatchToSpace(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const Shape shape = c.type(x).shape;
  KILN_ASSIGN_OR_RETURN(const Blocks blocks, ReadBlocks(c, c.type(x).rank()));
  const size_t n = blocks.sizes.size();
  int64_t batch = shape[0];
  Shape cut;
  for (int64_t size : blocks.sizes) {
    if (batch % size != 0) {
      return Wrong("data", ShapeToString(shape), "a batch that the blocks divide");
    }
    batch /= size;
    cut.push_back(size);
  }
  const int64_t first = static_cast<int64_t>(n);
  cut.push_back(batch);
  std::vector<int64_t> axes = {first}, begin = {0}, end = {batch};
  Shape out = {batch};
  for (size_t i = 0; i < n; ++i) {
    cut.push_back(shape[i + 1]);
    axes.push_back(first + 1 + static_cast<int64_t>(i));
    axes.push_back(static_cast<int64_t>(i));
    const int64_t extent = shape[i + 1] * blocks.sizes[i];
    const int64_t before = blocks.pairs[2 * i], behind = blocks.pairs[2 * i + 1];
    if (before < 0 || behind < 0 || before > extent || behind > extent - before) {
      return Wrong("crops", absl::StrCat(before, " and ", behind),
                   absl::StrCat("0 to ", extent, " together"));
    }
    out.push_back(extent);
    begin.push_back(before);
    end.push_back(extent - behind);
  }
  for (size_t d = n + 1; d < shape.size(); ++d) {
    axes.push_back(static_cast<int64_t>(cut.size()));
    cut.push_back(shape[d]);
    out.push_back(shape[d]);
    begin.push_back(0);
    end.push_back(shape[d]);
  }
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Reshape(x, cut));
  KILN_ASSIGN_OR_RETURN(y, c.Transpose(y, axes));
  KILN_ASSIGN_OR_RETURN(y, c.Reshape(y, out));
  if (end != out || std::any_of(begin.begin(), begin.end(), [](int64_t b) { return b != 0; })) {
    KILN_ASSIGN_OR_RETURN(y,
                          c.Op("strided_slice", {y},
                               {{"begin", AttrValue::Ints(begin)}, {"end", AttrValue::Ints(end)}}));
  }
  return c.Output(0, y);
}

absl::Status BlocksOfChannels(Converter& c, const char* relay, int64_t size) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, c.Op(relay, {x}, {{"block_size", size}, {"layout", "NHWC"}}));
}

absl::Status DepthToSpace(Converter& c) {
  return BlocksOfChannels(c, "nn.depth_to_space",
                          c.Options<schema::DepthToSpaceOptions>().block_size());
}
absl::Status SpaceToDepth(Converter& c) {
  return BlocksOfChannels(c, "nn.space_to_depth",
                          c.Options<schema::SpaceToDepthOptions>().block_size());
}

// Constants are already dense after decoding.
absl::Status Densify(Converter& c) {
  KILN_RETURN_IF_ERROR(c.ConstantInput(0, "the sparse tensor").status());
  return c.Output(0, c.Input(0));
}

constexpr TfliteOperator kShapeRows[] = {
    {BuiltinOperator::BATCH_TO_SPACE_ND, BatchToSpace, nullptr, Quantised::kMoves},
    {BuiltinOperator::BROADCAST_ARGS, BroadcastArgs},
    {BuiltinOperator::BROADCAST_TO, BroadcastTo, nullptr, Quantised::kMoves},
    {BuiltinOperator::DENSIFY, Densify, nullptr, Quantised::kMoves},
    {BuiltinOperator::DEPTH_TO_SPACE, DepthToSpace, nullptr, Quantised::kMoves},
    {BuiltinOperator::EXPAND_DIMS, ExpandDims, nullptr, Quantised::kMoves},
    {BuiltinOperator::FILL, Fill, nullptr, Quantised::kMoves},
    {BuiltinOperator::MIRROR_PAD, MirrorPad, nullptr, Quantised::kMoves},
    {BuiltinOperator::PAD, Pad, nullptr, Quantised::kMoves},
    {BuiltinOperator::PADV2, Pad, nullptr, Quantised::kMoves},
    {BuiltinOperator::RANK, Rank, nullptr, Quantised::kMoves},
    {BuiltinOperator::RESHAPE, Reshape, nullptr, Quantised::kMoves},
    {BuiltinOperator::REVERSE_V2, ReverseV2, nullptr, Quantised::kMoves},
    {BuiltinOperator::SHAPE, ShapeOf, nullptr, Quantised::kMoves},
    {BuiltinOperator::SPACE_TO_BATCH_ND, SpaceToBatch, nullptr, Quantised::kMoves},
    {BuiltinOperator::SPACE_TO_DEPTH, SpaceToDepth, nullptr, Quantised::kMoves},
    {BuiltinOperator::SQUEEZE, Squeeze, nullptr, Quantised::kMoves},
    {BuiltinOperator::TILE, Tile, nullptr, Quantised::kOneScale},
    {BuiltinOperator::TRANSPOSE, Transpose, nullptr, Quantised::kMoves},
    {BuiltinOperator::ZEROS_LIKE, nullptr, "zeros_like", Quantised::kMoves},
};

}  // namespace

absl::Span<const TfliteOperator> ShapeOperators() { return kShapeRows; }

}  // namespace kiln::tflite_frontend
