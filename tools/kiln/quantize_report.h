// SPDX-License-Identifier: Apache-2.0
// Output of `kiln quantize`.
#ifndef KILN_TOOLS_KILN_QUANTIZE_REPORT_H_
#define KILN_TOOLS_KILN_QUANTIZE_REPORT_H_

#include <string>

#include "compiler/quantize/quantize.h"

namespace kiln::tools {

// Returns tables of layers, outputs, and operators that stay float32, followed by the layers that
// lose most.
std::string QuantizeReport(const quantize::Quantized& quantized);

// Returns the same as JSON. Infinite ratios are null.
std::string QuantizeReportJson(const quantize::Quantized& quantized);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_QUANTIZE_REPORT_H_
