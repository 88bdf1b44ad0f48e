// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/state.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"

namespace kiln {
namespace {

using List = std::vector<AttrValue>;

constexpr char kInputs[] = "state_inputs", kOutputs[] = "state_outputs",
               kInitial[] = "state_initial";

absl::StatusOr<List> ListOf(const Graph& graph, const char* attr) {
  const AttrValue& value = graph.attrs.Get(attr);
  if (value.is_none()) return List();
  if (value.is_list()) return std::get<List>(value.value);
  return absl::InvalidArgumentError(
      absl::StrCat("found ", value.ToString(), " in ", attr, ", wanted a list"));
}

std::vector<std::string> InputNames(const Graph& graph) {
  std::vector<std::string> names;
  for (ValueId id : graph.inputs) names.push_back(graph.value(id).name);
  return names;
}

std::vector<std::string> OutputNames(const Graph& graph) {
  std::vector<std::string> names;
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    names.push_back(graph.OutputName(static_cast<int>(i)));
  }
  return names;
}

// Returns the index of the name in `names`.
absl::StatusOr<int> Find(const std::vector<std::string>& names, const AttrValue& name,
                         absl::string_view what) {
  const auto* text = std::get_if<std::string>(&name.value);
  const auto found = text == nullptr ? names.end() : std::find(names.begin(), names.end(), *text);
  if (found != names.end()) return static_cast<int>(found - names.begin());
  return absl::InvalidArgumentError(absl::StrCat(
      "found no ", what, " ", text == nullptr ? name.ToString() : absl::StrCat("'", *text, "'"),
      ", wanted one of '", absl::StrJoin(names, "', '"), "'"));
}

std::string TypeText(const std::optional<TensorType>& type) {
  return type.has_value() ? type->ToString() : "a tensor of an unknown type";
}

absl::Status CheckTypes(const Graph& graph, const StatePair& pair) {
  const Value& input = graph.value(graph.inputs[static_cast<size_t>(pair.input)]);
  const Value& output = graph.value(graph.outputs[static_cast<size_t>(pair.output)]);
  if (!output.type.has_value() || *input.type == *output.type) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "found ", TypeText(input.type), " in the input '", input.name, "' and ",
      TypeText(output.type), " in the output '", graph.OutputName(pair.output),
      "', wanted one type in both: a run passes the output to the input of the next as it is"));
}

absl::StatusOr<std::vector<StatePair>> Read(const Graph& graph) {
  KILN_ASSIGN_OR_RETURN(const List inputs, ListOf(graph, kInputs));
  KILN_ASSIGN_OR_RETURN(const List outputs, ListOf(graph, kOutputs));
  KILN_ASSIGN_OR_RETURN(const List initial, ListOf(graph, kInitial));
  if (inputs.size() != outputs.size() || inputs.size() != initial.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("found ", inputs.size(), " ", kInputs, ", ", outputs.size(), " ", kOutputs,
                     " and ", initial.size(), " ", kInitial, ", wanted as many of each"));
  }
  const std::vector<std::string> input_names = InputNames(graph), output_names = OutputNames(graph);
  std::vector<StatePair> states;
  std::set<int> taken_inputs, taken_outputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    StatePair pair;
    KILN_ASSIGN_OR_RETURN(pair.input, Find(input_names, inputs[i], "input"));
    KILN_ASSIGN_OR_RETURN(pair.output, Find(output_names, outputs[i], "output"));
    const auto* real = std::get_if<double>(&initial[i].value);
    if (real == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("found ", initial[i].ToString(), " in ", kInitial, ", wanted a float"));
    }
    pair.initial = *real;
    const bool is_new =
        taken_inputs.insert(pair.input).second && taken_outputs.insert(pair.output).second;
    if (!is_new) {
      return absl::InvalidArgumentError(
          absl::StrCat("found ", inputs[i].ToString(), " or ", outputs[i].ToString(),
                       " in two pairs, wanted every input and every output in one"));
    }
    KILN_RETURN_IF_ERROR(CheckTypes(graph, pair));
    states.push_back(pair);
  }
  return states;
}

}  // namespace

absl::StatusOr<std::vector<StatePair>> StatesOf(const Graph& graph) {
  absl::StatusOr<std::vector<StatePair>> states = Read(graph);
  if (states.ok()) return states;
  return Annotate(states.status(), "@main: state: ");
}

absl::Status DeclareState(absl::string_view pair, Graph& graph) {
  // Names may contain '=' too. The pair is split at the first '=' that follows the name of an
  // input, or at the first '=' if there is none.
  const std::vector<std::string> inputs = InputNames(graph);
  size_t at = pair.find('=');
  const size_t first = at;
  while (at != absl::string_view::npos &&
         std::find(inputs.begin(), inputs.end(), pair.substr(0, at)) == inputs.end()) {
    at = pair.find('=', at + 1);
  }
  if (at == absl::string_view::npos) at = first;
  if (at == absl::string_view::npos || at == 0 || at + 1 == pair.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--state: found '", pair, "', wanted input=output"));
  }
  AddState(std::string(pair.substr(0, at)), std::string(pair.substr(at + 1)), 0, graph);
  return Annotate(Read(graph).status(), "--state: ");
}

void AddState(std::string input, std::string output, double initial, Graph& graph) {
  const auto add = [&](const char* attr, AttrValue value) {
    List list;
    if (graph.attrs.Get(attr).is_list()) list = std::get<List>(graph.attrs.Get(attr).value);
    list.push_back(std::move(value));
    graph.attrs.Set(attr, AttrValue(std::move(list)));
  };
  add(kInputs, std::move(input));
  add(kOutputs, std::move(output));
  add(kInitial, initial);
}

}  // namespace kiln
