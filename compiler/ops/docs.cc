// SPDX-License-Identifier: Apache-2.0
// OpsMarkdown: the definitions of operators as text, and the dtypes that their `infer` accepts.
#include <algorithm>
#include <array>
#include <bitset>

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
    case AttrType::kReference:
      return "reference";
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

// The operator's behavior under a change of layout; empty if the fusion kind implies it.
std::string LayoutText(const LayoutTrait& layout) {
  switch (layout.rule) {
    case LayoutRule::kFixed:
      return "; in the model's layout";
    case LayoutRule::kElementwise:
      return "";
    case LayoutRule::kNamed:
      return absl::StrCat("; ", layout.attr, " names the layout");
    case LayoutRule::kAxis:
    case LayoutRule::kReduction:
    case LayoutRule::kOrderedReduction:
    case LayoutRule::kPerAxis:
    case LayoutRule::kSlice:
      return absl::StrCat("; ", layout.attr, " follows the layout");
    case LayoutRule::kReshape:
    case LayoutRule::kTranspose:
      return "; follows the layout where batch, height and width stay";
  }
  return "";
}

std::string TraitsText(const OpDef& op) {
  const OpTraits& traits = op.traits;
  std::string text = absl::StrCat(FusionName(traits.fusion), LayoutText(traits.layout));
  if (traits.view != View::kNone) {
    absl::StrAppend(&text, "; a view");
  } else if (traits.origin == Origin::kMoved) {
    absl::StrAppend(&text, "; moves data");
  } else if (traits.origin == Origin::kChosen) {
    absl::StrAppend(&text, "; chooses data");
  }
  if (traits.weight >= 0) {
    absl::StrAppend(
        &text, "; ",
        op.inputs[std::min(static_cast<size_t>(traits.weight), op.inputs.size() - 1)].name,
        " is packed");
  }
  if (traits.takes_byte_weights) absl::StrAppend(&text, " and may hold bytes if data holds floats");
  if (traits.quantized != nullptr) {
    absl::StrAppend(&text, "; quantized form ", traits.quantized);
  }
  return text;
}

// The text of a table cell.
std::string Cell(absl::string_view text) { return absl::StrReplaceAll(text, {{"|", "\\|"}}); }

constexpr std::array kDTypes = {DType::Bool(),    DType::Int(8),    DType::Int(16),
                                DType::Int(32),   DType::Int(64),   DType::UInt(8),
                                DType::UInt(16),  DType::UInt(32),  DType::UInt(64),
                                DType::Float(16), DType::Float(32), DType::Float(64)};
using DTypeSet = std::bitset<kDTypes.size()>;

DTypeSet SetOf(bool (*contains)(DType)) {
  DTypeSet set;
  for (size_t i = 0; i < kDTypes.size(); ++i) set[i] = contains(kDTypes[i]);
  return set;
}

Tensor Convert(const Tensor& tensor, DType dtype) {
  std::string bytes;
  for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
    bytes += Tensor::Scalar(dtype, tensor.AsDouble(i)).bytes();
  }
  return Tensor({tensor.type().shape, dtype}, std::move(bytes));
}

// True if type inference accepts the example with `dtype` as the dtype of the marked inputs.
bool Infers(const OpDef& op, const OpExample& example, const std::vector<bool>& marked,
            DType dtype) {
  const absl::StatusOr<Attrs> attrs = NormalizeAttrs(op, example.attrs);
  if (!attrs.ok()) return false;
  std::vector<TensorType> types = example.inputs;
  std::vector<Tensor> values = example.values;
  std::vector<const Tensor*> constants(types.size(), nullptr);
  for (size_t i = 0; i < types.size(); ++i) {
    if (marked[i]) types[i].dtype = dtype;
    if (i >= values.size() || values[i].empty()) continue;
    if (marked[i]) values[i] = Convert(values[i], dtype);
    constants[i] = &values[i];
  }
  return op.infer({.attrs = *attrs, .inputs = types, .constants = constants}).ok();
}

// The dtypes that input k may have in one of the examples: changed for input k only, or for all
// inputs that have the same dtype as k.
DTypeSet DTypesOfInput(const OpDef& op, size_t k) {
  DTypeSet found;
  for (const OpExample& example : op.examples) {
    if (k >= example.inputs.size()) continue;
    std::vector<bool> alone(example.inputs.size(), false), together = alone;
    alone[k] = true;
    for (size_t i = 0; i < together.size(); ++i) {
      together[i] = example.inputs[i].dtype == example.inputs[k].dtype;
    }
    for (size_t d = 0; d < kDTypes.size(); ++d) {
      found[d] = found[d] || Infers(op, example, together, kDTypes[d]) ||
                 Infers(op, example, alone, kDTypes[d]);
    }
  }
  return found;
}

std::string ToString(const DTypeSet& set) {
  const DTypeSet floats = SetOf([](DType d) { return d.is_float(); });
  const DTypeSet integers = SetOf([](DType d) { return d.is_integral(); });
  if (set.all()) return "any";
  std::string text;
  DTypeSet rest = set;
  const auto append = [&](absl::string_view name, const DTypeSet& named) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", name);
    rest &= ~named;
  };
  if ((rest & integers) == integers && (rest & floats) == floats) {
    append("numbers", integers | floats);
  }
  if ((rest & integers) == integers) append("integers", integers);
  if ((rest & floats) == floats) append("floats", floats);
  for (size_t i = 0; i < kDTypes.size(); ++i) {
    if (rest[i]) append(kDTypes[i].ToString(), DTypeSet());
  }
  return text;
}

void AppendInputs(const OpDef& op, std::string* out) {
  if (op.inputs.empty()) return;
  absl::StrAppend(out, "\n| input | dtypes | |\n|---|---|---|\n");
  const size_t optional = op.inputs.size() - static_cast<size_t>(op.num_optional_inputs);
  for (size_t k = 0; k < op.inputs.size(); ++k) {
    // With several tuples, an example does not tell which inputs belong to which tuple.
    const bool several = op.tuple_input && op.inputs.size() > 1;
    absl::StrAppend(out, "| ", op.inputs[k].name, op.tuple_input && !several ? " (tuple)" : "",
                    k >= optional ? " (optional)" : "", " | ",
                    several ? "as described" : ToString(DTypesOfInput(op, k)), " | ",
                    Cell(op.inputs[k].doc), " |\n");
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
      "# Operators\n\n"
      "Generated from `compiler/ops` by `bazel run //docs:update_ops`.\n\n"
      "Each operator has its Relay name, a description, its traits in parentheses, its inputs, "
      "its attributes and its\n"
      "constraints. The traits (`compiler/ops/traits.h`) say how the operator joins others in one "
      "function, how it follows a\n"
      "change of layout, and if it moves data. Type inference cites the constraints by number.\n\n"
      "*dtypes* are the dtypes that type inference accepts. Numbers are integers and floats. "
      "Integers are int8 to int64 and\n"
      "uint8 to uint64. Floats are float16, float32 and float64. The constraints say how dtypes "
      "combine.\n";
  for (const OpDef* op : AllOps()) {
    absl::StrAppend(&out, "\n## ", op->name, "\n\n", op->doc, " (", TraitsText(*op),
                    op->num_outputs == nullptr   ? ""
                    : op->gives_tuple == nullptr ? "; gives a tuple"
                                                 : "; gives a tuple, or with some attributes a "
                                                   "tensor",
                    ")\n");
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
