// SPDX-License-Identifier: Apache-2.0
// The packed columns of a dot product, and the constants that its sums begin with.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/schedule/dot_parts.h"

namespace kiln::schedule {
Tensor SmallNumbers(const Shape& shape, DType dtype, const std::vector<int16_t>& values) {
  if (dtype.bits == 16) return Tensor::From<int16_t>(shape, dtype, values);
  return Tensor::From<int8_t>(shape, dtype, std::vector<int8_t>(values.begin(), values.end()));
}

Buffer WithElementsOf(DType dtype, const Buffer& buffer, const std::string& name,
                      Context& context) {
  const Tensor& from = FindConstant(context, buffer)->tensor;
  std::vector<int16_t> values;
  for (int64_t i = 0; i < buffer->num_elements(); ++i) {
    values.push_back(static_cast<int16_t>(from.AsInt(i)));
  }
  const Buffer result = loop::MakeBuffer(name, dtype, buffer->shape, loop::BufferScope::kConstant);
  context.constants.push_back({result, SmallNumbers(result->shape, dtype, values)});
  return result;
}

PackedDotColumns PackDotColumns(const TiledContraction& t, const std::vector<int32_t>& begin,
                                Context& context) {
  const DotPlan& dot = *t.dot;
  const loop::Load* load = FactorLoad(t.c.y);
  const Tensor& source = FindConstant(context, load->buffer)->tensor;
  const std::vector<Axis> order = ColumnAxes(t.c);
  const loop::LinearForm form = *FactorForm(t.c.y, order);
  int64_t base = 0;
  loop::AsInt(form.base, &base);
  const int64_t* of_reduce = form.coefficients.data() + t.c.batch.size();
  const int64_t of_column = form.coefficients.back();
  std::vector<int64_t> steps;  // offsets along the reduction
  ForEachIndex(t.c.reduce,
               [&](const std::vector<int64_t>& index) { steps.push_back(Dot(index, of_reduce)); });

  const int64_t width = t.plan.tile.columns(), blocks = DivideUp(t.c.column.extent, width);
  const int64_t block_elements = dot.steps * dot.StepElements(width);
  const auto total = static_cast<size_t>(TotalExtent(t.c.batch) * blocks);
  std::vector<int16_t> columns(total * static_cast<size_t>(block_elements), 0);
  std::vector<int32_t> offsets(total * static_cast<size_t>(width), 0);
  // SumRows adds x' instead of x; this constant corrects for the difference.
  const int64_t of_all = -dot.row_offset * dot.shift * static_cast<int64_t>(steps.size());
  const auto step_elements = static_cast<int>(dot.StepElements(width));
  const loop::DotShape step_shape = *loop::DotShape::Of(
      static_cast<int>(width), static_cast<int>(dot.StepElements(1)), step_elements, dot.kind());
  const bool of_floats = dot.column_dtype.is_bfloat();
  int16_t* out = columns.data();
  size_t place = 0, column_place = 0;
  ForEachIndex(t.c.batch, [&](const std::vector<int64_t>& index) {
    const int64_t first = base + Dot(index, form.coefficients.data());
    for (int64_t b = 0; b < blocks; ++b, out += block_elements) {
      for (int64_t column = 0; column < width; ++column, ++place) {
        const int64_t n = b * width + column;
        if (n >= t.c.column.extent) continue;
        int64_t sum = 0;
        for (size_t k = 0; k < steps.size(); ++k) {
          const int64_t element = first + steps[k] + n * of_column;
          const int64_t run = static_cast<int64_t>(k) / dot.run;
          const int64_t at = run * dot.run_steps() * dot.group + static_cast<int64_t>(k) % dot.run;
          const auto store = [&](int part, int64_t value) {
            const int in_step =
                step_shape.InB(static_cast<int>(column), static_cast<int>(at % dot.group), part);
            out[at / dot.group * step_elements + in_step] = static_cast<int16_t>(value);
          };
          if (!of_floats) {
            const int64_t value = source.AsInt(element) - dot.shift;
            sum += value;
            store(0, value);
            continue;
          }
          auto rest = static_cast<float>(source.AsDouble(element));
          for (int part = 0; part < dot.factor_parts; ++part) {
            const uint16_t bits = BFloatFromFloat(rest);
            store(part, bits);
            rest -= FloatFromBFloat(bits);
          }
        }
        const int64_t constant = begin.empty() ? 0 : begin[column_place++];
        offsets[place] = static_cast<int32_t>(of_all - dot.row_offset * sum + constant);
      }
    }
  });

  Shape shape;
  for (const Axis& axis : t.c.batch) shape.push_back(axis.extent);
  shape.insert(shape.end(), {blocks, dot.steps, step_elements});
  PackedDotColumns packed = {
      .columns =
          loop::MakeBuffer(absl::StrCat(load->buffer->name, "_packed"), dot.column_dtype, shape,
                           loop::BufferScope::kConstant, GroupAlignment(dot, dot.column_dtype)),
      .offsets = {}};
  context.constants.push_back({packed.columns, SmallNumbers(shape, dot.column_dtype, columns)});
  if (std::any_of(offsets.begin(), offsets.end(), [](int32_t offset) { return offset != 0; })) {
    packed.offsets = std::move(offsets);
  }
  return packed;
}

}  // namespace kiln::schedule
