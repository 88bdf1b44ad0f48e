// SPDX-License-Identifier: Apache-2.0
// Number of imports of a model, and their shapes. tools/kiln/load_model_test.cc imports files.
#include "compiler/import/open_dimensions.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using frontend::Extent;
using frontend::ImportOptions;
using frontend::ModelPort;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

ModelPort Input(const std::string& name, std::vector<Extent> extents) {
  ModelPort port;
  port.name = name;
  port.kind = "tensor";
  port.extents = std::move(extents);
  return port;
}

// Returns a model whose import succeeds if every input has a shape and the last extent of the first
// shape is at least `least`. Each attempt appends the first shape to `attempts`.
OpenModel Model(std::vector<ModelPort> inputs, int64_t least, std::vector<Shape>& attempts) {
  OpenModel model{.path = "m.onnx", .inputs = std::move(inputs)};
  const size_t num_inputs = model.inputs.size();
  model.import = [num_inputs, least,
                  &attempts](const ImportOptions& options) -> absl::StatusOr<Graph> {
    attempts.push_back(options.pins.empty() ? Shape() : options.pins[0].shape);
    if (options.pins.size() == num_inputs && options.pins[0].shape.back() >= least) return Graph();
    return absl::InvalidArgumentError("m.onnx: no");
  };
  return model;
}

TEST(ImportOpenModel, AnOpenBatchIsImportedOnce) {
  std::vector<Shape> attempts;
  const OpenModel model = Model({Input("x", {{{}, "n"}, {3, ""}})}, 1, attempts);
  std::vector<std::string> notes;
  EXPECT_TRUE(ImportOpenModel(model, {}, notes).ok());
  EXPECT_THAT(attempts, ElementsAre(Shape{1, 3}));
  EXPECT_THAT(notes, ElementsAre("m.onnx: open leading dimensions are taken as 1; for another: "
                                 "--dim n=8"));
}

// The first import reports what is missing, so it knows the shapes that the user's sizes determine.
TEST(ImportOpenModel, TheErrorKnowsTheShapesThatAreDetermined) {
  std::vector<Shape> attempts;
  const OpenModel model =
      Model({Input("x", {{{}, "n"}, {3, ""}}), Input("y", {{{}, "n"}, {{}, "m"}})}, 1, attempts);
  ImportOptions options;
  options.dims = {{"n", 5}};
  std::vector<std::string> notes;
  EXPECT_FALSE(ImportOpenModel(model, options, notes).ok());
  ASSERT_FALSE(attempts.empty());
  EXPECT_EQ(attempts[0], (Shape{5, 3}));
}

TEST(ImportOpenModel, WhatTheUserSaysOfASymbolGoesForAll) {
  std::vector<Shape> attempts;
  const OpenModel model =
      Model({Input("x", {{{}, "n"}, {3, ""}}), Input("y", {{{}, "n"}, {4, ""}})}, 1, attempts);
  ImportOptions options;
  options.pins = {{"x", {5, 3}, {}}};
  std::vector<std::string> notes;
  EXPECT_TRUE(ImportOpenModel(model, options, notes).ok());
  EXPECT_THAT(attempts, ElementsAre(Shape{5, 3}));
  EXPECT_THAT(notes, IsEmpty());
}

TEST(ImportOpenModel, SizesOfSymbolsGoForAllInputs) {
  std::vector<Shape> attempts;
  const OpenModel model =
      Model({Input("x", {{{}, "n"}, {{}, "2*m"}}), Input("y", {{{}, "m"}})}, 1, attempts);
  ImportOptions options;
  options.dims = {{"n", 5}, {"m", 3}};
  std::vector<std::string> notes;
  EXPECT_TRUE(ImportOpenModel(model, options, notes).ok());
  EXPECT_THAT(attempts, ElementsAre(Shape{5, 6}));
  EXPECT_THAT(notes, IsEmpty());
  options.dims = {{"k", 5}};
  EXPECT_EQ(ImportOpenModel(model, options, notes).status(),
            absl::InvalidArgumentError(
                "m.onnx: --dim: no input has an open dimension 'k'; they are m, n"));
}

TEST(ImportOpenModel, LikelySizesAreTriedIfOthersAreOpen) {
  std::vector<Shape> attempts;
  const OpenModel model =
      Model({Input("x", {{{}, "n"}, {3, ""}, {{}, "h"}, {{}, "w"}})}, 300, attempts);
  std::vector<std::string> notes;
  EXPECT_EQ(ImportOpenModel(model, {}, notes).status(),
            absl::InvalidArgumentError("m.onnx: no\nm.onnx: sizes with which it can be compiled: "
                                       "--dim h=320 --dim n=1 --dim w=320"));
  EXPECT_THAT(attempts, ElementsAre(IsEmpty(), Shape{1, 3, 224, 224}, Shape{1, 3, 256, 256},
                                    Shape{1, 3, 320, 320}));
  EXPECT_THAT(notes, IsEmpty());
}

TEST(ImportOpenModel, ImagesWithPlacesAreLarger) {
  std::vector<Shape> attempts;
  OpenModel model = Model({Input("x", {{{}, "n"}, {3, ""}, {{}, "h"}, {{}, "w"}})}, 1, attempts);
  model.outputs = {Input("mask", {{{}, "n"}, {21, ""}, {{}, "h"}, {{}, "w"}})};
  std::vector<std::string> notes;
  EXPECT_EQ(ImportOpenModel(model, {}, notes).status().message(),
            "m.onnx: no\nm.onnx: sizes with which it can be compiled: --dim h=512 --dim n=1 --dim "
            "w=512");
}

// Only sizes that the user has not given are suggested. Words that a shell would change are quoted.
TEST(ImportOpenModel, SuggestionsAreOfWhatIsMissing) {
  std::vector<Shape> attempts;
  const OpenModel model =
      Model({Input("a b", {{{}, "n"}, {{}, ""}}), Input("y", {{{}, "n"}, {{}, "m"}})}, 1, attempts);
  ImportOptions options;
  options.dims = {{"m", 4}};
  std::vector<std::string> notes;
  EXPECT_EQ(ImportOpenModel(model, options, notes).status().message(),
            "m.onnx: no\nm.onnx: sizes with which it can be compiled: --input 'a b:1x128' "
            "--input y:1x4");
}

TEST(ImportOpenModel, AllSizesAlikeAreTriedLast) {
  std::vector<Shape> attempts;
  OpenModel model{.path = "m.onnx", .inputs = {Input("x", {{{}, "n"}, {{}, "m"}})}};
  model.import = [](const ImportOptions& options) -> absl::StatusOr<Graph> {
    if (!options.pins.empty() && options.pins[0].shape == Shape{1, 2}) return Graph();
    return absl::InvalidArgumentError("m.onnx: no");
  };
  std::vector<std::string> notes;
  EXPECT_EQ(ImportOpenModel(model, {}, notes).status().message(),
            "m.onnx: no\nm.onnx: sizes with which it can be compiled: --dim m=2 --dim n=1");
}

// A model for two sampling rates takes the sizes of one of them.
TEST(ImportOpenModel, ASamplingRateIsTriedAfterSizes) {
  ModelPort rate = Input("sr", {});
  rate.dtype = DType::Int(64);
  rate.rank = 0;
  OpenModel model{.path = "m.onnx", .inputs = {Input("x", {{{}, "n"}, {{}, "m"}}), rate}};
  model.import = [](const ImportOptions& options) -> absl::StatusOr<Graph> {
    if (!options.pins.empty() && options.constants.contains("sr")) return Graph();
    return absl::InvalidArgumentError("m.onnx: no");
  };
  std::vector<std::string> notes;
  EXPECT_EQ(ImportOpenModel(model, {}, notes).status().message(),
            "m.onnx: no\nm.onnx: sizes with which it can be compiled: --dim m=128 --dim n=1 "
            "--constant sr=16000");
}

TEST(ImportOpenModel, ImagesOfOnePixelAreNoted) {
  std::vector<Shape> attempts;
  const OpenModel model =
      Model({Input("x", {{{}, "n"}, {3, ""}, {{}, "h"}, {{}, "w"}})}, 1, attempts);
  ImportOptions options;
  options.dims = {{"n", 1}, {"h", 1}, {"w", 1}};
  std::vector<std::string> notes;
  EXPECT_TRUE(ImportOpenModel(model, options, notes).ok());
  EXPECT_THAT(notes, ElementsAre("m.onnx: input 'x' is 1x3x1x1: images that are one pixel high or "
                                 "wide"));
}

}  // namespace
}  // namespace kiln
