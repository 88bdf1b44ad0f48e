// SPDX-License-Identifier: Apache-2.0
// A comparison as a table and as JSON.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/judge/comparison.h"
#include "tools/terminal/table.h"

namespace kiln::tools {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxMissingNames = 5;

std::string ThreeDigits(double value) { return absl::StrFormat("%.3g", value); }

std::string TypeText(const ComparedTensor& tensor) {
  std::string text =
      absl::StrCat(tensor.type.dtype.ToString(), " ", ShapeToString(tensor.type.shape));
  if (!tensor.layout.empty()) return absl::StrCat(text, ", reference ", tensor.layout);
  if (tensor.error.has_value() && tensor.type == tensor.reference_type) return text;
  return absl::StrCat(text, ", reference ", tensor.reference_type.dtype.ToString(), " ",
                      ShapeToString(tensor.reference_type.shape));
}

std::string Mark(const TensorComparison& comparison, const ComparedTensor& tensor) {
  if (!tensor.off) return "";
  return &tensor == comparison.first_off() ? "first off" : "off";
}

std::string LayerText(const ComparedTensor& tensor) {
  return tensor.layer == tensor.name ? "" : tensor.layer;
}

std::vector<std::string> Cells(const TensorComparison& comparison, const ComparedTensor& tensor) {
  std::vector<std::string> cells = {Mark(comparison, tensor)};
  if (tensor.error.has_value()) {
    const TensorError& error = *tensor.error;
    cells.insert(cells.end(), {ThreeDigits(error.largest), ThreeDigits(error.Mean()),
                               absl::StrFormat("%.6f", error.Cosine()),
                               error.ulp.has_value() ? absl::StrCat(*error.ulp) : "",
                               error.quanta.has_value() ? ThreeDigits(*error.quanta) : "",
                               absl::StrCat(error.differing)});
  } else {
    cells.resize(7);
  }
  cells.insert(cells.end(), {tensor.name, LayerText(tensor), TypeText(tensor)});
  return cells;
}

Json ErrorJson(const TensorError& error) {
  Json json = {{"elements", error.elements},     {"differing", error.differing},
               {"not_finite", error.not_finite}, {"largest", error.largest},
               {"mean", error.Mean()},           {"largest_wanted", error.largest_wanted},
               {"cosine", error.Cosine()}};
  if (error.ulp.has_value()) json["ulp"] = *error.ulp;
  if (error.quanta.has_value()) json["quanta"] = *error.quanta;
  if (error.differing > 0) {
    json["worst"] = {{"at", error.at}, {"found", error.found}, {"wanted", error.wanted}};
  }
  return json;
}

Json TypeJson(const TensorType& type) {
  return {{"dtype", type.dtype.ToString()}, {"shape", type.shape}};
}

}  // namespace

std::string ToText(const ErrorTolerance& tolerance) {
  if (tolerance.cosine.has_value()) {
    return absl::StrCat("a cosine below ", *tolerance.cosine);
  }
  return absl::StrCat("more than ", tolerance.relative, " of the largest value + ",
                      tolerance.absolute, "; quantized: more than ", tolerance.quanta, " quanta");
}

std::string ComparisonText(const TensorComparison& comparison) {
  Table table({"", ">largest", ">mean", ">cosine", ">ulp", ">quanta", ">differing", "tensor",
               "layer", "type"});
  int64_t off = 0;
  for (const ComparedTensor& tensor : comparison.tensors) {
    table.Add(Cells(comparison, tensor));
    off += tensor.off ? 1 : 0;
  }
  std::string text = absl::StrCat(comparison.model, " against ", comparison.reference, "\n",
                                  table.ToString(), off, " of ", comparison.tensors.size(),
                                  " tensors are off (", ToText(comparison.tolerance), ")\n");
  if (comparison.missing.empty()) return text;
  absl::StrAppend(&text, "not in the reference: ");
  for (size_t i = 0; i < comparison.missing.size() && i < kMaxMissingNames; ++i) {
    absl::StrAppend(&text, i > 0 ? ", " : "", comparison.missing[i]);
  }
  const size_t more = comparison.missing.size();
  if (more > kMaxMissingNames) absl::StrAppend(&text, " and ", more - kMaxMissingNames, " more");
  return text + "\n";
}

Json ComparisonJson(const TensorComparison& comparison) {
  const ErrorTolerance& tolerance = comparison.tolerance;
  Json json = {{"model", comparison.model}, {"reference", comparison.reference}};
  json["tolerance"] = {{"relative", tolerance.relative},
                       {"absolute", tolerance.absolute},
                       {"quanta", tolerance.quanta}};
  if (tolerance.cosine.has_value()) json["tolerance"]["cosine"] = *tolerance.cosine;
  const ComparedTensor* const first = comparison.first_off();
  json["first_off"] = first == nullptr ? Json(nullptr) : Json(first->name);
  json["tensors"] = Json::array();
  for (const ComparedTensor& tensor : comparison.tensors) {
    Json row = {{"name", tensor.name}, {"layer", tensor.layer}};
    if (!tensor.reference_name.empty()) row["reference_name"] = tensor.reference_name;
    row["type"] = TypeJson(tensor.type);
    row["reference_type"] = TypeJson(tensor.reference_type);
    if (!tensor.layout.empty()) row["layout"] = tensor.layout;
    row["off"] = tensor.off;
    row["error"] = tensor.error.has_value() ? ErrorJson(*tensor.error) : Json(nullptr);
    json["tensors"].push_back(std::move(row));
  }
  json["missing"] = comparison.missing;
  return json;
}

}  // namespace kiln::tools
