// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/pooling.h"

#include "compiler/ops/constraint.h"

namespace kiln {
namespace {

// Number of taps of window `o` that count along one dimension.
Expr CountTaps(const WindowDim& d, const Expr& o, bool include_pad) {
  const bool all_in_data = !d.reads_padding();
  const bool all_in_padding = d.covered() <= d.pad_before + d.extent + d.pad_after;
  if (all_in_data || (include_pad && all_in_padding)) return Expr(d.taps);
  // (bound + dilation - 1) / dilation taps lie below a bound.
  const auto taps_below = [&](const Expr& bound) {
    return (Max(bound, Expr(0)) + Expr(d.dilation - 1)) / Expr(d.dilation);
  };
  const Expr start = o * Expr(d.stride) - Expr(d.pad_before);
  const Expr end = Expr(d.extent + (include_pad ? d.pad_after : 0)) - start;
  const Expr first = include_pad ? Expr(0) : taps_below(-start);
  return Max(Min(taps_below(end), Expr(d.taps)) - first, Expr(1));
}

}  // namespace

absl::StatusOr<Pool> MakePool(const Attrs& attrs, const TensorType& data, int spatial) {
  Pool pool;
  KILN_CONSTRAINT(1, IsNumeric(data.dtype), data.dtype.ToString(), "numbers");
  KILN_ASSIGN_OR_RETURN(pool.layout, ParseDataLayout(attrs, "layout", spatial, 2));
  KILN_CONSTRAINT(3, data.rank() == spatial + 2, ShapeToString(data.shape),
                  absl::StrCat("rank ", spatial + 2));
  KILN_ASSIGN_OR_RETURN(pool.window,
                        MakeWindow(attrs, pool.layout.Space(data.shape), attrs.Ints("pool_size"),
                                   attrs.Bool("ceil_mode"), 4));
  KILN_RETURN_IF_ERROR(CheckPadded(pool.layout, data, pool.window, 6));
  return pool;
}

std::vector<AttrSchema> PoolAttrs(int spatial) {
  const AttrValue ones = AttrValue::Ints(std::vector<int64_t>(static_cast<size_t>(spatial), 1));
  const AttrValue zeros = AttrValue::Ints(std::vector<int64_t>(static_cast<size_t>(spatial), 0));
  return {{"pool_size", AttrType::kInts, {}, true, "extents of a window"},
          {"strides", AttrType::kInts, ones, false, "positions from one window to the next"},
          {"dilation", AttrType::kInts, ones, false, "positions from one tap to the next"},
          {"padding", AttrType::kInts, zeros, false,
           "padding around data: one number for all sides, one per dimension, or one per dimension "
           "before data and then one per dimension after it"},
          {"layout", AttrType::kString, ChannelsFirst(spatial), false, DataLayoutNames(spatial)},
          {"out_layout", AttrType::kString, "", false, "\"\" or layout"},
          {"ceil_mode", AttrType::kBool, false, false,
           "true if the last window may extend past the end, unless it would begin there"}};
}

std::vector<std::string> PoolConstraints() {
  return {"data holds numbers",
          "layout is one of the layouts named above, and out_layout is \"\" or the same",
          "data has the rank of the layout",
          "pool_size, strides and dilation have one positive value per dimension; padding has one "
          "value, one per dimension or one per side, none of them negative",
          "at least one window fits into the padded data",
          "the padded data is a tensor within the limits"};
}

Access ReduceWindows(StageBuilder& b, const Pool& pool, loop::Combine combine, DType dtype) {
  const Access widened = [data = b.Input(0), dtype](const Indices& i) {
    const Expr value = data(i);
    return value.type().dtype == dtype ? value : loop::MakeCast(dtype, value);
  };
  const Access x =
      Padded(b, widened, pool.layout, b.input_shape(0), pool.window, Neutral(combine, dtype));
  const size_t channel = pool.layout.channel_dim();
  return b.Reduce(
      "pool", b.output_shape(0), Taps(pool.window), combine,
      [&](const Indices& i, const Indices& r) {
        return x(pool.layout.Order(i[0], i[channel], Places(pool.window, pool.layout.Space(i), r)));
      });
}

Expr CountTaps(const Pool& pool, const Indices& i, bool include_pad) {
  const Indices o = pool.layout.Space(i);
  Expr count = 1;
  for (size_t d = 0; d < o.size(); ++d) {
    count = count * CountTaps(pool.window[d], o[d], include_pad);
  }
  return count;
}

}  // namespace kiln
