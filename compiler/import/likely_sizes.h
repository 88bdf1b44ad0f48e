// SPDX-License-Identifier: Apache-2.0
// Sizes for open dimensions of a model's inputs, guessed from names, types and ranks. They are for
// suggestions: a user reads a size before a model is compiled for it.
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

// The size of each kind of dimension.
struct UsualSizes {
  int64_t pixels;      // height and width of an image, or its width alone
  int64_t tokens;      // a sequence of tokens, or what nothing is known of
  int64_t samples;     // of a waveform
  int64_t frames;      // of features of a waveform
  int64_t height = 0;  // of an image that is wider; 0: as its width
};

// The most usual ones first; the others are for models that take other multiples. Images of
// ImageNet; sequences; a second of sound at 16 kHz; the same second in frames of 10 ms. The last two are
// lines of text.
inline constexpr UsualSizes kUsualSizes[] = {
    {224, 128, 16000, 100},     {256, 128, 16000, 128},     {320, 64, 8000, 64},
    {512, 512, 48000, 16},      {640, 256, 32000, 200},     {128, 16, 4096, 32},
    {320, 128, 16000, 100, 48}, {320, 128, 16000, 100, 32},
};

// For each input the extents of its shape: those that are known, and likely ones for the others. Open
// dimensions of one symbol get one size. A leading dimension is a batch of 1.
std::vector<Shape> LikelySizes(const std::vector<frontend::ModelPort>& inputs,
                               const UsualSizes& usual);

// True if a model says something of each place of an image, by an image or by boxes: such models take larger
// images than those that say what an image shows.
bool FindPlacesInImages(const std::vector<frontend::ModelPort>& inputs,
                        const std::vector<frontend::ModelPort>& outputs);

// The pixels of such images.
inline constexpr int64_t kPixelsForPlaces = 512;

// Values of inputs of one integer that choose among the sizes that a model takes: a sampling rate is
// 16,000 Hz.
std::map<std::string, Tensor> LikelyConstants(const std::vector<frontend::ModelPort>& inputs);

// True if the input has the shape of images and one of them is a pixel wide or high.
bool IsImageOfOnePixel(const frontend::ModelPort& input, const Shape& shape);

}  // namespace kiln

#endif  // KILN_COMPILER_IMPORT_LIKELY_SIZES_H_
