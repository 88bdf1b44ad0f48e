// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/onnx/windows.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/base/status.h"

namespace kiln::onnx_frontend {
namespace {

// Limit for windows and pads, so that their sums and products fit int64.
constexpr int64_t kMaxWindow = 1 << 24;

absl::StatusOr<std::vector<int64_t>> WindowPads(const Converter& c, const Shape& data,
                                                const Windows& w) {
  const size_t n = w.kernel.size();
  const std::string mode = c.String("auto_pad", "NOTSET");
  std::vector<int64_t> pads(2 * n, 0);
  const std::vector<int64_t> given = c.Ints("pads", pads);
  if (mode == "NOTSET") {
    pads = given;
    if (pads.size() != 2 * n)
      return Wrong("pads", absl::StrCat(pads.size(), " values"), absl::StrCat(2 * n));
    for (int64_t pad : pads) {
      if (pad < 0 || pad > kMaxWindow) {
        return Wrong("pads", absl::StrCat(pad), absl::StrCat("0 to ", kMaxWindow));
      }
    }
    return pads;
  }
  if (mode != "VALID" && mode != "SAME_UPPER" && mode != "SAME_LOWER")
    return Wrong("auto_pad", mode, "NOTSET, VALID, SAME_UPPER or SAME_LOWER");
  // Exporters write zero pads in addition to auto_pad.
  if (std::any_of(given.begin(), given.end(), [](int64_t pad) { return pad != 0; })) {
    return Wrong("auto_pad and pads",
                 absl::StrCat(mode, " and ", AttrValue::Ints(given).ToString()),
                 "one of them: ONNX does not permit both in one node");
  }
  if (mode == "VALID") return pads;
  for (size_t i = 0; i < n; ++i) {
    const int64_t extent = data[i + 2];
    const int64_t window = (w.kernel[i] - 1) * w.dilations[i] + 1;
    const int64_t total =
        std::max<int64_t>((DivideUp(extent, w.strides[i]) - 1) * w.strides[i] + window - extent, 0);
    pads[i] = mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    pads[i + n] = total - pads[i];
  }
  return pads;
}

}  // namespace

absl::StatusOr<Windows> WindowsOf(const Converter& c, const Shape& data,
                                  std::vector<int64_t> kernel) {
  Windows w{.kernel = std::move(kernel)};
  if (c.HasAttr("kernel_shape") && c.Ints("kernel_shape") != w.kernel) {
    return Wrong("kernel_shape", AttrValue::Ints(c.Ints("kernel_shape")).ToString(),
                 AttrValue::Ints(w.kernel).ToString());
  }
  KILN_ASSIGN_OR_RETURN(w.strides, Positive(c, "strides", w.kernel.size()));
  KILN_ASSIGN_OR_RETURN(w.dilations, Positive(c, "dilations", w.kernel.size()));
  KILN_ASSIGN_OR_RETURN(w.pads, WindowPads(c, data, w));
  return w;
}

absl::Status CheckPadsOfPool(const Windows& w) {
  const size_t n = w.kernel.size();
  for (size_t i = 0; i < 2 * n; ++i) {
    const int64_t extent = (w.kernel[i % n] - 1) * w.dilations[i % n] + 1;
    if (w.pads[i] < extent) continue;
    return Wrong("pads", absl::StrCat(w.pads[i]),
                 absl::StrCat("less than ", extent,
                              ", the extent of the window, which would lie in the padding alone"));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int64_t>> Positive(const Converter& c, absl::string_view name,
                                              size_t n) {
  std::vector<int64_t> values = c.Ints(name, std::vector<int64_t>(n, 1));
  if (values.size() != n || std::any_of(values.begin(), values.end(),
                                        [](int64_t v) { return v <= 0 || v > kMaxWindow; })) {
    return Wrong(name, AttrValue::Ints(values).ToString(),
                 absl::StrCat(n, " numbers from 1 to ", kMaxWindow));
  }
  return values;
}

std::string Spatial::Op(absl::string_view stem) const { return absl::StrCat(stem, dims, "d"); }

std::vector<int64_t> Spatial::Widened(std::vector<int64_t> values, int64_t first) const {
  if (was_1d) values.insert(values.begin(), first);
  return values;
}

std::vector<int64_t> Spatial::WidenedPads(const std::vector<int64_t>& pads) const {
  return was_1d ? std::vector<int64_t>{0, pads[0], 0, pads[1]} : pads;
}

absl::StatusOr<Spatial> AsSpatial(Converter& c, ValueId data) {
  const Shape shape = c.type(data).shape;
  if (shape.size() == 4 || shape.size() == 5) {
    return Spatial{data, static_cast<int>(shape.size()) - 2, false};
  }
  if (shape.size() != 3) {
    return absl::UnimplementedError(
        absl::StrCat("rank ", shape.size(), " data; ranks 3 to 5 are supported"));
  }
  KILN_ASSIGN_OR_RETURN(const ValueId wide, c.Reshape(data, {shape[0], shape[1], 1, shape[2]}));
  return Spatial{wide, 2, true};
}

absl::StatusOr<ValueId> Back(Converter& c, ValueId value, const Spatial& of) {
  if (!of.was_1d) return value;
  const Shape shape = c.type(value).shape;
  return c.Reshape(value, {shape[0], shape[1], shape[3]});
}

}  // namespace kiln::onnx_frontend
