// SPDX-License-Identifier: Apache-2.0
// Elaboration: from the syntax tree of Relay text to a Graph. Names become values, tuples become
// lists, and function calls are inlined or become groups. Internal: users call ParseRelay
// (relay_text.h).
//
// Expressions are evaluated in text order in an environment of names. The Result of an expression
// is a tensor of the graph, a tuple of Results, or a function with the scope that it was written
// in. elaborate.cc handles names, bodies and expressions, elaborate_call.cc calls, and
// elaborate_signature.cc parameters, types and outputs.
#ifndef KILN_COMPILER_GRAPH_ELABORATE_H_
#define KILN_COMPILER_GRAPH_ELABORATE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/graph/ast.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/relay_text.h"

namespace kiln::relay {

struct Tuple;
struct Scope;

struct Closure {
  const Function* function = nullptr;
  const Scope* scope = nullptr;  // null for a global function
};

// The value of an expression. Tuples are shared, so a tuple of tuples takes no more memory than its
// text.
using Result = std::variant<ValueId, std::shared_ptr<const Tuple>, Closure>;

struct Tuple {
  std::vector<Result> fields;
  int64_t size = 1;  // number of tensors and tuples in it, including itself
  int depth = 1;     // nesting depth of tuples
};

struct Definition {
  Result result;
  Position position;
};

struct Scope {
  const Scope* parent = nullptr;
  // True for the body of a group. Names of the parent scopes belong to another graph.
  bool is_group = false;
  std::map<std::string, Definition, std::less<>> names;
};

class Elaborator {
 public:
  // All arguments must outlive the elaborator. `constants` come from the metadata section. The
  // number of steps that function calls may unfold to grows with `text_bytes`.
  Elaborator(const Module& module, const std::vector<Tensor>& constants, size_t text_bytes,
             absl::string_view file_name, const OpLookup& find_op, const RelayParseOptions& options)
      : module_(module),
        constants_(constants),
        file_name_(file_name),
        find_op_(find_op),
        options_(options),
        max_steps_(MaxSteps(text_bytes)) {}

  // Returns the graph of @main.
  absl::StatusOr<Graph> Run();

 private:
  static int64_t MaxSteps(size_t text_bytes);

  // A graph under construction.
  struct Building {
    Graph graph;
    std::map<int64_t, ValueId> constants;  // keyed by index in the metadata section
  };

  struct GroupBody {
    std::shared_ptr<const Graph> graph;
    Result result;  // its leaves are values of `graph`; gives the nesting of the outputs
  };

  // Names, bodies, expressions.
  Scope* NewScope(const Scope* parent);
  absl::Status Define(Scope& scope, const std::string& name, Result result, Position position);
  absl::StatusOr<Result> Lookup(const Scope& scope, const std::string& name,
                                Position position) const;
  absl::StatusOr<Result> EvalBody(const Body& body, Scope& scope);
  absl::StatusOr<Result> Eval(const Expr& expr, Scope& scope);
  absl::StatusOr<Result> EvalNode(const Expr& expr, Scope& scope);
  absl::StatusOr<Result> EvalMeta(const MetaExpr& meta, Position position);
  absl::StatusOr<Result> EvalGlobal(const GlobalExpr& global, Position position);
  absl::StatusOr<Result> EvalProject(const ProjectExpr& project, Position position, Scope& scope);
  absl::StatusOr<Result> EvalInfix(const InfixExpr& infix, Scope& scope);
  absl::StatusOr<Result> EvalIf(const IfExpr& branches, Position position, Scope& scope);
  absl::StatusOr<Result> MakeTuple(std::vector<Result> fields, Position position);

  // Calls.
  absl::StatusOr<Result> EvalCall(const CallExpr& call, Position position, Scope& scope);
  absl::StatusOr<Result> CallOperator(absl::string_view name, std::vector<Result> arguments,
                                      absl::Span<const AttrSyntax> attrs, Position position);
  absl::StatusOr<std::vector<ValueId>> OperatorInputs(const OpSchema& op,
                                                      const std::vector<Result>& arguments,
                                                      Position position) const;
  absl::StatusOr<Result> CallFunction(const Closure& closure, std::vector<Result> arguments,
                                      Position position);
  absl::StatusOr<Result> CallGroup(const Closure& closure, const std::vector<Result>& arguments,
                                   Attrs attrs, Position position);
  absl::StatusOr<GroupBody> BuildGroup(const Closure& closure,
                                       const std::vector<Result>& arguments);
  absl::StatusOr<NodeId> AddNode(Node node, int num_outputs, Position position);

  // Parameters, types, outputs.
  //
  // CheckPinnedShapes returns Unimplemented if a parameter has a `?` dimension and no shape is
  // given for it. The message names all such parameters.
  absl::Status CheckPinnedShapes(const Function& main) const;
  absl::StatusOr<TypeSyntax> MainParameterType(const Parameter& parameter) const;
  absl::StatusOr<TypeSyntax> GroupParameterType(const Parameter& parameter,
                                                const Result& argument) const;
  // Adds inputs to the current graph, named by the function's `input_names` if present, and defines
  // the parameters in `scope`.
  absl::Status AddParameters(const Function& function, const std::vector<TypeSyntax>& types,
                             Scope& scope);
  absl::StatusOr<Result> AddParameter(const TypeSyntax& type, const std::string& name,
                                      std::set<std::string>& taken);
  absl::Status SetOutputs(const Function& function, const Result& result);
  absl::StatusOr<std::vector<std::string>> NamesAttr(const AttrSyntax& attr, size_t count) const;
  // Checks `type` against the known type, or stores it if the type is unknown.
  absl::Status ApplyType(const Result& result, const TypeSyntax& type);
  // Stores the type of a comment if the value's type is unknown. Unlike ApplyType, it ignores a
  // type that does not fit.
  void SuggestType(const Result& result, const TypeSyntax& type);
  // Appends the tensors of `result` from left to right.
  absl::Status Flatten(const Result& result, Position position, std::vector<ValueId>& values) const;

  absl::Status Error(Position position, absl::string_view message) const {
    return ErrorAt(file_name_, position, message);
  }
  Graph& graph() { return building_->graph; }
  const Graph& graph() const { return building_->graph; }

  const Module& module_;
  const std::vector<Tensor>& constants_;
  const absl::string_view file_name_;
  const OpLookup& find_op_;
  const RelayParseOptions& options_;

  Building* building_ = nullptr;
  std::deque<Scope> scopes_;                       // closures point to them
  std::map<const Function*, GroupBody> groups_;    // only functions whose parameters all have types
  std::vector<const Function*> active_functions_;  // functions being called, outermost first
  const int64_t max_steps_;
  int64_t num_steps_ = 0;
  int64_t num_nodes_ = 0;
  int depth_ = 0;
};

// Returns the function's attributes without input_names and output_tensor_names, which are fields
// of Graph.
Attrs GraphAttrs(const Function& function);

// Returns "a tensor", "a tuple with 2 fields" or "a function".
std::string DescribeResult(const Result& result);

}  // namespace kiln::relay

#endif  // KILN_COMPILER_GRAPH_ELABORATE_H_
