// SPDX-License-Identifier: Apache-2.0
// CallMaker: turns the nodes of a fused graph into calls. Most nodes become one call. A
// concatenation whose parts are made in place becomes none, and a node that splits or joins many
// values becomes several.
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

// An argument of a call and its place. `value` is kNoId for a part of a value that several calls
// write.
struct Param {
  ValueId value;
  Slice at;

  bool is_part() const { return value != at.whole; }
};

// A node that becomes a call.
struct PendingCall {
  NodeId node = kNoId;        // node of the graph
  std::optional<Graph> body;  // none: the call has no code
  std::vector<Param> inputs;  // with a body, its inputs that are no constants
  std::vector<Param> outputs;
  // The operator changes elements of its output, which already holds a copy of the body's first
  // input. `inputs` does not include that input.
  bool updates_output = false;
  bool is_copy = false;  // loop::Func::is_copy
  Call call = {};        // its `inputs` and `outputs` are not set
};

// Assigns names tvmgen_<module>_<base>, each once.
class FunctionNames {
 public:
  explicit FunctionNames(absl::string_view module);

  // Returns the name for `base`, or for the first of base_1, base_2, … that is not taken.
  std::string Unique(const std::string& base);

 private:
  std::string prefix_;
  std::set<std::string> taken_;
  std::map<std::string, int> last_number_;  // keyed by base
};

class CallMaker {
 public:
  using Function = std::function<absl::Status(PendingCall)>;

  // `graph` must outlive the CallMaker.
  CallMaker(const Graph& graph, Slices slices, absl::string_view module_name);

  // Calls f for every call in order. Stops and returns the error if f fails.
  absl::Status ForEach(const Function& f);

 private:
  std::vector<Param> ParamsOf(const std::vector<ValueId>& values) const;
  // Returns the copies that a node which joins tensors needs: the remaining ones of a
  // concatenation, or all inputs if they are many. Returns nothing if the node is a single
  // function.
  std::optional<std::vector<PartCopy>> CopiesOf(NodeId id) const;
  void AddOperators(const Node& node, PendingCall& pending) const;
  // Adds the body of outputs [begin, end) of a split.
  absl::Status AddSections(const Node& node, size_t begin, size_t end, PendingCall& pending) const;
  absl::Status AddCopies(absl::Span<const PartCopy> copies, PendingCall& pending) const;
  // Makes the two calls of a node that copies a value and changes elements of the copy. A plan that
  // keeps both values in the same memory omits the first call.
  absl::Status AddUpdate(const Node& node, PendingCall& copy, PendingCall& update) const;

  const Graph& graph_;
  const Slices slices_;
  FunctionNames names_;
};

}  // namespace kiln

#endif  // KILN_COMPILER_LOWER_CALL_MAKER_H_
