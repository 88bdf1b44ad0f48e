// SPDX-License-Identifier: Apache-2.0
// Stores of vectors in C: by Helium's intrinsics, and as loops over the lanes.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/codegen/c/expr_printer.h"
#include "compiler/codegen/c/function_printer.h"
#include "compiler/codegen/c/helium.h"
#include "compiler/codegen/c/helpers.h"
#include "compiler/loop/lane_of.h"

namespace kiln::codegen {
namespace {

using loop::Expr;
using loop::Stmt;

// Replaces `$0`, `$1`, … in the text by the operands.
std::string WithNumberedOperands(const std::string& text,
                                 const std::vector<std::string>& operands) {
  std::vector<std::pair<std::string, std::string>> replacements;
  for (size_t i = 0; i < operands.size(); ++i) {
    replacements.emplace_back(absl::StrCat("$", i), operands[i]);
  }
  return absl::StrReplaceAll(text, replacements);
}

// The store as a loop over the lanes.
Stmt LoopOverLanes(const loop::Store& store) {
  const loop::Var lane = loop::MakeVar("lane");
  return loop::MakeFor(lane, 0, store.value.type().lanes, loop::ForKind::kSerial,
                       loop::MakeStore(store.buffer, {loop::LaneOf(store.index[0], lane)},
                                       loop::LaneOf(store.value, lane)));
}

const loop::Store* AsVectorStore(const Stmt& s) {
  const auto* store = s.As<loop::Store>();
  const bool is_vector = store != nullptr && store->value.type().is_vector();
  return is_vector && HeliumStoreOf(*store).has_value() ? store : nullptr;
}

}  // namespace

void Helpers::Helium(const HeliumFunction& function) {
  if (function.name.empty()) return;
  Define(function.name,
         absl::StrCat("#if ", kHeliumMacro, "\n", function.definition, "#endif\n\n"));
}

ExprPrinter::Text ExprPrinter::MakeVector(const Expr& e) {
  const std::optional<HeliumCall> call = HeliumCallOf(e);
  if (!call.has_value()) {
    return Fail(absl::StrCat("a vector of type ", e.type().ToString(), " in ", ToString(e)));
  }
  context_.helpers.Helium(call->function);
  std::vector<std::string> operands;
  if (const auto* load = e.As<loop::Load>()) {
    const auto* ramp = load->index[0].As<loop::Ramp>();
    operands.push_back(ElementAddress({load->buffer, ramp == nullptr ? Expr(0) : ramp->base}));
  }
  for (const Expr& operand : call->operands) operands.push_back(Print(operand));
  return {WithNumberedOperands(call->text, operands), kPrimary};
}

size_t FunctionPrinter::PrintVectorStores(absl::Span<const Stmt> stmts) {
  std::vector<const loop::Store*> stores;
  for (const Stmt& s : stmts) {
    const loop::Store* store = AsVectorStore(s);
    if (store == nullptr) break;
    stores.push_back(store);
  }
  if (stores.empty()) return 0;
  context_.uses_helium = true;
  lines_.Directive(absl::StrCat("#if ", kHeliumMacro));
  for (const loop::Store* store : stores) {
    const HeliumStore vector = *HeliumStoreOf(*store);
    context_.helpers.Helium(vector.function);
    exprs_.Begin({&vector.offset, &vector.value});
    const std::string address = exprs_.ElementAddress({store->buffer, vector.offset});
    lines_.Line(WithNumberedOperands(vector.text, {address, exprs_.Print(vector.value)}));
  }
  lines_.Directive("#else");
  for (const loop::Store* store : stores) PrintStmt(LoopOverLanes(*store));
  lines_.Directive("#endif");
  return stores.size();
}

}  // namespace kiln::codegen
