// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/relay_file.h"

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/graph/relay_text.h"

namespace kiln::tools {
namespace {

constexpr const char* kOwnOperators[] = {"nn.max_pool_indices", "qnn.avg_pool2d",  "qnn.divide",
                                         "qnn.l2_normalize",    "qnn.log_softmax", "qnn.mean",
                                         "qnn.softmax",         "scatter_elements"};

constexpr struct {
  const char* op;
  const char* attr;
} kOwnAttributes[] = {{"image.resize1d", "scales"},
                      {"image.resize2d", "scales"},
                      {"image.resize3d", "scales"},
                      {"qnn.quantize", "rounding"},
                      {"vision.roi_align", "aligned"}};

// What of a graph TVM 0.9 does not have: "qnn.mean", "rounding of qnn.quantize".
std::set<std::string> OwnParts(const Graph& graph) {
  std::set<std::string> parts;
  for (const Node& node : graph.nodes) {
    if (node.is_group()) {
      parts.merge(OwnParts(*node.body));
      continue;
    }
    for (const char* const op : kOwnOperators) {
      if (node.op->name == op) parts.insert(op);
    }
    for (const auto& own : kOwnAttributes) {
      if (node.op->name != own.op) continue;
      for (const AttrSchema& attr : node.op->attrs) {
        if (attr.name == own.attr && node.attrs.Get(own.attr) != attr.NormalDefault()) {
          parts.insert(absl::StrCat(own.attr, " of ", own.op));
        }
      }
    }
  }
  return parts;
}

}  // namespace

std::string RelayFile(const Graph& graph) {
  std::string text = PrintRelay(graph);
  const std::set<std::string> parts = OwnParts(graph);
  if (parts.empty()) return text;
  text.insert(text.find('\n') + 1,
              absl::StrCat("// TVM 0.9 cannot read this text, since it does not have ",
                           absl::StrJoin(parts, ", "), ".\n"));
  return text;
}

}  // namespace kiln::tools
