// SPDX-License-Identifier: Apache-2.0
// The custom operators of TensorFlow Lite Micro's Signal library, which compute sound features for
// models.
#include <algorithm>
#include <cstdint>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/converter.h"

namespace kiln::tflite_frontend {
namespace {

using tflite_schema::BuiltinOperator;

absl::StatusOr<int64_t> Option(const Converter& c, const std::string& name) {
  KILN_ASSIGN_OR_RETURN(const CustomOptions options, c.ReadCustomOptions());
  return options.Int(name);
}

absl::StatusOr<ValueId> CastTo(Converter& c, ValueId value, DType dtype) {
  return c.Op("cast", {value}, {{"dtype", dtype.ToString()}});
}

// Multiplies the samples of a frame by a window, int16 with `shift` fractional bits.
absl::Status SignalWindow(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId data, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId window, c.Input(1));
  const TensorType type = c.type(data), weights = c.type(window);
  if (type.dtype != kI16 || weights.dtype != kI16 || type.rank() < 1 || weights.rank() != 1 ||
      type.shape.back() != weights.shape[0]) {
    return Wrong("data and window", absl::StrCat(type.ToString(), " and ", weights.ToString()),
                 "int16 of one length");
  }
  KILN_ASSIGN_OR_RETURN(const int64_t shift, Option(c, "shift"));
  if (shift < 0 || shift > 31) return Wrong("shift", absl::StrCat(shift), "0 to 31");
  KILN_ASSIGN_OR_RETURN(const ValueId wide, CastTo(c, data, kI32));
  KILN_ASSIGN_OR_RETURN(const ValueId factors, CastTo(c, window, kI32));
  KILN_ASSIGN_OR_RETURN(const ValueId product, c.Op("multiply", {wide, factors}));
  KILN_ASSIGN_OR_RETURN(
      const ValueId shifted,
      c.Op("right_shift", {product, c.Scalar(product, static_cast<double>(shift))}));
  KILN_ASSIGN_OR_RETURN(const ValueId clipped,
                        c.Op("clip", {shifted}, {{"a_min", -32768.0}, {"a_max", 32767.0}}));
  return c.Output(0, CastTo(c, clipped, kI16));
}

absl::Status FftAutoScale(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId data, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> results,
                        c.TupleOp("signal.auto_scale", {data}, {{"restart_at_lowest", true}}));
  for (int i = 0; i < 2; ++i) c.SetOutput(i, results[static_cast<size_t>(i)]);
  return absl::OkStatus();
}

// Real and imaginary parts alternate along the last axis.
absl::Status Rfft(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId data, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const int64_t length, Option(c, "fft_length"));
  KILN_ASSIGN_OR_RETURN(const ValueId bins, c.Op("signal.rfft", {data}, {{"fft_length", length}}));
  Shape shape = c.type(bins).shape;
  shape.pop_back();
  shape.back() *= 2;
  return c.Output(0, c.Reshape(bins, shape));
}

absl::StatusOr<ValueId> AsPairs(Converter& c, ValueId data) {
  Shape shape = c.type(data).shape;
  if (shape.empty() || shape.back() % 2 != 0) {
    return Wrong("data", c.type(data).ToString(), "pairs of real and imaginary parts");
  }
  shape.back() /= 2;
  shape.push_back(2);
  return c.Reshape(data, shape);
}

absl::Status Irfft(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId data, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const int64_t length, Option(c, "fft_length"));
  KILN_ASSIGN_OR_RETURN(const ValueId bins, AsPairs(c, data));
  return c.Output(0, c.Op("signal.irfft", {bins}, {{"fft_length", length}}));
}

// Returns the squared magnitudes of the bins start_index <= i < end_index. Other bins are 0, while
// the library does not write them.
absl::Status Energy(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId data, c.Input(0));
  if (c.type(data).rank() != 1 || c.type(data).dtype != kI16) {
    return Wrong("data", c.type(data).ToString(), "a vector of int16");
  }
  KILN_ASSIGN_OR_RETURN(const ValueId pairs, AsPairs(c, data));
  const int64_t bins = c.type(pairs).shape[0];
  KILN_ASSIGN_OR_RETURN(const int64_t begin, Option(c, "start_index"));
  KILN_ASSIGN_OR_RETURN(const int64_t end, Option(c, "end_index"));
  if (begin < 0 || begin > end || end > bins) {
    return Wrong("start_index and end_index", absl::StrCat(begin, " and ", end),
                 absl::StrCat("a range of ", bins, " bins"));
  }
  KILN_ASSIGN_OR_RETURN(const ValueId range, c.Op("strided_slice", {pairs},
                                                  {{"begin", AttrValue::Ints({begin})},
                                                   {"end", AttrValue::Ints({end})},
                                                   {"strides", AttrValue::Ints({1})},
                                                   {"axes", AttrValue::Ints({0})}}));
  KILN_ASSIGN_OR_RETURN(const ValueId wide, CastTo(c, range, kI32));
  KILN_ASSIGN_OR_RETURN(const ValueId squares, c.Op("multiply", {wide, wide}));
  // The sum of two squares of the lowest number exceeds int32.
  KILN_ASSIGN_OR_RETURN(const ValueId large, CastTo(c, squares, kU32));
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op("sum", {large}, {{"axis", AttrValue::Ints({1})}}));
  if (end - begin < bins) {
    const AttrValue widths(std::vector<AttrValue>{AttrValue::Ints({begin, bins - end})});
    KILN_ASSIGN_OR_RETURN(y, c.Op("nn.pad", {y, c.Scalar(y, 0)}, {{"pad_width", widths}}));
  }
  return c.Output(0, y);
}

// The terms of a filter bank. Channel i of the file has a run of bins with two weights each: one
// for channel i - 1 of the result, one for channel i.
class FilterBankTerms {
 public:
  FilterBankTerms(int64_t channels, int64_t bins)
      : channels_(channels), bins_(bins), width_(std::min<int64_t>(channels, 2)) {}

  absl::Status Add(int64_t i, int64_t bin, int64_t weight, int64_t unweight) {
    const int64_t first = std::clamp<int64_t>(i - 1, 0, channels_ - width_);
    std::vector<int16_t> weights(static_cast<size_t>(width_), 0);
    if (i > 0) weights[static_cast<size_t>(i - 1 - first)] = static_cast<int16_t>(weight);
    if (i < channels_) weights[static_cast<size_t>(i - first)] = static_cast<int16_t>(unweight);
    if (std::all_of(weights.begin(), weights.end(), [](int16_t w) { return w == 0; })) {
      return absl::OkStatus();
    }
    if (bin < 0 || bin >= bins_) {
      return Wrong("a bin of the filter bank", absl::StrCat(bin), absl::StrCat("0 to ", bins_ - 1));
    }
    if (bins.size() == kMaxTerms) {
      return absl::UnimplementedError(absl::StrCat("more than ", kMaxTerms, " weights"));
    }
    weights_.insert(weights_.end(), weights.begin(), weights.end());
    bins.push_back(static_cast<uint16_t>(bin));
    channels.push_back(static_cast<uint16_t>(first));
    return absl::OkStatus();
  }

  Tensor Weights() const {
    return Tensor::From<int16_t>({static_cast<int64_t>(bins.size()), width_}, kI16, weights_);
  }
  static Tensor Table(const std::vector<uint16_t>& values) {
    return Tensor::From<uint16_t>({static_cast<int64_t>(values.size())}, DType::UInt(16), values);
  }

  static constexpr int64_t kMaxBins = 1 << 16;
  std::vector<uint16_t> bins, channels;

 private:
  static constexpr size_t kMaxTerms = size_t{1} << 20;

  const int64_t channels_, bins_, width_;
  std::vector<int16_t> weights_;
};

absl::Status FilterBank(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId data, c.Input(0));
  const TensorType type = c.type(data);
  if (type.rank() != 1 || type.num_elements() > FilterBankTerms::kMaxBins) {
    return Wrong("data", type.ToString(),
                 absl::StrCat("a vector of at most ", FilterBankTerms::kMaxBins));
  }
  KILN_ASSIGN_OR_RETURN(const int64_t channels, Option(c, "num_channels"));
  std::vector<std::vector<int64_t>> tables;
  for (const char* what : {"the weights", "the complements of the weights", "the first bins",
                           "the first weights", "the widths"}) {
    KILN_ASSIGN_OR_RETURN(tables.emplace_back(),
                          c.IntsInput(static_cast<int>(tables.size()) + 1, what));
  }
  const std::vector<int64_t>&weights = tables[0], &unweights = tables[1];
  const auto runs =
      static_cast<int64_t>(std::min({tables[2].size(), tables[3].size(), tables[4].size()}));
  if (channels < 1 || channels >= runs) {
    return Wrong("num_channels", absl::StrCat(channels),
                 absl::StrCat("at least 1, and less than the ", runs, " runs of bins"));
  }
  FilterBankTerms terms(channels, type.num_elements());
  for (int64_t i = 0; i <= channels; ++i) {
    const auto at = [&](size_t table) { return tables[table][static_cast<size_t>(i)]; };
    const int64_t first = at(3), width = at(4);
    const auto limit = static_cast<int64_t>(std::min(weights.size(), unweights.size()));
    if (first < 0 || width < 0 || first + width > limit) {
      return Wrong("weights of a channel", absl::StrCat(first, " to ", first + width - 1),
                   absl::StrCat("0 to ", limit - 1));
    }
    for (int64_t j = 0; j < width; ++j) {
      const auto k = static_cast<size_t>(first + j);
      KILN_RETURN_IF_ERROR(terms.Add(i, at(2) + j, weights[k], unweights[k]));
    }
  }
  return c.Output(
      0, c.Op("signal.filter_bank",
              {data, c.Constant(terms.Weights()), c.Constant(FilterBankTerms::Table(terms.bins)),
               c.Constant(FilterBankTerms::Table(terms.channels))},
              {{"num_channels", channels}}));
}

absl::Status FilterBankSquareRoot(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId data, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId scale_bits, c.Input(1));
  if (c.type(scale_bits).num_elements() != 1) {
    return Wrong("the scale bits", c.type(scale_bits).ToString(), "one number");
  }
  KILN_ASSIGN_OR_RETURN(const ValueId root, c.Op("signal.square_root", {data}));
  KILN_ASSIGN_OR_RETURN(const ValueId bits, CastTo(c, scale_bits, kU32));
  return c.Output(0, c.Op("right_shift", {root, bits}));
}

absl::Status FilterBankSpectralSubtraction(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId data, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const CustomOptions options, c.ReadCustomOptions());
  const auto pair = [&](const char* even, const char* odd) -> absl::StatusOr<AttrValue> {
    KILN_ASSIGN_OR_RETURN(const int64_t of_even, options.Int(even));
    KILN_ASSIGN_OR_RETURN(const int64_t of_odd, options.Int(odd));
    return AttrValue::Ints({of_even, of_odd});
  };
  KILN_ASSIGN_OR_RETURN(const AttrValue smoothing, pair("smoothing", "alternate_smoothing"));
  KILN_ASSIGN_OR_RETURN(const AttrValue rest,
                        pair("one_minus_smoothing", "alternate_one_minus_smoothing"));
  KILN_ASSIGN_OR_RETURN(const int64_t remaining, options.Int("min_signal_remaining"));
  KILN_ASSIGN_OR_RETURN(const int64_t up, options.Int("smoothing_bits"));
  KILN_ASSIGN_OR_RETURN(const int64_t fraction, options.Int("spectral_subtraction_bits"));
  KILN_ASSIGN_OR_RETURN(const int64_t clamping, options.Int("clamping"));
  KILN_ASSIGN_OR_RETURN(const ValueId noise, c.State(c.type(data)));
  KILN_ASSIGN_OR_RETURN(const std::vector<ValueId> results,
                        c.TupleOp("signal.spectral_subtraction", {data, noise},
                                  {{"smoothing", smoothing},
                                   {"one_minus_smoothing", rest},
                                   {"min_signal_remaining", remaining},
                                   {"smoothing_bits", up},
                                   {"fraction_bits", fraction},
                                   {"clamping", clamping != 0}}));
  for (int i = 0; i < 2; ++i) c.SetOutput(i, results[static_cast<size_t>(i)]);
  c.SetState(results[1]);
  return absl::OkStatus();
}

absl::Status Pcan(Converter& c) {
  KILN_ASSIGN_OR_RETURN(std::vector<ValueId> inputs, c.Inputs());
  KILN_ASSIGN_OR_RETURN(const int64_t shift, Option(c, "snr_shift"));
  return c.Output(0, c.Op("signal.gain_control", std::move(inputs), {{"shift", shift}}));
}

absl::Status FilterBankLog(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId data, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const int64_t bits, Option(c, "input_correction_bits"));
  KILN_ASSIGN_OR_RETURN(const int64_t scale, Option(c, "output_scale"));
  return c.Output(
      0, c.Op("signal.log", {data}, {{"input_correction_bits", bits}, {"output_scale", scale}}));
}

constexpr TfliteOperator Row(const char* name, Convert convert) {
  return {.code = BuiltinOperator::CUSTOM, .convert = convert, .custom_name = name};
}

constexpr TfliteOperator kSignalRows[] = {
    Row("SignalEnergy", Energy),
    Row("SignalFftAutoScale", FftAutoScale),
    Row("SignalFilterBank", FilterBank),
    Row("SignalFilterBankLog", FilterBankLog),
    Row("SignalFilterBankSpectralSubtraction", FilterBankSpectralSubtraction),
    Row("SignalFilterBankSquareRoot", FilterBankSquareRoot),
    Row("SignalIrfft", Irfft),
    Row("SignalPCAN", Pcan),
    Row("SignalRfft", Rfft),
    Row("SignalWindow", SignalWindow),
};

}  // namespace

absl::Span<const TfliteOperator> SignalOperators() { return kSignalRows; }

}  // namespace kiln::tflite_frontend
