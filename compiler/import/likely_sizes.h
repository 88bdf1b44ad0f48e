// SPDX-License-Identifier: Apache-2.0
// Guesses sizes for open dimensions of a model's inputs from names, types and ranks. They are only
// for suggestions: a user sees the size before a model is compiled for it.
//
//   LikelySizes({Image("x", {?, 3, ?, ?})}, kUsualSizes[0]) -> {{1, 3, 224, 224}}
#ifndef KILN_COMPILER_IMPORT_LIKELY_SIZES_H_
#define KILN_COMPILER_IMPORT_LIKELY_SIZES_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/base/tensor.h"
#include "compiler/frontend/common/import_options.h"

namespace kiln {

// Sizes for the kinds of dimensions.
struct UsualSizes {
  int64_t pixels;      // height and width of an image; or only its width
  int64_t tokens;      // length of a token sequence; also of an unknown dimension
  int64_t samples;     // length of a waveform
  int64_t frames;      // number of feature frames of a waveform
  int64_t height = 0;  // height of an image that is wider than high; 0: equals the width
};

// The most usual sizes come first. The first entry is for images of ImageNet, sequences of 128
// tokens, a second of sound at 16 kHz, and the same second in frames of 10 ms. The others are for
// models that take other multiples. The last two are for images of a line of text.
inline constexpr UsualSizes kUsualSizes[] = {
    {224, 128, 16000, 100},     {256, 128, 16000, 128},     {320, 64, 8000, 64},
    {512, 512, 48000, 16},      {640, 256, 32000, 200},     {128, 16, 4096, 32},
    {320, 128, 16000, 100, 48}, {320, 128, 16000, 100, 32},
};

// Returns the shape of each input: its known extents, and likely ones for the open dimensions. Open
// dimensions with the same symbol get the same size. An open leading dimension is usually a batch
// of 1.
std::vector<Shape> LikelySizes(const std::vector<frontend::ModelPort>& inputs,
                               const UsualSizes& usual);

// True if the outputs describe places in an image, by an image or by boxes. Such models take larger
// images than models that classify whole images.
bool FindPlacesInImages(const std::vector<frontend::ModelPort>& inputs,
                        const std::vector<frontend::ModelPort>& outputs);

// Height and width of the images of models for which FindPlacesInImages is true.
inline constexpr int64_t kPixelsForPlaces = 512;

// Returns values for scalar integer inputs that select among the sizes that a model takes. A
// sampling rate gets 16,000 Hz.
std::map<std::string, Tensor> LikelyConstants(const std::vector<frontend::ModelPort>& inputs);

// True if the input has the shape of images and an open height or width is 1 in `shape`.
bool IsImageOfOnePixel(const frontend::ModelPort& input, const Shape& shape);

}  // namespace kiln

#endif  // KILN_COMPILER_IMPORT_LIKELY_SIZES_H_
