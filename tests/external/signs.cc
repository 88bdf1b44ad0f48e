// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "compiler/external/external_codegen.h"
#include "compiler/graph/graph.h"

namespace kiln {
namespace {

// The generator takes `abs` and `negative` of float32. Otherwise the status gives the reason.
absl::Status CheckFloat(const Graph& graph, const Node& node) {
  if (graph.type(node.inputs[0]).dtype == DType::Float(32)) return absl::OkStatus();
  return absl::UnimplementedError("signs takes float32 only");
}

// Returns `void* in0, …, void* out0, …`, with `before` instead of `void* `.
std::string Arguments(const Graph& body, absl::string_view before) {
  std::string list;
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    absl::StrAppend(&list, list.empty() ? "" : ", ", before, "in", i);
  }
  for (size_t i = 0; i < body.outputs.size(); ++i) {
    absl::StrAppend(&list, ", ", before, "out", i);
  }
  return list;
}

// Returns a function with one loop that computes the subgraph, element by element.
std::string PlainFunction(const Graph& body, const std::string& name) {
  std::string code = absl::StrCat("int32_t ", name, "(", Arguments(body, "void* "), ") {\n",
                                  "  for (int64_t i = 0; i < ",
                                  body.type(body.outputs[0]).num_elements(), "; ++i) {\n");
  std::map<ValueId, std::string> names;
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    names[body.inputs[i]] = absl::StrCat("((const float*)in", i, ")[i]");
  }
  for (const Node& node : body.nodes) {
    const std::string& name = names[node.outputs[0]] = absl::StrCat("v", node.outputs[0]);
    absl::StrAppend(&code, "    const float ", name, " = ",
                    node.op_name() == "abs" ? "fabsf(" : "-(", names.at(node.inputs[0]), ");\n");
  }
  for (size_t i = 0; i < body.outputs.size(); ++i) {
    absl::StrAppend(&code, "    ((float*)out", i, ")[i] = ", names.at(body.outputs[i]), ";\n");
  }
  return absl::StrCat(code, "  }\n  return 0;\n}\n");
}

// Returns a packed function that unpacks its arguments. Kiln's code calls it with compact tensors
// of the right type.
std::string PackedFunction(const Graph& body, const std::string& symbol) {
  std::string code = absl::StrCat(
      "int ", symbol,
      "(TVMValue* args, int* codes, int num_args, TVMValue* result, int* result_code,\n"
      "    void* resource) {\n"
      "  (void)codes, (void)num_args, (void)result, (void)result_code, (void)resource;\n",
      "  return ", symbol, "_plain(");
  for (size_t i = 0; i < body.inputs.size() + body.outputs.size(); ++i) {
    absl::StrAppend(&code, i == 0 ? "" : ", ", "((DLTensor*)args[", i, "].v_handle)->data");
  }
  return code + ");\n}\n";
}

// Compiles all subgraphs of a model to one C file.
absl::StatusOr<std::vector<ExternalModule>> Generate(const ExternalRequest& request) {
  ExternalModule module{.codegen = "signs", .type_key = "c"};
  module.c_source = "#include <math.h>\n#include <stdint.h>\n";
  if (request.packed) module.c_source += "#include \"tvm/runtime/c_backend_api.h\"\n";
  for (const auto& [symbol, body] : request.subgraphs) {
    if (request.packed) {
      module.c_source += "static " + PlainFunction(*body, symbol + "_plain");
      module.c_source += PackedFunction(*body, symbol);
    } else {
      module.c_source += PlainFunction(*body, symbol);
    }
    module.functions.push_back({.name = symbol});
  }
  return std::vector<ExternalModule>{module};
}

const ExternalCodegen kSigns = {
    .name = "signs",
    .doc = "C of abs and negative, one loop for all that touch each other",
    .ops = {{"abs", CheckFloat}, {"negative", CheckFloat}},
    .generate = Generate,
};
KILN_REGISTER_EXTERNAL_CODEGEN(kSigns);

}  // namespace
}  // namespace kiln
