// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/kernel.h"

#include <algorithm>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/base/identifier.h"
#include "compiler/base/status.h"
#include "compiler/loop/math.h"
#include "compiler/loop/mutate.h"
#include "compiler/ops/op_def.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

std::string Identifier(absl::string_view name, absl::string_view otherwise) {
  std::string id = WithIdentifierCharacters(name);
  return IsIdentifier(id) ? id : absl::StrCat(otherwise, id);
}

class KernelBuilder {
 public:
  KernelBuilder(std::string name, const Graph& body, const Target& target)
      : body_(body), target_(target) {
    kernel_.name = std::move(name);
  }

  absl::StatusOr<loop::Kernel> Run() && {
    for (ValueId input : body_.inputs) {
      kernel_.inputs.push_back(
          Make(input, Identifier(body_.value(input).name, "p"), loop::BufferScope::kParam));
    }
    for (const Node& node : body_.nodes) KILN_RETURN_IF_ERROR(AddNode(node));
    for (ValueId output : body_.outputs) {
      KILN_ASSIGN_OR_RETURN(loop::Buffer buffer, OutputOf(output));
      kernel_.outputs.push_back(std::move(buffer));
    }
    DropUnread();
    return std::move(kernel_);
  }

 private:
  loop::Buffer Make(ValueId value, std::string name, loop::BufferScope scope) {
    const TensorType& type = body_.type(value);
    return buffers_[value] = loop::MakeBuffer(std::move(name), type.dtype, type.shape, scope);
  }

  bool IsOutput(ValueId value) const {
    return std::find(body_.outputs.begin(), body_.outputs.end(), value) != body_.outputs.end();
  }

  loop::Buffer BufferOf(ValueId value) {
    const auto it = buffers_.find(value);
    if (it != buffers_.end()) return it->second;
    const Value& constant = body_.value(value);
    const loop::Buffer buffer =
        Make(value, Identifier(constant.name, absl::StrCat("constant", kernel_.constants.size())),
             loop::BufferScope::kConstant);
    kernel_.constants.push_back({buffer, constant.constant});
    return buffer;
  }

  // Returns the buffer of an output. It is a copy if no node makes the value, or if it is an output
  // already.
  absl::StatusOr<loop::Buffer> OutputOf(ValueId output) {
    const loop::Buffer made = BufferOf(output);
    const auto& outputs = kernel_.outputs;
    if (body_.value(output).kind == ValueKind::kNodeOutput &&
        std::find(outputs.begin(), outputs.end(), made) == outputs.end()) {
      return made;
    }
    loop::Buffer copy = loop::MakeBuffer(absl::StrCat("out", num_outputs_++), made->dtype,
                                         made->shape, loop::BufferScope::kParam);
    const Tensor* constant = body_.is_constant(output) ? &body_.value(output).constant : nullptr;
    const Attrs none;
    StageBuilder builder("out", none, {made}, {copy}, {constant});
    builder.Output(0, builder.Input(0));
    Take(std::move(builder).Finish());
    return copy;
  }

  absl::Status AddNode(const Node& node) {
    const OpDef* op = FindOp(node.op_name());
    if (op == nullptr || op->lower == nullptr) {
      return absl::UnimplementedError(absl::StrCat(node.source.ToString(), node.op_name(),
                                                   ": no code is made for this operator"));
    }
    std::vector<loop::Buffer> inputs, outputs;
    std::vector<const Tensor*> constants;
    for (ValueId input : node.inputs) {
      inputs.push_back(BufferOf(input));
      constants.push_back(body_.is_constant(input) ? &body_.value(input).constant : nullptr);
    }
    const std::string name = Identifier(node.op_name(), "op");
    for (ValueId output : node.outputs) {
      outputs.push_back(
          Make(output, IsOutput(output) ? absl::StrCat("out", num_outputs_++) : name,
               IsOutput(output) ? loop::BufferScope::kParam : loop::BufferScope::kWorkspace));
    }
    StageBuilder builder(name, node.attrs, std::move(inputs), std::move(outputs),
                         std::move(constants));
    if (absl::Status status = op->lower(builder); !status.ok()) {
      return Annotate(status, absl::StrCat(node.source.ToString(), node.op_name(), ": "));
    }
    StageBuilder::Result result = std::move(builder).Finish();
    if (op->traits.fuses_multiply_adds && target_.has_fma) {
      for (loop::Stage& stage : result.stages) stage.value = loop::FuseMultiplyAdds(stage.value);
    }
    Take(std::move(result));
    return absl::OkStatus();
  }

  void Take(StageBuilder::Result result) {
    for (loop::Stage& stage : result.stages) kernel_.stages.push_back(std::move(stage));
    for (loop::Constant& table : result.constants) kernel_.constants.push_back(std::move(table));
  }

  // Removes constants that no stage loads: constants of one element are literals, and scales are
  // folded into computed values.
  void DropUnread() {
    std::set<const loop::BufferNode*> read;
    const auto visit = [&](const loop::Expr& e) {
      if (const auto* load = e.As<loop::Load>()) read.insert(load->buffer.get());
    };
    for (const loop::Stage& stage : kernel_.stages) {
      loop::VisitExpr(stage.value, visit);
      for (const loop::Expr& index : stage.index) loop::VisitExpr(index, visit);
    }
    std::erase_if(kernel_.constants, [&](const loop::Constant& constant) {
      return !read.contains(constant.buffer.get());
    });
  }

  const Graph& body_;
  const Target& target_;
  loop::Kernel kernel_;
  std::map<ValueId, loop::Buffer> buffers_;
  int num_outputs_ = 0;
};

}  // namespace

absl::StatusOr<loop::Kernel> MakeKernel(std::string name, const Graph& body, const Target& target) {
  return KernelBuilder(std::move(name), body, target).Run();
}

Graph BodyOfNode(const Graph& graph, const Node& node) {
  Graph body;
  std::map<ValueId, ValueId> inside;
  Node copy = node;
  for (ValueId& input : copy.inputs) {
    const ValueId outer = input;
    const auto it = inside.find(outer);
    if (it != inside.end()) {
      input = it->second;
      continue;
    }
    input = graph.is_constant(outer)
                ? body.AddConstant(graph.value(outer).constant, graph.value(outer).name)
                : body.AddInput(absl::StrCat("p", body.inputs.size()), graph.type(outer));
    inside[outer] = input;
  }
  std::vector<TensorType> types;
  for (ValueId output : node.outputs) types.push_back(graph.type(output));
  copy.outputs.clear();
  const NodeId id = body.AddNode(std::move(copy), types);
  body.outputs = body.node(id).outputs;
  return body;
}

}  // namespace kiln
