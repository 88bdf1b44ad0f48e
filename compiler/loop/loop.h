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
// Semantics. Statements run in order. The iterations of a `parallel` loop may run at once and in
// any order, those of a `vectorized` loop in lanes: they do not depend on each other, so that
// running either as a serial loop gives the same bits. An `unrolled` loop is serial and has a
// constant extent. An allocated buffer's contents are undefined until stored. A call runs another
// function of the program with pointers into buffers; it returns a status, and a status other than
// zero ends the caller with that status. `fail` ends the function with the status -1.
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

// A reference to an immutable statement. A default-made Stmt is the empty statement.
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
// The cache line of element `offset` will be read soon: it is wanted in the cache of that level, 1
// or 2, and in those behind it. Changes nothing but the time that takes; the element may lie
// outside of the buffer.
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
// Scope kLocal; kWorkspace: that buffer lies `workspace_offset` bytes into the function's
// workspace; or kStatic: a function that allocates so must not run twice at once.
struct Allocate {
  Buffer buffer;
  Stmt body;
  int64_t workspace_offset = 0;
};

// An argument: the address of element `offset` of a buffer, for the next of the callee's params and
// its workspace, or, with no buffer, the integer `offset`, for the next of its scalars.
struct Argument {
  Buffer buffer;
  Expr offset;
};
struct Call {
  std::string function;
  std::vector<Argument> args;
  // What the program's profile hook is told before and after the call; told nothing if negative.
  int32_t profile_index = -1;
};

// Runs tasks 0 … num_tasks-1 of a task function (Func::Kind::kTask) on the runtime's threads and
// waits for them; num_tasks is chosen by the runtime, at most `max_tasks`. Made by OutlineParallel
// from parallel loops.
struct Launch {
  std::string function;
  int64_t max_tasks;
  std::vector<Argument> args;
};

// Ends the function with the status -1 and leaves `before`, the number in decimal, and `after` as
// the text for TVMGetLastError. Stands in no parallel or vectorized loop and in no task: the text
// is that of the thread that runs the model.
struct Fail {
  std::string before;
  Expr number;  // a scalar of any integer type
  std::string after;
};
inline constexpr int32_t kFailStatus = -1;
// Bytes of both texts together, at most: what runtimes have room for, less a number.
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

// How a function is called: requirement E1.
enum class Convention {
  kUnpacked,  // int32_t f(void* a, …): one pointer per parameter
  kPacked,    // int32_t f(TVMValue* args, int* type_codes, int num_args, …): one DLTensor per
              // parameter; checks them
};

struct Func {
  // kOperator and kMain: may be called from outside. kTask: the body of a parallel loop, called by
  // Launch; its first two parameters, `scalars[0]` and `scalars[1]`, are the task's number and the
  // number of tasks. kExternal: is not of this program, has no body, and is only called.
  enum class Kind { kOperator, kMain, kTask, kExternal };

  std::string name;
  Kind kind = Kind::kOperator;
  Convention convention = Convention::kUnpacked;
  // kPacked: callers ask the runtime for the function of this name, each time, instead of leaving
  // it to the linker.
  bool by_name = false;
  std::vector<Buffer> params;  // in order: inputs, outputs, pools, contexts
  int num_inputs = 0;
  // kMain: pools of scratch memory, uint8 [bytes]; a packed function takes larger ones too.
  int num_pools = 0;
  // Pointers of the application's that are handed on and not looked into, uint8 [0].
  int num_contexts = 0;
  // Of type index: of a task, and of an internal operator that is not packed (scalars.h).
  std::vector<Var> scalars;
  // Scratch, as one more pointer parameter after `params` where it is not null; shape [workspace
  // bytes], uint8. With kPacked and `allocate_workspace` it is no parameter: the function takes it
  // from TVMBackendAllocWorkspace and gives it back.
  Buffer workspace;
  bool allocate_workspace = false;
  Stmt body;
  bool exported = true;  // visible outside of the object
  // Of the program's CPU variants the one that the code is for; -1: every CPU of the target.
  int cpu_variant = -1;
  // An output may overlap an input: be its very memory, or reach into it (overlap.h). Otherwise no
  // two parameters overlap, and code generators may rely on it.
  bool in_place = false;
  // A copy of its only input to its only output that does nothing if both are one memory: callers may
  // pass that, and no element is read or written then.
  bool is_copy = false;
};

// A constant buffer with its contents.
struct Constant {
  Buffer buffer;          // scope kConstant
  Tensor tensor;          // as many bytes as the buffer
  std::string pool = {};  // of constants, an identifier; its section is ".rodata.<pool>"
};

// A function without arguments that returns the address of a DataDef. Always exported; both code
// generators print it. packed: a TVMBackendPackedCFunc that sets ret_value->v_handle to the
// address, *ret_type_code to 3 (kTVMOpaqueHandle) and returns 0, as `get_c_metadata` is. Otherwise
// plain C, `const <c_type of the data>* name(void)`, as `TVMSystemLibEntryPoint` is.
struct HandleGetter {
  std::string name;
  std::string data_symbol;
  bool packed = true;
  bool weak = false;  // several objects of one program may define it
};

// How a program with CPU variants finds the one to run: an external function of the program, which
// the code generators define. It gives its caller 1 + the index of the variant, and asks the CPU
// for it the first time; calls from several threads at once find the same. On a CPU that has not
// what variant 0 needs it fails with a text for TVMGetLastError. Two more functions are exported:
// one that names the variant, and one that, given a name, lets the functions that are called from
// then on run another one that the CPU has too.
struct CpuChoice {
  std::string function;  // int32_t (int32_t* choice)
  std::string get, set;  // packed: () -> string, (string); else const char* (void), which is null
                         // on such a CPU, and int32_t (const char* name)
  bool packed = true;
  // The decision as a function of the program: of the uint32 words that the CPU describes itself by
  // (runtime_cpp/cpu/x86_features.h), in the order of CpuWord, makes the choice above, or -1 -
  // the index of what it lacks.
  std::string decide;
  std::vector<std::string> variants;  // names, lowest first
  // What is said of a CPU that lacks something of variant 0; that lacks something of the variant
  // that it shall run; and of a name of no variant.
  std::vector<std::string> lacks;
  std::vector<std::string> refusals;
  std::string unknown;
};

struct LoopProgram {
  std::vector<Func> funcs;  // callees before callers
  std::vector<Constant> constants;
  std::vector<DataDef> data;  // metadata, tables, registries: data.h
  std::vector<HandleGetter> getters;
  // Names an exported variable `void (*)(int32_t profile_index, int32_t begin)`, null until
  // somebody who wants to know sets it: called with begin = 1 before each Call that has a profile
  // index, with 0 after it. No such variable if empty.
  std::string profile_hook;
  std::optional<CpuChoice> cpu_choice;

  const Func* FindFunc(absl::string_view name) const;
};

std::string ToString(const Stmt& stmt);
std::string ToString(const Func& func);
std::string ToString(const LoopProgram& program);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_LOOP_H_
