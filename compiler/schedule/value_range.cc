// SPDX-License-Identifier: Apache-2.0
#include "compiler/schedule/value_range.h"

#include "compiler/loop/passes.h"

namespace kiln::schedule {

using loop::Range;

Range RangeOfElements(const Tensor& tensor) {
  const int64_t count = tensor.type().num_elements();
  Range range = Range::Point(count == 0 ? 0 : tensor.AsInt(0));
  for (int64_t i = 1; i < count; ++i) range = loop::Union(range, Range::Point(tensor.AsInt(i)));
  return range;
}

Range ValueRanges::Of(const Expr& e) {
  return loop::RangeOf(e, [this](const Buffer& buffer) { return OfBuffer(buffer); });
}

Range ValueRanges::OfBuffer(const Buffer& buffer) {
  if (const auto found = buffers_.find(buffer.get()); found != buffers_.end()) return found->second;
  const loop::Constant* constant = FindConstant(context_, buffer);
  const Range range =
      constant == nullptr ? Range::OfType(buffer->dtype) : RangeOfElements(constant->tensor);
  buffers_[buffer.get()] = range;
  return range;
}

void ValueRanges::Define(const Stage& stage) {
  if (stage.update || stage.rank_axis.has_value() || !stage.buffer->dtype.is_integral()) return;
  const Range terms = Of(stage.value), of_type = Range::OfType(stage.buffer->dtype);
  Range range = of_type;
  if (stage.combine == loop::Combine::kNone) range = terms;
  if (stage.combine == loop::Combine::kSum) {
    range =
        loop::Add(loop::Multiply(terms, Range::Point(TotalExtent(stage.reduce))), Of(stage.init));
  }
  buffers_[stage.buffer.get()] = range.bounded() && range.within(of_type) ? range : of_type;
}

}  // namespace kiln::schedule
