// SPDX-License-Identifier: Apache-2.0
#include "compiler/passes/testing/run_pass.h"

#include <cmath>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/base/status.h"
#include "compiler/graph/relay_text.h"
#include "compiler/ops/op_def.h"
#include "compiler/ops/testing/run_op.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

constexpr double kTolerance = 1e-4;

Tensor ConstantFor(const TensorType& type) {
  std::string bytes;
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    const double step = type.dtype.is_float() ? 0.5 : 1;
    bytes += Tensor::Scalar(type.dtype, 1 + step * static_cast<double>(i)).bytes();
  }
  return Tensor(type, std::move(bytes));
}

void ExpectSameResults(const Graph& before, const Graph& after) {
  const auto expected = RunGraph(before), found = RunGraph(after);
  ASSERT_TRUE(expected.ok()) << expected.status();
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(expected->size(), found->size());
  for (size_t k = 0; k < expected->size(); ++k) {
    const Tensor &e = (*expected)[k], &f = (*found)[k];
    ASSERT_EQ(e.type(), f.type()) << "output " << k;
    for (int64_t i = 0; i < e.type().num_elements(); ++i) {
      ASSERT_LE(std::abs(e.AsDouble(i) - f.AsDouble(i)), kTolerance * (1 + std::abs(e.AsDouble(i))))
          << "output " << k << ", element " << i;
    }
  }
}

}  // namespace

Graph ParseModel(absl::string_view model) {
  absl::StatusOr<Graph> parsed =
      ParseRelay(absl::StrCat("#[version = \"0.0.5\"]\n", model), "model", FindOpSchema);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  if (!parsed.ok()) return Graph();
  Graph graph = *std::move(parsed);
  std::vector<ValueId> inputs;
  for (ValueId id : graph.inputs) {
    Value& value = graph.value(id);
    if (!absl::StartsWith(value.name, "constant")) {
      inputs.push_back(id);
      continue;
    }
    value.kind = ValueKind::kConstant;
    value.constant = ConstantFor(*value.type);
  }
  graph.inputs = std::move(inputs);
  absl::StatusOr<Graph> typed = RunPass(InferTypes, graph);
  EXPECT_TRUE(typed.ok()) << typed.status();
  return typed.ok() ? *std::move(typed) : Graph();
}

std::string BodyText(const Graph& graph) {
  std::string body;
  int line_number = 0;
  const std::string text = PrintRelay(graph, {.types = false, .metadata = false});
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (++line_number <= 2) continue;  // the version, and the signature of @main
    if (line == "}") break;
    absl::StrAppend(&body, absl::StripPrefix(line, "  "), "\n");
  }
  return body;
}

absl::StatusOr<std::vector<Tensor>> RunOnInputs(const Graph& graph,
                                                const std::vector<Tensor>& inputs) {
  std::map<ValueId, Tensor> values;
  for (size_t i = 0; i < inputs.size(); ++i) values[graph.inputs[i]] = inputs[i];
  const auto value_of = [&](ValueId id) {
    return graph.is_constant(id) ? graph.value(id).constant : values.at(id);
  };
  for (const Node& node : graph.nodes) {
    std::vector<Tensor> args;
    for (ValueId input : node.inputs) args.push_back(value_of(input));
    absl::StatusOr<std::vector<Tensor>> results =
        node.is_group() ? RunOnInputs(*node.body, args)
                        : RunOp(*FindOp(node.op->name), node.attrs, args);
    if (!results.ok()) return Annotate(results.status(), absl::StrCat(node.op_name(), ": "));
    for (size_t i = 0; i < node.outputs.size(); ++i) values[node.outputs[i]] = (*results)[i];
  }
  std::vector<Tensor> outputs;
  for (ValueId output : graph.outputs) outputs.push_back(value_of(output));
  return outputs;
}

absl::StatusOr<std::vector<Tensor>> RunGraph(const Graph& graph) {
  std::vector<Tensor> inputs;
  for (ValueId id : graph.inputs) inputs.push_back(RandomTensor(graph.type(id), inputs.size() + 1));
  return RunOnInputs(graph, inputs);
}

absl::StatusOr<Graph> RunPass(PassFunction pass, const Graph& graph, int* evaluations) {
  const Target target;
  return pass(graph, {.target = target, .evaluate = [&](const Graph& constants) {
                        if (evaluations != nullptr) ++*evaluations;
                        return RunGraph(constants);
                      }});
}

std::string Transform(PassFunction pass, absl::string_view model) {
  const Graph before = ParseModel(model);
  const absl::StatusOr<Graph> after = RunPass(pass, before);
  if (!after.ok()) {
    ADD_FAILURE() << after.status();
    return "";
  }
  EXPECT_EQ(Verify(*after, /*typed=*/true), absl::OkStatus());
  ExpectSameResults(before, *after);
  return BodyText(*after);
}

}  // namespace kiln
