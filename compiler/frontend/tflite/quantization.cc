// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/tflite/quantization.h"

#include <cmath>

#include "absl/strings/str_cat.h"

namespace kiln::tflite_frontend {
namespace {

absl::Status WrongQuantization(const std::string& found, const std::string& wanted) {
  return absl::InvalidArgumentError(
      absl::StrCat("quantization: found ", found, ", wanted ", wanted));
}

}  // namespace

absl::StatusOr<std::optional<Quantization>> ReadQuantization(
    const tflite_schema::QuantizationParameters* parameters, const TensorType& type) {
  if (parameters == nullptr || !type.dtype.is_integral()) return std::optional<Quantization>();
  if (parameters->details_type() != 0) {
    return absl::UnimplementedError("quantization of a custom form");
  }
  if (parameters->scale() == nullptr || parameters->scale()->size() == 0) {
    return std::optional<Quantization>();
  }
  Quantization q;
  q.scales.assign(parameters->scale()->begin(), parameters->scale()->end());
  for (float scale : q.scales) {
    if (!std::isfinite(scale) || scale <= 0) {
      return WrongQuantization(absl::StrCat("the scale ", scale), "a positive number");
    }
  }
  if (q.scales.size() > 1) {
    q.axis = parameters->quantized_dimension();
    if (q.axis < 0 || q.axis >= type.rank() ||
        type.shape[static_cast<size_t>(q.axis)] != static_cast<int64_t>(q.scales.size())) {
      return WrongQuantization(absl::StrCat(q.scales.size(), " scales along dimension ", q.axis,
                                            " of ", ShapeToString(type.shape)),
                               "one, or one per index of a dimension");
    }
  }
  q.zero_points.assign(q.scales.size(), 0);
  if (parameters->zero_point() == nullptr || parameters->zero_point()->size() == 0) return q;
  if (parameters->zero_point()->size() != q.scales.size()) {
    return WrongQuantization(absl::StrCat(parameters->zero_point()->size(), " zero points"),
                             absl::StrCat(q.scales.size(), ", as many as scales"));
  }
  for (size_t i = 0; i < q.scales.size(); ++i) {
    const int64_t zero = parameters->zero_point()->Get(static_cast<uint32_t>(i));
    const int64_t least = type.dtype.bits < 32 ? type.dtype.MinInt() : INT32_MIN;
    const int64_t most = type.dtype.bits < 32 ? type.dtype.MaxInt() : INT32_MAX;
    if (zero < least || zero > most) {
      return WrongQuantization(absl::StrCat("the zero point ", zero),
                               absl::StrCat(least, " to ", most));
    }
    q.zero_points[i] = static_cast<int32_t>(zero);
  }
  return q;
}

std::optional<frontend::PortQuantization> OfWholeTensor(const std::optional<Quantization>& q) {
  if (!q.has_value() || q->per_channel()) return std::nullopt;
  return frontend::PortQuantization{q->scales[0], q->zero_points[0]};
}

Tensor Dequantized(const Tensor& tensor, const Quantization& quantization) {
  const Shape& shape = tensor.type().shape;
  int64_t inner = 1;  // elements between successive indices of the axis
  for (size_t d = static_cast<size_t>(quantization.axis) + 1; d < shape.size(); ++d) {
    inner *= shape[d];
  }
  const int64_t count = tensor.type().num_elements();
  const int64_t channels = static_cast<int64_t>(quantization.scales.size());
  std::vector<float> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const size_t c = static_cast<size_t>(channels == 1 ? 0 : i / inner % channels);
    values[static_cast<size_t>(i)] =
        static_cast<float>(quantization.scales[c] *
                           static_cast<double>(tensor.AsInt(i) - quantization.zero_points[c]));
  }
  return Tensor::From<float>(shape, DType::Float(32), values);
}

}  // namespace kiln::tflite_frontend
