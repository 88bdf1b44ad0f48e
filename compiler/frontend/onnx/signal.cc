// SPDX-License-Identifier: Apache-2.0
// Windows and transforms of signals.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/common/fourier.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/tensor_proto.h"

namespace kiln::onnx_frontend {
namespace {

constexpr double kPi = 3.14159265358979323846;
// Maximum number of elements of a matrix.
constexpr int64_t kMaxMatrix = int64_t{1} << 26;

absl::StatusOr<int64_t> IntInput(Converter& c, int i, const char* what, int64_t least,
                                 int64_t most) {
  KILN_ASSIGN_OR_RETURN(const Tensor value, c.ConstantInput(i, what));
  if (value.type().num_elements() != 1 || value.AsInt(0) < least || value.AsInt(0) > most) {
    return Wrong(
        what,
        value.type().num_elements() == 1 ? absl::StrCat(value.AsInt(0)) : value.type().ToString(),
        absl::StrCat("one number from ", least, " to ", most));
  }
  return value.AsInt(0);
}

// w0 - w1 cos(2 pi i / n) + w2 cos(4 pi i / n). n is the length, or one less if the window is
// symmetric.
absl::Status CosineWindow(Converter& c, double w0, double w1, double w2) {
  KILN_ASSIGN_OR_RETURN(const int64_t size, IntInput(c, 0, "size", 0, kMaxMatrix));
  KILN_ASSIGN_OR_RETURN(
      const DType dtype,
      DTypeOf(static_cast<int>(c.Int("output_datatype", onnx::TensorProto::FLOAT))));
  const auto period = static_cast<double>(c.Int("periodic", 1) != 0 ? size : size - 1);
  Formula f(c);
  const ValueId i = f.Cast(f.Count(0, size), DType::Float(64));
  const auto wave = [&](double weight, double times) {
    const ValueId phase = f("multiply", {i, f.Number(times * kPi / std::max(period, 1.0), i)});
    return f("multiply", {f("cos", {phase}), f.Number(weight, i)});
  };
  ValueId y = f("subtract", {f.Number(w0, i), wave(w1, 2)});
  if (w2 != 0) y = f("add", {y, wave(w2, 4)});
  return f.Output(0, f.Cast(y, dtype));
}

absl::Status HannWindow(Converter& c) { return CosineWindow(c, 0.5, 0.5, 0); }
absl::Status HammingWindow(Converter& c) { return CosineWindow(c, 25.0 / 46, 21.0 / 46, 0); }
absl::Status BlackmanWindow(Converter& c) { return CosineWindow(c, 0.42, 0.5, 0.08); }

// Triangles between frequencies that are equidistant on the mel scale, 2595 log10(1 + f / 700).
absl::Status MelWeightMatrix(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const int64_t bins, IntInput(c, 0, "num_mel_bins", 1, 1 << 16));
  KILN_ASSIGN_OR_RETURN(const int64_t length, IntInput(c, 1, "dft_length", 1, 1 << 24));
  KILN_ASSIGN_OR_RETURN(const int64_t rate, IntInput(c, 2, "sample_rate", 1, INT32_MAX));
  double mel[2];
  for (int i = 0; i < 2; ++i) {
    KILN_ASSIGN_OR_RETURN(const Tensor hertz, c.ConstantInput(3 + i, "an edge in hertz"));
    if (hertz.type().num_elements() != 1 || !(hertz.AsDouble(0) >= 0)) {
      return Wrong("an edge in hertz", hertz.type().ToString(), "one number, not negative");
    }
    mel[i] = 2595 * std::log10(1 + hertz.AsDouble(0) / 700);
  }
  const int64_t rows = length / 2 + 1;
  if (rows * bins > kMaxMatrix) {
    return Wrong("the matrix", absl::StrCat(rows, " x ", bins),
                 absl::StrCat("at most ", kMaxMatrix));
  }
  std::vector<int64_t> edges;  // start, peak and end rows of the triangles
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double at =
        mel[0] + static_cast<double>(i) * (mel[1] - mel[0]) / static_cast<double>(bins + 2);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    const double row =
        std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate));
    edges.push_back(static_cast<int64_t>(std::min(row, static_cast<double>(rows))));
  }
  std::vector<double> weights(static_cast<size_t>(rows * bins));
  for (int64_t bin = 0; bin < bins; ++bin) {
    const auto k = static_cast<size_t>(bin);
    const int64_t low = edges[k], peak = edges[k + 1], high = edges[k + 2];
    const auto at = [&](int64_t row) -> double& {
      return weights[static_cast<size_t>(row * bins + bin)];
    };
    if (low == peak && peak < rows) at(peak) = 1;
    for (int64_t row = low; row < peak + (low == peak ? 0 : 1) && row < rows; ++row) {
      at(row) = static_cast<double>(row - low) / static_cast<double>(peak - low);
    }
    for (int64_t row = peak; row < high && row < rows; ++row) {
      at(row) = static_cast<double>(high - row) / static_cast<double>(high - peak);
    }
  }
  KILN_ASSIGN_OR_RETURN(
      const DType dtype,
      DTypeOf(static_cast<int>(c.Int("output_datatype", onnx::TensorProto::FLOAT))));
  Formula f(c);
  const Tensor matrix = Tensor::From<double>({rows, bins}, DType::Float(64), weights);
  return f.Output(0, f.Cast(c.Constant(matrix), dtype));
}

absl::Status SignalTooLong(int64_t samples) {
  return absl::UnimplementedError(absl::StrCat(
      "a transform of ", samples, " samples; it is computed as a product with a matrix"));
}

// Transforms x [rows, n, parts] along dimension 1 to [rows, bins, 2]. `parts` is 1 (real) or 2
// (real, imaginary).
absl::StatusOr<ValueId> Fourier(Converter& c, ValueId x, bool inverse, bool onesided) {
  const TensorType type = c.type(x);
  const int64_t rows = type.shape[0], n = type.shape[1], parts = type.shape[2];
  const int64_t bins = onesided ? n / 2 + 1 : n;
  if (parts != 1 && parts != 2) return Wrong("data", type.ToString(), "1 or 2 numbers per sample");
  if (n < 1 || n > kMaxMatrix / bins) return SignalTooLong(n);
  Formula f(c);
  const auto matrix_of = [&](frontend::ComplexPart part) {
    const std::vector<double> values = frontend::FourierMatrix(bins, n, part, inverse);
    return f.Cast(c.Constant(Tensor::From<double>({bins, n}, DType::Float(64), values)),
                  type.dtype);
  };
  const ValueId matrix[] = {matrix_of(frontend::ComplexPart::kReal),
                            matrix_of(frontend::ComplexPart::kImaginary)};
  const auto product = [&](int64_t part, int m) {
    const ValueId index = c.Constant(Tensor::From<int64_t>({}, DType::Int(64), {part}));
    const ValueId samples = f("take", {x, index}, {{"axis", 2}});
    return f("nn.dense", {samples, matrix[m]}, {{"units", bins}});
  };
  ValueId real = product(0, 0), imaginary = product(0, 1);
  if (parts == 2) {
    real = f("subtract", {real, product(1, 1)});
    imaginary = f("add", {imaginary, product(1, 0)});
  }
  real = f.Reshape(real, {rows, bins, 1});
  const ValueId y = f("concatenate", {real, f.Reshape(imaginary, {rows, bins, 1})}, {{"axis", 2}});
  if (!f.ok()) return f.status();
  return y;
}

// Returns the real signal [rows, length, 1] whose one-sided transform is x [rows, length / 2 + 1,
// 2]. A bin also represents its mirror image, except the first bin and, for an even length, the
// last.
absl::StatusOr<ValueId> RealSignal(Converter& c, ValueId x, int64_t length) {
  const TensorType type = c.type(x);
  const int64_t rows = type.shape[0], bins = type.shape[1];
  if (type.shape[2] != 2) return Wrong("data", type.ToString(), "2 numbers per bin");
  if (bins > kMaxMatrix / length) return SignalTooLong(length);
  Formula f(c);
  const auto product = [&](int64_t index, frontend::ComplexPart part) {
    const std::vector<double> waves = frontend::FourierMatrix(bins, length, part, true);
    std::vector<double> matrix(waves.size());
    for (int64_t bin = 0; bin < bins; ++bin) {
      const double weight = bin == 0 || 2 * bin == length ? 1 : 2;
      for (int64_t i = 0; i < length; ++i) {
        matrix[static_cast<size_t>(i * bins + bin)] =
            weight * waves[static_cast<size_t>(bin * length + i)];
      }
    }
    const ValueId at = c.Constant(Tensor::From<int64_t>({}, DType::Int(64), {index}));
    return f("nn.dense",
             {f("take", {x, at}, {{"axis", 2}}),
              f.Cast(c.Constant(Tensor::From<double>({length, bins}, DType::Float(64), matrix)),
                     type.dtype)},
             {{"units", length}});
  };
  const ValueId y = f("subtract", {product(0, frontend::ComplexPart::kReal),
                                   product(1, frontend::ComplexPart::kImaginary)});
  const ValueId signal = f.Reshape(y, {rows, length, 1});
  if (!f.ok()) return f.status();
  return signal;
}

absl::Status Dft(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const TensorType type = c.type(x);
  if (type.rank() < 2) return Wrong("data", type.ToString(), "rank 2 or more");
  // The axis is an attribute up to opset 19, and an input from opset 20 on.
  int64_t axis = c.Int("axis", c.opset() < 20 ? 1 : -2);
  if (c.HasInput(2)) {
    KILN_ASSIGN_OR_RETURN(axis, IntInput(c, 2, "axis", -type.rank(), type.rank() - 1));
  }
  KILN_ASSIGN_OR_RETURN(axis, NormalAxis(axis, type.rank()));
  if (axis == type.rank() - 1) return Wrong("axis", "the last", "one of samples");
  std::vector<int64_t> order, back(type.shape.size());
  for (int64_t d = 0; d < type.rank(); ++d) {
    if (d != axis && d != type.rank() - 1) order.push_back(d);
  }
  order.push_back(axis);
  order.push_back(type.rank() - 1);
  for (size_t d = 0; d < order.size(); ++d) {
    back[static_cast<size_t>(order[d])] = static_cast<int64_t>(d);
  }
  Shape shape;
  for (int64_t d : order) shape.push_back(type.shape[static_cast<size_t>(d)]);
  const int64_t n = shape[shape.size() - 2], parts = shape.back();
  const bool inverse = c.Int("inverse", 0) != 0, onesided = c.Int("onesided", 0) != 0;
  const bool real = inverse && onesided;
  int64_t length = real ? 2 * (n - 1) : n;
  if (c.HasInput(1)) {
    KILN_ASSIGN_OR_RETURN(length, IntInput(c, 1, "dft_length", 1, kMaxMatrix));
  }
  if (real && length < 1) return Wrong("data", type.ToString(), "2 bins or more");
  const int64_t taken = real ? length / 2 + 1 : length;
  const int64_t rows = NumElements({shape.data(), shape.size() - 2});
  Formula f(c);
  ValueId y = f.Reshape(f.Transpose(x, order), {rows, n, parts});
  if (taken < n) {
    y = f("strided_slice", {y},
          {{"begin", AttrValue::Ints({0})},
           {"end", AttrValue::Ints({taken})},
           {"strides", AttrValue::Ints({1})},
           {"axes", AttrValue::Ints({1})}});
  } else if (taken > n) {
    const AttrValue widths(std::vector<AttrValue>{
        AttrValue::Ints({0, 0}), AttrValue::Ints({0, taken - n}), AttrValue::Ints({0, 0})});
    y = f("nn.pad", {y, f.Number(0, y)}, {{"pad_width", widths}});
  }
  if (!f.ok()) return f.status();
  KILN_ASSIGN_OR_RETURN(y, real ? RealSignal(c, y, length) : Fourier(c, y, inverse, onesided));
  shape[shape.size() - 2] = c.type(y).shape[1];
  shape.back() = c.type(y).shape[2];
  return f.Output(0, f.Transpose(f.Reshape(y, shape), back));
}

// Splits the signal into frames, multiplies them by the window and transforms them.
absl::Status Stft(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const TensorType type = c.type(x);
  if (type.rank() != 2 && type.rank() != 3) return Wrong("signal", type.ToString(), "rank 2 or 3");
  const int64_t batch = type.shape[0], samples = type.shape[1];
  const int64_t parts = type.rank() == 3 ? type.shape[2] : 1;
  KILN_ASSIGN_OR_RETURN(const int64_t step, IntInput(c, 1, "frame_step", 1, kMaxMatrix));
  int64_t length = 0;
  if (c.HasInput(2)) {
    KILN_ASSIGN_OR_RETURN(const ValueId window, c.Input(2));
    length = c.type(window).num_elements();
  }
  if (c.HasInput(3)) {
    KILN_ASSIGN_OR_RETURN(length, IntInput(c, 3, "frame_length", 1, kMaxMatrix));
  }
  if (length < 1 || length > samples) {
    return Wrong("frames", absl::StrCat(length, " samples"), absl::StrCat("1 to ", samples));
  }
  const int64_t frames = (samples - length) / step + 1;
  if (frames > kMaxMatrix / length) {
    return Wrong("frames", absl::StrCat(frames, " x ", length),
                 absl::StrCat("at most ", kMaxMatrix));
  }
  std::vector<int64_t> places;
  for (int64_t i = 0; i < frames * length; ++i) places.push_back(i / length * step + i % length);
  Formula f(c);
  const ValueId indices =
      c.Constant(Tensor::From<int64_t>({frames * length}, DType::Int(64), places));
  ValueId y = f("take", {f.Reshape(x, {batch, samples, parts}), indices}, {{"axis", 1}});
  y = f.Reshape(y, {batch * frames, length, parts});
  if (c.HasInput(2)) y = f("multiply", {y, f.Reshape(f.Input(2), {length, 1})});
  if (!f.ok()) return f.status();
  KILN_ASSIGN_OR_RETURN(y, Fourier(c, y, false, c.Int("onesided", 1) != 0));
  return f.Output(0, f.Reshape(y, {batch, frames, c.type(y).shape[1], 2}));
}

constexpr OnnxOperator kSignalRows[] = {
    {"BlackmanWindow", BlackmanWindow},   Composite("DFT", Dft),
    {"HammingWindow", HammingWindow},     {"HannWindow", HannWindow},
    {"MelWeightMatrix", MelWeightMatrix}, Composite("STFT", Stft),
};

}  // namespace

absl::Span<const OnnxOperator> SignalOperators() { return kSignalRows; }

}  // namespace kiln::onnx_frontend
