// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <set>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "nlohmann/json.hpp"
#include "runtime_cpp/data_type.h"
#include "runtime_cpp/graph_table.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

using Json = nlohmann::json;

template <typename... Parts>
absl::Status Error(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("graph JSON: ", parts...));
}

// Typed access to values of a JSON document. `where` describes the value in errors.

absl::StatusOr<const Json*> Member(const Json& object, const char* key, absl::string_view where) {
  if (!object.is_object()) return Error(where, " is not an object");
  const auto found = object.find(key);
  if (found == object.end()) return Error(where, " has no key '", key, "'");
  return &*found;
}

absl::StatusOr<const Json::array_t*> Array(const Json& value, absl::string_view where) {
  if (const auto* const array = value.get_ptr<const Json::array_t*>()) return array;
  return Error(where, " is not a list");
}

absl::StatusOr<std::string> String(const Json& value, absl::string_view where) {
  if (const auto* const text = value.get_ptr<const std::string*>()) return *text;
  return Error(where, " is not a string");
}

// Returns an integer from 0 to `max`.
absl::StatusOr<int64_t> Integer(const Json& value, int64_t max, absl::string_view where) {
  if (!value.is_number_unsigned()) return Error(where, " is not an integer from 0 on");
  const auto number = *value.get_ptr<const uint64_t*>();
  if (number > static_cast<uint64_t>(max)) {
    return Error(where, " is ", number, ", at most ", max, " works");
  }
  return static_cast<int64_t>(number);
}

absl::StatusOr<const Json::array_t*> MemberArray(const Json& object, const char* key,
                                                 absl::string_view where) {
  KILN_ASSIGN_OR_RETURN(const Json* const value, Member(object, key, where));
  return Array(*value, absl::StrCat(where, ".", key));
}

// Reads one document. Parse calls the other methods in the order of their definition.
class Parser {
 public:
  absl::StatusOr<GraphTable> Parse(const Json& json) {
    KILN_RETURN_IF_ERROR(CheckKeys(json));
    KILN_RETURN_IF_ERROR(ReadRows(json));
    KILN_RETURN_IF_ERROR(ReadEntries(json));
    KILN_RETURN_IF_ERROR(ReadNodes(json));
    KILN_RETURN_IF_ERROR(ReadArguments(json));
    KILN_RETURN_IF_ERROR(ReadHeads(json));
    return std::move(table_);
  }

 private:
  absl::Status CheckKeys(const Json& json) {
    if (!json.is_object()) return Error("the document is not an object");
    const std::set<std::string> known = {"arg_nodes", "attrs",        "heads",
                                         "metadata",  "node_row_ptr", "nodes"};
    for (const auto& item : json.items()) {
      if (known.count(item.key()) == 0) return Error("unknown key '", item.key(), "'");
    }
    return absl::OkStatus();
  }

  // Reads node_row_ptr: the number of nodes, and the first entry of each node.
  absl::Status ReadRows(const Json& json) {
    KILN_ASSIGN_OR_RETURN(const auto* const rows, MemberArray(json, "node_row_ptr", "the graph"));
    KILN_ASSIGN_OR_RETURN(const auto* const nodes, MemberArray(json, "nodes", "the graph"));
    if (nodes->size() > kMaxGraphNodes) {
      return Error(nodes->size(), " nodes, at most ", kMaxGraphNodes, " work");
    }
    if (rows->size() != nodes->size() + 1) {
      return Error("node_row_ptr has ", rows->size(), " elements for ", nodes->size(), " nodes");
    }
    for (const Json& row : *rows) {
      KILN_ASSIGN_OR_RETURN(const int64_t value,
                            Integer(row, std::numeric_limits<int32_t>::max(), "node_row_ptr"));
      rows_.push_back(static_cast<size_t>(value));
    }
    if (rows_.front() != 0 || !absl::c_is_sorted(rows_)) {
      return Error("node_row_ptr does not rise from 0");
    }
    return absl::OkStatus();
  }

  // Returns the elements of the typed list attrs[key]: ["list_…", […]].
  absl::StatusOr<const Json::array_t*> AttrList(const Json& attrs, const char* key,
                                                absl::string_view type) {
    const std::string where = absl::StrCat("attrs.", key);
    KILN_ASSIGN_OR_RETURN(const auto* const typed, MemberArray(attrs, key, "attrs"));
    if (typed->size() != 2 || (*typed)[0] != Json(std::string(type))) {
      return Error(where, " is not of type ", type);
    }
    KILN_ASSIGN_OR_RETURN(const auto* const list, Array((*typed)[1], where));
    if (list->size() != rows_.back()) {
      return Error(where, " has ", list->size(), " elements for ", rows_.back(), " entries");
    }
    return list;
  }

  absl::Status ReadEntries(const Json& json) {
    KILN_ASSIGN_OR_RETURN(const Json* const attrs, Member(json, "attrs", "the graph"));
    KILN_RETURN_IF_ERROR(CheckAttrKeys(*attrs));
    KILN_ASSIGN_OR_RETURN(const auto* const dtypes, AttrList(*attrs, "dltype", "list_str"));
    KILN_ASSIGN_OR_RETURN(const auto* const ids, AttrList(*attrs, "storage_id", "list_int"));
    KILN_ASSIGN_OR_RETURN(const auto* const shapes, AttrList(*attrs, "shape", "list_shape"));
    const Json::array_t* devices = nullptr;
    if (attrs->contains("device_index")) {
      KILN_ASSIGN_OR_RETURN(devices, AttrList(*attrs, "device_index", "list_int"));
    }
    for (size_t i = 0; i < rows_.back(); ++i) {
      const std::string where = absl::StrCat("entry ", i);
      GraphEntry entry;
      KILN_ASSIGN_OR_RETURN(const std::string dtype, String((*dtypes)[i], where));
      KILN_ASSIGN_OR_RETURN(entry.dtype, ParseDataType(dtype));
      KILN_ASSIGN_OR_RETURN(entry.storage_id, Integer((*ids)[i], kMaxGraphStorages - 1, where));
      KILN_ASSIGN_OR_RETURN(const auto* const shape, Array((*shapes)[i], where));
      for (const Json& extent : *shape) {
        KILN_ASSIGN_OR_RETURN(const int64_t value,
                              Integer(extent, std::numeric_limits<int64_t>::max(), where));
        entry.shape.push_back(value);
      }
      KILN_ASSIGN_OR_RETURN(entry.size_bytes, TensorBytes(entry.shape, entry.dtype));
      if (devices != nullptr) {
        KILN_ASSIGN_OR_RETURN(const int64_t type,
                              Integer((*devices)[i], std::numeric_limits<int32_t>::max(), where));
        entry.device_type = static_cast<int32_t>(type);
      }
      table_.entries.push_back(std::move(entry));
    }
    return absl::OkStatus();
  }

  // An unknown attribute can be skipped only if its type is known.
  absl::Status CheckAttrKeys(const Json& attrs) {
    if (!attrs.is_object()) return Error("attrs is not an object");
    const std::set<std::string> known = {"device_index", "dltype", "shape", "storage_id",
                                         "storage_scope"};
    for (const auto& item : attrs.items()) {
      if (known.count(item.key()) != 0) continue;
      KILN_ASSIGN_OR_RETURN(const auto* const typed, Array(item.value(), item.key()));
      if (typed->size() != 2 ||
          ((*typed)[0] != Json("list_int") && (*typed)[0] != Json("size_t"))) {
        return Error("cannot skip the graph attribute '", item.key(), "'");
      }
    }
    return absl::OkStatus();
  }

  // Returns the index of a node before `limit`.
  static absl::StatusOr<size_t> NodeBefore(const Json& index, size_t limit,
                                           absl::string_view where) {
    if (limit == 0) return Error(where, " refers to a node that does not come before it");
    KILN_ASSIGN_OR_RETURN(const int64_t node,
                          Integer(index, static_cast<int64_t>(limit) - 1, where));
    return static_cast<size_t>(node);
  }

  // Returns the entry of a reference [node, result] or [node, result, version], which must be a
  // result of a node before `limit`.
  absl::StatusOr<size_t> EntryOf(const Json& reference, size_t limit, absl::string_view where) {
    KILN_ASSIGN_OR_RETURN(const auto* const parts, Array(reference, where));
    if (parts->size() != 2 && parts->size() != 3) return Error(where, " is not [node, result]");
    KILN_ASSIGN_OR_RETURN(const size_t node, NodeBefore((*parts)[0], limit, where));
    const size_t begin = rows_[node];
    const size_t end = rows_[node + 1];
    if (begin == end) return Error(where, " refers to node ", node, ", which has no results");
    KILN_ASSIGN_OR_RETURN(const int64_t result,
                          Integer((*parts)[1], static_cast<int64_t>(end - begin) - 1, where));
    return begin + static_cast<size_t>(result);
  }

  absl::Status ReadNodes(const Json& json) {
    KILN_ASSIGN_OR_RETURN(const auto* const nodes, MemberArray(json, "nodes", "the graph"));
    for (size_t i = 0; i < nodes->size(); ++i) {
      KILN_ASSIGN_OR_RETURN(GraphNode node, ReadNode((*nodes)[i], i));
      table_.nodes.push_back(std::move(node));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<GraphNode> ReadNode(const Json& json, size_t index) {
    std::string where = absl::StrCat("node ", index);
    if (!json.is_object()) return Error(where, " is not an object");
    const std::set<std::string> known = {"attr", "attrs", "control_deps", "inputs", "name", "op"};
    for (const auto& item : json.items()) {
      if (known.count(item.key()) == 0)
        return Error(where, " has the unknown key '", item.key(), "'");
    }
    GraphNode node;
    KILN_ASSIGN_OR_RETURN(const Json* const name, Member(json, "name", where));
    KILN_ASSIGN_OR_RETURN(node.name, String(*name, where));
    absl::StrAppend(&where, " '", node.name, "'");
    node.first_entry = rows_[index];
    node.num_outputs = rows_[index + 1] - rows_[index];
    KILN_ASSIGN_OR_RETURN(const auto* const inputs, MemberArray(json, "inputs", where));
    for (const Json& input : *inputs) {
      KILN_ASSIGN_OR_RETURN(const size_t entry, EntryOf(input, index, where));
      node.inputs.push_back(entry);
    }
    KILN_ASSIGN_OR_RETURN(const Json* const op, Member(json, "op", where));
    KILN_ASSIGN_OR_RETURN(const std::string op_name, String(*op, where));
    if (op_name == "null") {
      if (!node.inputs.empty() || node.num_outputs != 1) {
        return Error(where, " is an argument, but has inputs or not one result");
      }
      node.is_argument = true;
      return node;
    }
    if (op_name != "tvm_op") return Error(where, " has the unknown op '", op_name, "'");
    KILN_RETURN_IF_ERROR(ReadCall(json, where, node));
    return node;
  }

  absl::Status ReadCall(const Json& json, const std::string& where, GraphNode& node) {
    const char* const key = json.contains("attrs") ? "attrs" : "attr";
    KILN_ASSIGN_OR_RETURN(const Json* const attrs, Member(json, key, where));
    if (!attrs->is_object()) return Error(where, ": attrs is not an object");
    for (const auto& item : attrs->items()) {
      if (!item.value().is_string()) return Error(where, ": ", item.key(), " is not a string");
    }
    KILN_ASSIGN_OR_RETURN(const Json* const name, Member(*attrs, "func_name", where));
    KILN_ASSIGN_OR_RETURN(node.func_name, String(*name, where));
    KILN_ASSIGN_OR_RETURN(const size_t num_inputs, CallCount(*attrs, "num_inputs", where));
    KILN_ASSIGN_OR_RETURN(const size_t num_outputs, CallCount(*attrs, "num_outputs", where));
    KILN_ASSIGN_OR_RETURN(const size_t flatten_data, CallCount(*attrs, "flatten_data", where));
    node.flatten_data = flatten_data != 0;
    if (num_inputs != node.inputs.size() || num_outputs != node.num_outputs) {
      return Error(where, " says ", num_inputs, " inputs and ", num_outputs, " results, but has ",
                   node.inputs.size(), " and ", node.num_outputs);
    }
    if (node.func_name == kNopFunction || node.func_name == kCopyFunction) {
      return CheckAlias(where, node);
    }
    if (node.func_name.empty()) return Error(where, " has an empty func_name");
    return absl::OkStatus();
  }

  absl::StatusOr<size_t> CallCount(const Json& attrs, const char* key, const std::string& where) {
    KILN_ASSIGN_OR_RETURN(const Json* const value, Member(attrs, key, where));
    KILN_ASSIGN_OR_RETURN(const std::string text, String(*value, where));
    uint32_t count = 0;
    if (!absl::SimpleAtoi(text, &count)) return Error(where, ": ", key, " is not a count");
    return count;
  }

  absl::Status CheckAlias(const std::string& where, const GraphNode& node) {
    if (node.inputs.size() != 1 || node.num_outputs != 1) {
      return Error(where, ": ", node.func_name, " has one input and one result");
    }
    const int64_t from = table_.entries[node.inputs[0]].size_bytes;
    const int64_t to = table_.entries[node.first_entry].size_bytes;
    if (from == to) return absl::OkStatus();
    return Error(where, ": ", node.func_name, " turns ", from, " bytes into ", to);
  }

  absl::Status ReadArguments(const Json& json) {
    KILN_ASSIGN_OR_RETURN(const auto* const list, MemberArray(json, "arg_nodes", "the graph"));
    std::set<size_t> seen;
    for (const Json& item : *list) {
      KILN_ASSIGN_OR_RETURN(const size_t node, NodeBefore(item, table_.nodes.size(), "arg_nodes"));
      if (!table_.nodes[node].is_argument) return Error("arg_nodes: node ", node, " is a call");
      if (!seen.insert(node).second) return Error("arg_nodes has node ", node, " twice");
      table_.arguments.push_back(node);
    }
    for (size_t i = 0; i < table_.nodes.size(); ++i) {
      if (table_.nodes[i].is_argument && seen.count(i) == 0) {
        return Error("node ", i, " '", table_.nodes[i].name, "' is not in arg_nodes");
      }
    }
    return absl::OkStatus();
  }

  absl::Status ReadHeads(const Json& json) {
    KILN_ASSIGN_OR_RETURN(const auto* const list, MemberArray(json, "heads", "the graph"));
    for (const Json& head : *list) {
      KILN_ASSIGN_OR_RETURN(const size_t entry, EntryOf(head, table_.nodes.size(), "heads"));
      table_.heads.push_back(entry);
    }
    return absl::OkStatus();
  }

  std::vector<size_t> rows_;
  GraphTable table_;
};

}  // namespace

absl::StatusOr<GraphTable> ParseGraphTable(absl::string_view json) {
  if (json.size() > kMaxGraphJsonBytes) {
    return Error(json.size(), " bytes, at most ", kMaxGraphJsonBytes, " work");
  }
  const Json document = Json::parse(json.begin(), json.end(), /*cb=*/nullptr,
                                    /*allow_exceptions=*/false);
  if (document.is_discarded()) return Error("the text is not JSON");
  return Parser().Parse(document);
}

}  // namespace kiln::runtime
