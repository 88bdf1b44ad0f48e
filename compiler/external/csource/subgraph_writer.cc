// SPDX-License-Identifier: Apache-2.0
// Element-wise operators become scalars in the loops over stored tensors, which are outputs of the
// subgraph and results of dense layers. So only results of dense layers take memory. Results that
// are not live at the same time share memory.
#include "compiler/external/csource/subgraph_writer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"

namespace kiln::csource {
namespace {

constexpr size_t kLiteralsPerLine = 8;

// Returns the exact value of an element as a C expression.
std::string Literal(const Tensor& tensor, int64_t i) {
  if (tensor.type().dtype.is_int()) {
    const int64_t value = tensor.AsInt(i);
    return value == INT32_MIN ? "(-2147483647 - 1)" : absl::StrCat(value);
  }
  const double value = tensor.AsDouble(i);
  const bool negative = std::signbit(value);
  if (std::isnan(value)) return "NAN";
  if (std::isinf(value)) return negative ? "(-INFINITY)" : "INFINITY";
  return negative ? absl::StrFormat("(%af)", value) : absl::StrFormat("%af", value);
}

std::string Binary(absl::string_view op, DType dtype, const std::string& a, const std::string& b) {
  if (op == "maximum") return absl::StrCat(b, " > ", a, " ? ", b, " : ", a);
  if (op == "minimum") return absl::StrCat(b, " < ", a, " ? ", b, " : ", a);
  const absl::string_view sign = op == "subtract" ? " - " : op == "multiply" ? " * " : " + ";
  if (dtype.is_float()) return absl::StrCat(a, sign, b);
  // Integers wrap around.
  return absl::StrCat("(int32_t)((uint32_t)", a, sign, "(uint32_t)", b, ")");
}

// C expressions of an element's indices, one per axis.
using Index = std::vector<std::string>;

class SubgraphWriter {
 public:
  SubgraphWriter(const Graph& body, std::string name) : body_(body), name_(std::move(name)) {}

  absl::StatusOr<std::string> Run(bool exported) && {
    for (size_t i = 0; i < body_.inputs.size(); ++i) {
      Line(absl::StrCat("const ", CTypeOf(body_.inputs[i]), "* const p", i, " = (const ",
                        CTypeOf(body_.inputs[i]), "*)in", i, ";"));
      memory_[body_.inputs[i]] = absl::StrCat("p", i);
    }
    for (size_t i = 0; i < body_.outputs.size(); ++i) {
      Line(absl::StrCat(CTypeOf(body_.outputs[i]), "* const o", i, " = (",
                        CTypeOf(body_.outputs[i]), "*)out", i, ";"));
    }
    const std::string parameters = std::exchange(code_, "");
    const std::vector<Step> steps = Steps();
    for (size_t s = 0; s < steps.size(); ++s) {
      for (NodeId dense : steps[s].reads) last_step_[dense] = s;
    }
    for (size_t s = 0; s < steps.size(); ++s) {
      if (steps[s].dense != kNoId) {
        WriteDense(body_.node(steps[s].dense), s);
      } else {
        WriteOutput(steps[s].output);
      }
    }
    KILN_ASSIGN_OR_RETURN(const std::string arrays, Arrays());
    const std::string signature = absl::StrCat("int32_t ", name_, "(", ParameterList(body_), ")");
    return absl::StrCat(constants_, exported ? absl::StrCat(signature, ";\n") : "",
                        exported ? "" : "static ", signature, " {\n", parameters, arrays, code_,
                        "  return 0;\n}\n");
  }

 private:
  // One step of the function: it computes a dense layer or stores an output.
  struct Step {
    NodeId dense = kNoId;
    size_t output = 0;
    std::set<NodeId> reads;  // dense layers whose results the step reads
  };

  // An array on the stack.
  struct Array {
    DType dtype;
    int64_t elements;
    size_t last_step;  // last step that reads the current contents
  };

  bool IsDense(NodeId id) const { return body_.node(id).op_name() == "nn.dense"; }

  // The dense layers whose results the elements of `value` depend on.
  std::set<NodeId> DenseBehind(ValueId value) const {
    std::set<NodeId> dense, seen;
    std::vector<ValueId> work = {value};
    while (!work.empty()) {
      const Value& next = body_.value(work.back());
      work.pop_back();
      if (next.kind != ValueKind::kNodeOutput || !seen.insert(next.node).second) continue;
      if (IsDense(next.node)) {
        dense.insert(next.node);
        continue;
      }
      for (ValueId input : body_.node(next.node).inputs) work.push_back(input);
    }
    return dense;
  }

  // Dense layers in order, each followed by the outputs whose dense layers are then complete.
  // Outputs without dense layers come last.
  std::vector<Step> Steps() const {
    std::vector<Step> steps, outputs;
    for (size_t i = 0; i < body_.outputs.size(); ++i) {
      outputs.push_back({.output = i, .reads = DenseBehind(body_.outputs[i])});
    }
    for (NodeId id = 0; id < static_cast<NodeId>(body_.nodes.size()); ++id) {
      if (!IsDense(id)) continue;
      Step& step = steps.emplace_back(Step{.dense = id});
      for (ValueId input : body_.node(id).inputs) step.reads.merge(DenseBehind(input));
      for (const Step& output : outputs) {
        if (!output.reads.empty() && *output.reads.rbegin() == id) steps.push_back(output);
      }
    }
    for (const Step& output : outputs) {
      if (output.reads.empty()) steps.push_back(output);
    }
    return steps;
  }

  // Returns the name of an array for the result of a dense layer that step `step` computes.
  std::string ArrayFor(const Node& dense, size_t step) {
    const TensorType& type = Type(dense.outputs[0]);
    const NodeId id = body_.value(dense.outputs[0]).node;
    const auto last = last_step_.find(id);
    const size_t last_step = last == last_step_.end() ? step : last->second;
    size_t i = 0;
    while (i < arrays_.size() && (arrays_[i].last_step >= step || arrays_[i].dtype != type.dtype)) {
      ++i;
    }
    if (i == arrays_.size()) arrays_.push_back({type.dtype, 0, 0});
    arrays_[i].elements = std::max(arrays_[i].elements, type.num_elements());
    arrays_[i].last_step = last_step;
    return absl::StrCat("d", i);
  }

  // Returns the declarations of the arrays. Unimplemented if they exceed kMaxStackBytes.
  absl::StatusOr<std::string> Arrays() const {
    std::string text;
    int64_t bytes = 0;
    for (size_t i = 0; i < arrays_.size(); ++i) {
      bytes += arrays_[i].elements * arrays_[i].dtype.bytes();
      absl::StrAppend(&text, "  ", CType(arrays_[i].dtype), " d", i, "[", arrays_[i].elements,
                      "];\n");
    }
    if (bytes <= kMaxStackBytes) return text;
    return absl::UnimplementedError(absl::StrCat(
        name_, ": found ", bytes,
        " bytes of results of dense layers that are needed at the same time, wanted at most ",
        kMaxStackBytes, ", because they lie on the stack; leave csource out of --external"));
  }

  void WriteOutput(size_t i) {
    const std::string output = absl::StrCat("o", i);
    const auto memory = memory_.find(body_.outputs[i]);
    if (memory == memory_.end() || memory->second != output) Store(body_.outputs[i], output);
  }

  const TensorType& Type(ValueId value) const { return body_.type(value); }
  std::string CTypeOf(ValueId value) const { return CType(Type(value).dtype); }

  void Line(absl::string_view text) {
    absl::StrAppend(&code_, std::string(2 * depth_, ' '), text, "\n");
  }
  void Open(absl::string_view text) {
    Line(absl::StrCat(text, " {"));
    ++depth_;
  }
  void Close() {
    --depth_;
    Line("}");
  }
  void OpenLoop(const std::string& variable, int64_t extent) {
    Open(absl::StrCat("for (int32_t ", variable, " = 0; ", variable, " < ", extent, "; ++",
                      variable, ")"));
  }

  // Returns the index into a tensor with `shape` for the position `index` of a shape that it
  // broadcasts to.
  static Index Broadcast(const Shape& shape, const Index& index) {
    Index result(index.end() - static_cast<std::ptrdiff_t>(shape.size()), index.end());
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 1) result[i] = "0";
    }
    return result;
  }

  // In a flat loop, `i` indexes all tensors with more than one element.
  std::string Offset(const Shape& shape, const Index& index) const {
    if (is_flat_) return NumElements(shape) == 1 ? "0" : "i";
    const Shape strides = RowMajorStrides(shape);
    std::vector<std::string> terms;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 1) continue;
      terms.push_back(strides[i] == 1 ? index[i] : absl::StrCat(index[i], " * ", strides[i]));
    }
    return terms.empty() ? "0" : absl::StrJoin(terms, " + ");
  }

  // Loads an element of a constant, or of a value in memory.
  std::string Load(ValueId value, const Index& index) {
    const Tensor& constant = body_.value(value).constant;
    if (body_.is_constant(value) && Type(value).num_elements() == 1) return Literal(constant, 0);
    if (body_.is_constant(value) && memory_.count(value) == 0) WriteConstant(value, constant);
    return absl::StrCat(memory_.at(value), "[", Offset(Type(value).shape, index), "]");
  }

  void WriteConstant(ValueId value, const Tensor& constant) {
    const std::string name = memory_[value] = absl::StrCat(name_, "_k", num_constants_++);
    absl::StrAppend(&constants_, "static const ", CTypeOf(value), " ", name, "[",
                    Type(value).num_elements(), "] = {");
    for (int64_t i = 0; i < Type(value).num_elements(); ++i) {
      const bool wraps = static_cast<size_t>(i) % kLiteralsPerLine == 0;
      absl::StrAppend(&constants_, wraps ? "\n    " : " ", Literal(constant, i), ",");
    }
    absl::StrAppend(&constants_, "\n};\n");
  }

  // Nodes that have to be computed for an element of `value` because they are not in memory, in
  // order.
  std::set<NodeId> Needed(ValueId value) const {
    std::set<NodeId> needed;
    std::vector<ValueId> work = {value};
    while (!work.empty()) {
      const ValueId next = work.back();
      work.pop_back();
      if (memory_.count(next) != 0 || body_.value(next).kind != ValueKind::kNodeOutput) continue;
      const NodeId id = body_.value(next).node;
      if (!needed.insert(id).second) continue;
      for (ValueId input : body_.node(id).inputs) work.push_back(input);
    }
    return needed;
  }

  // Writes code that computes the element of `value` at `index`, and returns its expression.
  // `prefix` distinguishes the variables of two such elements in one scope.
  std::string Element(ValueId value, const Index& index, const std::string& prefix) {
    const auto operand = [&](ValueId input, const Index& at) {
      const Value& v = body_.value(input);
      if (memory_.count(input) != 0 || v.kind != ValueKind::kNodeOutput) return Load(input, at);
      return absl::StrCat(prefix, v.node);
    };
    for (NodeId id : Needed(value)) {
      const Node& node = body_.node(id);
      const TensorType& type = Type(node.outputs[0]);
      const Index own = Broadcast(type.shape, index);
      const auto broadcast = [&](size_t i) {
        return operand(node.inputs[i], Broadcast(Type(node.inputs[i]).shape, own));
      };
      std::string expression;
      if (node.op_name() == "nn.relu") {
        const std::string x = broadcast(0);
        expression = absl::StrCat("0 > ", x, " ? 0 : ", x);
      } else if (node.op_name() == "nn.bias_add") {
        const int64_t axis = node.attrs.Int("axis");
        const size_t at = static_cast<size_t>(axis < 0 ? axis + type.rank() : axis);
        expression = Binary("add", type.dtype, broadcast(0), operand(node.inputs[1], {own[at]}));
      } else {
        expression = Binary(node.op_name(), type.dtype, broadcast(0), broadcast(1));
      }
      Line(absl::StrCat("const ", CType(type.dtype), " ", prefix, id, " = ", expression, ";"));
    }
    return operand(value, index);
  }

  // True if element i of `value` depends only on elements i of tensors of the same shape, and on
  // scalars.
  bool IsFlat(ValueId value) const {
    const std::set<NodeId> needed = Needed(value);
    const auto is_flat = [&](ValueId v) {
      return Type(v).shape == Type(value).shape || Type(v).num_elements() == 1;
    };
    return std::all_of(needed.begin(), needed.end(), [&](NodeId id) {
      const Node& node = body_.node(id);
      return node.op_name() != "nn.bias_add" && is_flat(node.outputs[0]) &&
             std::all_of(node.inputs.begin(), node.inputs.end(), is_flat);
    });
  }

  // Writes loops that store `value` in `memory`.
  void Store(ValueId value, const std::string& memory) {
    const Shape& shape = Type(value).shape;
    if (IsFlat(value)) {
      OpenLoop("i", Type(value).num_elements());
      is_flat_ = true;
      const std::string element = Element(value, Index(shape.size(), "i"), "v");
      is_flat_ = false;
      Line(absl::StrCat(memory, "[i] = ", element, ";"));
      Close();
      return;
    }
    const Index index = OpenLoops(shape);
    const std::string element = Element(value, index, "v");
    Line(absl::StrCat(memory, "[", Offset(shape, index), "] = ", element, ";"));
    for (size_t i = 0; i < shape.size(); ++i) Close();
  }

  Index OpenLoops(const Shape& shape) {
    Index index;
    for (size_t i = 0; i < shape.size(); ++i) {
      index.push_back(absl::StrCat("i", i));
      OpenLoop(index.back(), shape[i]);
    }
    return index;
  }

  void WriteDense(const Node& node, size_t step) {
    const ValueId data = node.inputs[0], weight = node.inputs[1], result = node.outputs[0];
    const auto output = std::find(body_.outputs.begin(), body_.outputs.end(), result);
    const std::string memory = output == body_.outputs.end()
                                   ? ArrayFor(node, step)
                                   : absl::StrCat("o", output - body_.outputs.begin());
    const DType dtype = Type(result).dtype;
    const Index index = OpenLoops(Type(result).shape);
    Index data_index = index;
    data_index.back() = "k";
    Line(absl::StrCat(CType(dtype), " sum = 0;"));
    OpenLoop("k", Type(weight).shape[1]);
    const std::string a = Element(data, data_index, "a");
    const std::string b = Element(weight, {index.back(), "k"}, "b");
    const std::string product = absl::StrCat("(", Binary("multiply", dtype, a, b), ")");
    Line(absl::StrCat("sum = ", Binary("add", dtype, "sum", product), ";"));
    Close();
    Line(absl::StrCat(memory, "[", Offset(Type(result).shape, index), "] = sum;"));
    for (size_t i = 0; i < index.size(); ++i) Close();
    memory_[result] = memory;
  }

  const Graph& body_;
  const std::string name_;
  std::string constants_, code_;
  std::map<ValueId, std::string> memory_;  // the array of each value that has one
  std::vector<Array> arrays_;
  std::map<NodeId, size_t> last_step_;  // last step that reads the result of each dense layer
  size_t depth_ = 1;
  int num_constants_ = 0;
  bool is_flat_ = false;
};

}  // namespace

std::string CType(DType dtype) { return dtype.is_float() ? "float" : "int32_t"; }

std::string ParameterList(const Graph& body) {
  std::vector<std::string> parameters;
  for (size_t i = 0; i < body.inputs.size(); ++i) {
    parameters.push_back(absl::StrCat("void* in", i));
  }
  for (size_t i = 0; i < body.outputs.size(); ++i) {
    parameters.push_back(absl::StrCat("void* out", i));
  }
  return absl::StrJoin(parameters, ", ");
}

absl::StatusOr<std::string> WriteSubgraph(const Graph& body, const std::string& name,
                                          bool exported) {
  return SubgraphWriter(body, name).Run(exported);
}

}  // namespace kiln::csource
