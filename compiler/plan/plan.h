// SPDX-License-Identifier: Apache-2.0
// Plan: the order of calls and the place of every buffer. The AOT executor, the graph executor's
// tables, the metadata and the memory report are all printed from it, so they cannot disagree.
#ifndef KILN_COMPILER_PLAN_PLAN_H_
#define KILN_COMPILER_PLAN_PLAN_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/base/tensor.h"
#include "compiler/call/call.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/state.h"
#include "compiler/loop/overlap.h"

namespace kiln {

enum class PlanBufferKind {
  kInput,         // of the model: the caller's memory, or the pools' (Plan::workspace_io)
  kOutput,        // likewise
  kIntermediate,  // a tensor between two calls
  kScratch,       // the workspace of one call
  kState,         // what the model keeps from one run to the next, in the pool of the state
};
// "input", "output", "tensor", "scratch" or "state".
const char* KindName(PlanBufferKind kind);

struct PlanBuffer {
  std::string name;
  TensorType type;  // kScratch: uint8 [bytes]
  PlanBufferKind kind = PlanBufferKind::kIntermediate;
  int io_index = -1;  // which input or output of the model
  // The buffer whose memory this one shares from its first byte on (a reshape, or a result in place
  // of an argument); -1: it has its own.
  int alias_of = -1;
  bool is_view = false;  // alias_of holds the very same bytes: nothing is computed
  // Lifetime as numbers of calls, inclusive; of an alias's root it covers all aliases. An input is
  // there before the first call, whatever reads it; an output lives to the number behind the last.
  int first_call = 0;
  int last_call = 0;
  int pool = -1;             // index in Plan::pools; -1: not in a pool (the caller's, or an alias)
  int64_t offset_bytes = 0;  // in the pool
  int storage_id = -1;       // for the graph executor: buffers with the same id share memory

  int64_t bytes() const { return type.num_bytes(); }
};

// A call, and where its arguments lie. That of a view is no call: args[1] shows what args[0] holds.
struct PlanCall : Call {
  std::vector<int> args;  // buffers: inputs, then outputs
  int scratch = -1;       // buffer of kind kScratch, or -1

  int num_inputs() const { return static_cast<int>(inputs.size()); }
};

struct PlanPool {
  std::string name;
  int64_t size_bytes = 0;         // that the plan uses
  int64_t lower_bound_bytes = 0;  // most bytes of what lies in it that are alive at once
  int64_t alignment_bytes = 64;
  bool external = false;     // memory that the application described and gives
  bool is_state = false;     // holds the model's state, and nothing else
  int64_t limit_bytes = -1;  // external: what it has; -1: no limit
  double speed = 1;

  // Whether the model's function takes it.
  bool is_parameter() const { return external || size_bytes > 0; }
};

// A tensor that the model keeps, whose memory is that of the buffer `input`. Where calls read it
// after others have written `output`, that is a buffer of its own, and the last calls copy it.
struct PlanState {
  int input = -1, output = -1;  // buffers: as a run finds it, as a run leaves it
  double initial = 0;           // of every element, before the first run
  bool is_copied = false;
};

// A call whose output shares bytes with its input, of which it writes over what it has read.
struct PlanOverlap {
  int call;           // its number
  int input, output;  // buffers that own their memory
};

struct Plan {
  std::vector<PlanBuffer> buffers;
  std::vector<PlanCall> calls;  // in order
  std::vector<int> inputs;      // buffers, in the order of the model, but those that are state
  std::vector<int> outputs;
  std::vector<PlanState> states;
  std::vector<PlanPool> pools;           // "workspace", or those of PlanOptions; then "state"
  std::vector<PlanPool> constant_pools;  // that the application described
  // Most bytes that are alive at once: no plan is smaller in which nothing overlaps.
  int64_t lower_bound_bytes = 0;
  std::vector<PlanOverlap> overlaps;
  int64_t overlap_saves_bytes = 0;  // of the workspace
  std::string strategy;             // that gave this placement
  bool workspace_io = false;        // inputs and outputs lie in the pools

  // The buffer that owns the memory of `buffer`.
  int Root(int buffer) const;
  int64_t workspace_bytes() const;  // of all pools but that of the state
};

// Memory for tensors between operators that the application has.
struct PoolSpec {
  std::string name;             // an identifier
  int64_t limit_bytes = -1;     // -1: as much as is needed
  int64_t alignment_bytes = 0;  // of its first byte, a power of two; 0: the target's
  double speed = 1;             // relative to the other pools
};

// How far output number `output` of a call may reach into its input number `input`, which nothing
// reads later.
using OverlapFinder =
    std::function<std::optional<loop::Overlap>(const Call&, int input, int output)>;

struct PlanOptions {
  int64_t alignment_bytes = 64;  // of every buffer, and of a pool that says none
  std::vector<PoolSpec> pools;   // none: one, "workspace", as large as is needed
  // Places the inputs and outputs of the model in the pools too: an input may be overwritten once
  // nothing reads it any more, and what is dead gives its memory to an output.
  bool workspace_io = false;
  // Inputs and outputs that are no arguments but memory of the model's: in a pool of their own,
  // which is the application's where the others are.
  std::vector<StatePair> states;
  // The functions that copy states are called this and a number.
  std::string copy_function = "copy_state";
  // Functions take their scratch memory from the runtime when they run: it has no place in the
  // plan.
  bool scratch_from_runtime = false;
  OverlapFinder find_overlap;  // null: nothing overlaps
  // Looks for the smallest plan in one pool, as is done without it where the usual plan is too large for
  // the pool. The plan does not depend on the pool's limit, so that each larger pool does as well.
  bool find_smallest = false;
};

// Orders lifetimes and places every intermediate and scratch buffer, and with workspace_io every
// input and output, in the pools, by several strategies, and keeps the best. `calls` are those of
// the lowered graph, in order; every output of the graph must be made by one (CopyOutputs sees to
// it). A state's next value is written over the one before where the order of the calls allows it,
// and copied there at the end of the run where it does not. ResourceExhausted, with what is missing
// and the buffers that have no place, if the pools are too small.
absl::StatusOr<Plan> MakePlan(const Graph& graph, const std::vector<Call>& calls,
                              const PlanOptions& options = {});

// Of an error of MakePlan about pools that are too small, the bytes that the slowest pool would do with;
// -1 of another error.
int64_t EnoughBytes(const absl::Status& error);

// The plan as text: calls, buffers with lifetimes and offsets, sizes beside the lower bound.
std::string ToString(const Plan& plan);

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_PLAN_H_
