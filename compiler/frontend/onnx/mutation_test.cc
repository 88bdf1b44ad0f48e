// SPDX-License-Identifier: Apache-2.0
// For arbitrary bytes, the importer returns a graph that verifies or an error that names the file,
// and does not crash. The seeds are fixed.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "absl/strings/match.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/graph/graph.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {
namespace {

std::string DigitsModel() {
  std::ifstream file("models/digits/digits.onnx", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void Check(const std::string& bytes) {
  const absl::StatusOr<Graph> graph = ImportOnnx(bytes, "m.onnx", {}, EvaluateConstants);
  if (graph.ok()) {
    ASSERT_EQ(Verify(*graph, /*typed=*/true), absl::OkStatus());
  } else {
    ASSERT_TRUE(absl::StrContains(graph.status().message(), "m.onnx: ")) << graph.status();
  }
}

// Returns the model with large weights reduced to one element, so that mutations hit meaningful
// bytes.
std::string WithoutWeights(const std::string& bytes) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(bytes));
  for (onnx::TensorProto& tensor : *model.mutable_graph()->mutable_initializer()) {
    int64_t elements = 1;
    for (int64_t extent : tensor.dims()) elements *= extent;
    if (elements < 64) continue;
    tensor.clear_raw_data();
    tensor.clear_float_data();
    for (int64_t& extent : *tensor.mutable_dims()) extent = 1;
    tensor.add_float_data(1);
  }
  return model.SerializeAsString();
}

TEST(Mutation, TheModelItselfIsRead) {
  EXPECT_TRUE(ImportOnnx(DigitsModel(), "m.onnx", {}, EvaluateConstants).ok());
}

TEST(Mutation, CutOff) {
  const std::string bytes = DigitsModel();
  ASSERT_GT(bytes.size(), 1000u);
  for (size_t i = 0; i < 200; ++i) Check(bytes.substr(0, bytes.size() * i / 200));
  const std::string text = WithoutWeights(bytes);
  for (size_t i = 0; i < text.size(); ++i) Check(text.substr(0, i));
}

TEST(Mutation, BytesReplaced) {
  const std::string bytes = WithoutWeights(DigitsModel());
  std::mt19937 random(1);
  for (int i = 0; i < 4000; ++i) {
    std::string mutated = bytes;
    for (uint32_t k = 0; k <= random() % 4; ++k) {
      mutated[random() % mutated.size()] = static_cast<char>(random());
    }
    Check(mutated);
  }
}

}  // namespace
}  // namespace kiln::onnx_frontend
