// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/interpret.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/limits.h"
#include "compiler/base/status.h"
#include "compiler/loop/expr_node.h"
#include "compiler/loop/func_index.h"
#include "compiler/loop/interpret_code.h"

namespace kiln::loop {
namespace {

// Content of fresh memory: programs must not rely on it, and its use is unlikely to go unnoticed.
constexpr int kFreshByte = 0xa5;
constexpr size_t kMaxCpuWords = 16;

// One running call of a function.
struct Frame {
  const FuncCode* code;
  std::vector<Scalar> values;
  std::vector<char*> buffers;
  // Sizes of the buffers that callers pass to a function with scalar extents, and of its workspace
  // buffers. -1 for all other buffers, whose types give their size.
  std::vector<int64_t> bytes;
  std::vector<char> local;
  std::vector<char> workspace;  // if the interpreter allocates it
  int depth;
  absl::Status status;

  Scalar* at(Slot slot) { return &values[static_cast<size_t>(slot)]; }
  char*& buffer(int number) { return buffers[static_cast<size_t>(number)]; }
  int64_t& bytes_of(int number) { return bytes[static_cast<size_t>(number)]; }
};

absl::Status OutOfBounds(Frame& frame, const Access& access, int lane) {
  const std::string index =
      absl::StrJoin(access.dimensions, ", ", [&](std::string* out, const Access::Dimension& d) {
        absl::StrAppend(out, frame.at(d.index)[lane].i);
      });
  const std::string extents = absl::StrJoin(
      access.dimensions, ", ",
      [](std::string* out, const Access::Dimension& d) { absl::StrAppend(out, d.extent); });
  return absl::OutOfRangeError(absl::StrCat(frame.code->func->name, ": ", access.buffer->name, "[",
                                            index, "] is out of bounds: it has [", extents,
                                            "] elements"));
}

// Returns the address of the element that lane `lane` of the access refers to. If it is out of
// bounds, returns null and sets the frame's status.
char* Locate(Frame& frame, const Access& access, int lane) {
  int64_t element = 0;
  for (const Access::Dimension& d : access.dimensions) {
    const int64_t index = frame.at(d.index)[lane].i, bytes = frame.bytes_of(access.buffer_number);
    if (index < 0 || index >= (bytes < 0 ? d.extent : bytes / access.element_bytes)) {
      if (frame.status.ok()) frame.status = OutOfBounds(frame, access, lane);
      return nullptr;
    }
    element += index * d.stride;
  }
  return frame.buffer(access.buffer_number) + element * access.element_bytes;
}

void Evaluate(Frame& frame, const Operation& operation) {
  const int lanes = operation.lanes;
  Scalar* out = frame.at(operation.out);
  std::visit(
      Overloaded{
          [&](const UnaryOperation& o) { o.kernel(lanes, frame.at(o.a), out); },
          [&](const BinaryOperation& o) { o.kernel(lanes, frame.at(o.a), frame.at(o.b), out); },
          [&](const FmaOperation& o) {
            o.kernel(lanes, frame.at(o.a), frame.at(o.b), frame.at(o.c), out);
          },
          [&](const DotOperation& o) {
            o.kernel(o.shape, frame.at(o.sum), frame.at(o.a), frame.at(o.b), out);
          },
          [&](const InterleaveOperation& o) {
            for (size_t l = 0; l < o.lanes.size(); ++l) out[l] = *frame.at(o.lanes[l]);
          },
          [&](const SelectOperation& o) {
            const Scalar* condition = frame.at(o.condition);
            const Scalar* if_true = frame.at(o.if_true);
            const Scalar* if_false = frame.at(o.if_false);
            for (int l = 0; l < lanes; ++l) out[l] = condition[l].i ? if_true[l] : if_false[l];
          },
          [&](const LoadOperation& o) {
            for (int l = 0; l < lanes; ++l) {
              const char* element = Locate(frame, o.access, l);
              if (element != nullptr) o.read(1, element, out + l);
            }
          },
          [&](const RampOperation& o) {
            // Unsigned arithmetic wraps.
            const uint64_t base = static_cast<uint64_t>(frame.at(o.base)->i);
            const uint64_t stride = static_cast<uint64_t>(o.stride);
            for (int l = 0; l < lanes; ++l) {
              out[l].i = static_cast<int64_t>(base + static_cast<uint64_t>(l) * stride);
            }
          },
          [&](const BroadcastOperation& o) { std::fill_n(out, lanes, *frame.at(o.a)); }},
      operation.value);
}

void Evaluate(Frame& frame, const std::vector<Operation>& operations) {
  for (const Operation& operation : operations) Evaluate(frame, operation);
}

}  // namespace

struct Interpreter::Impl {
  explicit Impl(const LoopProgram& of) : program(&of), functions(of) {}

  // Arguments of a call.
  struct Arguments {
    std::vector<int64_t> scalars;
    std::vector<char*> pointers;      // parameters, then the workspace, which may be missing
    std::vector<int64_t> bytes = {};  // bytes from each pointer to the end of its buffer, in calls
                                      // from the program
  };

  absl::Status Call(absl::string_view function, const Arguments& arguments, int depth);
  absl::StatusOr<const FuncCode*> CodeOf(absl::string_view function);

  bool Spend(Frame& frame, int64_t work);
  bool Run(Frame& frame, const Steps& steps);
  bool RunStep(Frame& frame, const ForStep& step);
  bool RunStep(Frame& frame, const StoreStep& step);
  bool RunStep(Frame& frame, const IfStep& step);
  bool RunStep(Frame& frame, const AllocateStep& step);
  bool RunStep(Frame& frame, const CallStep& step);
  bool RunStep(Frame& frame, const FailStep& step);
  absl::Status ChooseCpuVariant(char* choice);
  absl::StatusOr<Arguments> EvaluateArguments(Frame& frame, const CallStep& step,
                                              const Func& callee);

  const LoopProgram* program;
  FuncIndex functions;
  int64_t work_left = std::numeric_limits<int64_t>::max();
  std::vector<uint32_t> cpu_words = std::vector<uint32_t>(kMaxCpuWords, ~uint32_t{0});
  ConstantData constants;
  std::map<std::string, FuncCode, std::less<>> codes;
};

absl::StatusOr<const FuncCode*> Interpreter::Impl::CodeOf(absl::string_view function) {
  auto it = codes.find(function);
  if (it == codes.end()) {
    const Func* func = functions.Find(function);
    if (func == nullptr) {
      return absl::NotFoundError(absl::StrCat("the program has no function ", function));
    }
    if (func->kind == Func::Kind::kExternal) {
      return absl::UnimplementedError(
          absl::StrCat(function, " is not of this program, and the interpreter cannot call it"));
    }
    KILN_ASSIGN_OR_RETURN(FuncCode code, CompileForInterpreter(*func, constants));
    it = codes.emplace(std::string(function), std::move(code)).first;
  }
  return &it->second;
}

absl::Status Interpreter::Impl::Call(absl::string_view function, const Arguments& arguments,
                                     int depth) {
  if (depth > kMaxNestingDepth) {
    return absl::InternalError(absl::StrCat(function, ": calls are nested too deeply"));
  }
  KILN_ASSIGN_OR_RETURN(const FuncCode* code, CodeOf(function));
  const Func& func = *code->func;
  Frame frame{.code = code,
              .values = code->initial_values,
              .buffers = std::vector<char*>(code->buffers.size()),
              .bytes = std::vector<int64_t>(code->buffers.size(), -1),
              .local = std::vector<char>(static_cast<size_t>(code->local_bytes)),
              .workspace = {},
              .depth = depth,
              .status = {}};
  for (size_t i = 0; i < code->buffers.size(); ++i) {
    // VerifyProgram ensures that constants are only read.
    frame.buffers[i] = const_cast<char*>(code->constant_data[i]);
  }
  std::copy(arguments.pointers.begin(), arguments.pointers.end(), frame.buffers.begin());
  if (func.kind == Func::Kind::kOperator && !func.scalars.empty()) {
    std::copy(arguments.bytes.begin(), arguments.bytes.end(), frame.bytes.begin());
  }
  if (func.workspace != nullptr && arguments.pointers.size() == func.params.size()) {
    frame.workspace.assign(static_cast<size_t>(func.workspace->num_bytes()),
                           static_cast<char>(kFreshByte));
    frame.buffers[func.params.size()] = frame.workspace.data();
  }
  for (size_t i = 0; i < code->scalars.size(); ++i) {
    frame.at(code->scalars[i])->i = arguments.scalars[i];
  }
  Evaluate(frame, code->before);
  Run(frame, code->body);
  return frame.status;
}

bool Interpreter::Impl::Spend(Frame& frame, int64_t work) {
  work_left -= work;
  if (work_left >= 0) return true;
  frame.status = absl::ResourceExhaustedError(
      absl::StrCat(frame.code->func->name, ": more operations than may be spent"));
  return false;
}

bool Interpreter::Impl::Run(Frame& frame, const Steps& steps) {
  for (const Step& step : steps) {
    if (!Spend(frame, step.work)) return false;
    Evaluate(frame, step.before);
    if (!frame.status.ok()) return false;
    if (!std::visit([&](const auto& action) { return RunStep(frame, action); }, step.action)) {
      return false;
    }
  }
  return true;
}

bool Interpreter::Impl::RunStep(Frame& frame, const ForStep& step) {
  const int64_t begin = frame.at(step.begin)->i;
  const int64_t extent = frame.at(step.extent)->i;
  for (int64_t i = 0; i < extent; ++i) {
    frame.at(step.var)->i = begin + i;
    if (!Spend(frame, step.work)) return false;
    Evaluate(frame, step.each_iteration);
    if (!Run(frame, step.body)) return false;
  }
  return true;
}

bool Interpreter::Impl::RunStep(Frame& frame, const StoreStep& step) {
  for (int l = 0; l < step.lanes; ++l) {
    char* element = Locate(frame, step.access, l);
    if (element == nullptr) return false;
    step.write(1, frame.at(step.value) + l, element);
  }
  return true;
}

bool Interpreter::Impl::RunStep(Frame& frame, const IfStep& step) {
  return Run(frame, frame.at(step.condition)->i != 0 ? step.then_body : step.else_body);
}

bool Interpreter::Impl::RunStep(Frame& frame, const AllocateStep& step) {
  char*& memory = frame.buffer(step.buffer_number);
  if (step.in_workspace) {
    const Func& func = *frame.code->func;
    const int64_t bytes = func.workspace->num_bytes();
    if (step.offset < 0 || step.bytes > bytes - step.offset) {
      frame.status =
          absl::OutOfRangeError(absl::StrCat(func.name, ": ", step.bytes, " bytes at ", step.offset,
                                             " are beyond the workspace, which has ", bytes));
      return false;
    }
    const int workspace = static_cast<int>(func.params.size());
    memory = frame.buffer(workspace) + step.offset;
    if (frame.bytes_of(workspace) >= 0) {
      frame.bytes_of(step.buffer_number) = frame.bytes_of(workspace) - step.offset;
    }
  } else {
    memory = frame.local.data() + step.offset;
  }
  if (step.bytes > 0) std::memset(memory, kFreshByte, static_cast<size_t>(step.bytes));
  return Run(frame, step.body);
}

bool Interpreter::Impl::RunStep(Frame& frame, const CallStep& step) {
  const auto run = [&]() -> absl::Status {
    if (program->cpu_choice && program->cpu_choice->function == step.function) {
      return ChooseCpuVariant(frame.buffer(step.args[0].buffer_number));
    }
    KILN_ASSIGN_OR_RETURN(const FuncCode* code, CodeOf(step.function));
    KILN_ASSIGN_OR_RETURN(Arguments arguments, EvaluateArguments(frame, step, *code->func));
    if (step.max_tasks == 0) return Call(step.function, arguments, frame.depth + 1);
    // Runs two tasks if the runtime may choose their number, so that mistakes of splitting show.
    const int64_t num_tasks = std::min<int64_t>(step.max_tasks, 2);
    for (int64_t task = 0; task < num_tasks; ++task) {
      arguments.scalars[0] = task;
      arguments.scalars[1] = num_tasks;
      KILN_RETURN_IF_ERROR(Call(step.function, arguments, frame.depth + 1));
    }
    return absl::OkStatus();
  };
  frame.status = run();
  return frame.status.ok();
}

bool Interpreter::Impl::RunStep(Frame& frame, const FailStep& step) {
  const int64_t number = frame.at(step.number)->i;
  frame.status = absl::FailedPreconditionError(
      step.is_signed ? absl::StrCat(step.before, number, step.after)
                     : absl::StrCat(step.before, static_cast<uint64_t>(number), step.after));
  return false;
}

absl::Status Interpreter::Impl::ChooseCpuVariant(char* choice) {
  const CpuChoice& of = *program->cpu_choice;
  Arguments arguments;
  arguments.pointers = {reinterpret_cast<char*>(cpu_words.data()), choice};
  KILN_RETURN_IF_ERROR(Call(of.decide, arguments, 0));
  int32_t number;
  std::memcpy(&number, choice, sizeof number);
  if (number > 0) return absl::OkStatus();
  return absl::FailedPreconditionError(of.lacks[static_cast<size_t>(-1 - number)]);
}

absl::StatusOr<Interpreter::Impl::Arguments> Interpreter::Impl::EvaluateArguments(
    Frame& frame, const CallStep& step, const Func& callee) {
  Arguments arguments;
  if (step.max_tasks > 0) arguments.scalars = {0, 0};
  for (const CallStep::Arg& arg : step.args) {
    const int64_t offset = frame.at(arg.offset)->i;
    if (arg.buffer_number < 0) {
      arguments.scalars.push_back(offset);
      continue;
    }
    const size_t k = arguments.pointers.size();
    const Buffer* param = k < callee.params.size() ? &callee.params[k]
                          : k == callee.params.size() && callee.workspace != nullptr
                              ? &callee.workspace
                              : nullptr;
    if (param == nullptr) break;
    const BufferNode& buffer = *frame.code->buffers[static_cast<size_t>(arg.buffer_number)];
    if (offset < 0 || (*param)->num_bytes() > buffer.num_bytes() - offset * arg.element_bytes) {
      return absl::OutOfRangeError(absl::StrCat(
          frame.code->func->name, ": call of ", callee.name, ": ", buffer.name, " + ", offset,
          " has not the ", (*param)->num_bytes(), " bytes of ", (*param)->name));
    }
    arguments.pointers.push_back(frame.buffer(arg.buffer_number) + offset * arg.element_bytes);
    arguments.bytes.push_back(buffer.num_bytes() - offset * arg.element_bytes);
  }
  const bool takes_workspace = callee.workspace != nullptr && !callee.allocate_workspace;
  const size_t num_pointers = callee.params.size() + (takes_workspace ? 1 : 0);
  if (arguments.scalars.size() != callee.scalars.size() ||
      arguments.pointers.size() != num_pointers ||
      step.args.size() + (step.max_tasks > 0 ? 2 : 0) != callee.scalars.size() + num_pointers) {
    return absl::InternalError(absl::StrCat(frame.code->func->name, ": call of ", callee.name,
                                            " with ", step.args.size(), " arguments"));
  }
  return arguments;
}

Interpreter::Interpreter(const LoopProgram& program) : impl_(std::make_unique<Impl>(program)) {
  for (const Constant& constant : program.constants) {
    impl_->constants[constant.buffer.get()] = constant.tensor.bytes().data();
  }
}

Interpreter::~Interpreter() = default;

void Interpreter::SetCpuWords(absl::Span<const uint32_t> words) {
  std::copy_n(words.begin(), std::min(words.size(), kMaxCpuWords), impl_->cpu_words.begin());
}

void Interpreter::SetMaxWork(int64_t operations) { impl_->work_left = operations; }

int64_t Interpreter::work_left() const { return impl_->work_left; }

absl::Status Interpreter::Run(absl::string_view function, absl::Span<void* const> args) {
  KILN_ASSIGN_OR_RETURN(const FuncCode* code, impl_->CodeOf(function));
  const Func& func = *code->func;
  const size_t max_args = func.params.size() + (func.workspace != nullptr ? 1 : 0);
  if (!func.scalars.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(function, " is a task of a parallel loop"));
  }
  if (args.size() != func.params.size() && args.size() != max_args) {
    return absl::InvalidArgumentError(
        absl::StrCat(function, " takes ", func.params.size(), " arguments, not ", args.size()));
  }
  Impl::Arguments arguments;
  for (void* arg : args) arguments.pointers.push_back(static_cast<char*>(arg));
  return impl_->Call(function, arguments, 0);
}

}  // namespace kiln::loop
