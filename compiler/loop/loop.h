// SPDX-License-Identifier: Apache-2.0
// Statements, functions and programs of the loop IR.
//
//   stmt := for var in [begin, begin + extent) kind { stmt }
//         | store(buffer, expr…, value)
//         | block { stmt… }
//         | if (expr) { stmt } else { stmt }
//         | allocate buffer { stmt }
//         | call function(argument…)
//         | fail before, expr, after
//
// Semantics. Statements run in order. The iterations of a `parallel` loop may run at the same time
// and in any order, those of a `vectorized` loop in lanes. They do not depend on each other, so
// that either loop gives the same bits as a serial one. An `unrolled` loop is serial and has a
// constant extent. The contents of an allocated buffer are undefined until stored. A call runs
// another function of the program with pointers into buffers. It returns a status, and a status
// other than zero ends the caller with that status. `fail` ends the function with the status -1.
#ifndef KILN_COMPILER_LOOP_LOOP_H_
#define KILN_COMPILER_LOOP_LOOP_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/base/tensor.h"
#include "compiler/loop/data.h"
#include "compiler/loop/expr.h"

namespace kiln::loop {

struct StmtNode;

// A reference to an immutable statement. A default-constructed Stmt is the empty statement.
class Stmt {
 public:
  Stmt() = default;
  explicit Stmt(std::shared_ptr<const StmtNode> node) : node_(std::move(node)) {}
  explicit operator bool() const { return node_ != nullptr; }
  const StmtNode& operator*() const { return *node_; }
  const StmtNode* operator->() const { return node_.get(); }
  const StmtNode* get() const { return node_.get(); }
  template <typename T>
  const T* As() const;

 private:
  std::shared_ptr<const StmtNode> node_;
};

enum class ForKind { kSerial, kParallel, kVectorized, kUnrolled };

struct For {
  Var var;
  Expr begin, extent;
  ForKind kind;
  Stmt body;
};
struct Store {
  Buffer buffer;
  std::vector<Expr> index;
  Expr value;
};  // index as in Load
// Requests the cache line of element `offset`, which will be read soon, for the cache of `level` (1
// or 2) and the larger caches. It only affects time. The element may lie outside of the buffer.
struct Prefetch {
  Buffer buffer;
  Expr offset;
  int level;
};
struct Block {
  std::vector<Stmt> stmts;
};
struct If {
  Expr condition;
  Stmt then_body, else_body;
};  // else_body may be empty
// Allocates a buffer of scope kLocal, kWorkspace or kStatic. A kWorkspace buffer lies
// `workspace_offset` bytes into the function's workspace. A function that allocates a kStatic
// buffer must not run twice at the same time.
struct Allocate {
  Buffer buffer;
  Stmt body;
  int64_t workspace_offset = 0;
};

// An argument. With a buffer it is the address of element `offset`, for the next of the callee's
// params and its workspace. Without a buffer it is the integer `offset`, for the next of the
// callee's scalars.
struct Argument {
  Buffer buffer;
  Expr offset;
};
struct Call {
  std::string function;
  std::vector<Argument> args;
  // Argument of the program's profile hook before and after the call; negative: hook not called.
  int32_t profile_index = -1;
};

// Runs tasks 0 … num_tasks-1 of a task function (Func::Kind::kTask) on the runtime's threads and
// waits for them. The runtime chooses num_tasks, at most `max_tasks`. OutlineParallel makes
// launches from parallel loops.
struct Launch {
  std::string function;
  int64_t max_tasks;
  std::vector<Argument> args;
};

// Ends the function with the status -1. TVMGetLastError then gives `before`, the number in decimal,
// and `after`. Not allowed in parallel or vectorized loops or in tasks, because the text belongs to
// the thread that runs the model.
struct Fail {
  std::string before;
  Expr number;  // a scalar of any integer type
  std::string after;
};
inline constexpr int32_t kFailStatus = -1;
// Maximum number of bytes of both texts together: the space that runtimes have, minus a number.
inline constexpr size_t kMaxFailText = 220;

struct StmtNode {
  std::variant<For, Store, Prefetch, Block, If, Allocate, Call, Launch, Fail> value;
};

template <typename T>
const T* Stmt::As() const {
  return node_ == nullptr ? nullptr : std::get_if<T>(&node_->value);
}

Stmt MakeFor(Var var, Expr begin, Expr extent, ForKind kind, Stmt body);
Stmt MakeStore(Buffer buffer, std::vector<Expr> index, Expr value);
Stmt MakePrefetch(Buffer buffer, Expr offset, int level = 1);
Stmt MakeBlock(std::vector<Stmt> stmts);  // flattens nested blocks and drops empty statements
Stmt MakeIf(Expr condition, Stmt then_body, Stmt else_body = {});
Stmt MakeAllocate(Buffer buffer, Stmt body, int64_t workspace_offset = 0);
Stmt MakeCall(std::string function, std::vector<Argument> args, int32_t profile_index = -1);
Stmt MakeLaunch(std::string function, int64_t max_tasks, std::vector<Argument> args);
Stmt MakeFail(std::string before, Expr number, std::string after);

// Calling convention of a function: requirement E1.
enum class Convention {
  kUnpacked,  // int32_t f(void* a, …): one pointer per parameter
  kPacked,    // int32_t f(TVMValue* args, int* type_codes, int num_args, …): one DLTensor per
              // parameter; checks them
};

struct Func {
  // kOperator and kMain may be called from outside. kTask is the body of a parallel loop, called by
  // Launch. Its first two parameters, `scalars[0]` and `scalars[1]`, are the number of the task and
  // the number of tasks. kExternal is defined outside of this program, has no body, and is only
  // called.
  enum class Kind { kOperator, kMain, kTask, kExternal };

  std::string name;
  Kind kind = Kind::kOperator;
  Convention convention = Convention::kUnpacked;
  // With kPacked: callers look the function up by name in the runtime, at each call, instead of
  // leaving it to the linker.
  bool by_name = false;
  std::vector<Buffer> params;  // in order: inputs, outputs, pools, contexts
  int num_inputs = 0;
  // kMain: pools of scratch memory, uint8 [bytes]. A packed function accepts larger ones too.
  int num_pools = 0;
  // Pointers of the application that are passed on but never dereferenced, uint8 [0].
  int num_contexts = 0;
  // Parameters of type index, for a task or an internal operator that is not packed (scalars.h).
  std::vector<Var> scalars;
  // Scratch memory, uint8 [workspace bytes], or null. It is one more pointer parameter after
  // `params`. With kPacked and `allocate_workspace` it is not a parameter: the function takes it
  // from TVMBackendAllocWorkspace and gives it back.
  Buffer workspace;
  bool allocate_workspace = false;
  Stmt body;
  bool exported = true;  // visible outside of the object
  int target = 0;        // index into LoopProgram::targets
  // An output may overlap an input: be its very memory, or reach into it (overlap.h). Otherwise no
  // two parameters overlap, and code generators may rely on it.
  bool in_place = false;
  // The function copies its only input to its only output, and does nothing if both are the same
  // memory. Callers may pass the same memory. No element is read or written then.
  bool is_copy = false;
};

// A constant buffer with its contents.
struct Constant {
  Buffer buffer;          // scope kConstant
  Tensor tensor;          // as many bytes as the buffer
  std::string pool = {};  // constant pool, an identifier; its section is ".rodata.<pool>"
};

// A function without arguments that returns the address of a DataDef. It is always exported, and
// both code generators print it. packed: a TVMBackendPackedCFunc like `get_c_metadata`, which sets
// ret_value->v_handle to the address and *ret_type_code to 3 (kTVMOpaqueHandle), and returns 0.
// Otherwise plain C like `TVMSystemLibEntryPoint`: `const <c_type of the data>* name(void)`.
struct HandleGetter {
  std::string name;
  std::string data_symbol;
  bool packed = true;
  bool weak = false;  // several objects of one program may define it
};

// The choice of a CPU variant. `function` is an external function of the program that the code
// generators define. It gives its caller 1 + the index of the variant to run. The first call
// examines the CPU; concurrent calls get the same result. If the CPU lacks a feature of variant 0,
// it fails with a text for TVMGetLastError. Two more functions are exported: `get` returns the name
// of the variant, and `set` takes the name of another variant that the CPU supports. Later calls
// run that one.
struct CpuChoice {
  std::string function;  // int32_t (int32_t* choice)
  std::string get, set;  // packed: () -> string, (string); else const char* (void), which returns
                         // null on an unsupported CPU, and int32_t (const char* name)
  bool packed = true;
  // Name of a function of the program that makes the decision. It takes the uint32 words that
  // describe the CPU, in the order of CpuWord (runtime_cpp/cpu/x86_features.h). It stores the
  // choice above, or -1 - the index in `lacks` of the missing feature.
  std::string decide;
  // Error messages: the CPU cannot run variant 0 (by the feature that it lacks), cannot run the
  // requested variant (by variant), or the requested name is no variant's.
  std::vector<std::string> lacks;
  std::vector<std::string> refusals;
  std::string unknown;
};

struct LoopProgram {
  // Names of the machines that functions are for. Functions of target 0 run on every machine of the
  // program; targets 1 and up are the CPU variants, lowest first. Empty: there is one machine.
  std::vector<std::string> targets;
  std::vector<Func> funcs;  // callees before callers
  std::vector<Constant> constants;
  std::vector<DataDef> data;  // metadata, tables, registries: data.h
  std::vector<HandleGetter> getters;
  // Name of an exported variable `void (*)(int32_t profile_index, int32_t begin)`; empty: no such
  // variable. It is null until a profiler sets it. It is called with begin = 1 before each Call
  // that has a profile index, and with 0 after it.
  std::string profile_hook;
  std::optional<CpuChoice> cpu_choice;

  const Func* FindFunc(absl::string_view name) const;
  absl::Span<const std::string> cpu_variants() const {
    return targets.empty() ? absl::Span<const std::string>() : absl::MakeSpan(targets).subspan(1);
  }
};

std::string ToString(const Stmt& stmt);
std::string ToString(const Func& func);
std::string ToString(const LoopProgram& program);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_LOOP_H_
