// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lower.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/loop/mutate.h"
#include "compiler/lower/call_maker.h"
#include "compiler/lower/external_cost.h"
#include "compiler/lower/kernel.h"
#include "compiler/lower/known_kernels.h"
#include "compiler/lower/lives.h"
#include "compiler/lower/move.h"
#include "compiler/lower/slices.h"
#include "compiler/ops/op_queries.h"
#include "compiler/schedule/schedule.h"

namespace kiln {
namespace {

using loop::Expr;

// Bytes of memory traffic that count as one operation.
constexpr int64_t kBytesPerOperation = 8;

// Names constants after their function, so that names are unique in the program, and aligns them as
// the target requires.
void FinishConstants(Scheduled& scheduled, const Target& target) {
  std::unordered_map<const loop::BufferNode*, loop::Buffer> buffers;
  for (size_t i = 0; i < scheduled.constants.size(); ++i) {
    loop::Constant& constant = scheduled.constants[i];
    const loop::Buffer old = constant.buffer;
    constant.buffer =
        loop::MakeBuffer(absl::StrCat(scheduled.func.name, "_", old->name, "_", i), old->dtype,
                         old->shape, old->scope, target.buffer_alignment());
    buffers[old.get()] = constant.buffer;
  }
  if (!buffers.empty()) scheduled.func.body = loop::ReplaceBuffers(scheduled.func.body, buffers);
}

void AddConstants(const Scheduled& scheduled, loop::LoopProgram& program) {
  program.constants.insert(program.constants.end(), scheduled.constants.begin(),
                           scheduled.constants.end());
}

// Replaces parameters by slices if they are parts of values, or share memory with a parameter that
// is one. Returns the values that the function takes, each whole once.
std::vector<ValueId> SliceParams(const Graph& graph, const std::vector<Param>& params,
                                 std::vector<loop::Buffer>& buffers,
                                 std::map<loop::Buffer, loop::Buffer>& slices) {
  std::map<ValueId, loop::Buffer> wholes;
  for (const Param& param : params) {
    if (param.is_part()) wholes[param.at.whole] = nullptr;
  }
  std::vector<ValueId> values;
  for (size_t i = 0; i < params.size(); ++i) {
    const Slice& at = params[i].at;
    const auto it = wholes.find(at.whole);
    if (it == wholes.end()) {
      values.push_back(at.whole);
      continue;
    }
    loop::Buffer& buffer = buffers[i];
    if (it->second == nullptr) {
      values.push_back(at.whole);
      it->second = loop::MakeBuffer(buffer->name, buffer->dtype, graph.type(at.whole).shape,
                                    loop::BufferScope::kParam);
    }
    const loop::Buffer slice =
        loop::MakeSlice(buffer->name, buffer->shape, it->second, at.first, at.strides);
    slices[buffer] = slice;
    buffer = slice;
  }
  return values;
}

// Returns the load of the element that is the value of `e`. A float16 value may be converted to
// float32 and back.
const loop::Load* LoadOfValue(const Expr& e) {
  const auto* const narrowed = e.As<loop::Cast>();
  if (narrowed == nullptr || e.type().dtype != DType::Float(16)) return e.As<loop::Load>();
  const auto* const widened = narrowed->a.As<loop::Cast>();
  const auto* const load = widened == nullptr ? nullptr : widened->a.As<loop::Load>();
  return load != nullptr && narrowed->a.type().dtype == DType::Float(32) ? load : nullptr;
}

// Removes the first stage, which copies the first input to the output, and that input.
absl::Status DropCopy(loop::Kernel& kernel) {
  const bool copies = kernel.stages.size() > 1 && !kernel.stages[0].update &&
                      kernel.stages[0].buffer == kernel.outputs[0];
  const auto* const load = copies ? LoadOfValue(kernel.stages[0].value) : nullptr;
  if (load == nullptr || load->buffer->dtype != kernel.outputs[0]->dtype ||
      load->buffer != kernel.inputs[0]) {
    return absl::InternalError(absl::StrCat(
        kernel.name, ": an operator that updates its input does not begin with a copy"));
  }
  kernel.stages.erase(kernel.stages.begin());
  kernel.inputs.erase(kernel.inputs.begin());
  return absl::OkStatus();
}

// Returns the stages of a call. Inputs and outputs that are parts become slices.
absl::StatusOr<loop::Kernel> KernelOf(const Graph& graph, const Target& target,
                                      PendingCall& pending) {
  Call& call = pending.call;
  KILN_ASSIGN_OR_RETURN(loop::Kernel kernel, MakeKernel(call.function, *pending.body, target));
  if (pending.updates_output) KILN_RETURN_IF_ERROR(DropCopy(kernel));
  std::map<loop::Buffer, loop::Buffer> slices;
  call.cost = loop::CostOf(kernel);
  call.inputs = SliceParams(graph, pending.inputs, kernel.inputs, slices);
  call.outputs = SliceParams(graph, pending.outputs, kernel.outputs, slices);
  if (slices.empty()) return kernel;
  for (loop::Stage& stage : kernel.stages) {
    if (const auto it = slices.find(stage.buffer); it != slices.end()) stage.buffer = it->second;
    const auto read_slices = [&](const Expr& e) -> Expr {
      const auto* load = e.As<loop::Load>();
      if (load == nullptr) return {};
      const auto it = slices.find(load->buffer);
      return it == slices.end() ? Expr() : loop::MakeLoad(it->second, load->index);
    };
    stage.value = loop::MutateExpr(stage.value, read_slices);
    for (Expr& index : stage.index) index = loop::MutateExpr(index, read_slices);
    if (stage.check.has_value()) {
      stage.check->fails = loop::MutateExpr(stage.check->fails, read_slices);
      stage.check->number = loop::MutateExpr(stage.check->number, read_slices);
    }
  }
  return kernel;
}

std::vector<ValueId> WholesOf(const std::vector<Param>& params) {
  std::vector<ValueId> values;
  for (const Param& param : params) values.push_back(param.at.whole);
  return values;
}

// True if the function reads one part of a value and writes another.
bool ReadsWhatItWrites(const Call& call) {
  return std::any_of(call.outputs.begin(), call.outputs.end(), [&](ValueId output) {
    return std::find(call.inputs.begin(), call.inputs.end(), output) != call.inputs.end();
  });
}

// Returns the declaration of an external subgraph's function, which the linker or the runtime
// finds.
absl::StatusOr<loop::Func> Declaration(const Graph& graph, const Call& call) {
  loop::Func func;
  func.name = call.function;
  func.kind = loop::Func::Kind::kExternal;
  func.num_inputs = static_cast<int>(call.inputs.size());
  for (const auto* values : {&call.inputs, &call.outputs}) {
    for (ValueId value : *values) {
      if (graph.is_constant(value)) {
        return absl::UnimplementedError(
            absl::StrCat(call.function, ": a constant is an argument of this external subgraph, ",
                         "wanted inside of its body; the pass partition puts it there"));
      }
      const TensorType& type = graph.type(value);
      func.params.push_back(loop::MakeBuffer(absl::StrCat("p", func.params.size()), type.dtype,
                                             type.shape, loop::BufferScope::kParam));
    }
  }
  return func;
}

// The function of a kernel and its constants, which are added to `program`. A kernel that computes
// the same as one in `known`, of any program, is not scheduled again. The function of a kernel in
// `here` shares the constants that `program` has already.
absl::StatusOr<Scheduled> FunctionOf(const loop::Kernel& kernel, const Target& target,
                                     const ScheduleOptions& options,
                                     const std::optional<TensorMemory>& memory, KnownKernels& known,
                                     KnownKernels& here, loop::LoopProgram& program) {
  const std::optional<std::string> key = KnownKernels::KeyOf(kernel, memory);
  Scheduled scheduled;
  if (const Scheduled* found = here.Find(key); found != nullptr) {
    scheduled = *found;
    scheduled.func.name = kernel.name;
    return scheduled;
  }
  if (const Scheduled* found = known.Find(key); found != nullptr) {
    scheduled = *found;
    scheduled.func.name = kernel.name;
  } else {
    KILN_ASSIGN_OR_RETURN(scheduled, ScheduleKernel(kernel, target, options, memory));
    known.Add(key, kernel, scheduled);
  }
  FinishConstants(scheduled, target);
  AddConstants(scheduled, program);
  here.Add(key, kernel, scheduled);
  return scheduled;
}

// Lowers the graph. Appends to `nodes`, if not null, the node of each call.
absl::StatusOr<Lowered> LowerWith(const Graph& graph, Slices slices, const Target& target,
                                  const LowerOptions& options, KnownKernels& known,
                                  std::vector<NodeId>* nodes) {
  Lowered lowered;
  KnownKernels here;
  // Schedules ignore the cost of memory if the target has plenty of it or only speed matters.
  const bool saves_memory = target.short_of_memory && options.schedule.optimize != Optimize::kSpeed;
  std::vector<TensorMemory> memory;
  if (saves_memory) memory = FindTensorMemory(graph, slices, options.workspace_io);
  CallMaker calls(graph, std::move(slices), options.module_name);
  KILN_RETURN_IF_ERROR(calls.ForEach([&](PendingCall pending) -> absl::Status {
    Call& call = pending.call;
    if (pending.body.has_value()) {
      KILN_ASSIGN_OR_RETURN(const loop::Kernel kernel, KernelOf(graph, target, pending));
      std::optional<Scheduled> function = MoveWithin(graph, options.states, pending);
      if (!function.has_value()) {
        std::optional<TensorMemory> around;
        if (!memory.empty()) around = memory[static_cast<size_t>(pending.node)];
        KILN_ASSIGN_OR_RETURN(function, FunctionOf(kernel, target, options.schedule, around, known,
                                                   here, lowered.program));
      }
      Scheduled& scheduled = *function;
      call.workspace_bytes =
          scheduled.func.workspace == nullptr ? 0 : scheduled.func.workspace->num_bytes();
      call.in_place = scheduled.in_place;
      call.schedule = scheduled.description;
      lowered.plans[call.function] = std::move(scheduled.plans);
      if (scheduled.contraction.has_value()) {
        lowered.contractions[call.function] = *std::move(scheduled.contraction);
      }
      if (ReadsWhatItWrites(call)) scheduled.func.in_place = true;
      scheduled.func.is_copy = pending.is_copy;
      lowered.program.funcs.push_back(std::move(scheduled.func));
    } else {
      call.inputs = WholesOf(pending.inputs);
      call.outputs = WholesOf(pending.outputs);
      if (!call.function.empty()) {
        KILN_ASSIGN_OR_RETURN(loop::Func declaration, Declaration(graph, call));
        lowered.program.funcs.push_back(std::move(declaration));
      }
    }
    lowered.calls.push_back(std::move(call));
    if (nodes != nullptr) nodes->push_back(pending.node);
    return absl::OkStatus();
  }));
  return lowered;
}

// Returns the slices of the graph. For firmware they depend on the scratch memory of functions, so
// every node is first lowered without slices.
absl::StatusOr<Slices> SlicesOf(const Graph& graph, const Target& target,
                                const LowerOptions& options, KnownKernels& known) {
  const bool concatenates = std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& n) {
    return PartsOf(n) == Parts::kConcatenated;
  });
  if (!options.place_concatenations || !concatenates) return Slices(graph);
  std::vector<int64_t> scratch_bytes;
  if (target.is_baremetal()) {
    std::vector<NodeId> nodes;
    KILN_ASSIGN_OR_RETURN(const Lowered lowered,
                          LowerWith(graph, Slices(graph), target, options, known, &nodes));
    scratch_bytes.resize(graph.nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      int64_t& bytes = scratch_bytes[static_cast<size_t>(nodes[i])];
      bytes = std::max(bytes, lowered.calls[i].workspace_bytes);
    }
  }
  return FindSlices(graph, target, std::move(scratch_bytes));
}

}  // namespace

absl::StatusOr<Lowered> Lower(const Graph& graph, const Target& target, const LowerOptions& options,
                              KnownKernels& known) {
  KILN_ASSIGN_OR_RETURN(Slices slices, SlicesOf(graph, target, options, known));
  return LowerWith(graph, std::move(slices), target, options, known, nullptr);
}

absl::StatusOr<Lowered> Lower(const Graph& graph, const Target& target,
                              const LowerOptions& options) {
  KnownKernels known;
  return Lower(graph, target, options, known);
}

int64_t WorkOfNode(const Graph& graph, const Node& node) {
  const std::optional<loop::Cost> cost =
      CostOfExternal(node.is_group() ? *node.body : BodyOfNode(graph, node));
  if (!cost.has_value()) return std::numeric_limits<int64_t>::max();
  const int64_t of_memory = cost->accessed_bytes / kBytesPerOperation;
  return cost->operations > std::numeric_limits<int64_t>::max() - of_memory
             ? std::numeric_limits<int64_t>::max()
             : cost->operations + of_memory;
}

std::string PrintPlans(const Lowered& lowered) {
  std::string text;
  std::set<std::string> printed;
  for (const Call& call : lowered.calls) {
    const auto plans = lowered.plans.find(call.function);
    if (plans == lowered.plans.end() || !printed.insert(call.function).second) continue;
    absl::StrAppend(&text, call.function, ": ", call.schedule, "\n");
    for (const std::string& plan : plans->second) absl::StrAppend(&text, "  ", plan, "\n");
  }
  return text;
}

absl::StatusOr<std::string> PrintStages(const Graph& graph, const Target& target,
                                        const LowerOptions& options) {
  std::string text;
  KnownKernels known;
  KILN_ASSIGN_OR_RETURN(Slices slices, SlicesOf(graph, target, options, known));
  CallMaker calls(graph, std::move(slices), options.module_name);
  KILN_RETURN_IF_ERROR(calls.ForEach([&](PendingCall pending) -> absl::Status {
    if (!pending.body.has_value()) return absl::OkStatus();
    KILN_ASSIGN_OR_RETURN(const loop::Kernel kernel, KernelOf(graph, target, pending));
    absl::StrAppend(&text, loop::ToString(kernel), "\n");
    return absl::OkStatus();
  }));
  return text;
}

}  // namespace kiln
