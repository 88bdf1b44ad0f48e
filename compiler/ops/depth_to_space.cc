// SPDX-License-Identifier: Apache-2.0
// nn.depth_to_space and nn.space_to_depth: blocks of channels become blocks of places, and back.
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/window.h"

namespace kiln {
namespace {

constexpr int64_t kMaxBlock = int64_t{1} << 14;

// Channels as blocks of size² places. A place is the major part of a channel's number (DCR:
// `place_first`) or the minor part (CRD).
struct DepthBlocks {
  int64_t size, channels;  // channels of the tensor with more places
  bool place_first;

  Expr Deep(const Expr& channel, const Expr& y, const Expr& x) const {
    const Expr place = y * Expr(size) + x;
    return place_first ? place * Expr(channels) + channel : channel * Expr(size * size) + place;
  }
  Expr Channel(const Expr& deep) const {
    return place_first ? deep % Expr(channels) : deep / Expr(size * size);
  }
  Expr Place(const Expr& deep) const {
    return place_first ? deep / Expr(channels) : deep % Expr(size * size);
  }
};

struct BlockSetting {
  DataLayout layout;
  int64_t block = 1;
};

// Checks `layout` here instead of in ParseDataLayout, as these operators have no out_layout.
absl::StatusOr<BlockSetting> ReadBlockSetting(const InferContext& c) {
  const std::string &layout = c.attrs.String("layout"), &mode = c.attrs.String("mode");
  KILN_CONSTRAINT(1, layout == "NCHW" || layout == "NHWC", absl::StrCat("layout ", layout),
                  "NCHW or NHWC");
  KILN_CONSTRAINT(2, mode == "DCR" || mode == "CRD", absl::StrCat("mode ", mode), "DCR or CRD");
  KILN_CONSTRAINT(3, c.inputs[0].rank() == 4, ShapeToString(c.inputs[0].shape), "rank 4");
  const int64_t block = c.attrs.Int("block_size");
  KILN_CONSTRAINT(4, block >= 1 && block <= kMaxBlock, absl::StrCat("block_size ", block),
                  absl::StrCat("1 to ", kMaxBlock));
  return BlockSetting{DataLayoutOf(c.attrs, "layout", 2), block};
}

InferResult InferDepthToSpace(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const BlockSetting s, ReadBlockSetting(c));
  Shape shape = c.inputs[0].shape;
  int64_t& channels = shape[s.layout.channel_dim()];
  KILN_CONSTRAINT(5, channels % (s.block * s.block) == 0, absl::StrCat(channels, " channels"),
                  absl::StrCat("a multiple of ", s.block * s.block));
  channels /= s.block * s.block;
  for (int k = 0; k < 2; ++k) shape[s.layout.spatial_dim(k)] *= s.block;
  return OutputTypes({{std::move(shape), c.inputs[0].dtype}});
}

InferResult InferSpaceToDepth(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const BlockSetting s, ReadBlockSetting(c));
  Shape shape = c.inputs[0].shape;
  for (int k = 0; k < 2; ++k) {
    int64_t& extent = shape[s.layout.spatial_dim(k)];
    KILN_CONSTRAINT(5, extent % s.block == 0, absl::StrCat(extent, " places"),
                    absl::StrCat("a multiple of ", s.block));
    extent /= s.block;
  }
  shape[s.layout.channel_dim()] *= s.block * s.block;
  return OutputTypes({{std::move(shape), c.inputs[0].dtype}});
}

DepthBlocks DepthBlocksOf(const StageBuilder& b, int64_t channels) {
  return {b.attrs().Int("block_size"), channels, b.attrs().String("mode") == "DCR"};
}

absl::Status LowerDepthToSpace(StageBuilder& b) {
  const DataLayout layout = DataLayoutOf(b.attrs(), "layout", 2);
  const DepthBlocks blocks = DepthBlocksOf(b, b.output_shape(0)[layout.channel_dim()]);
  const Expr size = blocks.size;
  b.Output(0, [&](const Indices& i) {
    const Indices p = layout.Space(i);
    const Expr deep = blocks.Deep(i[layout.channel_dim()], p[0] % size, p[1] % size);
    return b.Input(0)(layout.Order<Expr>(i[0], deep, {p[0] / size, p[1] / size}));
  });
  return absl::OkStatus();
}

absl::Status LowerSpaceToDepth(StageBuilder& b) {
  const DataLayout layout = DataLayoutOf(b.attrs(), "layout", 2);
  const DepthBlocks blocks =
      DepthBlocksOf(b, std::max<int64_t>(b.input_shape(0)[layout.channel_dim()], 1));
  const Expr size = blocks.size;
  b.Output(0, [&](const Indices& i) {
    const Indices p = layout.Space(i);
    const Expr deep = i[layout.channel_dim()], place = blocks.Place(deep);
    return b.Input(0)(layout.Order<Expr>(i[0], blocks.Channel(deep),
                                         {p[0] * size + place / size, p[1] * size + place % size}));
  });
  return absl::OkStatus();
}

OpDef BlockOperator(std::string name, std::string doc, InferResult (*infer)(const InferContext&),
                    absl::Status (*lower)(StageBuilder&), std::string divides,
                    std::vector<OpExample> examples) {
  return {
      {.name = std::move(name),
       .doc = std::move(doc),
       .inputs = {{"data", "dimensions as layout says"}},
       .attrs = {{"block_size", AttrType::kInt, 1, false, "positions of a block in each direction"},
                 {"layout", AttrType::kString, "NCHW", false, "NCHW or NHWC"},
                 {"mode", AttrType::kString, "DCR", false,
                  "order in which the deep channels are numbered: by position and then channel "
                  "(DCR), or by channel and then position (CRD)"}}},
      {"layout is NCHW or NHWC", "mode is DCR or CRD", "data has rank 4", "block_size is positive",
       std::move(divides)},
      {.fusion = Fusion::kInjective,
       .layout = {LayoutRule::kNamed, "layout"},
       .origin = Origin::kMoved},
      infer,
      lower,
      std::move(examples)};
}

const OpDef kBlocks[] = {
    BlockOperator(
        "nn.depth_to_space", "Blocks of block_size² channels, moved into blocks of positions.",
        InferDepthToSpace, LowerDepthToSpace, "block_size² divides the number of channels",
        {Case({Iota(F32({1, 8, 1, 1}))}, {{"block_size", 2}},
              {Values(F32({1, 2, 2, 2}), {0, 2, 4, 6, 1, 3, 5, 7})}),
         Case({Iota(F32({1, 8, 1, 1}))}, {{"block_size", 2}, {"mode", "CRD"}},
              {Iota(F32({1, 2, 2, 2}))}),
         Case({Iota(I8({1, 1, 2, 4}))}, {{"block_size", 2}, {"layout", "NHWC"}},
              {Values(I8({1, 2, 4, 1}), {0, 1, 4, 5, 2, 3, 6, 7})})}),
    BlockOperator(
        "nn.space_to_depth", "Blocks of block_size² positions, moved into blocks of channels.",
        InferSpaceToDepth, LowerSpaceToDepth, "block_size divides the extent in each direction",
        {Case({Iota(F32({1, 2, 2, 2}))}, {{"block_size", 2}},
              {Values(F32({1, 8, 1, 1}), {0, 4, 1, 5, 2, 6, 3, 7})}),
         Case({Iota(F32({1, 2, 2, 2}))}, {{"block_size", 2}, {"mode", "CRD"}},
              {Iota(F32({1, 8, 1, 1}))}),
         Case({Iota(I8({1, 2, 4, 1}))}, {{"block_size", 2}, {"layout", "NHWC"}},
              {Values(I8({1, 1, 2, 4}), {0, 1, 4, 5, 2, 3, 6, 7})})}),
};
KILN_REGISTER_OPS(kBlocks);

}  // namespace
}  // namespace kiln
