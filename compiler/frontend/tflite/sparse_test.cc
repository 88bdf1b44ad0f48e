// SPDX-License-Identifier: Apache-2.0
// Constants that are stored sparse, in blocks: their values, and errors of damaged ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/frontend/tflite/model_builder.h"
#include "compiler/graph/graph.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;

std::unique_ptr<schema::DimensionMetadataT> DenseLevel(int extent) {
  auto level = std::make_unique<schema::DimensionMetadataT>();
  level->dense_size = extent;
  return level;
}

void SetSegments(schema::DimensionMetadataT& level, std::vector<int32_t> values) {
  schema::Int32VectorT segments;
  segments.values = std::move(values);
  level.array_segments.Set(std::move(segments));
}

void SetIndices(schema::DimensionMetadataT& level, std::vector<uint16_t> values) {
  schema::Uint16VectorT indices;
  indices.values = std::move(values);
  level.array_indices.Set(std::move(indices));
}

// A matrix of the shape (4, 2) in blocks of two rows:
//   0 5
//   0 6
//   7 9
//   8 10
struct SparseMatrix {
  SparseMatrix() {
    sparsity.traversal_order = {0, 1, 2};
    sparsity.block_map = {0};
    sparsity.dim_metadata.push_back(DenseLevel(2));
    auto columns = std::make_unique<schema::DimensionMetadataT>();
    columns->format = schema::DimensionFormat::SPARSE_CSR;
    SetSegments(*columns, {0, 1, 3});
    SetIndices(*columns, {1, 0, 1});
    sparsity.dim_metadata.push_back(std::move(columns));
    sparsity.dim_metadata.push_back(DenseLevel(2));
  }

  schema::DimensionMetadataT& rows() { return *sparsity.dim_metadata[0]; }
  schema::DimensionMetadataT& columns() { return *sparsity.dim_metadata[1]; }
  schema::DimensionMetadataT& block() { return *sparsity.dim_metadata[2]; }

  ModelBuilder::Shape shape = {4, 2};
  std::vector<int8_t> values = {5, 6, 7, 8, 9, 10};
  schema::SparsityParametersT sparsity;
};

absl::StatusOr<Graph> Import(const SparseMatrix& matrix) {
  ModelBuilder b;
  const int w = b.Constant<int8_t>(matrix.shape, ModelBuilder::Type::INT8, matrix.values);
  b.tensor(w).name = "w";
  b.tensor(w).sparsity = std::make_unique<schema::SparsityParametersT>(matrix.sparsity);
  b.Output(w);
  return ImportTflite(b.Bytes(), "m.tflite", {}, EvaluateConstants);
}

TEST(Sparse, IsCountedBeforeThereIsMemoryForIt) {
  SparseMatrix matrix;
  matrix.shape = {1 << 16, (1 << 15) + 1};
  const absl::StatusOr<Graph> graph = Import(matrix);
  EXPECT_TRUE(absl::StrContains(
      graph.status().message(),
      absl::StrCat("the constants have more than ", kMaxModelFileBytes, " bytes")))
      << graph.status();
}

TEST(Sparse, BlocksAreMadeDense) {
  const absl::StatusOr<Graph> graph = Import(SparseMatrix());
  ASSERT_TRUE(graph.ok()) << graph.status();
  const Tensor& dense = graph->value(graph->outputs[0]).constant;
  EXPECT_EQ(dense.type().ToString(), "Tensor[(4, 2), int8]");
  EXPECT_THAT(dense.ToInts(), testing::ElementsAre(0, 5, 0, 6, 7, 9, 8, 10));
}

struct Damage {
  const char* name;
  void (*inflict)(SparseMatrix& m);
  const char* text;
};

const Damage kDamages[] = {
    {"FewValuesForALargeTensor", [](SparseMatrix& m) { m.shape = {4096, 4096}; },
     "sparse data: 6 bytes of values for Tensor[(4096, 4096), int8]"},
    {"MoreValues", [](SparseMatrix& m) { m.values.push_back(1); },
     "sparse data: there are more values than places"},
    {"FewerValues", [](SparseMatrix& m) { m.values.pop_back(); },
     "sparse data: there are fewer values than places"},
    {"NoLevelOfABlock", [](SparseMatrix& m) { m.sparsity.traversal_order = {0, 1}; },
     "sparse data: found 2 levels and 1 dimensions of blocks for a tensor of rank 2"},
    {"MoreBlocksThanDimensions",
     [](SparseMatrix& m) {
       m.sparsity.traversal_order = {0, 1, 2, 3, 4};
       m.sparsity.block_map = {0, 1, 0};
     },
     "sparse data: found 5 levels and 3 dimensions of blocks for a tensor of rank 2"},
    {"OneLevelTwice", [](SparseMatrix& m) { m.sparsity.traversal_order = {0, 1, 1}; },
     "sparse data: the order of levels is none"},
    {"BlocksOfNoDimension", [](SparseMatrix& m) { m.sparsity.block_map = {2}; },
     "sparse data: blocks of a dimension that is none, or twice of one"},
    {"BlocksTwiceOfOneDimension",
     [](SparseMatrix& m) {
       m.sparsity.traversal_order = {0, 1, 2, 3};
       m.sparsity.block_map = {0, 0};
     },
     "sparse data: blocks of a dimension that is none, or twice of one"},
    {"DescriptionOfFewerLevels", [](SparseMatrix& m) { m.sparsity.dim_metadata.pop_back(); },
     "sparse data: the number of levels differs"},
    {"SparseBlock", [](SparseMatrix& m) { m.block().format = schema::DimensionFormat::SPARSE_CSR; },
     "sparse data inside of blocks"},
    {"BlocksThatDoNotDivide", [](SparseMatrix& m) { m.block().dense_size = 3; },
     "sparse data: blocks of 3 along an extent of 4"},
    {"BlocksOfNothing", [](SparseMatrix& m) { m.block().dense_size = 0; },
     "sparse data: blocks of 0 along an extent of 4"},
    {"LevelOfRowsRatherThanBlocks", [](SparseMatrix& m) { m.rows().dense_size = 4; },
     "sparse data: a level of 4, wanted 2"},
    {"NoSegments", [](SparseMatrix& m) { m.columns().array_segments.Reset(); },
     "sparse data: segments are missing"},
    {"FewerSegments", [](SparseMatrix& m) { SetSegments(m.columns(), {0, 1}); },
     "sparse data: segments are missing"},
    {"SegmentBehindTheIndices", [](SparseMatrix& m) { SetSegments(m.columns(), {0, 1, 4}); },
     "sparse data: a segment from 1 to 4"},
    {"SegmentOfNegativeLength", [](SparseMatrix& m) { SetSegments(m.columns(), {0, 1, 0}); },
     "sparse data: a segment from 1 to 0"},
    {"SegmentOfMoreThanTheExtent", [](SparseMatrix& m) { SetSegments(m.columns(), {0, 3, 3}); },
     "sparse data: a segment from 0 to 3"},
    {"IndexBehindTheExtent", [](SparseMatrix& m) { SetIndices(m.columns(), {1, 0, 2}); },
     "sparse data: the index 2"},
};

class SparseDamage : public testing::TestWithParam<Damage> {};

TEST_P(SparseDamage, IsTold) {
  SparseMatrix matrix;
  GetParam().inflict(matrix);
  EXPECT_EQ(std::string(Import(matrix).status().message()),
            absl::StrCat("m.tflite: output: tensor 'w': ", GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(Constants, SparseDamage, testing::ValuesIn(kDamages),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace kiln::tflite_frontend
