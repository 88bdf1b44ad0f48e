// SPDX-License-Identifier: Apache-2.0
// For arbitrary bytes, the importer returns a graph that verifies or an error that names the file,
// and does not crash. The seeds are fixed.
#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/frontend/tflite/model_builder.h"
#include "compiler/graph/graph.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using schema::BuiltinOperator;
using Type = ModelBuilder::Type;

// Returns a model with windows, shapes, slices, a sparse constant, state and a branch.
std::string Model() {
  ModelBuilder b;
  const int x = b.Input("x", {1, 4, 4, 2});
  schema::Conv2DOptionsT conv;
  conv.stride_h = conv.stride_w = 1;
  const int w = b.Floats({2, 2, 2, 2}, std::vector<float>(16, 1));
  int y = b.Op(BuiltinOperator::CONV_2D, {x, w, b.Floats({2}, {0, 0})}, "conv", {}, conv);
  schema::Pool2DOptionsT pool;
  pool.stride_h = pool.stride_w = pool.filter_height = pool.filter_width = 2;
  y = b.Op(BuiltinOperator::AVERAGE_POOL_2D, {y}, "pool", {}, pool);
  schema::StridedSliceOptionsT slice;
  slice.shrink_axis_mask = 1;
  y = b.Op(BuiltinOperator::STRIDED_SLICE,
           {y, b.Ints({0, 0, 0, 0}), b.Ints({1, 2, 2, 2}), b.Ints({1, 1, 1, 1})}, "slice", {},
           slice);
  y = b.Op(BuiltinOperator::RESHAPE, {y, b.Ints({1, -1})}, "flat", {});
  const int sparse = b.Floats({2, 8}, {5, 7, 8});
  auto sparsity = std::make_unique<schema::SparsityParametersT>();
  sparsity->traversal_order = {0, 1};
  sparsity->dim_metadata.push_back(std::make_unique<schema::DimensionMetadataT>());
  sparsity->dim_metadata[0]->dense_size = 2;
  sparsity->dim_metadata.push_back(std::make_unique<schema::DimensionMetadataT>());
  sparsity->dim_metadata[1]->format = schema::DimensionFormat::SPARSE_CSR;
  schema::Int32VectorT segments;
  segments.values = {0, 1, 3};
  schema::Uint16VectorT indices;
  indices.values = {1, 0, 2};
  sparsity->dim_metadata[1]->array_segments.Set(std::move(segments));
  sparsity->dim_metadata[1]->array_indices.Set(std::move(indices));
  b.tensor(sparse).sparsity = std::move(sparsity);
  schema::FullyConnectedOptionsT dense;
  const int weights_of_all = b.Op(BuiltinOperator::DENSIFY, {sparse}, "weights", {});
  y = b.Op(BuiltinOperator::FULLY_CONNECTED, {y, weights_of_all, -1}, "dense", {}, dense);
  y = b.Op(BuiltinOperator::RFFT2D, {y, b.Ints({1, 2})}, "spectrum", {}, Type::COMPLEX64);
  y = b.Op(BuiltinOperator::COMPLEX_ABS, {y}, "power", {});
  schema::SVDFOptionsT svdf;
  svdf.rank = 1;
  const int state = b.Add("state", {1, 4});
  b.tensor(state).is_variable = true;
  y = b.Op(BuiltinOperator::SVDF,
           {y, b.Floats({2, 2}, {1, 0, 0, 1}), b.Floats({2, 2}, {1, 1, 1, 1}), -1, state}, "svdf",
           {}, svdf);
  const int weights = b.Constant<int8_t>({2}, Type::INT8, {1, 2});
  b.Quantize(weights, {0.5, 0.25}, {0, 1});
  const int floats = b.Op(BuiltinOperator::DEQUANTIZE, {weights}, "floats", {});
  schema::MulOptionsT mul;
  y = b.Op(BuiltinOperator::MUL, {y, floats}, "mul", {}, mul);
  schema::IfOptionsT branch;
  branch.then_subgraph_index = branch.else_subgraph_index = 1;
  const int condition = b.Constant<uint8_t>({}, Type::BOOL, {1});
  b.Output(b.Op(BuiltinOperator::IF, {condition, y}, "y", {}, branch));
  b.AddSubgraph();
  const int inner = b.Input("inner", {1, 2});
  schema::VarHandleOptionsT variable;
  variable.shared_name = "kept";
  const int handle = b.Op(BuiltinOperator::VAR_HANDLE, {}, "h", {}, variable, Type::RESOURCE);
  const int kept = b.Op(BuiltinOperator::READ_VARIABLE, {handle}, "r", {1, 2});
  schema::AddOptionsT add;
  const int sum = b.Op(BuiltinOperator::ADD, {kept, inner}, "sum", {}, add);
  b.AddOperator(BuiltinOperator::ASSIGN_VARIABLE, {handle, sum}, {});
  b.Output(sum);
  return b.Bytes();
}

// Returns true if the import yields a graph.
bool Check(const std::string& bytes) {
  const absl::StatusOr<Graph> graph = ImportTflite(bytes, "m.tflite", {}, EvaluateConstants);
  if (graph.ok()) {
    EXPECT_EQ(Verify(*graph, /*typed=*/true), absl::OkStatus());
  } else {
    EXPECT_TRUE(absl::StrContains(graph.status().message(), "m.tflite: ")) << graph.status();
  }
  return graph.ok();
}

TEST(Mutation, TheModelItselfIsRead) {
  EXPECT_EQ(ImportTflite(Model(), "m.tflite", {}, EvaluateConstants).status(), absl::OkStatus());
}

TEST(Mutation, CutOff) {
  const std::string bytes = Model();
  for (size_t i = 0; i < bytes.size(); ++i) Check(bytes.substr(0, i));
}

TEST(Mutation, EachByteReplaced) {
  const std::string bytes = Model();
  for (size_t i = 0; i < bytes.size(); ++i) {
    for (const char value : {'\x00', '\x01', '\x7f', '\xff'}) {
      std::string mutated = bytes;
      mutated[i] = value;
      Check(mutated);
    }
  }
}

TEST(Mutation, SeveralBytesReplaced) {
  const std::string bytes = Model();
  std::mt19937 random(1);
  int graphs = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string mutated = bytes;
    for (uint32_t k = 0; k <= random() % 4; ++k) {
      mutated[random() % mutated.size()] = static_cast<char>(random());
    }
    graphs += Check(mutated) ? 1 : 0;
  }
  EXPECT_GT(graphs, 0);
}

}  // namespace
}  // namespace kiln::tflite_frontend
