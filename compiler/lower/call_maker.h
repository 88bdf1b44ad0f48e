// SPDX-License-Identifier: Apache-2.0
// CallMaker: from the nodes of a fused graph to the calls that they become, one for most, none for
// a concatenation that is made in place, several for a node that takes apart or joins many values.
//
//   CallMaker calls(graph, std::move(slices), module_name);
//   calls.ForEach([&](PendingCall call) -> absl::Status { … });
#ifndef KILN_COMPILER_LOWER_CALL_MAKER_H_
#define KILN_COMPILER_LOWER_CALL_MAKER_H_

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/graph/graph.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/slices.h"

namespace kiln {

// An argument of a call and where it lies. kNoId: a part that the call writes beside others.
struct Param {
  ValueId value;
  Slice at;

  bool is_part() const { return value != at.whole; }
};

// A node on its way to be a call.
struct PendingCall {
  NodeId node = kNoId;        // of the graph
  std::optional<Graph> body;  // none: there is no code here
  std::vector<Param> inputs;  // with a body, those of the body that are no constants
  std::vector<Param> outputs;
  // The operator changes elements of its output, which holds a copy of the body's first input already;
  // `inputs` lack that one.
  bool updates_output = false;
  bool is_copy = false;  // loop::Func::is_copy
  Call call = {};        // without inputs and outputs
};

// Names tvmgen_<module>_<base>, each once.
class FunctionNames {
 public:
  explicit FunctionNames(absl::string_view module);

  // `base`, or the first of base_1, base_2 … that is not taken.
  std::string Unique(const std::string& base);

 private:
  std::string prefix_;
  std::set<std::string> taken_;
  std::map<std::string, int> last_number_;  // by base
};

class CallMaker {
 public:
  using Function = std::function<absl::Status(PendingCall)>;

  // `graph` must outlive it.
  CallMaker(const Graph& graph, Slices slices, absl::string_view module_name);

  // Calls f for every call in order, until it fails.
  absl::Status ForEach(const Function& f);

 private:
  std::vector<Param> ParamsOf(const std::vector<ValueId>& values) const;
  // What a node copies that joins tensors: what is left of a concatenation, or all inputs if they
  // are many. Nothing for a node that is one function by itself.
  std::optional<std::vector<PartCopy>> CopiesOf(NodeId id) const;
  void AddOperators(const Node& node, PendingCall& pending) const;
  // Outputs [begin, end) of a split.
  absl::Status AddSections(const Node& node, size_t begin, size_t end, PendingCall& pending) const;
  absl::Status AddCopies(absl::Span<const PartCopy> copies, PendingCall& pending) const;
  // The two calls of a node that copies a value and changes elements of the copy. A plan that keeps both
  // values in one memory leaves out the first.
  absl::Status AddUpdate(const Node& node, PendingCall& copy, PendingCall& update) const;

  const Graph& graph_;
  const Slices slices_;
  FunctionNames names_;
};

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_CALL_MAKER_H_
