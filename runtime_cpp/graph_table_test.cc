// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/graph_table.h"

#include <map>
#include <string>

#include "absl/strings/str_replace.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kEmptyGraph[] =
    R"({"nodes": [], "arg_nodes": [], "heads": [], "node_row_ptr": [0], "attrs": {
      "dltype": ["list_str", []], "storage_id": ["list_int", []], "shape": ["list_shape", []]}})";

constexpr char kGraph[] = R"({
  "nodes": [
    {"op": "null", "name": "x", "inputs": []},
    {"op": "tvm_op", "name": "relu", "inputs": [[0, 0, 0]],
     "attrs": {"func_name": "f", "num_inputs": "1", "num_outputs": "2", "flatten_data": "0",
               "hash": "abc"}},
    {"op": "tvm_op", "name": "reshape", "inputs": [[1, 1]], "control_deps": [],
     "attr": {"func_name": "__nop", "num_inputs": "1", "num_outputs": "1", "flatten_data": "1"}}],
  "arg_nodes": [0],
  "heads": [[2, 0, 0], [1, 0]],
  "attrs": {
    "dltype": ["list_str", ["float32", "int8", "bool", "bool"]],
    "device_index": ["list_int", [1, 1, 1, 1]],
    "storage_id": ["list_int", [0, 1, 2, 2]],
    "shape": ["list_shape", [[4], [], [2, 3], [6]]],
    "extra": ["list_int", [9]]},
  "node_row_ptr": [0, 1, 3, 4],
  "metadata": {"anything": 1}})";

std::string ErrorOf(const std::string& json) {
  const absl::StatusOr<GraphTable> table = ParseGraphTable(json);
  return table.ok() ? "" : std::string(table.status().message());
}

TEST(GraphTable, ReadsNodesEntriesAndHeads) {
  const GraphTable table = ParseGraphTable(kGraph).value();
  ASSERT_EQ(table.nodes.size(), 3u);
  EXPECT_TRUE(table.nodes[0].is_argument);
  EXPECT_EQ(table.nodes[1].func_name, "f");
  EXPECT_THAT(table.nodes[1].inputs, ElementsAre(0));
  EXPECT_EQ(table.nodes[1].first_entry, 1u);
  EXPECT_EQ(table.nodes[1].num_outputs, 2u);
  EXPECT_FALSE(table.nodes[1].flatten_data);
  EXPECT_TRUE(table.nodes[2].flatten_data);
  EXPECT_THAT(table.nodes[2].inputs, ElementsAre(2));
  EXPECT_THAT(table.heads, ElementsAre(3, 1));
  EXPECT_THAT(table.arguments, ElementsAre(0));
  ASSERT_EQ(table.entries.size(), 4u);
  EXPECT_THAT(table.entries[2].shape, ElementsAre(2, 3));
  EXPECT_EQ(table.entries[2].size_bytes, 6);
  EXPECT_EQ(table.entries[1].size_bytes, 1);
  EXPECT_EQ(table.entries[3].storage_id, 2);
}

TEST(GraphTable, DeviceIndexIsOptional) {
  EXPECT_EQ(ErrorOf(absl::StrReplaceAll(kGraph,
                                        {{R"("device_index": ["list_int", [1, 1, 1, 1]],)", ""}})),
            "");
}

TEST(GraphTable, EveryRuleHasAnError) {
  const struct {
    const char* from;
    const char* to;
    const char* error;
  } kCases[] = {
      {R"("metadata":)", R"("surprise":)", "unknown key 'surprise'"},
      {R"("nodes":)", R"("metadata":)", "no key 'nodes'"},
      {R"("heads": [[2, 0, 0], [1, 0]],)", "", "no key 'heads'"},
      {R"("name": "x",)", "", "node 0 has no key 'name'"},
      {R"("name": "x",)", R"("name": 7,)", "node 0 is not a string"},
      {R"("control_deps")", R"("weight")", "unknown key 'weight'"},
      {R"("op": "null")", R"("op": "conv")", "node 0 'x' has the unknown op 'conv'"},
      {R"("func_name": "f", )", "", "node 1 'relu' has no key 'func_name'"},
      {R"("func_name": "f")", R"("func_name": "")", "empty func_name"},
      {R"("flatten_data": "0")", R"("flatten_data": 0)", "flatten_data is not a string"},
      {R"("num_outputs": "2")", R"("num_outputs": "3")", "says 1 inputs and 3 results"},
      {R"("num_inputs": "1", "num_outputs": "2")", R"("num_inputs": "-1", "num_outputs": "2")",
       "num_inputs is not a count"},
      {R"("inputs": [[0, 0, 0]])", R"("inputs": [[1, 0, 0]])", "is 1, at most 0 works"},
      {R"("inputs": [[0, 0, 0]])", R"("inputs": [[0, 1, 0]])", "is 1, at most 0 works"},
      {R"("inputs": [[0, 0, 0]])", R"("inputs": [[0]])", "is not [node, result]"},
      {R"("inputs": [[0, 0, 0]])", R"("inputs": [[-1, 0, 0]])", "is not an integer from 0 on"},
      {R"("inputs": [])", R"("inputs": [[0, 0]])", "node that does not come before it"},
      {R"("arg_nodes": [0])", R"("arg_nodes": [1])", "node 1 is a call"},
      {R"("arg_nodes": [0])", R"("arg_nodes": [0, 0])", "node 0 twice"},
      {R"("arg_nodes": [0])", R"("arg_nodes": [])", "'x' is not in arg_nodes"},
      {R"("heads": [[2, 0, 0])", R"("heads": [[3, 0, 0])", "heads is 3, at most 2 works"},
      {R"("node_row_ptr": [0, 1, 3, 4])", R"("node_row_ptr": [0, 1, 3])", "3 elements for 3 nodes"},
      {R"("node_row_ptr": [0, 1, 3, 4])", R"("node_row_ptr": [0, 3, 1, 4])", "rise from 0"},
      {R"("node_row_ptr": [0, 1, 3, 4])", R"("node_row_ptr": [0, 1, 3, 5])", "4 elements for 5"},
      {R"("list_str")", R"("list_int")", "attrs.dltype is not of type list_str"},
      {R"("int8")", R"("int")", "'int' is not a data type"},
      {R"([0, 1, 2, 2])", R"([0, 1, 2, -2])", "entry 3 is not an integer from 0 on"},
      {R"([2, 3])", R"([2, -3])", "entry 2 is not an integer from 0 on"},
      {R"([2, 3])", R"([9223372036854775807, 3])", "too large"},
      {R"([2, 3], [6])", R"([2, 3], [5])", "__nop turns 6 bytes into 5"},
      {R"("extra": ["list_int")", R"("extra": ["list_str")", "cannot skip the graph attribute"},
      {R"("nodes": [)", R"("nodes": [[)", "is not JSON"},
  };
  for (const auto& c : kCases) {
    const std::string json = absl::StrReplaceAll(kGraph, {{c.from, c.to}});
    EXPECT_NE(json, kGraph) << c.from;
    EXPECT_THAT(ErrorOf(json), HasSubstr(c.error)) << c.from << " -> " << c.to;
  }
}

TEST(GraphTable, TruncationAtEveryByteIsAnError) {
  const std::string json = kGraph;
  for (size_t size = 0; size < json.size(); ++size) {
    EXPECT_NE(ErrorOf(json.substr(0, size)), "") << size;
  }
}

TEST(GraphTable, OtherDocumentsAreErrors) {
  for (const char* const json :
       {"", "1", "[]", "{}", "null", R"({"nodes": 1, "node_row_ptr": []})"}) {
    EXPECT_NE(ErrorOf(json), "") << json;
  }
}

TEST(GraphTable, AGraphWithoutNodesIsFine) { EXPECT_EQ(ErrorOf(kEmptyGraph), ""); }

// A graph without nodes must not have references to nodes in arguments or results.
TEST(GraphTable, AGraphWithoutNodesHasNoReferences) {
  for (const auto& [from, to] :
       std::map<std::string, std::string>{{R"("arg_nodes": [])", R"("arg_nodes": [1000000000])"},
                                          {R"("heads": [])", R"("heads": [[1000000000, 0]])"}}) {
    EXPECT_THAT(ErrorOf(absl::StrReplaceAll(kEmptyGraph, {{from, to}})),
                HasSubstr("refers to a node that does not come before it"))
        << to;
  }
}

}  // namespace
}  // namespace kiln::runtime
