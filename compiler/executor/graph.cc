// SPDX-License-Identifier: Apache-2.0
#include "compiler/executor/graph.h"

#include <map>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "compiler/executor/describe.h"

namespace kiln {
namespace {

using Json = nlohmann::ordered_json;

// The node that computes a buffer's value, and the number of its output.
struct Origin {
  int node;
  int output;
};

Json Typed(const char* type, Json values) { return Json::array({type, std::move(values)}); }

}  // namespace

std::string GraphJson(const Plan& plan) {
  Json nodes = Json::array(), arg_nodes = Json::array(), heads = Json::array();
  Json dtypes = Json::array(), devices = Json::array(), storage = Json::array(),
       shapes = Json::array(), row_ptr = Json::array({0});
  std::map<int, Origin> origins;
  const auto add_entry = [&](int id) {
    const PlanBuffer& buffer = plan.buffers[static_cast<size_t>(id)];
    dtypes.push_back(buffer.type.dtype.ToString());
    devices.push_back(kCpuDevice);
    storage.push_back(buffer.storage_id);
    shapes.push_back(buffer.type.shape);
  };
  for (int id : plan.inputs) {
    const int node = static_cast<int>(nodes.size());
    nodes.push_back({{"op", "null"},
                     {"name", plan.buffers[static_cast<size_t>(id)].name},
                     {"inputs", Json::array()}});
    arg_nodes.push_back(node);
    origins[id] = {node, 0};
    add_entry(id);
    row_ptr.push_back(dtypes.size());
  }
  for (const PlanCall& call : plan.calls) {
    const int node = static_cast<int>(nodes.size());
    const size_t num_outputs = call.args.size() - static_cast<size_t>(call.num_inputs());
    const std::string function = call.function.empty() ? "__nop" : call.function;
    Json inputs = Json::array();
    for (int i = 0; i < call.num_inputs(); ++i) {
      const Origin& origin = origins.at(call.args[static_cast<size_t>(i)]);
      inputs.push_back({origin.node, origin.output, 0});
    }
    nodes.push_back({{"op", "tvm_op"},
                     {"name", call.function.empty() ? absl::StrCat("view", node) : function},
                     {"attrs",
                      {{"num_outputs", absl::StrCat(num_outputs)},
                       {"num_inputs", absl::StrCat(call.num_inputs())},
                       {"flatten_data", "0"},
                       {"func_name", function}}},
                     {"inputs", std::move(inputs)}});
    for (size_t o = 0; o < num_outputs; ++o) {
      const int id = call.args[static_cast<size_t>(call.num_inputs()) + o];
      origins[id] = {node, static_cast<int>(o)};
      add_entry(id);
    }
    row_ptr.push_back(dtypes.size());
  }
  for (int id : plan.outputs) {
    const Origin& origin = origins.at(id);
    heads.push_back({origin.node, origin.output, 0});
  }
  Json graph;
  graph["nodes"] = std::move(nodes);
  graph["arg_nodes"] = std::move(arg_nodes);
  graph["heads"] = std::move(heads);
  graph["attrs"] = {{"dltype", Typed("list_str", std::move(dtypes))},
                    {"device_index", Typed("list_int", std::move(devices))},
                    {"storage_id", Typed("list_int", std::move(storage))},
                    {"shape", Typed("list_shape", std::move(shapes))}};
  graph["node_row_ptr"] = std::move(row_ptr);
  return graph.dump();
}

}  // namespace kiln
