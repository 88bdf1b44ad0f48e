// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/quantized_product.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"

namespace kiln {
namespace {

// Calls `f` for every index of a shape, in order.
void ForEachIndex(const Shape& shape, const std::function<void(const Shape&)>& f) {
  Shape index(shape.size(), 0);
  for (int64_t n = NumElements(shape); n > 0; --n) {
    f(index);
    for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
}

// True if a zero point is a constant within the range of the dtype.
bool IsOf(const Tensor* zero_point, DType dtype) {
  return zero_point != nullptr && zero_point->AsInt(0) >= dtype.MinInt() &&
         zero_point->AsInt(0) <= dtype.MaxInt();
}

Tensor IntTable(const std::vector<int64_t>& values, Shape shape, DType dtype) {
  return dtype == DType::Int(64)
             ? Tensor::From<int64_t>(std::move(shape), dtype, values)
             : Tensor::From<int32_t>(std::move(shape), dtype,
                                     std::vector<int32_t>(values.begin(), values.end()));
}

}  // namespace

absl::StatusOr<DType> QuantizedProductType(const InferContext& c) {
  for (const ProductOperand k : {kProductX, kProductY}) {
    const DType dtype = c.inputs[k].dtype;
    KILN_CONSTRAINT(1, (dtype.is_int() || dtype.is_uint()) && dtype.bits <= 16, dtype.ToString(),
                    "integers of up to 16 bits");
  }
  const DType out = c.attrs.DTypeOr("out_dtype", DType::Int(32));
  KILN_CONSTRAINT(2, out == DType::Int(32) || out == DType::Int(64),
                  absl::StrCat("out_dtype ", out.ToString()), "int32 or int64");
  return out;
}

absl::Status CheckProductOperands(const InferContext& c, int64_t channels) {
  KILN_RETURN_IF_ERROR(CheckScale(c, kProductXScale, 1, Known::kPerhapsLater, 3));
  KILN_RETURN_IF_ERROR(CheckScale(c, kProductYScale, channels, Known::kPerhapsLater, 3));
  KILN_RETURN_IF_ERROR(CheckZeroPoint(c, kProductXZero, 1, 3));
  KILN_RETURN_IF_ERROR(CheckZeroPoint(c, kProductYZero, channels, 3));
  if (c.inputs[kProductYZero].num_elements() == 1) return absl::OkStatus();
  const Tensor* zeros = c.constants[kProductYZero];
  KILN_CONSTRAINT(3, zeros != nullptr, "several zero points that are computed", "constants");
  const std::vector<int64_t> values = zeros->ToInts();
  const bool one =
      std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
  KILN_CONSTRAINT(3,
                  one || (c.constants[kProductY] != nullptr &&
                          IsOf(c.constants[kProductXZero], c.inputs[kProductX].dtype)),
                  "several zero points that differ",
                  "one, or a constant second factor and a constant zero point of the first factor");
  return absl::OkStatus();
}

std::vector<std::string> ProductConstraints(std::vector<std::string> others) {
  std::vector<std::string> all = {"both factors hold integers of up to 16 bits",
                                  "out_dtype is int32 or int64",
                                  "scales are float32 or float64 above 0, and zero points are "
                                  "int32; the first factor has one of each, the second has one or "
                                  "one per output channel, and several zero points are constants"};
  all.insert(all.end(), others.begin(), others.end());
  return all;
}

std::vector<InputSchema> ProductInputs(std::string x, std::string y) {
  return {{"data", std::move(x)},
          {"weight", std::move(y)},
          {"input_scale", "one scale"},
          {"input_zero_point", "int32"},
          {"weight_scale", "one scale, or one per output channel"},
          {"weight_zero_point", "int32: one zero point, or one per output channel"}};
}

QuantizedProduct MakeQuantizedProduct(StageBuilder& b, int64_t channels,
                                      const std::function<int64_t(const Shape&)>& channel,
                                      Beyond beyond) {
  const DType sums = b.output_dtype(0);
  const Tensor* y = b.constant(kProductY);
  const std::vector<double> x_zero = OperandValues(b, kProductXZero),
                            y_zero = OperandValues(b, kProductYZero);
  const DType memory = b.input_dtype(kProductX);
  const bool is_known = b.constant(kProductXZero) != nullptr;
  const bool is_taken_off_sums =
      is_known ? IsOf(b.constant(kProductXZero), memory) : beyond == Beyond::kNothing;
  // A weight without elements has no totals, however many channels there are.
  if (y == nullptr || !is_taken_off_sums || y_zero.empty() || y->type().num_elements() == 0) {
    return {.x = Centred(b, b.Input(kProductX), kProductXZero, sums),
            .padding = loop::IntConst(loop::Type::Of(sums), 0),
            .y = Centred(b, b.Input(kProductY), kProductYZero, sums),
            .sums = sums,
            .correction = nullptr};
  }
  const Shape& shape = b.input_shape(kProductY);
  std::vector<int64_t> totals(static_cast<size_t>(channels), 0), centred;
  int64_t n = 0;
  ForEachIndex(shape, [&](const Shape& index) {
    const auto at = static_cast<size_t>(channel(index));
    const int64_t value = y->AsInt(n++) - static_cast<int64_t>(y_zero[y_zero.size() == 1 ? 0 : at]);
    centred.push_back(value);
    totals[at] += value;
  });
  QuantizedProduct product{
      .x = b.Input(kProductX),
      .padding =
          loop::IntConst(loop::Type::Of(memory), is_known ? static_cast<int64_t>(x_zero[0]) : 0),
      .y = nullptr,
      .sums = sums,
      .correction = nullptr};
  const auto is16 = [](int64_t v) {
    return v >= DType::Int(16).MinInt() && v <= DType::Int(16).MaxInt();
  };
  const DType narrow = DType::Int(std::all_of(centred.begin(), centred.end(), is16) ? 16 : 32);
  product.y = product.Factor(
      IsZero(b, kProductYZero)
          ? b.Input(kProductY)
          : b.Table("weight",
                    Values({shape, narrow}, std::vector<double>(centred.begin(), centred.end()))));
  if (!is_known) {
    product.correction = [total = b.Table("totals", IntTable(totals, {channels}, sums)),
                          zero = OperandAt(b, kProductXZero), sums](const Indices& i) {
      return total(i) * loop::MakeCast(sums, zero(Expr(0)));
    };
    return product;
  }
  if (x_zero[0] == 0) return product;
  for (int64_t& total : totals) total *= static_cast<int64_t>(x_zero[0]);
  product.correction = b.Table("correction", IntTable(totals, {channels}, sums));
  return product;
}

OpExample ProductExample(TensorType x, int64_t x_zero, TensorType y, Tensor y_scale, int64_t y_zero,
                         Attrs attrs) {
  std::vector<double> weights;
  for (int64_t i = 0; i < y.num_elements(); ++i) {
    weights.push_back(static_cast<double>((i * 37 + 11) % 255 - (y.dtype.is_uint() ? 0 : 127)));
  }
  return {.inputs = {x, y, ScaleType(), I32({}), y_scale.type(), I32({})},
          .attrs = std::move(attrs),
          .values = {Tensor(), Values(y, weights), Scale(0.5), ZeroPoint(x_zero), y_scale,
                     ZeroPoint(y_zero)},
          .input_min = -32,
          .input_max = 31};
}

}  // namespace kiln
