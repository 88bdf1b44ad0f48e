// SPDX-License-Identifier: Apache-2.0
// What `kiln quantize` prints.
#ifndef KILN_TOOLS_KILN_QUANTIZE_REPORT_H_
#define KILN_TOOLS_KILN_QUANTIZE_REPORT_H_

#include <string>

#include "compiler/quantize/quantize.h"

namespace kiln::tools {

// Tables of layers, outputs, and operators that stay float32; then the layers that lose most.
std::string QuantizeReport(const quantize::Quantized& quantized);

// The same for programs; ratios that are infinite are null.
std::string QuantizeReportJson(const quantize::Quantized& quantized);

}  // namespace kiln::tools

#endif  // KILN_TOOLS_KILN_QUANTIZE_REPORT_H_
