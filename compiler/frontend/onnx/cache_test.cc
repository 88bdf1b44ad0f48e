// SPDX-License-Identifier: Apache-2.0
// Caches of keys and values, as PyTorch exports them. Their updates, and heads that share them, do
// not copy the cache.
#include <string>

#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/model_text.h"
#include "compiler/graph/relay_text.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln::onnx_frontend {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Perm(const std::string& ints) {
  return " attribute { name: 'perm' type: INTS " + ints + " } ";
}

// Updates rows of x (2, 3, 4) along its second dimension.
const std::string kUpdate =
    "node { op_type: 'Transpose' input: 'x' output: 'first'" + Perm("ints: 1 ints: 0 ints: 2") +
    "} node { op_type: 'Transpose' input: 'u' output: 'rows'" + Perm("ints: 1 ints: 0 ints: 2") +
    "} node { op_type: 'ScatterND' input: 'first' input: 'at' input: 'rows' output: 'updated' } "
    "node { op_type: 'Transpose' input: 'updated' output: 'y'" +
    Perm("ints: 1 ints: 0 ints: 2") + "}";

TEST(Cache, IsUpdatedAlongItsAxis) {
  const std::string text =
      Text(Model(Input("x", "2,3,4") + Input("u", "2,1,4") +
                 "input { name: 'at' type { tensor_type { elem_type: 7 shape { dim { dim_value: 1 "
                 "} dim { dim_value: 1 } } } } } " +
                 kUpdate));
  EXPECT_THAT(text, HasSubstr("scatter_nd(%x, "));
  EXPECT_THAT(text, HasSubstr("axis=1"));
}

// Each head of the keys (1, 2, 3, 4) serves two heads of the queries (1, 4, 1, 4).
std::string Heads(const std::string& product) {
  return Model(Input("q", "1,4,1,4") + Input("k", "1,2,3,4") + Input("w", "1,4,1,3") +
               "initializer { name: 'one' data_type: 7 dims: 5 int64_data: [1, 2, 1, 3, 4] } "
               "initializer { name: 'two' data_type: 7 dims: 5 int64_data: [1, 2, 2, 3, 4] } "
               "initializer { name: 'four' data_type: 7 dims: 4 int64_data: [1, 4, 3, 4] } "
               "node { op_type: 'Reshape' input: 'k' input: 'one' output: 'k1' } "
               "node { op_type: 'Expand' input: 'k1' input: 'two' output: 'k2' } "
               "node { op_type: 'Reshape' input: 'k2' input: 'four' output: 'k3' } " +
               product);
}

TEST(Cache, IsNotRepeatedForHeadsThatShareIt) {
  const std::string scores =
      Text(Heads("node { op_type: 'Transpose' input: 'k3' output: 'kt'" +
                 Perm("ints: 0 ints: 1 ints: 3 ints: 2") +
                 "} node { op_type: 'MatMul' input: 'q' input: 'kt' output: 'y' }"));
  EXPECT_THAT(scores, Not(HasSubstr("broadcast_to")));
  EXPECT_THAT(scores, HasSubstr("reshape(%q, newshape=[1, 2, 2, 4]"));
  const std::string values =
      Text(Heads("node { op_type: 'MatMul' input: 'w' input: 'k3' output: 'y' }"));
  EXPECT_THAT(values, Not(HasSubstr("broadcast_to")));
  EXPECT_THAT(values, HasSubstr("reshape(%w, newshape=[1, 2, 2, 3]"));
}

}  // namespace
}  // namespace kiln::onnx_frontend
