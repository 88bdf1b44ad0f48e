// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/relay_file.h"

#include <optional>
#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/graph/relay_text.h"

namespace kiln::tools {
namespace {

constexpr const char* kOwnOperators[] = {"nn.max_pool_indices", "qnn.avg_pool2d",  "qnn.divide",
                                         "qnn.l2_normalize",    "qnn.log_softmax", "qnn.mean",
                                         "qnn.softmax",         "scatter_elements"};

// In TVM, these operators take the two zero points before the two scales.
constexpr const char* kProducts[] = {"qnn.batch_matmul", "qnn.conv2d", "qnn.conv2d_transpose",
                                     "qnn.dense"};

constexpr struct {
  const char* op;
  const char* attr;
} kOwnAttributes[] = {{"image.resize1d", "scales"}, {"image.resize2d", "scales"},
                      {"image.resize3d", "scales"}, {"qnn.add", "rounding"},
                      {"qnn.mul", "rounding"},      {"qnn.quantize", "rounding"},
                      {"qnn.sigmoid", "rounding"},  {"qnn.subtract", "rounding"},
                      {"qnn.tanh", "rounding"},     {"vision.roi_align", "aligned"}};

// Attributes without a default in TVM. `text` is written if Kiln's default has no meaning in TVM.
constexpr struct {
  const char* op;
  const char* attr;
  const char* text = nullptr;
} kWantedAttributes[] = {{"nn.dense", "units"},
                         {"nn.l2_normalize", "axis"},
                         {"nn.matmul", "units"},
                         {"qnn.dense", "units"},
                         {"qnn.quantize", "out_dtype"},
                         {"slice_like", "axes"},
                         {"strided_slice", "axes"},
                         {"strided_slice", "begin"},
                         {"strided_slice", "end"},
                         {"strided_slice", "strides", "[1]"},
                         {"topk", "k"},
                         {"transpose", "axes"}};

std::optional<std::string> WrittenDefault(absl::string_view op, const AttrSchema& attr) {
  for (const auto& wanted : kWantedAttributes) {
    if (op != wanted.op || attr.name != wanted.attr) continue;
    return wanted.text != nullptr ? wanted.text : attr.NormalDefault().ToString();
  }
  return std::nullopt;
}

void AddOwnAttributes(const Node& node, std::set<std::string>& parts) {
  for (const auto& own : kOwnAttributes) {
    if (node.op->name != own.op) continue;
    for (const AttrSchema& attr : node.op->attrs) {
      if (attr.name == own.attr && node.attrs.Get(own.attr) != attr.NormalDefault()) {
        parts.insert(absl::StrCat(own.attr, " of ", own.op));
      }
    }
  }
}

// Returns the parts of a graph that TVM 0.9 lacks: "qnn.mean", "rounding of qnn.quantize".
std::set<std::string> OwnParts(const Graph& graph) {
  std::set<std::string> parts;
  for (const Node& node : graph.nodes) {
    if (node.is_group()) {
      parts.merge(OwnParts(*node.body));
      continue;
    }
    const std::string& op = node.op->name;
    if (absl::c_linear_search(kOwnOperators, op)) parts.insert(op);
    if (absl::c_linear_search(kProducts, op)) {
      parts.insert(absl::StrCat("scales before zero points in ", op));
    }
    const bool has_double = absl::c_any_of(node.inputs, [&](ValueId id) {
      return graph.is_constant(id) && graph.value(id).constant.type().dtype == DType::Float(64);
    });
    if (has_double && absl::StartsWith(op, "qnn.")) parts.insert("float64 scales");
    AddOwnAttributes(node, parts);
  }
  return parts;
}

}  // namespace

std::string RelayFile(const Graph& graph) {
  std::string text = PrintRelay(graph, {.written_default = WrittenDefault});
  const std::set<std::string> parts = OwnParts(graph);
  if (parts.empty()) return text;
  text.insert(text.find('\n') + 1,
              absl::StrCat("// TVM 0.9 cannot read this text, since it does not have ",
                           absl::StrJoin(parts, ", "), ".\n"));
  return text;
}

}  // namespace kiln::tools
