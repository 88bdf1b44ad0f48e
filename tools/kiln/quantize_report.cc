// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/quantize_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/terminal/table.h"

namespace kiln::tools {
namespace {

constexpr size_t kWorst = 3;
constexpr size_t kMaxName = 40;

// Shortens a name to its end. Some exporters write whole paths, whose ends are more informative.
std::string Short(const std::string& name) {
  return name.size() <= kMaxName ? name : absl::StrCat("…", name.substr(name.size() - kMaxName));
}

std::string Number(double value) { return absl::StrFormat("%.4g", value); }

std::string Decibels(const quantize::SignalError& error) {
  const double db = error.Decibels();
  return std::isfinite(db) ? absl::StrFormat("%.1f", db) : db > 0 ? "exact" : "no signal";
}

// Returns the layers that lose most when they alone are quantized, worst first. Inputs are
// excluded, because they cannot stay float32.
std::vector<const quantize::LayerReport*> Worst(const quantize::Quantized& quantized) {
  std::vector<const quantize::LayerReport*> layers;
  for (const quantize::LayerReport& layer : quantized.layers) {
    if (layer.operators != "input" && std::isfinite(layer.alone.Decibels())) {
      layers.push_back(&layer);
    }
  }
  std::stable_sort(layers.begin(), layers.end(),
                   [](const quantize::LayerReport* a, const quantize::LayerReport* b) {
                     return a->alone.Decibels() < b->alone.Decibels();
                   });
  layers.resize(std::min(layers.size(), kWorst));
  return layers;
}

nlohmann::ordered_json ErrorJson(const quantize::SignalError& error) {
  nlohmann::ordered_json json;
  const double db = error.Decibels();
  json["sqnr_db"] = std::isfinite(db) ? nlohmann::ordered_json(db) : nlohmann::ordered_json();
  json["largest_difference"] = error.largest();
  return json;
}

}  // namespace

std::string QuantizeReport(const quantize::Quantized& quantized) {
  Table layers({"layer", "operators", ">min", ">max", ">scale", ">zero point", ">alone dB",
                ">model dB", ">largest difference"});
  for (const quantize::LayerReport& layer : quantized.layers) {
    const bool int8 = layer.scale.has_value();
    layers.Add({Short(layer.name), layer.operators, int8 ? Number(layer.range.min) : "-",
                int8 ? Number(layer.range.max) : "-", int8 ? Number(layer.scale->scale) : "float32",
                int8 ? absl::StrCat(layer.scale->zero_point) : "-", Decibels(layer.alone),
                Decibels(layer.model), Number(layer.model.largest())});
  }
  Table outputs({"output", ">model dB", ">largest difference"});
  for (const quantize::OutputReport& output : quantized.outputs) {
    outputs.Add({Short(output.name), Decibels(output.error), Number(output.error.largest())});
  }
  std::string text = absl::StrCat("int8 layers, over ", quantized.samples, " samples\n",
                                  layers.ToString(), "outputs of the model\n", outputs.ToString());
  if (!quantized.floats.empty()) {
    Table floats({"layer", "operator", "why"});
    for (const quantize::FloatReport& layer : quantized.floats) {
      floats.Add({Short(layer.name), layer.operation, layer.reason});
    }
    absl::StrAppend(&text, "layers in float32\n", floats.ToString());
  }
  const std::vector<const quantize::LayerReport*> worst = Worst(quantized);
  if (worst.empty()) return text;
  absl::StrAppend(&text, "worst layers by themselves: ",
                  absl::StrJoin(worst, ", ",
                                [](std::string* out, const quantize::LayerReport* layer) {
                                  absl::StrAppend(out, layer->name, " (", Decibels(layer->alone),
                                                  " dB)");
                                }),
                  "; --keep-float NAME leaves one in float32\n");
  return text;
}

std::string QuantizeReportJson(const quantize::Quantized& quantized) {
  nlohmann::ordered_json json;
  json["samples"] = quantized.samples;
  json["layers"] = nlohmann::ordered_json::array();
  for (const quantize::LayerReport& layer : quantized.layers) {
    nlohmann::ordered_json row = {
        {"name", layer.name}, {"operators", layer.operators}, {"tensor", layer.tensor}};
    if (layer.scale.has_value()) {
      row["min"] = layer.range.min;
      row["max"] = layer.range.max;
      row["scale"] = layer.scale->scale;
      row["zero_point"] = layer.scale->zero_point;
    }
    row["alone"] = ErrorJson(layer.alone);
    row["model"] = ErrorJson(layer.model);
    json["layers"].push_back(std::move(row));
  }
  json["outputs"] = nlohmann::ordered_json::array();
  for (const quantize::OutputReport& output : quantized.outputs) {
    nlohmann::ordered_json row = {{"name", output.name}};
    row.update(ErrorJson(output.error));
    json["outputs"].push_back(std::move(row));
  }
  json["float_layers"] = nlohmann::ordered_json::array();
  for (const quantize::FloatReport& layer : quantized.floats) {
    json["float_layers"].push_back(
        {{"name", layer.name}, {"operator", layer.operation}, {"why", layer.reason}});
  }
  json["worst_layers"] = nlohmann::ordered_json::array();
  for (const quantize::LayerReport* layer : Worst(quantized))
    json["worst_layers"].push_back(layer->name);
  return json.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace kiln::tools
