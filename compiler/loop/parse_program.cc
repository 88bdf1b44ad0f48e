// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/loop/parse.h"
#include "compiler/loop/parse_data.h"
#include "compiler/loop/parse_expr.h"
#include "compiler/loop/parse_stmt.h"
#include "compiler/loop/parse_type.h"
#include "compiler/loop/verify.h"

namespace kiln::loop {
namespace {

// The words before a declaration.
struct Modifiers {
  bool internal = false, packed = false, weak = false, by_name = false, in_place = false;
  bool is_copy = false;
  int target = 0;
};

class ProgramParser {
 public:
  ProgramParser(absl::string_view text, const ParseOptions& options)
      : lexer_(text, options.file_name), data_(lexer_, constants_, options) {}

  absl::StatusOr<LoopProgram> Parse() {
    while (!lexer_.AtEnd()) KILN_RETURN_IF_ERROR(ParseDeclaration());
    KILN_RETURN_IF_ERROR(Verify());
    return std::move(program_);
  }

 private:
  absl::StatusOr<Modifiers> ParseModifiers();
  absl::Status ParseDeclaration();
  absl::StatusOr<Func> ParseFunc(const Modifiers& modifiers, Func::Kind kind);
  absl::Status ParseInputs(Func& func, Scope& scope);
  absl::StatusOr<Buffer> ParseParam(Scope& scope);
  // Adds the number of parameters to `count`.
  absl::Status ParseParams(Func& func, Scope& scope, int* count);
  absl::Status Verify();

  Lexer lexer_;
  Scope constants_;
  DataParser data_;
  LoopProgram program_;
  StmtPositions positions_;
  std::vector<Position> func_positions_;
};

absl::StatusOr<Modifiers> ProgramParser::ParseModifiers() {
  Modifiers modifiers;
  for (;;) {
    if (lexer_.Accept("internal")) {
      modifiers.internal = true;
    } else if (lexer_.Accept("packed")) {
      modifiers.packed = true;
    } else if (lexer_.Accept("weak")) {
      modifiers.weak = true;
    } else if (lexer_.Accept("by_name")) {
      modifiers.by_name = true;
    } else if (lexer_.Accept("in_place")) {
      modifiers.in_place = true;
    } else if (lexer_.Accept("copy")) {
      modifiers.is_copy = true;
    } else if (lexer_.Accept("target")) {
      KILN_ASSIGN_OR_RETURN(
          const int64_t target,
          lexer_.ExpectInt("a target's number", 0, std::numeric_limits<int32_t>::max()));
      modifiers.target = static_cast<int>(target);
    } else {
      return modifiers;
    }
  }
}

absl::Status ProgramParser::ParseDeclaration() {
  KILN_ASSIGN_OR_RETURN(const Modifiers modifiers, ParseModifiers());
  const bool variable = lexer_.At("variable");
  if (lexer_.Accept("constant")) {
    KILN_ASSIGN_OR_RETURN(Constant constant, data_.ParseConstant());
    program_.constants.push_back(std::move(constant));
  } else if (lexer_.Accept("data") || lexer_.Accept("variable")) {
    KILN_ASSIGN_OR_RETURN(DataDef data, data_.ParseData());
    data.exported = !modifiers.internal;
    data.writable = variable;
    program_.data.push_back(std::move(data));
  } else if (lexer_.Accept("getter")) {
    KILN_ASSIGN_OR_RETURN(HandleGetter getter, data_.ParseGetter());
    getter.packed = modifiers.packed;
    getter.weak = modifiers.weak;
    program_.getters.push_back(std::move(getter));
  } else if (lexer_.Accept("profile_hook")) {
    KILN_ASSIGN_OR_RETURN(program_.profile_hook, lexer_.ExpectSymbol("a variable's name"));
  } else if (lexer_.At("targets")) {
    KILN_ASSIGN_OR_RETURN(program_.targets, data_.ParseTexts("targets"));
  } else if (lexer_.Accept("cpu_choice")) {
    KILN_ASSIGN_OR_RETURN(program_.cpu_choice, data_.ParseCpuChoice());
    program_.cpu_choice->packed = modifiers.packed;
  } else {
    Func::Kind kind = Func::Kind::kOperator;
    if (lexer_.At("main")) kind = Func::Kind::kMain;
    if (lexer_.At("task")) kind = Func::Kind::kTask;
    if (lexer_.At("external")) kind = Func::Kind::kExternal;
    if (kind == Func::Kind::kOperator && !lexer_.At("operator")) {
      return lexer_.Unexpected("a declaration: constant, operator, main, task, external, …");
    }
    lexer_.Take();
    func_positions_.push_back(lexer_.next().position);
    KILN_ASSIGN_OR_RETURN(Func func, ParseFunc(modifiers, kind));
    program_.funcs.push_back(std::move(func));
  }
  return absl::OkStatus();
}

// name(scalars, inputs) -> (outputs) pools … contexts … workspace … { body }
absl::StatusOr<Func> ProgramParser::ParseFunc(const Modifiers& modifiers, Func::Kind kind) {
  Func func;
  func.kind = kind;
  func.exported = !modifiers.internal;
  func.convention = modifiers.packed ? Convention::kPacked : Convention::kUnpacked;
  func.by_name = modifiers.by_name;
  func.in_place = modifiers.in_place;
  func.is_copy = modifiers.is_copy;
  func.target = modifiers.target;
  KILN_ASSIGN_OR_RETURN(func.name, lexer_.ExpectSymbol("a function's name"));
  Scope scope(&constants_);
  KILN_RETURN_IF_ERROR(ParseInputs(func, scope));
  KILN_RETURN_IF_ERROR(lexer_.Expect("->"));
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  int num_outputs = 0;
  if (!lexer_.At(")")) KILN_RETURN_IF_ERROR(ParseParams(func, scope, &num_outputs));
  KILN_RETURN_IF_ERROR(lexer_.Expect(")"));
  if (func.is_copy && (func.num_inputs != 1 || num_outputs != 1 || kind != Func::Kind::kOperator)) {
    return lexer_.Unexpected("an operator of one input and one output behind 'copy'");
  }
  if (lexer_.Accept("pools")) KILN_RETURN_IF_ERROR(ParseParams(func, scope, &func.num_pools));
  if (lexer_.Accept("contexts")) {
    KILN_RETURN_IF_ERROR(ParseParams(func, scope, &func.num_contexts));
  }
  func.allocate_workspace = lexer_.At("allocates");
  if (lexer_.Accept("allocates") || lexer_.Accept("workspace")) {
    KILN_ASSIGN_OR_RETURN(func.workspace, ParseParam(scope));
  }
  if (kind == Func::Kind::kExternal) return func;
  KILN_ASSIGN_OR_RETURN(func.body, StmtParser(lexer_, scope, positions_).ParseBody());
  return func;
}

absl::StatusOr<Buffer> ProgramParser::ParseParam(Scope& scope) {
  const Position position = lexer_.next().position;
  KILN_ASSIGN_OR_RETURN(const std::string name, lexer_.ExpectName("a parameter"));
  KILN_RETURN_IF_ERROR(lexer_.Expect(":"));
  KILN_ASSIGN_OR_RETURN(Buffer buffer, ParseBufferType(lexer_, name, BufferScope::kParam));
  if (scope.Declare(name, buffer)) return buffer;
  return lexer_.ErrorAt(position, absl::StrCat("'", name, "' means something else already"));
}

absl::Status ProgramParser::ParseParams(Func& func, Scope& scope, int* count) {
  do {
    KILN_ASSIGN_OR_RETURN(Buffer param, ParseParam(scope));
    func.params.push_back(std::move(param));
    ++*count;
  } while (lexer_.Accept(","));
  return absl::OkStatus();
}

// A scalar's type has no brackets.
absl::Status ProgramParser::ParseInputs(Func& func, Scope& scope) {
  KILN_RETURN_IF_ERROR(lexer_.Expect("("));
  while (!lexer_.At(")")) {
    if (func.num_inputs > 0 || !func.scalars.empty()) KILN_RETURN_IF_ERROR(lexer_.Expect(","));
    const Position position = lexer_.next().position;
    KILN_ASSIGN_OR_RETURN(const std::string name, lexer_.ExpectName("a parameter"));
    KILN_RETURN_IF_ERROR(lexer_.Expect(":"));
    bool declared;
    if (lexer_.At("index")) {
      lexer_.Take();
      func.scalars.push_back(MakeVar(name));
      declared = scope.Declare(name, func.scalars.back());
    } else {
      KILN_ASSIGN_OR_RETURN(Buffer param, ParseBufferType(lexer_, name, BufferScope::kParam));
      declared = scope.Declare(name, param);
      func.params.push_back(std::move(param));
      ++func.num_inputs;
    }
    if (!declared) {
      return lexer_.ErrorAt(position, absl::StrCat("'", name, "' means something else already"));
    }
  }
  lexer_.Take();
  return absl::OkStatus();
}

absl::Status ProgramParser::Verify() {
  const Breach breach = FindBreach(program_);
  if (breach.status.ok()) return absl::OkStatus();
  Position position;
  if (breach.func < func_positions_.size()) position = func_positions_[breach.func];
  if (const auto it = positions_.find(breach.stmt); it != positions_.end()) position = it->second;
  return lexer_.ErrorAt(position, breach.status.message());
}

}  // namespace

absl::StatusOr<LoopProgram> ParseProgram(absl::string_view text, const ParseOptions& options) {
  if (static_cast<int64_t>(text.size()) > kMaxModelFileBytes) {
    return absl::InvalidArgumentError(absl::StrCat(options.file_name, ": found ", text.size(),
                                                   " bytes, wanted at most ", kMaxModelFileBytes));
  }
  return ProgramParser(text, options).Parse();
}

}  // namespace kiln::loop
