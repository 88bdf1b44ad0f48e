// SPDX-License-Identifier: Apache-2.0
// Plan: the order of calls and the place of every buffer. The AOT executor, the tables of the graph
// executor, the metadata and the memory report all use it, so they cannot disagree.
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
  kInput,         // input of the model: memory of the caller, or of the pools (workspace_io)
  kOutput,        // output of the model: as kInput
  kIntermediate,  // a tensor between two calls
  kScratch,       // the workspace of one call
  kState,         // tensor kept from one run of the model to the next: in the pool of the state
};
// "input", "output", "tensor", "scratch" or "state".
const char* KindName(PlanBufferKind kind);

struct PlanBuffer {
  std::string name;
  TensorType type;  // kScratch: uint8 [bytes]
  PlanBufferKind kind = PlanBufferKind::kIntermediate;
  int io_index = -1;  // number of the model's input or output
  // The buffer whose memory this one shares from its first byte on (a reshape, or a result in place
  // of an argument); -1: it has memory of its own.
  int alias_of = -1;
  bool is_view = false;  // has the same contents as alias_of: nothing is computed
  // Lifetime as numbers of calls, inclusive. The lifetime of a root covers all its aliases. An
  // input is alive from call 0 on, even if no call reads it. An output is alive until the number
  // after the last call.
  int first_call = 0;
  int last_call = 0;
  int pool = -1;             // index in Plan::pools; -1: memory of the caller, or an alias
  int64_t offset_bytes = 0;  // offset in the pool
  int storage_id = -1;       // for the graph executor: buffers with the same id share memory

  int64_t bytes() const { return type.num_bytes(); }
};

// A call and the buffers of its arguments. A view calls no function: args[1] shares the contents of
// args[0].
struct PlanCall : Call {
  std::vector<int> args;  // buffers: inputs, then outputs
  int scratch = -1;       // buffer of kind kScratch, or -1

  int num_inputs() const { return static_cast<int>(inputs.size()); }
};

struct PlanPool {
  std::string name;
  int64_t size_bytes = 0;         // bytes that the plan uses
  int64_t lower_bound_bytes = 0;  // most bytes of its buffers that are alive at the same time
  int64_t alignment_bytes = 64;
  bool external = false;     // memory that the application described and provides
  bool is_state = false;     // holds the model's state and nothing else
  int64_t limit_bytes = -1;  // external: available bytes; -1: no limit
  double speed = 1;

  // True if the model's function has a parameter for it.
  bool is_parameter() const { return external || size_bytes > 0; }
};

// A tensor that the model keeps between runs, in the memory of the buffer `input`. If calls read
// the old value after others have written `output`, then `output` has memory of its own (is_copied)
// and the last calls copy it.
struct PlanState {
  int input = -1, output = -1;  // buffers: the value before a run, and the value after it
  double initial = 0;           // value of every element before the first run
  bool is_copied = false;
};

// A call whose output shares bytes with its input. It overwrites elements that it has read already.
struct PlanOverlap {
  int call;           // number of the call
  int input, output;  // buffers that own their memory
};

struct Plan {
  std::vector<PlanBuffer> buffers;
  std::vector<PlanCall> calls;  // in order
  std::vector<int> inputs;      // buffers of the model's inputs in order, except state
  std::vector<int> outputs;
  std::vector<PlanState> states;
  std::vector<PlanPool> pools;           // "workspace", or the pools of PlanOptions; then "state"
  std::vector<PlanPool> constant_pools;  // pools that the application described
  // Most bytes that are alive at the same time. No plan without overlaps is smaller.
  int64_t lower_bound_bytes = 0;
  std::vector<PlanOverlap> overlaps;
  int64_t overlap_saves_bytes = 0;  // bytes of the workspace
  std::string strategy;             // strategy of this placement
  bool workspace_io = false;        // inputs and outputs are in the pools

  // Returns the buffer that owns the memory of `buffer`.
  int Root(int buffer) const;
  int64_t workspace_bytes() const;  // bytes of all pools except that of the state
};

// Memory that the application provides for tensors between operators.
struct PoolSpec {
  std::string name;             // an identifier
  int64_t limit_bytes = -1;     // -1: as much as is needed
  int64_t alignment_bytes = 0;  // of its first byte, a power of two; 0: as for the target
  double speed = 1;             // relative to the other pools
};

// Returns the overlap of output number `output` of a call with its input number `input`, which
// nothing reads later.
using OverlapFinder =
    std::function<std::optional<loop::Overlap>(const Call&, int input, int output)>;

struct PlanOptions {
  int64_t alignment_bytes = 64;  // of every buffer, and of pools without an alignment
  std::vector<PoolSpec> pools;   // empty: one pool, "workspace", as large as needed
  // Places the inputs and outputs of the model in the pools too. The memory of an input is reused
  // once nothing reads it any more, and outputs may take the memory of dead buffers.
  bool workspace_io = false;
  // Inputs and outputs that are memory of the model instead of arguments. They have a pool of their
  // own, which the application provides if it provides the other pools.
  std::vector<StatePair> states;
  // Prefix of the names of the functions that copy states. A number follows.
  std::string copy_function = "copy_state";
  // Functions take their scratch memory from the runtime when they run, so it is not part of the
  // plan.
  bool scratch_from_runtime = false;
  OverlapFinder find_overlap;  // null: nothing overlaps
  // Searches for the smallest plan in one pool. Otherwise this search only runs if the usual plan
  // is too large for the pool. The plan does not depend on the pool's limit, so every larger pool
  // works as well.
  bool find_smallest = false;
};

// Computes lifetimes and places every intermediate and scratch buffer in the pools, and with
// workspace_io every input and output. It tries several strategies and keeps the best placement.
// `calls` are the calls of the lowered graph, in order. A call must make every output of the graph;
// CopyOutputs ensures this. The next value of a state overwrites the old value if the order of the
// calls allows it. Otherwise it is copied at the end of the run. Returns ResourceExhausted, with
// the missing bytes and the buffers that have no place, if the pools are too small.
absl::StatusOr<Plan> MakePlan(const Graph& graph, const std::vector<Call>& calls,
                              const PlanOptions& options = {});

// Returns the sufficient size in bytes of the slowest pool from an error of MakePlan about pools
// that are too small. Returns -1 for other errors.
int64_t EnoughBytes(const absl::Status& error);

// Returns the plan as text: calls, buffers with lifetimes and offsets, and sizes with the lower
// bound.
std::string ToString(const Plan& plan);

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_PLAN_H_
