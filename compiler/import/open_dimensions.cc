// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/open_dimensions.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "compiler/base/status.h"
#include "compiler/import/dimension_symbols.h"
#include "compiler/import/likely_sizes.h"

namespace kiln {
namespace {

using frontend::Extent;
using frontend::ImportOptions;
using frontend::InputPin;
using frontend::ModelPort;

// Sizes that are tried for all open dimensions together if the usual sizes fail, smallest first.
constexpr int64_t kSizes[] = {1, 2, 4, 8, 16, 32, 64, 128, 224, 256, 512};
constexpr int64_t kOtherBatch = 8;  // batch size in the example of a note

bool IsOpen(const Extent& extent) { return !extent.value.has_value(); }

bool HasOpen(const ModelPort& input) {
  return std::any_of(input.extents.begin(), input.extents.end(), IsOpen);
}

// Returns a word of a command line, in quotes if a shell would change it.
std::string ForShell(const std::string& word) {
  const bool is_plain = std::all_of(word.begin(), word.end(), [](char c) {
    return absl::ascii_isalnum(c) || absl::StrContains("_-.:/=,@%+", absl::string_view(&c, 1));
  });
  return is_plain ? word : absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'");
}

// Inputs with an open shape in the file and no shape from the user.
class OpenInputs {
 public:
  OpenInputs(const std::vector<ModelPort>& inputs, const ImportOptions& options)
      : chosen_(options.dims) {
    for (const ModelPort& input : inputs) {
      if (input.extents.empty() || options.constants.contains(input.name)) continue;
      const auto pin = std::find_if(options.pins.begin(), options.pins.end(),
                                    [&](const InputPin& p) { return p.name == input.name; });
      if (pin != options.pins.end()) {
        AddChoices(input, *pin);
      } else if (HasOpen(input)) {
        inputs_.push_back(input);
      }
    }
    for (ModelPort& input : inputs_) {
      for (Extent& extent : input.extents) {
        if (IsOpen(extent)) extent.value = ValueOfDimension(extent.symbol, chosen_);
      }
      if (IsOpen(input.extents[0])) leading_.insert(input.extents[0].symbol);
    }
    leading_.erase("");
  }

  // True if no dimension is open: the user's shapes and sizes determine all symbols.
  bool all_known() const { return std::none_of(inputs_.begin(), inputs_.end(), HasOpen); }

  // True if only leading dimensions are open.
  bool only_leading() const {
    return std::all_of(inputs_.begin(), inputs_.end(), [&](const ModelPort& input) {
      for (size_t d = 0; d < input.extents.size(); ++d) {
        if (IsOpen(input.extents[d]) && !IsLeading(input, d)) return false;
      }
      return true;
    });
  }

  // Returns shapes of the inputs that the user's shapes and sizes determine completely.
  std::vector<InputPin> KnownPins() const {
    std::vector<InputPin> pins;
    for (const ModelPort& input : inputs_) {
      if (!HasOpen(input)) pins.push_back(PinOf(input, [](size_t) { return 0; }));
    }
    return pins;
  }

  // Returns shapes of the other inputs with these sizes for their open dimensions.
  std::vector<InputPin> OpenPins(int64_t leading, int64_t others) const {
    std::vector<InputPin> pins;
    for (const ModelPort& input : inputs_) {
      if (!HasOpen(input)) continue;
      pins.push_back(
          PinOf(input, [&](size_t d) { return IsLeading(input, d) ? leading : others; }));
    }
    return pins;
  }
  std::vector<InputPin> OpenPins(const UsualSizes& sizes) const {
    const std::vector<Shape> shapes = LikelySizes(inputs_, sizes);
    std::vector<InputPin> pins;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (HasOpen(inputs_[i])) pins.push_back({inputs_[i].name, shapes[i], {}});
    }
    return pins;
  }

  // Returns options that give the open inputs the shapes `pins`: sizes of symbols if they determine
  // all open dimensions, otherwise shapes.
  std::string Options(const std::vector<InputPin>& pins) const {
    SymbolValues sizes;
    ForEachOpen(pins, [&](const std::string& symbol, int64_t size) {
      if (IsSymbol(symbol)) sizes[symbol] = size;
    });
    SymbolValues all = chosen_;
    all.insert(sizes.begin(), sizes.end());
    bool symbols_say_all = true;
    ForEachOpen(pins, [&](const std::string& symbol, int64_t size) {
      symbols_say_all &= ValueOfDimension(symbol, all) == size;
    });
    if (!symbols_say_all) return Shapes(pins);
    return absl::StrJoin(sizes, " ", [](std::string* out, const auto& size) {
      absl::StrAppend(out, "--dim ", ForShell(absl::StrCat(size.first, "=", size.second)));
    });
  }

 private:
  // Calls use(symbol, size) for each open dimension of the inputs that have a shape in `pins`.
  template <typename Use>
  void ForEachOpen(const std::vector<InputPin>& pins, const Use& use) const {
    for (const ModelPort& input : inputs_) {
      for (const InputPin& pin : pins) {
        if (pin.name != input.name) continue;
        for (size_t d = 0; d < pin.shape.size(); ++d) {
          if (IsOpen(input.extents[d])) use(input.extents[d].symbol, pin.shape[d]);
        }
      }
    }
  }

  bool IsLeading(const ModelPort& input, size_t dimension) const {
    return dimension == 0 || leading_.contains(input.extents[dimension].symbol);
  }

  template <typename Size>
  static InputPin PinOf(const ModelPort& input, const Size& size) {
    InputPin pin = {.name = input.name, .shape = {}, .dtype = {}};
    for (size_t d = 0; d < input.extents.size(); ++d) {
      pin.shape.push_back(input.extents[d].value.value_or(size(d)));
    }
    return pin;
  }

  static std::string Shapes(const std::vector<InputPin>& pins) {
    return absl::StrJoin(pins, " ", [](std::string* out, const InputPin& pin) {
      absl::StrAppend(out, "--input ",
                      ForShell(absl::StrCat(pin.name, ":", absl::StrJoin(pin.shape, "x"))));
    });
  }

  // A shape given for one input determines symbols that other inputs may have too.
  void AddChoices(const ModelPort& input, const InputPin& pin) {
    for (size_t d = 0; d < std::min(input.extents.size(), pin.shape.size()); ++d) {
      const Extent& extent = input.extents[d];
      if (IsOpen(extent) && !extent.symbol.empty()) chosen_.emplace(extent.symbol, pin.shape[d]);
    }
  }

  std::vector<ModelPort> inputs_;
  std::set<std::string> leading_;  // symbols of open leading dimensions
  SymbolValues chosen_;
};

// Returns likely values of the inputs for which the user gave neither a shape nor a value.
std::map<std::string, Tensor> OpenConstants(const std::vector<ModelPort>& inputs,
                                            const ImportOptions& options) {
  std::map<std::string, Tensor> constants = LikelyConstants(inputs);
  for (const InputPin& pin : options.pins) constants.erase(pin.name);
  for (const auto& [name, value] : options.constants) constants.erase(name);
  return constants;
}

// Returns the options for `constants`, each preceded by a space.
std::string ConstantWords(const std::map<std::string, Tensor>& constants) {
  std::string words;
  for (const auto& [name, value] : constants) {
    absl::StrAppend(&words, " --constant ", ForShell(absl::StrCat(name, "=", value.AsInt(0))));
  }
  return words;
}

ImportOptions With(ImportOptions options, const std::vector<InputPin>& pins) {
  options.pins.insert(options.pins.end(), pins.begin(), pins.end());
  return options;
}

// Returns an error if the user's shape of an input contradicts --dim.
absl::Status CheckAgreement(const std::string& path, const ModelPort& input, const InputPin& pin,
                            const SymbolValues& dims) {
  for (size_t d = 0; d < std::min(input.extents.size(), pin.shape.size()); ++d) {
    const auto said = dims.find(input.extents[d].symbol);
    if (!IsOpen(input.extents[d]) || said == dims.end() || said->second == pin.shape[d]) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": --dim ", said->first, "=", said->second, " and --input ", pin.name,
                     ":", absl::StrJoin(pin.shape, "x"), " contradict each other"));
  }
  return absl::OkStatus();
}

absl::Status CheckDims(const OpenModel& model, const ImportOptions& options) {
  std::set<std::string> symbols;
  for (const ModelPort& input : model.inputs) {
    for (const Extent& extent : input.extents) {
      if (IsOpen(extent) && IsSymbol(extent.symbol)) symbols.insert(extent.symbol);
    }
  }
  for (const auto& [name, size] : options.dims) {
    if (symbols.contains(name)) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        model.path, ": --dim: no input has an open dimension '", name, "'; ",
        symbols.empty() ? "none has a name" : "they are " + absl::StrJoin(symbols, ", ")));
  }
  for (const ModelPort& input : model.inputs) {
    for (const InputPin& pin : options.pins) {
      if (pin.name != input.name) continue;
      KILN_RETURN_IF_ERROR(CheckAgreement(model.path, input, pin, options.dims));
    }
  }
  return absl::OkStatus();
}

// Adds a note for images that are one pixel wide or high. Such a size is usually unintended: a
// symbol that occurs in more dimensions than the user expected.
void NoteSmallImages(const OpenModel& model, const std::vector<InputPin>& pins,
                     std::vector<std::string>& notes) {
  for (const ModelPort& input : model.inputs) {
    for (const InputPin& pin : pins) {
      if (pin.name != input.name || !IsImageOfOnePixel(input, pin.shape)) continue;
      notes.push_back(absl::StrCat(model.path, ": input '", input.name, "' is ",
                                   absl::StrJoin(pin.shape, "x"),
                                   ": images that are one pixel high or wide"));
    }
  }
}

}  // namespace

absl::StatusOr<Graph> ImportOpenModel(const OpenModel& model, const ImportOptions& options,
                                      std::vector<std::string>& notes) {
  KILN_RETURN_IF_ERROR(CheckDims(model, options));
  const OpenInputs open(model.inputs, options);
  const ImportOptions known = With(options, open.KnownPins());
  const bool only_leading = open.only_leading();
  absl::StatusOr<Graph> graph =
      model.import(only_leading ? With(known, open.OpenPins(1, 1)) : known);
  if (graph.ok() && !open.all_known()) {
    notes.push_back(absl::StrCat(model.path,
                                 ": open leading dimensions are taken as 1; for another: ",
                                 open.Options(open.OpenPins(kOtherBatch, 1))));
  }
  if (graph.ok()) NoteSmallImages(model, With(known, open.OpenPins(1, 1)).pins, notes);
  // No size helps if an operator is not supported.
  if (graph.ok() || open.all_known() || !model.is_searched ||
      graph.status().code() == absl::StatusCode::kUnimplemented) {
    return graph;
  }
  std::vector<std::vector<InputPin>> choices;
  if (!only_leading && FindPlacesInImages(model.inputs, model.outputs)) {
    UsualSizes sizes = kUsualSizes[0];
    sizes.pixels = kPixelsForPlaces;
    choices.push_back(open.OpenPins(sizes));
  }
  if (!only_leading) {
    for (const UsualSizes& sizes : kUsualSizes) choices.push_back(open.OpenPins(sizes));
  }
  for (const int64_t size : kSizes) choices.push_back(open.OpenPins(only_leading ? size : 1, size));
  const auto suggestion = [&](const std::string& words) {
    return absl::Status(graph.status().code(),
                        absl::StrCat(graph.status().message(), "\n", model.path,
                                     ": sizes with which it can be compiled: ", words));
  };
  for (const std::vector<InputPin>& pins : choices) {
    if (model.import(With(known, pins)).ok()) return suggestion(open.Options(pins));
  }
  const std::map<std::string, Tensor> constants = OpenConstants(model.inputs, options);
  for (const std::vector<InputPin>& pins : choices) {
    if (constants.empty()) break;
    ImportOptions all = With(known, pins);
    all.constants.insert(constants.begin(), constants.end());
    if (model.import(all).ok())
      return suggestion(absl::StrCat(open.Options(pins), ConstantWords(constants)));
  }
  return graph;
}

}  // namespace kiln
