// SPDX-License-Identifier: Apache-2.0
// The form in which the interpreter runs a function. Every distinct expression node has a slot.
// Every statement has a list of operations on slots, operands first, so that a shared node is
// evaluated once. An operation without loads runs in the innermost loop whose variables it uses,
// rather than in the statement that needs it.
#ifndef KILN_COMPILER_LOOP_INTERPRET_CODE_H_
#define KILN_COMPILER_LOOP_INTERPRET_CODE_H_

#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/scalar.h"

namespace kiln::loop {

// Number of the first lane of a node in the frame's values. Buffers are numbered by their place in
// the frame's table of buffers.
using Slot = int;

// Element of a load or store: sum(index * stride), each index below its extent.
struct Access {
  struct Dimension {
    Slot index;
    int64_t extent;
    int64_t stride;
  };
  const BufferNode* buffer;
  int buffer_number;
  int64_t element_bytes;
  std::vector<Dimension> dimensions;
};

struct UnaryOperation {
  UnaryKernel kernel;
  Slot a;
};
struct BinaryOperation {
  BinaryKernel kernel;
  Slot a, b;
};
struct FmaOperation {
  FmaKernel kernel;
  Slot a, b, c;
};
struct DotOperation {
  DotKernel kernel;
  DotShape shape;
  Slot sum, a, b;
};
struct InterleaveOperation {
  std::vector<Slot> lanes;
};
struct SelectOperation {
  Slot condition, if_true, if_false;
};
struct LoadOperation {
  ReadKernel read;
  Access access;
};
struct RampOperation {
  Slot base;
  int64_t stride;
};
struct BroadcastOperation {
  Slot a;
};

struct Operation {
  int lanes;
  Slot out;
  std::variant<UnaryOperation, BinaryOperation, FmaOperation, DotOperation, InterleaveOperation,
               SelectOperation, LoadOperation, RampOperation, BroadcastOperation>
      value;
};

struct Step;
using Steps = std::vector<Step>;

struct ForStep {
  Slot var, begin, extent;
  std::vector<Operation> each_iteration;
  Steps body;
  int64_t work = 1;  // of each iteration, excluding the body
};
struct StoreStep {
  WriteKernel write;
  int lanes;
  Slot value;
  Access access;
};
struct IfStep {
  Slot condition;
  Steps then_body, else_body;
};
struct AllocateStep {
  int buffer_number;
  bool in_workspace;
  int64_t offset;  // in the workspace, or in the frame's local memory
  int64_t bytes;
  Steps body;
};
// A Call if max_tasks is 0, otherwise a Launch.
struct CallStep {
  struct Arg {
    int buffer_number;  // -1: `offset` is an integer argument
    int64_t element_bytes;
    Slot offset;
  };
  std::string function;
  int64_t max_tasks;
  std::vector<Arg> args;
};

struct FailStep {
  std::string before, after;
  Slot number;
  bool is_signed;
};

struct Step {
  std::vector<Operation> before;
  int64_t work;  // of `before` and of the action itself
  std::variant<ForStep, StoreStep, IfStep, AllocateStep, CallStep, FailStep> action;
};

struct FuncCode {
  const Func* func = nullptr;
  std::vector<Scalar> initial_values;  // of all slots; those of constants are set
  std::vector<Slot> scalars;
  // Parameters come first, then the workspace if there is one.
  std::vector<const BufferNode*> buffers;
  std::vector<const char*> constant_data;  // by buffer number; null if it is not a constant
  int64_t local_bytes = 0;
  std::vector<Operation> before;
  Steps body;
};

using ConstantData = std::unordered_map<const BufferNode*, const char*>;

// Returns Internal if the function uses a variable or a buffer that is not in scope.
absl::StatusOr<FuncCode> CompileForInterpreter(const Func& func, const ConstantData& constants);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_INTERPRET_CODE_H_
