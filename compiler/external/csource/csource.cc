// SPDX-License-Identifier: Apache-2.0
// csource: an external code generator that makes C99. It takes element-wise arithmetic and dense
// layers of float32 and int32; README.md describes its code.
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"
#include "compiler/external/csource/packed_function.h"
#include "compiler/external/csource/subgraph_writer.h"
#include "compiler/external/external_codegen.h"

namespace kiln {
namespace {

// Limit for the result of a dense layer, which is on the stack if only the subgraph itself reads
// it.
constexpr int64_t kMaxResultBytes = 1024;

absl::Status No(const Node& node, absl::string_view why) {
  return absl::UnimplementedError(absl::StrCat("csource: ", node.op_name(), ": ", why));
}

// Checks that all tensors have one dtype, and that their indices fit into an int32_t.
absl::Status CheckTypes(const Graph& graph, const Node& node) {
  const DType dtype = graph.type(node.outputs[0]).dtype;
  if (dtype != DType::Float(32) && dtype != DType::Int(32)) {
    return No(node, absl::StrCat("found ", dtype.ToString(), ", wanted float32 or int32"));
  }
  for (const auto* values : {&node.inputs, &node.outputs}) {
    for (ValueId value : *values) {
      const TensorType& type = graph.type(value);
      if (type.dtype != dtype) return No(node, "its tensors are not of one dtype");
      if (type.num_elements() < 1 || type.num_elements() > std::numeric_limits<int32_t>::max()) {
        return No(node, absl::StrCat("found a tensor of ", type.num_elements(), " elements"));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckBias(const Graph& graph, const Node& node) {
  if (!graph.is_constant(node.inputs[1])) return No(node, "the bias is no constant");
  return CheckTypes(graph, node);
}

absl::Status CheckDense(const Graph& graph, const Node& node) {
  const int64_t bytes = graph.type(node.outputs[0]).num_bytes();
  if (bytes > kMaxResultBytes) {
    return No(node, absl::StrCat("found a result of ", bytes, " bytes, wanted at most ",
                                 kMaxResultBytes));
  }
  return CheckTypes(graph, node);
}

absl::StatusOr<std::vector<ExternalModule>> Generate(const ExternalRequest& request) {
  ExternalModule module{.codegen = "csource", .type_key = "c"};
  std::string& source = module.c_source;
  absl::StrAppend(&source, "/* Subgraphs of the model \"", request.module_name,
                  "\" that the external code generator csource has taken. */\n",
                  "#include <math.h>\n#include <stdint.h>\n");
  if (request.packed && !request.subgraphs.empty()) {
    absl::StrAppend(&source, csource::PackedPrologue(request.loader_pointers));
  }
  for (const ExternalSubgraph& subgraph : request.subgraphs) {
    const std::string body = request.packed ? subgraph.symbol + "_body" : subgraph.symbol;
    KILN_ASSIGN_OR_RETURN(
        const std::string code,
        csource::WriteSubgraph(*subgraph.body, body, /*exported=*/!request.packed));
    absl::StrAppend(&source, "\n", code);
    if (request.packed) {
      absl::StrAppend(&source, "\n",
                      csource::WritePackedFunction(*subgraph.body, subgraph.symbol, body,
                                                   request.loader_pointers));
    }
    module.functions.push_back({.name = subgraph.symbol});
  }
  // A file without declarations is not valid C.
  absl::StrAppend(&source, "\ntypedef int32_t tvmgen_", request.module_name, "_csource_end;\n");
  return std::vector<ExternalModule>{std::move(module)};
}

const ExternalCodegen kCsource = {
    .name = "csource",
    .doc = "C99 source of element-wise arithmetic and dense layers of float32 and int32",
    .ops = {{"add", CheckTypes},
            {"maximum", CheckTypes},
            {"minimum", CheckTypes},
            {"multiply", CheckTypes},
            {"nn.bias_add", CheckBias},
            {"nn.dense", CheckDense},
            {"nn.relu", CheckTypes},
            {"subtract", CheckTypes}},
    .generate = Generate,
};
KILN_REGISTER_EXTERNAL_CODEGEN(kCsource);

}  // namespace
}  // namespace kiln
