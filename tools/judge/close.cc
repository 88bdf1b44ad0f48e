// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/close.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace kiln::tools {

std::string ElementText(const Tensor& tensor, int64_t i) {
  const DType dtype = tensor.type().dtype;
  if (dtype == DType::UInt(64)) {
    return absl::StrCat(tensor.values<uint64_t>()[static_cast<size_t>(i)]);
  }
  if (!dtype.is_float()) return absl::StrCat(tensor.AsInt(i));
  return absl::StrFormat("%.*g", dtype.bits > 32 ? 17 : 9, tensor.AsDouble(i));
}

absl::Status CheckClose(const Tensor& found, const Tensor& wanted, const Tolerance& tolerance) {
  const bool bits = tolerance.relative == 0 && tolerance.absolute == 0;
  const size_t element_bytes = static_cast<size_t>(found.type().dtype.bytes());
  const int64_t elements = found.type().num_elements();
  int64_t wrong = 0, first = 0;
  for (int64_t i = 0; i < elements; ++i) {
    const double a = found.AsDouble(i), b = wanted.AsDouble(i);
    const size_t offset = static_cast<size_t>(i) * element_bytes;
    const bool close =
        bits ? found.bytes().compare(offset, element_bytes, wanted.bytes(), offset,
                                     element_bytes) == 0
             : a == b || (std::isnan(a) && std::isnan(b)) ||
                   std::abs(a - b) <= tolerance.absolute + tolerance.relative * std::abs(b);
    if (!close && wrong++ == 0) first = i;
  }
  if (wrong == 0) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("%d of %d values differ, the first at %d: found %s, wanted %s", wrong,
                      elements, first, ElementText(found, first), ElementText(wanted, first)));
}

}  // namespace kiln::tools
