// SPDX-License-Identifier: Apache-2.0
// Text of stages and kernels. The form is described in docs/loop_ir.md.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/loop/print_data.h"
#include "compiler/loop/print_expr.h"
#include "compiler/loop/stage.h"

namespace kiln::loop {
namespace {

const char* CombineName(Combine combine) {
  switch (combine) {
    case Combine::kNone:
      return "none";
    case Combine::kSum:
      return "sum";
    case Combine::kProd:
      return "prod";
    case Combine::kMax:
      return "max";
    case Combine::kMin:
      return "min";
    case Combine::kMaxOfNumbers:
      return "max of numbers";
  }
  return "";
}

std::string AxisList(NameTable& names, const std::vector<Axis>& axes) {
  return absl::StrJoin(axes, ", ", [&](std::string* out, const Axis& axis) {
    absl::StrAppend(out, names.Of(axis.var), " in 0..", axis.extent);
  });
}

// "f32[2, 3]", or "f32[2, 3] of f32[2, 5] from 3" for a slice.
std::string TypeOf(const Buffer& buffer) {
  std::string text = BufferTypeToString(*buffer);
  if (buffer->whole == nullptr) return text;
  return Concat(
      {text, " of ", BufferTypeToString(*buffer->whole), " from ", absl::StrCat(buffer->first)});
}

std::string PrintStage(const Stage& stage, NameTable& names, absl::string_view indent) {
  std::string text =
      absl::StrCat(indent, stage.update ? "update " : "stage ", names.Of(stage.buffer), ": ",
                   BufferTypeToString(*stage.buffer), "\n");
  const auto line = [&](absl::string_view s) { absl::StrAppend(&text, indent, "  ", s, "\n"); };
  int let_count = 0;
  ExprPrinter printer(names, let_count);
  std::vector<Expr> exprs = stage.index;
  exprs.push_back(stage.value);
  if (!stage.axes.empty()) line(absl::StrCat("for ", AxisList(names, stage.axes)));
  if (stage.combine != Combine::kNone) {
    line(Concat({CombineName(stage.combine), " over ", AxisList(names, stage.reduce), " from ",
                 stage.init.get() != nullptr ? printer.Print(stage.init) : "none"}));
  }
  if (stage.rank_axis.has_value()) {
    line(absl::StrCat("rank ", names.Of(stage.axes[*stage.rank_axis].var), " of ",
                      AxisList(names, stage.reduce)));
  }
  if (stage.check.has_value()) {
    exprs.push_back(stage.check->fails);
    exprs.push_back(stage.check->number);
  }
  for (const std::string& let : printer.Lets(exprs)) line(let);
  if (stage.check.has_value()) {
    line(Concat({"fail if ", printer.Print(stage.check->fails)}));
  }
  line(Concat({names.Of(stage.buffer), printer.PrintIndex(stage.index), " = ",
               printer.Print(stage.value)}));
  return text;
}

}  // namespace

std::string ToString(const Stage& stage) {
  NameTable names;
  return PrintStage(stage, names, "");
}

std::string ToString(const Kernel& kernel) {
  NameTable names;
  const auto buffers = [&](const std::vector<Buffer>& list) {
    return absl::StrJoin(list, ", ", [&](std::string* out, const Buffer& buffer) {
      absl::StrAppend(out, names.Of(buffer), ": ", TypeOf(buffer));
    });
  };
  std::string text = absl::StrCat("kernel ", kernel.name, "(", buffers(kernel.inputs), ") -> (");
  absl::StrAppend(&text, buffers(kernel.outputs), ") {\n");
  for (const Constant& constant : kernel.constants) {
    absl::StrAppend(&text, "  constant ", names.Of(constant.buffer), ": ",
                    BufferTypeToString(*constant.buffer), " = ", ContentsToString(constant.tensor),
                    "\n");
  }
  for (const Stage& stage : kernel.stages) absl::StrAppend(&text, PrintStage(stage, names, "  "));
  return text + "}\n";
}

}  // namespace kiln::loop
