// SPDX-License-Identifier: Apache-2.0
// nn.space_to_batch_nd and nn.batch_to_space_nd: places of blocks become members of the batch, and
// back. The place in the block is the major part of a member's index.
#include <algorithm>

#include "compiler/base/limits.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

// One of the dimensions after the batch.
struct Block {
  int64_t size = 1;
  int64_t before = 0, after = 0;  // places to add or to cut off
};

absl::StatusOr<std::vector<Block>> Blocks(const Attrs& attrs, const std::string& ends, int rank) {
  const std::vector<int64_t> sizes = attrs.Ints("block_shape");
  const std::vector<std::vector<int64_t>> pairs = attrs.IntLists(ends);
  KILN_CONSTRAINT(1, static_cast<int64_t>(sizes.size()) < rank,
                  absl::StrCat(sizes.size(), " extents of a block and rank ", rank),
                  "a batch and a dimension per extent");
  KILN_CONSTRAINT(2, pairs.size() == sizes.size(), absl::StrCat(pairs.size(), " pairs of ", ends),
                  absl::StrCat(sizes.size()));
  std::vector<Block> blocks;
  for (size_t k = 0; k < sizes.size(); ++k) {
    KILN_CONSTRAINT(1, sizes[k] >= 1 && sizes[k] <= kMaxTensorElements,
                    absl::StrCat("block_shape ", attrs.Get("block_shape").ToString()),
                    "positive extents");
    const bool fits = pairs[k].size() == 2 && std::min(pairs[k][0], pairs[k][1]) >= 0 &&
                      std::max(pairs[k][0], pairs[k][1]) <= kMaxTensorElements;
    KILN_CONSTRAINT(2, fits, absl::StrCat(ends, " ", attrs.Get(ends).ToString()),
                    "pairs of numbers that are not negative");
    blocks.push_back({sizes[k], pairs[k][0], pairs[k][1]});
  }
  return blocks;
}

InferResult InferSpaceToBatch(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  KILN_ASSIGN_OR_RETURN(const std::vector<Block> blocks, Blocks(c.attrs, "paddings", data.rank()));
  KILN_CONSTRAINT(1, data.rank() >= 1, "rank 0", "a batch");
  Shape shape = data.shape;
  for (size_t k = 0; k < blocks.size(); ++k) {
    int64_t& extent = shape[k + 1];
    extent += blocks[k].before + blocks[k].after;
    KILN_CONSTRAINT(3, extent % blocks[k].size == 0,
                    absl::StrCat(extent, " places with their padding"),
                    absl::StrCat("a multiple of ", blocks[k].size));
    extent /= blocks[k].size;
    KILN_CONSTRAINT(4, !__builtin_mul_overflow(shape[0], blocks[k].size, &shape[0]),
                    "a larger batch", "a tensor within the limits");
  }
  return OutputTypes({{std::move(shape), data.dtype}});
}

InferResult InferBatchToSpace(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  KILN_ASSIGN_OR_RETURN(const std::vector<Block> blocks, Blocks(c.attrs, "crops", data.rank()));
  KILN_CONSTRAINT(1, data.rank() >= 1, "rank 0", "a batch");
  Shape shape = data.shape;
  for (size_t k = 0; k < blocks.size(); ++k) {
    KILN_CONSTRAINT(3, shape[0] % blocks[k].size == 0, absl::StrCat("a batch of ", data.shape[0]),
                    "a multiple of all extents of the block");
    shape[0] /= blocks[k].size;
    int64_t& extent = shape[k + 1];
    const bool fits =
        !__builtin_mul_overflow(extent, blocks[k].size, &extent) && extent <= kMaxTensorElements;
    KILN_CONSTRAINT(4, fits, absl::StrCat("dimension ", k + 1), "a tensor within the limits");
    extent -= blocks[k].before + blocks[k].after;
    KILN_CONSTRAINT(4, extent >= 0, "crops that leave less than nothing", "smaller ones");
  }
  return OutputTypes({{std::move(shape), data.dtype}});
}

absl::Status LowerSpaceToBatch(StageBuilder& b) {
  const Shape& data = b.input_shape(0);
  KILN_ASSIGN_OR_RETURN(const std::vector<Block> blocks,
                        Blocks(b.attrs(), "paddings", static_cast<int>(data.size())));
  const DType dtype = ComputeType(b.input_dtype(0));
  b.Output(0, [&, x = b.Input(0)](const Indices& i) {
    const Expr batch = std::max<int64_t>(data[0], 1);
    Expr place = i[0] / batch;  // in the block, as one number
    Expr in_bounds = loop::IntConst(loop::Type::Of(DType::Bool()), 1);
    Indices at = i;
    at[0] = i[0] % batch;
    for (size_t k = blocks.size(); k-- > 0;) {
      const Block& block = blocks[k];
      const Expr padded = i[k + 1] * Expr(block.size) + place % Expr(block.size);
      place = place / Expr(block.size);
      at[k + 1] = padded - Expr(block.before);
      if (block.before > 0) in_bounds = in_bounds && padded >= Expr(block.before);
      if (block.after > 0) in_bounds = in_bounds && padded < Expr(block.before + data[k + 1]);
    }
    return GuardedValue(x, data, at, in_bounds, loop::Const(dtype, b.attrs().Float("pad_value")));
  });
  return absl::OkStatus();
}

absl::Status LowerBatchToSpace(StageBuilder& b) {
  KILN_ASSIGN_OR_RETURN(const std::vector<Block> blocks,
                        Blocks(b.attrs(), "crops", static_cast<int>(b.input_shape(0).size())));
  b.Output(0, [&, x = b.Input(0)](const Indices& i) {
    Expr place = 0;
    Indices at = i;
    for (size_t k = 0; k < blocks.size(); ++k) {
      const Expr whole = i[k + 1] + Expr(blocks[k].before), size = blocks[k].size;
      place = place * size + whole % size;
      at[k + 1] = whole / size;
    }
    at[0] = place * Expr(b.output_shape(0)[0]) + i[0];
    return x(at);
  });
  return absl::OkStatus();
}

const AttrSchema kBlockShape = {"block_shape", AttrType::kInts, AttrValue::Ints({1, 1}), false,
                                "extents of a block, for the dimensions after the batch"};

const OpDef kSpaces[] = {
    {{.name = "nn.space_to_batch_nd",
      .doc = "data (batch, positions…, rest…) with every position of a block as a member of the "
             "batch of its own. Member p * batch + n holds the positions p of all blocks of member "
             "n, where p counts in row-major order.",
      .inputs = {{"data", "any type of rank 2 or more"}},
      .attrs = {kBlockShape,
                {"paddings",
                 AttrType::kIntLists,
                 {},
                 true,
                 "numbers of positions added before and after data, per extent of a block"},
                {"pad_value", AttrType::kFloat, 0.0, false, "value of the added positions"}}},
     {"data has a batch, and a dimension for each extent of a block, which is positive",
      "paddings has a pair of nonnegative numbers per extent",
      "the extents of a block divide the padded extents of data",
      "the result is a tensor within the limits"},
     {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed},
     InferSpaceToBatch,
     LowerSpaceToBatch,
     {Case({Values(F32({1, 2, 2, 1}), {1, 2, 3, 4})},
           {{"block_shape", List({2, 2})}, {"paddings", Lists({{0, 0}, {0, 0}})}},
           {Values(F32({4, 1, 1, 1}), {1, 2, 3, 4})}),
      Case({Values(I32({2, 3}), {1, 2, 3, 4, 5, 6})},
           {{"block_shape", List({2})}, {"paddings", Lists({{1, 0}})}, {"pad_value", 9.0}},
           {Values(I32({4, 2}), {9, 2, 9, 5, 1, 3, 4, 6})}),
      {.inputs = {F16({2, 3, 4, 2})},
       .attrs = {{"block_shape", List({2, 3})}, {"paddings", Lists({{0, 1}, {1, 1}})}}}}},
    {{.name = "nn.batch_to_space_nd",
      .doc =
          "The inverse of nn.space_to_batch_nd, with positions cut off at the ends as crops says.",
      .inputs = {{"data", "any type of rank 2 or more"}},
      .attrs = {kBlockShape,
                {"crops",
                 AttrType::kIntLists,
                 {},
                 true,
                 "numbers of positions cut off at the beginning and at the end, per extent of a "
                 "block"}}},
     {"data has a batch, and a dimension for each extent of a block, which is positive",
      "crops has a pair of nonnegative numbers per extent",
      "the extents of a block divide the batch", "the result is a tensor within the limits"},
     {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed, .origin = Origin::kMoved},
     InferBatchToSpace,
     LowerBatchToSpace,
     {Case({Values(F32({4, 1, 1, 1}), {1, 2, 3, 4})},
           {{"block_shape", List({2, 2})}, {"crops", Lists({{0, 0}, {0, 0}})}},
           {Values(F32({1, 2, 2, 1}), {1, 2, 3, 4})}),
      Case({Values(I32({4, 2}), {9, 2, 9, 5, 1, 3, 4, 6})},
           {{"block_shape", List({2})}, {"crops", Lists({{1, 0}})}},
           {Values(I32({2, 3}), {1, 2, 3, 4, 5, 6})}),
      {.inputs = {F16({12, 2, 2, 2})},
       .attrs = {{"block_shape", List({2, 3})}, {"crops", Lists({{0, 1}, {1, 1}})}}}}},
};
KILN_REGISTER_OPS(kSpaces);

}  // namespace
}  // namespace kiln
