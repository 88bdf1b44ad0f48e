// SPDX-License-Identifier: Apache-2.0
// How often a model is imported, and with which shapes. tools/kiln/load_model_test.cc imports
// files.
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

// Imports where every input has a shape and the last extents are at least `least`; notes the shape
// of 'x' in each attempt.
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
  std::string note;
  EXPECT_TRUE(ImportOpenModel(model, {}, &note).ok());
  EXPECT_THAT(attempts, ElementsAre(Shape{1, 3}));
  EXPECT_EQ(note, "m.onnx: open leading dimensions are taken as 1; for another: --input x:8x3");
}

TEST(ImportOpenModel, WhatTheUserSaysOfASymbolGoesForAll) {
  std::vector<Shape> attempts;
  const OpenModel model =
      Model({Input("x", {{{}, "n"}, {3, ""}}), Input("y", {{{}, "n"}, {4, ""}})}, 1, attempts);
  ImportOptions options;
  options.pins = {{"x", {5, 3}, {}}};
  std::string note;
  EXPECT_TRUE(ImportOpenModel(model, options, &note).ok());
  EXPECT_THAT(attempts, ElementsAre(Shape{5, 3}));
  EXPECT_EQ(note, "");
}

TEST(ImportOpenModel, SizesAreTriedWhereOthersAreOpen) {
  std::vector<Shape> attempts;
  const OpenModel model = Model({Input("x", {{{}, "n"}, {{}, "m"}})}, 4, attempts);
  std::string note;
  EXPECT_EQ(ImportOpenModel(model, {}, &note).status(),
            absl::InvalidArgumentError(
                "m.onnx: no\nm.onnx: shapes with which it can be compiled: --input x:1x4"));
  EXPECT_THAT(attempts, ElementsAre(IsEmpty(), Shape{1, 1}, Shape{1, 2}, Shape{1, 4}));
  EXPECT_EQ(note, "");
}

}  // namespace
}  // namespace kiln
