// SPDX-License-Identifier: Apache-2.0
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/ops/op_def.h"

namespace kiln {
namespace {

absl::string_view TypeName(AttrType type) {
  switch (type) {
    case AttrType::kBool:
      return "bool";
    case AttrType::kInt:
      return "int";
    case AttrType::kFloat:
      return "float";
    case AttrType::kString:
      return "string";
    case AttrType::kDType:
      return "dtype";
    case AttrType::kInts:
      return "ints";
    case AttrType::kFloats:
      return "floats";
    case AttrType::kIntLists:
      return "lists of ints";
    case AttrType::kIntOrInts:
      return "int or ints";
  }
  return "";
}

absl::string_view FusionName(Fusion fusion) {
  switch (fusion) {
    case Fusion::kElementwise:
      return "element-wise";
    case Fusion::kInjective:
      return "injective";
    case Fusion::kReduction:
      return "reduction";
    case Fusion::kContraction:
      return "contraction";
    case Fusion::kOpaque:
      return "opaque";
  }
  return "";
}

// Text of a table's cell.
std::string Cell(absl::string_view text) { return absl::StrReplaceAll(text, {{"|", "\\|"}}); }

void AppendInputs(const OpDef& op, std::string* out) {
  if (op.inputs.empty()) return;
  absl::StrAppend(out, "\n| input | |\n|---|---|\n");
  const size_t optional = op.inputs.size() - static_cast<size_t>(op.num_optional_inputs);
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    absl::StrAppend(out, "| ", op.inputs[k].name, op.tuple_input ? " (tuple)" : "",
                    k >= optional ? " (optional)" : "", " | ", Cell(op.inputs[k].doc), " |\n");
  }
}

void AppendAttrs(const OpDef& op, std::string* out) {
  if (op.attrs.empty()) return;
  absl::StrAppend(out, "\n| attribute | type | default | |\n|---|---|---|---|\n");
  for (const AttrSchema& attr : op.attrs) {
    absl::StrAppend(
        out, "| ", attr.name, " | ", TypeName(attr.type), " | ",
        attr.required ? "required" : absl::StrCat("`", Cell(attr.default_value.ToString()), "`"),
        " | ", Cell(attr.doc), " |\n");
  }
}

}  // namespace

std::string OpsMarkdown() {
  std::string out =
      "# Operators\n\nGenerated from compiler/ops by OpsMarkdown. Each operator has its Relay "
      "name; the error messages of type inference "
      "cite its numbered constraints.\n";
  for (const OpDef* op : AllOps()) {
    absl::StrAppend(&out, "\n## ", op->name, "\n\n", op->doc, " (", FusionName(op->fusion), ")\n");
    AppendInputs(*op, &out);
    AppendAttrs(*op, &out);
    if (!op->constraints.empty()) absl::StrAppend(&out, "\nConstraints:\n\n");
    for (size_t k = 0; k < op->constraints.size(); ++k) {
      absl::StrAppend(&out, k + 1, ". ", op->constraints[k], "\n");
    }
  }
  return out;
}

}  // namespace kiln
