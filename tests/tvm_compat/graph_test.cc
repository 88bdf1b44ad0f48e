// SPDX-License-Identifier: Apache-2.0
// Loads a shared object like the release's GraphExecutor: it reads the JSON by its rules, allocates
// memory for every storage, and calls the functions by their names.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "tests/tvm_compat/release.h"

namespace tvm09 {
namespace {

using Json = nlohmann::ordered_json;

DataType ParseDataType(const std::string& name) {
  const std::map<std::string, DataType> known = {{"float32", {2, 32, 1}}, {"int32", {0, 32, 1}}};
  const auto found = known.find(name);
  EXPECT_NE(found, known.end()) << name;
  return found == known.end() ? DataType{0, 8, 1} : found->second;
}

std::set<std::string> Keys(const Json& object) {
  std::set<std::string> keys;
  for (const auto& item : object.items()) keys.insert(item.key());
  return keys;
}

class GraphTest : public testing::TestWithParam<const char*> {
 protected:
  // Reads the graph, the first string of the blob after the key.
  void SetUp() override {
    const auto* const blob = static_cast<const char*>(library_.Symbol("__tvm_dev_mblob"));
    ASSERT_NE(blob, nullptr);
    const std::string bytes(blob, library_.SymbolBytes("__tvm_dev_mblob"));
    const size_t begin = bytes.find('{');
    ASSERT_NE(begin, std::string::npos);
    uint64_t size = 0;
    for (int i = 0; i < 8; ++i) {
      size |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[begin - 8 + i])) << (8 * i);
    }
    graph_ = Json::parse(bytes.substr(begin, size));
  }

  const Json& Attr(const char* key) const { return graph_["attrs"][key][1]; }
  size_t EntryOf(const Json& reference) const {
    return graph_["node_row_ptr"][reference[0].get<size_t>()].get<size_t>() +
           reference[1].get<size_t>();
  }
  std::vector<int64_t> Shape(size_t entry) const {
    return Attr("shape")[entry].get<std::vector<int64_t>>();
  }
  DataType Type(size_t entry) const {
    return ParseDataType(Attr("dltype")[entry].get<std::string>());
  }

  // Creates an array per entry. Entries with the same storage share memory.
  void MakeEntries() {
    std::map<int64_t, int64_t> words;
    for (size_t i = 0; i < Attr("storage_id").size(); ++i) {
      int64_t bytes = (Type(i).bits + 7) / 8;
      for (const int64_t extent : Shape(i)) bytes *= extent;
      int64_t& most = words[Attr("storage_id")[i].get<int64_t>()];
      most = std::max(most, (bytes + 3) / 4);
    }
    std::map<int64_t, Array> storages;
    for (const auto& [id, size] : words) {
      storages.emplace(id, Array({size}, DataType{2, 32, 1}));
    }
    for (size_t i = 0; i < Attr("storage_id").size(); ++i) {
      Array& storage = storages.at(Attr("storage_id")[i].get<int64_t>());
      entries_.push_back(Array::View(storage, Shape(i), Type(i)));
    }
  }

  void Run() {
    for (const Json& node : graph_["nodes"]) {
      if (node["op"] == "null") continue;
      const std::string name = node["attrs"]["func_name"].get<std::string>();
      if (name == "__nop") continue;
      std::vector<Tensor*> tensors;
      for (const Json& input : node["inputs"]) tensors.push_back(entries_[EntryOf(input)].tensor());
      const size_t index = static_cast<size_t>(&node - &graph_["nodes"][0]);
      const size_t first = graph_["node_row_ptr"][index].get<size_t>();
      for (int i = 0; i < std::stoi(node["attrs"]["num_outputs"].get<std::string>()); ++i) {
        tensors.push_back(entries_[first + static_cast<size_t>(i)].tensor());
      }
      const PackedFunction function = library_.Function(name);
      ASSERT_NE(function, nullptr) << name;
      ASSERT_EQ(CallWithTensors(function, tensors), 0) << LastError();
    }
  }

  const Library library_{std::string("tests/tvm_compat/graph_") + GetParam() + ".shared/chain.so"};
  Json graph_;
  std::vector<Array> entries_;
};

TEST_P(GraphTest, JsonOfTheRelease) {
  std::vector<std::string> keys;
  for (const auto& item : graph_.items()) keys.push_back(item.key());
  EXPECT_EQ(keys,
            (std::vector<std::string>{"nodes", "arg_nodes", "heads", "attrs", "node_row_ptr"}));
  for (const Json& node : graph_["nodes"]) {
    if (node["op"] == "null") {
      EXPECT_EQ(Keys(node), (std::set<std::string>{"inputs", "name", "op"}));
      continue;
    }
    EXPECT_EQ(node["op"], "tvm_op");
    EXPECT_EQ(Keys(node), (std::set<std::string>{"attrs", "inputs", "name", "op"}));
    for (const char* key : {"func_name", "num_inputs", "num_outputs", "flatten_data"}) {
      EXPECT_TRUE(node["attrs"][key].is_string()) << key;
    }
    for (const auto& item : node["attrs"].items()) EXPECT_TRUE(item.value().is_string());
    EXPECT_EQ(std::stoul(node["attrs"]["num_inputs"].get<std::string>()), node["inputs"].size());
    for (const Json& input : node["inputs"]) EXPECT_EQ(input.size(), 3u);
  }
  const size_t entries = graph_["node_row_ptr"].back().get<size_t>();
  EXPECT_EQ(graph_["node_row_ptr"].size(), graph_["nodes"].size() + 1);
  const std::map<std::string, std::string> types = {{"device_index", "list_int"},
                                                    {"dltype", "list_str"},
                                                    {"shape", "list_shape"},
                                                    {"storage_id", "list_int"}};
  EXPECT_EQ(graph_["attrs"].size(), types.size());
  for (const auto& [key, type] : types) {
    EXPECT_EQ(graph_["attrs"][key][0], type);
    EXPECT_EQ(graph_["attrs"][key][1].size(), entries);
  }
  for (const Json& device : Attr("device_index")) EXPECT_EQ(device, 1);
}

TEST_P(GraphTest, RunsAsTheExecutorCallsIt) {
  MakeEntries();
  std::map<std::string, size_t> inputs;
  for (const Json& node : graph_["arg_nodes"]) {
    const size_t index = node.get<size_t>();
    inputs[graph_["nodes"][index]["name"].get<std::string>()] =
        graph_["node_row_ptr"][index].get<size_t>();
  }
  ASSERT_EQ(inputs.count("x"), 1u);
  ASSERT_EQ(inputs.count("n"), 1u);
  for (int i = 0; i < 6; ++i) entries_[inputs["x"]].data<float>()[i] = static_cast<float>(i);
  for (int i = 0; i < 4; ++i) entries_[inputs["n"]].data<int32_t>()[i] = i - 2;
  Run();
  if (HasFatalFailure()) return;
  ASSERT_EQ(graph_["heads"].size(), 2u);
  const float* const product = entries_[EntryOf(graph_["heads"][0])].data<float>();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(product[i], i < 5 ? 12.0f : 48.0f) << i;
  const int32_t* const sum = entries_[EntryOf(graph_["heads"][1])].data<int32_t>();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(sum[i], 2 * (i - 2));
  EXPECT_EQ(OpenWorkspaces(), 0);
}

INSTANTIATE_TEST_SUITE_P(Codegen, GraphTest, testing::ValuesIn(Codegens()),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace tvm09
