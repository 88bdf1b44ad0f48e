// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/open_dimensions.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln {
namespace {

using frontend::Extent;
using frontend::ImportOptions;
using frontend::InputPin;
using frontend::ModelPort;

// Sequences, images and windows of samples, the smallest first.
constexpr int64_t kSizes[] = {1, 2, 4, 8, 16, 32, 64, 128, 224, 256, 512};
constexpr int64_t kOtherBatch = 8;  // of an example

// The inputs whose shapes are open.
class OpenInputs {
 public:
  OpenInputs(std::vector<ModelPort> inputs, const ImportOptions& options) {
    for (ModelPort& input : inputs) {
      if (input.extents.empty() || options.constants.contains(input.name)) continue;
      const auto pin = std::find_if(options.pins.begin(), options.pins.end(),
                                    [&](const InputPin& p) { return p.name == input.name; });
      if (pin != options.pins.end()) {
        AddChoices(input, *pin);
      } else if (HasOpen(input)) {
        inputs_.push_back(std::move(input));
      }
    }
    for (ModelPort& input : inputs_) {
      for (Extent& extent : input.extents) {
        const auto chosen = chosen_.find(extent.symbol);
        if (IsOpen(extent) && chosen != chosen_.end()) extent.value = chosen->second;
      }
      if (IsOpen(input.extents[0])) leading_.insert(input.extents[0].symbol);
    }
    leading_.erase("");
  }

  // Whether none is open, or the user's shapes say what all symbols stand for.
  bool all_known() const { return std::none_of(inputs_.begin(), inputs_.end(), HasOpen); }

  // Whether nothing but leading dimensions is open.
  bool only_leading() const {
    return std::all_of(inputs_.begin(), inputs_.end(), [&](const ModelPort& input) {
      for (size_t d = 0; d < input.extents.size(); ++d) {
        if (IsOpen(input.extents[d]) && !IsLeading(input, d)) return false;
      }
      return true;
    });
  }

  // Shapes of all of them.
  std::vector<InputPin> Pins(int64_t leading, int64_t others) const {
    std::vector<InputPin> pins;
    for (const ModelPort& input : inputs_) {
      InputPin& pin = pins.emplace_back();
      pin.name = input.name;
      for (size_t d = 0; d < input.extents.size(); ++d) {
        const Extent& extent = input.extents[d];
        pin.shape.push_back(extent.value.value_or(IsLeading(input, d) ? leading : others));
      }
    }
    return pins;
  }

 private:
  static bool IsOpen(const Extent& extent) { return !extent.value.has_value(); }

  static bool HasOpen(const ModelPort& input) {
    return std::any_of(input.extents.begin(), input.extents.end(), IsOpen);
  }

  bool IsLeading(const ModelPort& input, size_t dimension) const {
    return dimension == 0 || leading_.contains(input.extents[dimension].symbol);
  }

  // What the user says of one input goes for the symbols of others.
  void AddChoices(const ModelPort& input, const InputPin& pin) {
    for (size_t d = 0; d < std::min(input.extents.size(), pin.shape.size()); ++d) {
      const Extent& extent = input.extents[d];
      if (IsOpen(extent) && !extent.symbol.empty()) chosen_.emplace(extent.symbol, pin.shape[d]);
    }
  }

  std::vector<ModelPort> inputs_;
  std::set<std::string> leading_;          // symbols of leading dimensions
  std::map<std::string, int64_t> chosen_;  // by symbol
};

ImportOptions With(ImportOptions options, const std::vector<InputPin>& pins) {
  options.pins.insert(options.pins.end(), pins.begin(), pins.end());
  return options;
}

std::string Flags(const std::vector<InputPin>& pins) {
  return absl::StrJoin(pins, " ", [](std::string* out, const InputPin& pin) {
    absl::StrAppend(out, "--input ", pin.name, ":", absl::StrJoin(pin.shape, "x"));
  });
}

}  // namespace

absl::StatusOr<Graph> ImportOpenModel(const OpenModel& model, const ImportOptions& options,
                                      std::string* note) {
  const OpenInputs open(model.inputs, options);
  const bool only_leading = open.only_leading();
  absl::StatusOr<Graph> graph =
      model.import(only_leading ? With(options, open.Pins(1, 1)) : options);
  if (graph.ok() && note != nullptr && !open.all_known()) {
    *note = absl::StrCat(model.path, ": open leading dimensions are taken as 1; for another: ",
                         Flags(open.Pins(kOtherBatch, 1)));
  }
  // No size helps where an operator is lacking.
  if (graph.ok() || open.all_known() || !model.is_searched ||
      graph.status().code() == absl::StatusCode::kUnimplemented) {
    return graph;
  }
  for (const int64_t size : kSizes) {
    const std::vector<InputPin> pins = open.Pins(only_leading ? size : 1, size);
    if (!model.import(With(options, pins)).ok()) continue;
    return absl::Status(graph.status().code(),
                        absl::StrCat(graph.status().message(), "\n", model.path,
                                     ": shapes with which it can be compiled: ", Flags(pins)));
  }
  return graph;
}

}  // namespace kiln
