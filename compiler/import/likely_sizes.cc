// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/likely_sizes.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/string_view.h"
#include "compiler/import/dimension_symbols.h"

namespace kiln {
namespace {

using frontend::Extent;
using frontend::ModelPort;

// A size and the rule that gave it. Lower rules are more reliable.
struct Guess {
  int64_t size;
  int rule;
};

using Words = std::set<std::string>;

// Returns the words of a name in lower case: "inputIds_2" has "input" and "ids".
Words WordsOf(absl::string_view text) {
  Words words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.insert(std::move(word));
    word.clear();
  };
  bool after_lower = false;
  for (const char c : text) {
    if (!absl::ascii_isalpha(c) || (after_lower && absl::ascii_isupper(c))) end_word();
    if (absl::ascii_isalpha(c)) word += absl::ascii_tolower(c);
    after_lower = absl::ascii_islower(c);
  }
  end_word();
  return words;
}

bool HasOneOf(const Words& words, const Words& wanted) {
  return absl::c_any_of(words, [&](const std::string& word) { return wanted.contains(word); });
}

const Words kBatchWords = {"batch", "batches", "bs"};
const Words kHeightWords = {"height", "h", "rows"};
const Words kWidthWords = {"width", "w", "cols", "columns"};
const Words kImageWords = {"image", "images", "img", "imgs", "pixel", "pixels", "picture", "photo"};
const Words kTokenWords = {"seq",    "sequence", "token", "tokens", "ids",  "mask",
                           "length", "len",      "text",  "words",  "past", "position"};
const Words kSampleWords = {"samples", "audio",  "wave",   "waveform", "wav",
                            "pcm",     "speech", "signal", "sound"};
const Words kFrameWords = {"frames", "frame", "time", "mel", "mels", "fbank", "spectrogram", "t"};

// Words in names of inputs that grow with a sequence: masks and attention caches.
const Words kSequenceWords = {"ids", "mask", "past", "cache", "kv", "key", "keys", "tokens"};

bool IsChannels(const Extent& extent) {
  const std::optional<int64_t> channels = extent.value.has_value() ? extent.value : extent.wanted;
  return channels == 1 || channels == 3;
}

// Returns the indices of an image's height and width dimensions. Empty if the input has no such
// shape.
std::vector<size_t> PixelDimensions(const ModelPort& input) {
  const size_t rank = input.extents.size();
  if (rank != 4 && rank != 5) return {};
  if (IsChannels(input.extents[1])) return {rank - 2, rank - 1};
  if (IsChannels(input.extents[rank - 1])) return {rank - 3, rank - 2};
  return {};
}

// True for the usual name of a waveform input in frameworks, input_values, if its rank is 2.
bool IsInputValues(const Words& name, size_t rank) {
  return rank == 2 && name == Words{"input", "values"};
}

// True if the input is a state of recurrent layers, of the shape (layers, batch, features). The
// hidden states of transformers are sequences.
bool IsRecurrentState(const ModelPort& input, const Words& name) {
  if (input.extents.size() != 3 || !input.extents[0].value.has_value()) return false;
  return input.is_state || (HasOneOf(name, {"state", "states"}) && !name.contains("hidden"));
}

Guess GuessOf(const ModelPort& input, size_t d, const UsualSizes& sizes) {
  const size_t rank = input.extents.size();
  const Words symbol = WordsOf(input.extents[d].symbol), name = WordsOf(input.name);
  if (input.extents[d].wanted.has_value()) return {*input.extents[d].wanted, 0};
  if (HasOneOf(symbol, kBatchWords) || (d == 0 && rank > 1 && symbol == Words{"n"})) return {1, 0};
  const bool is_float = !input.dtype.has_value() || input.dtype->is_float();
  const bool is_sound = is_float && (HasOneOf(name, kSampleWords) || IsInputValues(name, rank));
  const int64_t height = sizes.height > 0 ? sizes.height : sizes.pixels;
  constexpr int64_t kFramesOfAClip = 16;
  const int64_t frames = rank == 5 ? kFramesOfAClip : sizes.frames;
  if (HasOneOf(symbol, kSampleWords)) return {sizes.samples, 1};
  // A waveform has one dimension after the batch. The name of the dimension does not matter.
  if (is_sound && rank <= 2 && d + 1 == rank) return {sizes.samples, 1};
  if (HasOneOf(symbol, kHeightWords)) return {height, 1};
  if (HasOneOf(symbol, kWidthWords)) return {sizes.pixels, 1};
  if (HasOneOf(symbol, kFrameWords)) return {frames, 1};
  if (HasOneOf(symbol, kTokenWords)) return {sizes.tokens, 1};
  if (d == 0 && !(rank == 1 && is_sound)) return {1, 2};
  if (d == 1 && IsRecurrentState(input, name)) return {1, 2};
  if (HasOneOf(name, kSequenceWords)) return {sizes.tokens, 3};
  const std::vector<size_t> pixels = PixelDimensions(input);
  if (!pixels.empty()) {
    return {d == pixels[0] ? height : d == pixels[1] ? sizes.pixels : frames, 3};
  }
  if (input.is_convolved && rank == 4 && d >= 2) return {d == 2 ? height : sizes.pixels, 3};
  if (rank >= 3 && HasOneOf(name, kImageWords)) return {sizes.pixels, 3};
  if (!is_float) return {sizes.tokens, 3};
  if (is_sound) return {sizes.samples, 4};
  if (HasOneOf(name, kFrameWords)) return {sizes.frames, 4};
  if (rank == 3) {
    const Extent& other = input.extents[3 - d];  // neither the batch nor d
    if (other.value == 1 && d == 2) return {sizes.samples, 5};
    constexpr int64_t kMostFeaturesOfAFrame = 128;
    if (other.value.has_value() && *other.value > 1 && *other.value <= kMostFeaturesOfAFrame) {
      return {sizes.frames, 6};
    }
  }
  return {sizes.tokens, 7};
}

}  // namespace

std::vector<Shape> LikelySizes(const std::vector<ModelPort>& inputs, const UsualSizes& usual) {
  // A model with a state input runs on one frame at a time.
  UsualSizes sizes = usual;
  if (absl::c_any_of(inputs, [](const ModelPort& input) { return input.is_state; })) {
    sizes.frames = 1;
  }
  std::map<std::string, Guess> guesses;
  for (const ModelPort& input : inputs) {
    for (size_t d = 0; d < input.extents.size(); ++d) {
      const Extent& extent = input.extents[d];
      if (extent.value.has_value() || !IsSymbol(extent.symbol)) continue;
      const Guess guess = GuessOf(input, d, sizes);
      const auto [found, is_new] = guesses.emplace(extent.symbol, guess);
      if (!is_new && guess.rule < found->second.rule) found->second = guess;
    }
  }
  SymbolValues values;
  for (const auto& [symbol, guess] : guesses) values[symbol] = guess.size;
  std::vector<Shape> shapes;
  for (const ModelPort& input : inputs) {
    Shape& shape = shapes.emplace_back();
    for (size_t d = 0; d < input.extents.size(); ++d) {
      const Extent& extent = input.extents[d];
      const auto known =
          extent.value.has_value() ? extent.value : ValueOfDimension(extent.symbol, values);
      shape.push_back(known.has_value() ? *known : GuessOf(input, d, sizes).size);
    }
  }
  return shapes;
}

std::map<std::string, Tensor> LikelyConstants(const std::vector<ModelPort>& inputs) {
  constexpr int64_t kSamplesPerSecond = 16000;
  std::map<std::string, Tensor> constants;
  for (const ModelPort& input : inputs) {
    if (input.rank != 0 || !input.dtype.has_value() || !input.dtype->is_int()) continue;
    const Words name = WordsOf(input.name);
    const bool is_rate =
        name.contains("sr") || (name.contains("rate") && HasOneOf(name, {"sample", "sampling"}));
    if (!is_rate || input.dtype->MaxInt() < kSamplesPerSecond) continue;
    constants.emplace(input.name, Tensor::Scalar(*input.dtype, kSamplesPerSecond));
  }
  return constants;
}

bool FindPlacesInImages(const std::vector<ModelPort>& inputs,
                        const std::vector<ModelPort>& outputs) {
  if (!absl::c_any_of(inputs,
                      [](const ModelPort& input) { return !PixelDimensions(input).empty(); })) {
    return false;
  }
  const auto is_open = [](const Extent& extent) { return !extent.value.has_value(); };
  if (outputs.size() == 1 && outputs[0].extents.size() == 4) {
    return is_open(outputs[0].extents[2]) && is_open(outputs[0].extents[3]);
  }
  constexpr int64_t kMostNumbersOfABox = 100;  // corners and scores of the classes
  return !outputs.empty() && absl::c_all_of(outputs, [&](const ModelPort& output) {
    if (output.extents.size() != 3) return false;
    const Extent &one = output.extents[1], &other = output.extents[2];
    return is_open(one) != is_open(other) &&
           one.value.value_or(0) + other.value.value_or(0) <= kMostNumbersOfABox;
  });
}

bool IsImageOfOnePixel(const ModelPort& input, const Shape& shape) {
  return absl::c_any_of(PixelDimensions(input), [&](size_t d) {
    return d < shape.size() && shape[d] == 1 && !input.extents[d].value.has_value();
  });
}

}  // namespace kiln
