// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/likely_sizes.h"

#include <map>
#include <string>
#include <vector>

#include "compiler/import/dimension_symbols.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using frontend::Extent;
using frontend::ModelPort;
using ::testing::ElementsAre;

constexpr UsualSizes kSizes = {224, 128, 16000, 100};

Extent Open(const std::string& symbol = "") { return {std::nullopt, symbol}; }
Extent Of(int64_t value) { return {value, ""}; }

ModelPort Input(const std::string& name, const std::vector<Extent>& extents,
                DType dtype = DType::Float(32)) {
  ModelPort port;
  port.name = name;
  port.kind = "tensor";
  port.dtype = dtype;
  port.rank = static_cast<int>(extents.size());
  port.extents = extents;
  return port;
}

Shape SizesOf(const ModelPort& input) { return LikelySizes({input}, kSizes)[0]; }

TEST(LikelySizes, OfImagesAreThoseOfImageNet) {
  EXPECT_EQ(SizesOf(Input("x", {Open(), Of(3), Open("a"), Open("b")})), Shape({1, 3, 224, 224}));
  EXPECT_EQ(SizesOf(Input("x", {Of(2), Open("h"), Open("w"), Of(1)})), Shape({2, 224, 224, 1}));
  EXPECT_EQ(SizesOf(Input("pixel_values", {Open("batch"), Open("c"), Open("height"), Of(64)})),
            Shape({1, 224, 224, 64}));
  EXPECT_EQ(SizesOf(Input("video", {Open(), Of(3), Open(), Open(), Open()})),
            Shape({1, 3, 16, 224, 224}));
}

TEST(LikelySizes, OfLinesOfTextAreWide) {
  const UsualSizes line = {320, 128, 16000, 100, 48};
  const ModelPort x = Input("x", {Open("n"), Of(3), Open(), Open("width")});
  EXPECT_EQ(LikelySizes({x}, line)[0], Shape({1, 3, 48, 320}));
  const ModelPort named = Input("x", {Open("n"), Of(3), Open("height"), Open()});
  EXPECT_EQ(LikelySizes({named}, line)[0], Shape({1, 3, 48, 320}));
}

TEST(LikelySizes, OfIntegersAreSequences) {
  EXPECT_EQ(SizesOf(Input("x", {Open(), Open("s18")}, DType::Int(64))), Shape({1, 128}));
  EXPECT_EQ(SizesOf(Input("attention_mask", {Open("b"), Open("s1")}, DType::Bool())),
            Shape({1, 128}));
  // Recurrent networks have the sequence first.
  EXPECT_EQ(SizesOf(Input("x", {Open("sequence"), Open("batch"), Of(10)})), Shape({128, 1, 10}));
}

TEST(LikelyConstants, AreOfSamplingRates) {
  const ModelPort sr = Input("sr", {}, DType::Int(64)),
                  rate = Input("sampleRate", {}, DType::Int(32)),
                  bytes = Input("sr", {}, DType::Int(8)), other = Input("step", {}, DType::Int(64));
  const std::map<std::string, Tensor> constants = LikelyConstants({sr, rate, other});
  EXPECT_EQ(constants.size(), 2);
  EXPECT_EQ(constants.at("sr").AsInt(0), 16000);
  EXPECT_EQ(constants.at("sampleRate").AsInt(0), 16000);
  EXPECT_TRUE(LikelyConstants({bytes}).empty());
}

TEST(LikelySizes, OfSoundAreSamplesAndFrames) {
  EXPECT_EQ(SizesOf(Input("waveform", {Open()})), Shape({16000}));
  EXPECT_EQ(SizesOf(Input("input_audio", {Open(), Open()})), Shape({1, 16000}));
  EXPECT_EQ(SizesOf(Input("input_values", {Open("s6"), Open("s76")})), Shape({1, 16000}));
  EXPECT_EQ(SizesOf(Input("wave", {Open("b"), Open("t")})), Shape({1, 16000}));
  EXPECT_EQ(SizesOf(Input("audio", {Open("n"), Open("length")})), Shape({1, 16000}));
  EXPECT_EQ(SizesOf(Input("audio", {Open("b"), Open("n")})), Shape({1, 16000}));
  EXPECT_EQ(SizesOf(Input("x", {Open(), Of(1), Open()})), Shape({1, 1, 16000}));
  EXPECT_EQ(SizesOf(Input("x", {Open(), Of(80), Open()})), Shape({1, 80, 100}));
  EXPECT_EQ(SizesOf(Input("x", {Open(), Open(), Of(768)})), Shape({1, 128, 768}));
}

TEST(LikelySizes, OfReadersAreWhatTheyWant) {
  Extent features = Open("c");
  features.wanted = 40;
  EXPECT_EQ(SizesOf(Input("x", {Open("n"), features})), Shape({1, 40}));
  ModelPort image = Input("x", {Open("n"), features, Open("a"), Open("b")});
  image.is_convolved = true;
  EXPECT_EQ(SizesOf(image), Shape({1, 40, 224, 224}));
}

TEST(LikelySizes, OfRecurrentStatesAreABatchOfOne) {
  EXPECT_EQ(SizesOf(Input("state", {Of(2), Open(), Of(128)})), Shape({2, 1, 128}));
  EXPECT_EQ(SizesOf(Input("hidden_states", {Of(2), Open(), Of(768)})), Shape({2, 128, 768}));
  EXPECT_EQ(SizesOf(Input("state", {Open(), Open(), Of(768)})), Shape({1, 128, 768}));
}

TEST(LikelySizes, OfModelsWithStatesAreOneFrame) {
  ModelPort state = Input("h0", {Of(3), Open("batch"), Of(512)});
  const ModelPort frames = Input("logmel", {Open("batch"), Open("time"), Of(512)});
  EXPECT_EQ(LikelySizes({frames, state}, kSizes)[0], Shape({1, 100, 512}));
  state.is_state = true;
  EXPECT_EQ(LikelySizes({frames, state}, kSizes)[0], Shape({1, 1, 512}));
}

TEST(FindPlacesInImages, KnowsMasksAndBoxes) {
  const ModelPort image = Input("x", {Open("n"), Of(3), Open("h"), Open("w")});
  const ModelPort mask = Input("mask", {Open("n"), Of(21), Open("h"), Open("w")});
  const ModelPort boxes = Input("boxes", {Open("n"), Open("count"), Of(4)});
  const ModelPort scores = Input("scores", {Open("n"), Of(91), Open("count")});
  const ModelPort classes = Input("classes", {Open("n"), Of(1000)});
  const ModelPort tokens = Input("tokens", {Open("n"), Open("count"), Of(768)});
  EXPECT_TRUE(FindPlacesInImages({image}, {mask}));
  EXPECT_TRUE(FindPlacesInImages({image}, {boxes, scores}));
  EXPECT_FALSE(FindPlacesInImages({image}, {classes}));
  EXPECT_FALSE(FindPlacesInImages({image}, {mask, classes}));
  EXPECT_FALSE(FindPlacesInImages({image}, {tokens}));
  EXPECT_FALSE(FindPlacesInImages({Input("x", {Open(), Of(80)})}, {boxes}));
  EXPECT_FALSE(FindPlacesInImages({image}, {}));
}

TEST(LikelySizes, OfOneSymbolAreOne) {
  // The embedding "x" and "ids" share the symbol "s". The ids decide its size, as their integer
  // type is the stronger hint.
  const std::vector<Shape> shapes =
      LikelySizes({Input("x", {Open("n"), Of(40), Open("s")}),
                   Input("ids", {Open("n"), Open("s")}, DType::Int(64)),
                   Input("mask", {Open("n"), Of(1), Open("s"), Open("p + 2*s")}),
                   Input("past", {Open("n"), Of(4), Open("p"), Of(64)})},
                  kSizes);
  EXPECT_THAT(shapes, ElementsAre(Shape{1, 40, 128}, Shape{1, 128}, Shape({1, 1, 128, 384}),
                                  Shape({1, 4, 128, 64})));
}

TEST(LikelySizes, KnowImagesOfOnePixel) {
  const ModelPort image = Input("x", {Open(), Of(3), Open(), Open()});
  EXPECT_TRUE(IsImageOfOnePixel(image, {1, 3, 1, 224}));
  EXPECT_FALSE(IsImageOfOnePixel(image, {1, 3, 2, 2}));
  EXPECT_FALSE(IsImageOfOnePixel(Input("x", {Open(), Of(3), Of(1), Of(1)}), {1, 3, 1, 1}));
  EXPECT_FALSE(IsImageOfOnePixel(Input("x", {Open(), Of(64), Open(), Open()}), {1, 64, 1, 1}));
}

TEST(DimensionSymbols, AreSumsOfProducts) {
  const SymbolValues values = {{"a", 3}, {"b", 5}, {"floor(a/2)", 1}};
  EXPECT_EQ(ValueOfDimension("a", values), 3);
  EXPECT_EQ(ValueOfDimension("a + b", values), 8);
  EXPECT_EQ(ValueOfDimension("2*a*b + 1", values), 31);
  EXPECT_EQ(ValueOfDimension("floor(a/2)", values), 1);
  for (const char* text : {"", "c", "a + c", "a - b", "floor(b/2)", "a +", "* a",
                           "a*9223372036854775807", "9223372036854775807 + a"}) {
    EXPECT_EQ(ValueOfDimension(text, values), std::nullopt) << text;
  }
  EXPECT_TRUE(IsSymbol("batch_size"));
  EXPECT_FALSE(IsSymbol("a + b"));
  EXPECT_FALSE(IsSymbol(""));
}

}  // namespace
}  // namespace kiln
