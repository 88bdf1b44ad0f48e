// SPDX-License-Identifier: Apache-2.0
// The syntax tree of Relay text. The parser builds it and elaboration turns it into a Graph. It
// contains names, not values, so a function's body can be elaborated at each of its calls.
// kMaxNestingDepth bounds the nesting; lists (bindings, the operands of an infix chain) are
// vectors.
#ifndef KILN_COMPILER_GRAPH_AST_H_
#define KILN_COMPILER_GRAPH_AST_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/base/tensor.h"
#include "compiler/graph/attrs.h"
#include "compiler/graph/lex.h"

namespace kiln::relay {

// The extent of a dimension written as `?`.
inline constexpr int64_t kAnyExtent = -1;

struct TypeSyntax {
  enum class Kind {
    kTensor,    // Tensor[(1, 2), float32], float32
    kTuple,     // (t1, t2)
    kAny,       // _
    kFunction,  // fn (t1, t2) -> t; its types are not kept
  };
  Kind kind = Kind::kAny;
  TensorType tensor;  // extents may be kAnyExtent
  std::vector<TypeSyntax> fields;
  Position position;
};

struct AttrSyntax {
  std::string name;
  AttrValue value;
  Position position;
  bool is_reference = false;  // meta[Key][n]; the value is None
};

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

// `%0 = value;` or `let %x: type = value;`
struct Binding {
  std::string name;
  std::optional<TypeSyntax> type;
  ExprPtr value;
  Position position;
};

struct Body {
  std::vector<Binding> bindings;
  ExprPtr result;
};

struct Parameter {
  std::string name;
  std::optional<TypeSyntax> type;
  Position position;
};

// A global function or a literal.
struct Function {
  std::string name;  // without '@'; empty for a function literal
  std::vector<Parameter> parameters;
  std::vector<AttrSyntax> attrs;
  std::optional<TypeSyntax> result_type;
  Body body;
  Position position;
};

struct LiteralExpr {
  Tensor value;
};
// meta[relay.Constant][index]
struct MetaExpr {
  int64_t index;
};
// %x or %0. The name of %0 is its digits.
struct VariableExpr {
  std::string name;
};
struct GlobalExpr {
  std::string name;
};
// The name of an operator. It may appear only before "(".
struct OperatorExpr {
  std::string name;
};
struct TupleExpr {
  std::vector<ExprPtr> fields;
};
struct ProjectExpr {
  ExprPtr tuple;
  int64_t index;
};
struct CallExpr {
  ExprPtr callee;
  std::vector<ExprPtr> arguments;
  std::vector<AttrSyntax> attrs;
  std::optional<TypeSyntax> type;  // from a `/* ty=… */` comment
};
// A left-to-right chain of operators of equal precedence: operands[0] ops[0] operands[1] …
struct InfixExpr {
  std::vector<ExprPtr> operands;
  std::vector<std::string> operators;  // "add", "less_equal", …
  std::vector<Position> positions;
};
struct FunctionExpr {
  Function function;
};
struct IfExpr {
  ExprPtr condition;
  Body then_body;
  Body else_body;
};
// A body in braces, or a body in the place of an expression.
struct BlockExpr {
  Body body;
};

struct Expr {
  Position position;
  std::variant<LiteralExpr, MetaExpr, VariableExpr, GlobalExpr, OperatorExpr, TupleExpr,
               ProjectExpr, CallExpr, InfixExpr, FunctionExpr, IfExpr, BlockExpr>
      node;
};

// The global functions of a module by name.
using Module = std::map<std::string, Function, std::less<>>;

}  // namespace kiln::relay

#endif  // KILN_COMPILER_GRAPH_AST_H_
