// SPDX-License-Identifier: Apache-2.0
// Damaged JSON of the graph executor.
#include <string>

#include "gtest/gtest.h"
#include "mlf/testing/sample.h"
#include "runtime_cpp/data_type.h"
#include "runtime_cpp/graph_table.h"
#include "tests/damage/damage.h"

namespace kiln::testing {
namespace {

using runtime::GraphNode;
using runtime::GraphTable;

// Expects the properties of a table that graph_table.h guarantees.
void ExpectWellFormed(const GraphTable& table) {
  for (const GraphNode& node : table.nodes) {
    EXPECT_LE(node.first_entry + node.num_outputs, table.entries.size());
    for (const size_t input : node.inputs) EXPECT_LT(input, node.first_entry);
    EXPECT_EQ(node.is_argument, node.func_name.empty());
  }
  for (const size_t argument : table.arguments) {
    ASSERT_LT(argument, table.nodes.size());
    EXPECT_TRUE(table.nodes[argument].is_argument);
  }
  for (const size_t head : table.heads) EXPECT_LT(head, table.entries.size());
  for (const runtime::GraphEntry& entry : table.entries) {
    EXPECT_EQ(runtime::TensorBytes(entry.shape, entry.dtype).value_or(-1), entry.size_bytes);
    EXPECT_GE(entry.storage_id, 0);
    EXPECT_LT(entry.storage_id, runtime::kMaxGraphStorages);
  }
}

absl::Status Read(absl::string_view text) {
  const absl::StatusOr<GraphTable> table = runtime::ParseGraphTable(text);
  if (table.ok()) ExpectWellFormed(*table);
  return table.status();
}

const std::string& Text() {
  static const std::string& text = *new std::string(mlf::SampleModule("m", "graph").graph_json);
  return text;
}

TEST(GraphDamage, Cuts) { ExpectCutsFail(Text(), Read); }

TEST(GraphDamage, Flips) { ExpectFlipsAreHarmless(Text(), Read); }

TEST(GraphDamage, DeepNestingIsAnError) {
  EXPECT_FALSE(Read(std::string(100'000, '[')).ok());
  EXPECT_FALSE(Read(std::string(100'000, '[') + std::string(100'000, ']')).ok());
}

}  // namespace
}  // namespace kiln::testing
