// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/families.h"

namespace kiln::schedule {

const loop::Constant* FindConstant(const Context& context, const Buffer& buffer) {
  for (const loop::Constant& constant : context.constants) {
    if (constant.buffer == buffer) return &constant;
  }
  return nullptr;
}

Buffer PackConstant(const Buffer& buffer, int64_t base, const std::vector<PackedAxis>& axes,
                    Context& context, size_t block, int64_t columns) {
  const loop::Constant* source = FindConstant(context, buffer);
  Shape shape;
  for (const PackedAxis& axis : axes) shape.push_back(axis.extent);
  const size_t element = static_cast<size_t>(buffer->dtype.bytes());
  const PackedAxis& inner = axes.back();
  const std::string& from = source->tensor.bytes();
  std::string bytes(static_cast<size_t>(NumElements(shape)) * element, '\0');
  char* out = bytes.data();
  std::vector<int64_t> at(axes.size() - 1, 0);  // an odometer over all axes but the innermost
  for (bool more = NumElements(shape) > 0; more;
       out += static_cast<size_t>(shape.back()) * element) {
    int64_t first = base;
    const int64_t count =
        columns < 0 ? inner.extent : std::min(inner.extent, columns - at[block] * inner.extent);
    for (size_t i = 0; i < at.size(); ++i) {
      first += at[i] * axes[i].stride;
    }
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(out + static_cast<size_t>(i) * element,
                  from.data() + static_cast<size_t>(first + i * inner.stride) * element, element);
    }
    more = false;
    for (size_t i = at.size(); i-- > 0 && !more;) {
      more = ++at[i] < shape[i];
      if (!more) at[i] = 0;
    }
  }
  const Buffer packed = loop::MakeBuffer(absl::StrCat(buffer->name, "_packed"), buffer->dtype,
                                         shape, loop::BufferScope::kConstant);
  context.constants.push_back({packed, Tensor({shape, buffer->dtype}, std::move(bytes))});
  return packed;
}

Stage RelayoutConstants(const Stage& stage, const std::vector<Axis>& order, Context& context) {
  loop::Bounds bounds;
  AddBounds(order, bounds);
  const AccessSet set = CollectAccesses(stage.value, VarsOfAxes(order), bounds);
  loop::Substitution replaced;
  for (const LinearAccess& access : set.linear) {
    int64_t base;
    const int64_t stride = access.form.coefficients.back();
    if (stride == 0 || stride == 1 || FindConstant(context, access.buffer) == nullptr ||
        !loop::AsInt(access.form.base, &base)) {
      continue;
    }
    std::vector<PackedAxis> packed;
    std::vector<Expr> index;
    int64_t elements = 1;
    for (size_t i = 0; i < order.size(); ++i) {
      if (access.form.coefficients[i] == 0) continue;
      packed.push_back({order[i].extent, access.form.coefficients[i]});
      index.push_back(order[i].var);
      elements *= order[i].extent;
    }
    if (elements > access.buffer->num_elements()) continue;
    replaced[access.load] =
        loop::MakeLoad(PackConstant(access.buffer, base, packed, context), index);
  }
  Stage result = stage;
  if (!replaced.empty()) result.value = loop::Substitute(stage.value, replaced);
  return result;
}

}  // namespace kiln::schedule
