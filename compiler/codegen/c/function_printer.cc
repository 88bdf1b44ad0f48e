// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/c/function_printer.h"

#include <algorithm>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"
#include "compiler/codegen/c/analysis.h"
#include "compiler/codegen/c/cpu_choice_printer.h"
#include "compiler/codegen/c/literals.h"
#include "compiler/loop/mutate.h"
#include "compiler/loop/scalars.h"

namespace kiln::codegen {
namespace {

using loop::Buffer;
using loop::Func;
using loop::Stmt;

bool ContainsWord(absl::string_view text, absl::string_view word) {
  const auto is_part = [](char c) { return absl::ascii_isalnum(c) || c == '_'; };
  for (size_t at = text.find(word); at != absl::string_view::npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_part(text[at - 1])) && (end == text.size() || !is_part(text[end])))
      return true;
  }
  return false;
}

constexpr int64_t kMaxExpandedLanes = 16;  // GCC does not expand longer loops

// True for a loop over a few lanes that adds to a local sum in each of them.
bool AddsToLanes(const loop::For& node) {
  const auto* extent = node.extent.As<loop::IntImm>();
  const auto* store = node.body.As<loop::Store>();
  if (node.kind != loop::ForKind::kVectorized || extent == nullptr || store == nullptr ||
      extent->value > kMaxExpandedLanes || store->buffer->scope != loop::BufferScope::kLocal) {
    return false;
  }
  bool reads = false;
  loop::VisitExpr(store->value, [&](const loop::Expr& e) {
    const auto* load = e.As<loop::Load>();
    reads |= load != nullptr && load->buffer == store->buffer;
  });
  return reads;
}

// True if the statement has arrays on the stack, or vectors, which compilers spill to the stack.
bool TakesStack(const Stmt& s) {
  bool found = false;
  loop::VisitStmt(
      s, [](const loop::Expr&) {},
      [&](const Stmt& part) {
        const auto* node = part.As<loop::Allocate>();
        const auto* store = part.As<loop::Store>();
        found |= node != nullptr && node->buffer->scope == loop::BufferScope::kLocal;
        found |= store != nullptr && store->value.type().is_vector();
      });
  return found;
}

}  // namespace

void FunctionPrinter::Fail(const std::string& message) {
  status_.Update(absl::InternalError(absl::StrCat("C code generator: ", message)));
}

void FunctionPrinter::NameParams() {
  const auto direct = DirectlyUsed(context_, func_);
  for (const loop::Var& scalar : func_.scalars) {
    const auto* var = scalar.As<loop::VarNode>();
    scalars_.push_back(context_.names.AddLocal(var->name));
    vars_[scalar.get()] = scalars_.back();
  }
  std::vector<Buffer> pointers = PointerParams(func_);
  // A packed function passes the workspace that it has allocated to its body.
  if (func_.workspace != nullptr && func_.allocate_workspace) pointers.push_back(func_.workspace);
  for (const Buffer& buffer : pointers) {
    Param param{buffer, context_.names.AddLocal(buffer->name), ""};
    if (info_.untyped && !IsScratch(func_, buffer) && direct.contains(buffer.get())) {
      param.local_name = std::move(param.name);
      param.name = context_.names.AddLocal(absl::StrCat(param.local_name, "_ptr"));
    }
    buffers_[buffer.get()] = param.local_name.empty() ? param.name : param.local_name;
    params_.push_back(std::move(param));
  }
  for (const Param& param : params_) info_.pointer_names.push_back(param.name);
  info_.scalar_names = scalars_;
}

std::string FunctionPrinter::PointerType(size_t param) const {
  const bool written = param >= info_.written.size() || info_.written[param];
  return absl::StrCat(written ? "" : "const ", CType(params_[param].buffer->dtype), "*");
}

const char* FunctionPrinter::Restrict(size_t param) const {
  const bool is_constant = param < info_.takes_memory.size() && !info_.takes_memory[param];
  return info_.overlaps && !is_constant ? " " : " restrict ";
}

std::string FunctionPrinter::Signature() const {
  std::vector<std::string> list;
  const auto add_scalar = [&](size_t i) {
    list.push_back(
        absl::StrCat(CType(context_.DTypeOf(func_.scalars[i].type())), " ", scalars_[i]));
  };
  for (size_t i = 0; i < loop::NumLeadingScalars(func_); ++i) add_scalar(i);
  std::vector<absl::string_view> untyped = UntypedPointers(info_);
  // The body of a packed function takes the workspace as well.
  untyped.resize(params_.size(), "uint8_t*");
  for (size_t i = 0; i < params_.size(); ++i) {
    list.push_back(info_.untyped ? absl::StrCat(untyped[i], " ", params_[i].name)
                                 : absl::StrCat(PointerType(i), Restrict(i), params_[i].name));
  }
  for (size_t i = loop::NumLeadingScalars(func_); i < scalars_.size(); ++i) add_scalar(i);
  return absl::StrCat("int32_t ", info_.body_name, "(",
                      list.empty() ? "void" : absl::StrJoin(list, ", "), ")");
}

std::string FunctionPrinter::Prototype() const {
  if (func_.convention == loop::Convention::kPacked)
    return absl::StrCat("TVM_DLL int ", func_.name, "(", kPackedParameters, ")");
  // Without names, because they may be file-scope names of other tensors.
  const std::vector<absl::string_view> list = UntypedPointers(info_);
  return absl::StrCat("int32_t ", func_.name, "(",
                      list.empty() ? "void" : absl::StrJoin(list, ", "), ")");
}

absl::Status FunctionPrinter::Print(std::string* out) {
  Names::Scope scope(context_.names);
  context_.helpers.SetTarget(func_.target, context_.TargetOf(func_));
  NameParams();
  PrintBody(func_.body);
  KILN_RETURN_IF_ERROR(status_);
  if (!exprs_.status().ok()) return Annotate(exprs_.status(), absl::StrCat(func_.name, ": "));

  LineWriter head(1);
  const std::string& body = lines_.text();
  if (ContainsWord(body, kStatus)) head.Line(absl::StrCat("int32_t ", kStatus, ";"));
  for (size_t i = 0; i < params_.size(); ++i) {
    const Param& param = params_[i];
    if (param.local_name.empty()) {
      if (!ContainsWord(body, param.name)) head.Line(absl::StrCat("(void)", param.name, ";"));
    } else if (ContainsWord(body, param.local_name)) {
      head.Line(absl::StrCat(PointerType(i), Restrict(i), param.local_name, " = (", PointerType(i),
                             ")", param.name, ";"));
    } else {
      head.Line(absl::StrCat("(void)", param.name, ";"));
    }
  }
  for (const std::string& scalar : scalars_) {
    if (!ContainsWord(body, scalar)) head.Line(absl::StrCat("(void)", scalar, ";"));
  }
  if (func_.is_copy) {
    head.Line(absl::StrCat("if ((const void*)", params_[0].name, " == (const void*)",
                           params_[1].name, ") return 0;"));
  }
  const bool is_static = !info_.untyped;
  const bool stays = is_static && context_.target.short_of_memory && TakesStack(func_.body);
  if (stays) context_.macros.insert(kNotInlinedMacro);
  absl::StrAppend(out, CpuVariantPrefix(func_.target),
                  stays ? absl::StrCat(kNotInlinedMacro, " ") : "", is_static ? "static " : "",
                  Signature(), " {\n", head.text(), BeforeMatrices(), body, BehindMatrices(),
                  "  return 0;\n}\n\n");
  if (func_.kind == Func::Kind::kTask) {
    context_.uses_tvm_headers = true;
    out->append(Trampoline());
  } else if (func_.convention == loop::Convention::kPacked) {
    out->append(PackedWrapper(context_, info_));
  }
  return absl::OkStatus();
}

void FunctionPrinter::PrintBody(const Stmt& s) {
  Names::Scope scope(context_.names);
  if (const auto* node = s.As<loop::Allocate>()) {
    PrintAllocate(*node);
  } else {
    PrintStmt(s);
  }
}

void FunctionPrinter::PrintStmt(const Stmt& s) {
  if (!s || !status_.ok()) return;
  if (const auto* block = s.As<loop::Block>()) {
    for (size_t i = 0; i < block->stmts.size();) {
      const size_t printed = PrintVectorStores(absl::MakeConstSpan(block->stmts).subspan(i));
      if (printed == 0) PrintStmt(block->stmts[i]);
      i += std::max<size_t>(printed, 1);
    }
  } else if (const auto* store = s.As<loop::Store>()) {
    const std::optional<loop::DotTile> tile = loop::AsDotTile(*store);
    if (tile.has_value() && PrintDotTile(*tile)) return;
    if (PrintDotVector(*store) || PrintVectorStores({s}) > 0) return;
    auto buffer = buffers_.find(store->buffer.get());
    if (store->index.size() != 1)
      return Fail(absl::StrCat("a store to ", store->buffer->name, " that is not flat"));
    if (buffer == buffers_.end())
      return Fail(absl::StrCat("buffer ", store->buffer->name, " is not in scope"));
    if (CType(context_.DTypeOf(store->value.type())) != CType(store->buffer->dtype)) {
      return Fail(absl::StrCat("a store of ", store->value.type().ToString(), " to ",
                               store->buffer->name, " of ", store->buffer->dtype.ToString()));
    }
    exprs_.Begin({&store->index[0], &store->value});
    const std::string index = exprs_.Print(store->index[0]);
    const std::string value = exprs_.Print(store->value);
    lines_.Line(absl::StrCat(buffer->second, "[", index, "] = ", value, ";"));
  } else if (const auto* node = s.As<loop::Prefetch>()) {
    PrintPrefetch(*node);
  } else if (const auto* node = s.As<loop::For>()) {
    const std::optional<loop::DotTile> tile = loop::AsDotTile(*node);
    if (!tile.has_value() || !PrintDotTile(*tile)) PrintFor(*node);
  } else if (const auto* node = s.As<loop::If>()) {
    PrintIf(*node);
  } else if (s.As<loop::Allocate>() != nullptr) {
    lines_.Open("{");
    PrintBody(s);
    lines_.Close();
  } else if (const auto* node = s.As<loop::Call>()) {
    PrintCall(*node);
  } else if (const auto* node = s.As<loop::Launch>()) {
    PrintLaunch(*node);
  } else if (const auto* node = s.As<loop::Fail>()) {
    PrintFail(*node);
  }
}

void FunctionPrinter::PrintPrefetch(const loop::Prefetch& node) {
  const std::string* name = exprs_.NameOf(node.buffer.get());
  if (name == nullptr) return Fail(absl::StrCat("buffer ", node.buffer->name, " is not in scope"));
  exprs_.Begin({&node.offset});
  const std::string offset = exprs_.Print(node.offset, kMultiplicative);
  // The offset is in bytes, since the address may be outside of the buffer.
  lines_.Line(absl::StrCat("__builtin_prefetch((const char*)", *name, " + ", offset, " * ",
                           node.buffer->dtype.bytes(),
                           node.level == 1 ? ");" : ", 0 /* read */, 2 /* second cache */);"));
}

void FunctionPrinter::PrintFor(const loop::For& node) {
  const auto* begin_imm = node.begin.As<loop::IntImm>();
  const auto* extent_imm = node.extent.As<loop::IntImm>();
  const DType index = context_.DTypeOf(node.var.type());
  const std::string type = CType(index);
  exprs_.Begin({&node.begin, &node.extent});
  std::string begin = exprs_.Print(node.begin, kAdditive);
  const std::string extent = exprs_.Print(node.extent, kMultiplicative);
  const std::string& wanted = node.var.As<loop::VarNode>()->name;
  // Evaluates a bound that is not fixed once, because the body may store to its operands. The
  // variable is declared in the enclosing block, where another loop may need the same name.
  const auto read_once = [&](const char* suffix, const std::string& value) {
    const std::string name = context_.names.AddLocal(absl::StrCat(wanted, suffix));
    lines_.Line(absl::StrCat("const ", type, " ", name, " = ", value, ";"));
    return name;
  };
  std::string end;
  if (begin_imm != nullptr && extent_imm != nullptr) {
    end = IntLiteral(index, begin_imm->value + extent_imm->value);
  } else {
    const bool fixed_begin = begin_imm != nullptr || node.begin.As<loop::VarNode>() != nullptr;
    const bool fixed_extent = extent_imm != nullptr || node.extent.As<loop::VarNode>() != nullptr;
    if (!fixed_begin) begin = read_once("_begin", begin);
    const bool from_zero = begin_imm != nullptr && begin_imm->value == 0;
    end = from_zero ? extent : absl::StrCat(begin, " + ", extent);
    if (!fixed_extent) end = read_once("_end", end);
  }
  Names::Scope scope(context_.names);
  const std::string var = context_.names.AddLocal(wanted);
  vars_[node.var.get()] = var;
  if (context_.target.has_os && AddsToLanes(node)) {
    context_.uses_lanes = true;
    lines_.Line("KILN_LANES");
  }
  const bool stays_rolled = context_.target.short_of_memory;
  context_.uses_rolled = context_.uses_rolled || stays_rolled;
  lines_.Open(absl::StrCat(stays_rolled ? "KILN_ROLLED " : "", "for (", type, " ", var, " = ",
                           begin, "; ", var, " < ", end, "; ++", var, ") {"));
  PrintBody(node.body);
  lines_.Close();
  vars_.erase(node.var.get());
}

void FunctionPrinter::PrintIf(const loop::If& node) {
  exprs_.Begin({&node.condition});
  const std::string condition = exprs_.Print(node.condition);
  lines_.Open(absl::StrCat("if (", condition, ") {"));
  PrintBody(node.then_body);
  if (node.else_body) {
    lines_.Else();
    PrintBody(node.else_body);
  }
  lines_.Close();
}

void FunctionPrinter::PrintAllocate(const loop::Allocate& node) {
  const loop::BufferNode& buffer = *node.buffer;
  std::string name = context_.names.AddLocal(buffer.name);
  const std::string type = CType(buffer.dtype);
  if (buffer.scope == loop::BufferScope::kWorkspace) {
    auto workspace = buffers_.find(func_.workspace.get());
    if (workspace == buffers_.end())
      return Fail(
          absl::StrCat(buffer.name, " lies in the workspace, and ", func_.name, " has none"));
    lines_.Line(absl::StrCat(type, "* restrict ", name, " = (", type, "*)(void*)(",
                             workspace->second, " + ", node.workspace_offset, ");"));
  } else {
    const bool fixed = buffer.scope == loop::BufferScope::kStatic;
    const std::string aligned =
        AlignmentPrefix(context_, buffer.alignment_bytes, buffer.dtype.bytes());
    const std::string elements =
        absl::StrCat("[", std::max<int64_t>(1, buffer.num_elements()), "];");
    if (fixed && !aligned.empty()) {
      // A union aligns by its type, for compilers on which KILN_ALIGNED is empty.
      lines_.Open(absl::StrCat(aligned, "static union {"));
      lines_.Line(absl::StrCat(type, " elements", elements));
      lines_.Line("int64_t alignment;");
      lines_.Close(absl::StrCat("} ", name, ";"));
      name += ".elements";
    } else {
      lines_.Line(absl::StrCat(aligned, fixed ? "static " : "", type, " ", name, elements));
    }
  }
  buffers_[node.buffer.get()] = name;
  PrintStmt(node.body);
  buffers_.erase(node.buffer.get());
}

std::string FunctionPrinter::Trampoline() const {
  std::vector<std::string> list;
  std::string members;
  for (size_t i = 0; i < scalars_.size() && i < 2; ++i)
    list.push_back(i == 0 ? "task_id" : "penv->num_task");
  for (size_t i = 0; i < params_.size(); ++i) {
    absl::StrAppend(&members, "  ", PointerType(i), " ", params_[i].name, ";\n");
    list.push_back(absl::StrCat("closure->", params_[i].name));
  }
  for (size_t i = 2; i < scalars_.size(); ++i) {
    absl::StrAppend(&members, "  ", CType(context_.DTypeOf(func_.scalars[i].type())), " ",
                    scalars_[i], ";\n");
    list.push_back(absl::StrCat("closure->", scalars_[i]));
  }
  const std::string closure = absl::StrCat("struct ", func_.name, "_closure");
  return absl::StrCat(
      closure, " {\n", members.empty() ? "  char unused;\n" : members, "};\n\nstatic int ",
      func_.name, "_launch(int task_id, TVMParallelGroupEnv* penv, void* cdata) {\n",
      members.empty() ? "  (void)cdata;\n" : "",
      members.empty()
          ? ""
          : absl::StrCat("  const ", closure, "* closure = (const ", closure, "*)cdata;\n"),
      "  return (int)", func_.name, "(", absl::StrJoin(list, ", "), ");\n}\n\n");
}

}  // namespace kiln::codegen
