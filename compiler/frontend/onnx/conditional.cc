// SPDX-License-Identifier: Apache-2.0
// If. A known condition takes its branch. For an unknown condition, both branches are computed and
// the results are selected, if that is cheap (IsCheap).
#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/control_flow.h"
#include "compiler/frontend/onnx/import.h"
#include "compiler/frontend/onnx/pieces.h"
#include "compiler/ops/op_def.h"

namespace kiln::onnx_frontend {
namespace {

// Limits on the operators, and on the elements of their results, of both branches together.
constexpr size_t kMaxSelectedNodes = 64;
constexpr int64_t kMaxSelectedElements = 1 << 16;

// Checks that two branches, which are the nodes from `first` on, may both be computed. They must be
// few operators on few elements, without products or convolutions.
absl::Status IsCheap(const Graph& graph, size_t first) {
  int64_t elements = 0;
  for (size_t i = first; i < graph.nodes.size(); ++i) {
    const Node& node = graph.nodes[i];
    if (FindOp(node.op_name())->traits.fusion == Fusion::kContraction) {
      return absl::UnimplementedError(
          absl::StrCat("one of them has the product of node '", node.source.node, "'"));
    }
    for (ValueId output : node.outputs) {
      elements += std::min(graph.type(output).num_elements(), kMaxSelectedElements + 1);
    }
  }
  if (graph.nodes.size() - first > kMaxSelectedNodes || elements > kMaxSelectedElements) {
    return absl::UnimplementedError(
        absl::StrCat("they have ", graph.nodes.size() - first, " operators that make ", elements,
                     " elements, of which at most ", kMaxSelectedNodes, " and ",
                     kMaxSelectedElements, " are computed in vain"));
  }
  return absl::OkStatus();
}

absl::Status HaveOneType(const Converter& c, const std::vector<Item>& a,
                         const std::vector<Item>& b) {
  const auto text = [&](const Item& item) {
    return item.is_tensor() ? c.type(item.tensor).ToString() : std::string(item.name());
  };
  for (size_t i = 0; i < a.size(); ++i) {
    if (!a[i].is_tensor() || !b[i].is_tensor() || text(a[i]) != text(b[i])) {
      return absl::UnimplementedError(absl::StrCat("output ", i, " is ", text(a[i]), " in one and ",
                                                   text(b[i]), " in the other"));
    }
  }
  return absl::OkStatus();
}

bool AnyUnknown(const std::vector<Item>& items) {
  return std::any_of(items.begin(), items.end(), [](const Item& i) { return i.is_unknown(); });
}

// Advises the user to fix the condition. This removes problems of the branch that the user does not
// need.
absl::Status AdviceOnCondition(const Converter& c) {
  const absl::Status unknown = c.ConstantInput(0, "the condition").status();
  if (InputsToFix(unknown).empty()) return absl::OkStatus();
  // The code must not be that of a missing operator, as no other sizes would be tried then.
  absl::Status advice = absl::InvalidArgumentError(
      absl::StrCat("a branch has problems, and the condition is not known: fix it with ",
                   OptionsToFix(InputsToFix(unknown)), " to leave out the other one"));
  CopyInputsToFix(unknown, advice);
  return advice;
}

}  // namespace

absl::Status If(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ValueId condition, c.Input(0));
  const onnx::GraphProto* bodies[2];
  KILN_ASSIGN_OR_RETURN(bodies[0], c.Body("then_branch", 0, c.node().output_size()));
  KILN_ASSIGN_OR_RETURN(bodies[1], c.Body("else_branch", 0, c.node().output_size()));
  if (c.type(condition).num_elements() != 1) {
    return Wrong("the condition", c.type(condition).ToString(), "one bool");
  }
  KILN_ASSIGN_OR_RETURN(const std::optional<Tensor> known, c.KnownValue(condition));
  if (known.has_value()) {
    KILN_ASSIGN_OR_RETURN(const bool holds, AsBool(*known, "the condition"));
    KILN_ASSIGN_OR_RETURN(const std::vector<Item> outputs,
                          c.ImportBody(*bodies[holds ? 0 : 1], {}));
    for (size_t i = 0; i < outputs.size(); ++i) c.SetOutput(static_cast<int>(i), outputs[i]);
    return absl::OkStatus();
  }
  const size_t first = c.graph().nodes.size(), problems = c.num_problems();
  KILN_ASSIGN_OR_RETURN(const std::vector<Item> then_outputs, c.ImportBody(*bodies[0], {}));
  KILN_ASSIGN_OR_RETURN(const std::vector<Item> else_outputs, c.ImportBody(*bodies[1], {}));
  if (AnyUnknown(then_outputs) || AnyUnknown(else_outputs)) {
    c.SetOutputsUnknown();
    return c.num_problems() > problems ? AdviceOnCondition(c) : absl::OkStatus();
  }
  absl::Status can_select = HaveOneType(c, then_outputs, else_outputs);
  if (can_select.ok()) can_select = IsCheap(c.graph(), first);
  if (!can_select.ok()) {
    const absl::Status unknown = c.ConstantInput(0, "the condition").status();
    absl::Status status = absl::UnimplementedError(absl::StrCat(
        unknown.message(), "; its branches cannot both be computed: ", can_select.message()));
    CopyInputsToFix(unknown, status);
    return status;
  }
  KILN_ASSIGN_OR_RETURN(condition, c.Reshape(condition, {}));
  for (size_t i = 0; i < then_outputs.size(); ++i) {
    const ValueId a = then_outputs[i].tensor, b = else_outputs[i].tensor;
    ValueId y = a;
    if (a != b) {
      KILN_ASSIGN_OR_RETURN(y, c.Op("where", {condition, a, b}));
    }
    c.SetOutput(static_cast<int>(i), y);
  }
  return absl::OkStatus();
}

}  // namespace kiln::onnx_frontend
