// SPDX-License-Identifier: Apache-2.0
// A comparison as an HTML page: fills compare.html of tools/pages.
#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/judge/comparison.h"
#include "tools/kiln/runtime_files.h"
#include "tools/pages/html.h"

namespace kiln::tools {
namespace {

constexpr double kLeastExponent = -9;
constexpr double kBarWidth = 6;  // in em

std::string ScientificCell(double value) {
  return absl::StrFormat("<td data-value=\"%.17g\">%.3g</td>", value, value);
}

// Returns a bar for the ratio of the largest difference to the largest value, from 10^-9 to 1.
std::string BarCell(const TensorError& error) {
  const double ratio = error.largest / std::max(error.largest_wanted, 1e-30);
  const double share = ratio > 0 ? std::clamp(1 - std::log10(ratio) / kLeastExponent, 0.0, 1.0) : 0;
  return absl::StrFormat(
      "<td class=\"size\"><span class=\"bar\" style=\"width:%.2fem\"></span></td>",
      error.not_finite > 0 ? kBarWidth : share * kBarWidth);
}

std::string ErrorCells(const ComparedTensor& tensor) {
  if (!tensor.error.has_value()) {
    return absl::StrCat("<td></td>", EmptyNumberCell(), EmptyNumberCell(), EmptyNumberCell(),
                        EmptyNumberCell(), EmptyNumberCell(), EmptyNumberCell());
  }
  const TensorError& error = *tensor.error;
  return absl::StrCat(
      BarCell(error), ScientificCell(error.largest), ScientificCell(error.Mean()),
      NumberCell(error.Cosine(), 6),
      error.ulp.has_value() ? NumberCell(static_cast<double>(*error.ulp), 0) : EmptyNumberCell(),
      error.quanta.has_value() ? ScientificCell(*error.quanta) : EmptyNumberCell(),
      NumberCell(static_cast<double>(error.differing), 0));
}

std::string TypeCell(const ComparedTensor& tensor) {
  std::string text = tensor.type.ToString();
  if (!tensor.layout.empty()) return absl::StrCat(text, ", reference ", tensor.layout);
  if (tensor.type == tensor.reference_type) return text;
  return absl::StrCat(text, ", reference ", tensor.reference_type.ToString());
}

std::string Row(const TensorComparison& comparison, size_t i) {
  const ComparedTensor& tensor = comparison.tensors[i];
  const bool first = &tensor == comparison.first_off();
  return absl::StrCat("<tr", tensor.off ? " class=\"off\"" : "", ">",
                      NumberCell(static_cast<double>(i), 0), TextCell(tensor.name),
                      TextCell(tensor.layer), TextCell(TypeCell(tensor)),
                      TextCell(first ? "first off" : (tensor.off ? "off" : "agrees")),
                      ErrorCells(tensor), "</tr>\n");
}

std::string PageVerdict(const TensorComparison& comparison) {
  const ComparedTensor* const first = comparison.first_off();
  if (first == nullptr) return "All tensors agree.";
  return absl::StrCat("<span class=\"bad\">The first tensor that is off is ",
                      EscapeHtml(first->name),
                      first->layer.empty() || first->layer == first->name
                          ? ""
                          : absl::StrCat(", of the layer ", EscapeHtml(first->layer)),
                      ".</span>");
}

std::string Missing(const TensorComparison& comparison) {
  if (comparison.missing.empty()) return "";
  std::string text = "<h2>Tensors that the reference does not have</h2>\n<ul>\n";
  for (const std::string& name : comparison.missing) {
    absl::StrAppend(&text, "<li>", EscapeHtml(name), "</li>\n");
  }
  return text + "</ul>";
}

}  // namespace

std::string ComparisonPage(const TensorComparison& comparison) {
  std::string rows;
  for (size_t i = 0; i < comparison.tensors.size(); ++i) {
    absl::StrAppend(&rows, Row(comparison, i));
  }
  const auto off = std::count_if(comparison.tensors.begin(), comparison.tensors.end(),
                                 [](const ComparedTensor& tensor) { return tensor.off; });
  return FillPage(
      PageFiles().at("compare.html"),
      {{"model", EscapeHtml(comparison.model)},
       {"reference", EscapeHtml(comparison.reference)},
       {"verdict", PageVerdict(comparison)},
       {"summary", absl::StrCat(SummaryItem("tensors", absl::StrCat(comparison.tensors.size())),
                                SummaryItem("off", absl::StrCat(off)),
                                SummaryItem("counts as off", ToText(comparison.tolerance)))},
       {"rows", rows},
       {"missing", Missing(comparison)}});
}

}  // namespace kiln::tools
