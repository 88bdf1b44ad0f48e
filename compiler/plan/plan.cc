// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/plan.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/base/status.h"
#include "compiler/plan/keep_states.h"
#include "compiler/plan/place.h"
#include "compiler/plan/place_overlapping.h"
#include "compiler/plan/pools_too_small.h"

namespace kiln {
namespace {

class Planner {
 public:
  Planner(const Graph& graph, const std::vector<Call>& calls, const PlanOptions& options)
      : graph_(graph), calls_(calls), options_(options) {}

  absl::StatusOr<Plan> Run() && {
    plan_.workspace_io = options_.workspace_io;
    for (const StatePair& pair : options_.states) {
      plan_.states.push_back({.initial = pair.initial});
    }
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const ValueId id = graph_.inputs[i];
      const int index = static_cast<int>(i);
      PlanState* state = StateOf([&](const StatePair& pair) { return pair.input == index; });
      const int added =
          AddBuffer(id, graph_.value(id).name,
                    state == nullptr ? PlanBufferKind::kInput : PlanBufferKind::kState);
      buffer(added).io_index = index;
      (state == nullptr ? plan_.inputs.emplace_back() : state->input) = added;
    }
    KILN_RETURN_IF_ERROR(AddCalls());
    KILN_RETURN_IF_ERROR(BindOutputs());
    FindLifetimes();
    KeepStates(graph_, options_, plan_);
    FindLifetimes();
    AliasInPlace();
    FindLifetimes();
    AddPools();
    KILN_RETURN_IF_ERROR(PlaceAll());
    PlaceStates(options_, plan_);
    NumberStorage();
    return std::move(plan_);
  }

 private:
  PlanBuffer& buffer(int id) { return plan_.buffers[static_cast<size_t>(id)]; }

  int AddBuffer(ValueId value, std::string name, PlanBufferKind kind) {
    const int id = static_cast<int>(plan_.buffers.size());
    plan_.buffers.push_back({.name = std::move(name), .type = graph_.type(value), .kind = kind});
    by_value_[value] = id;
    return id;
  }

  // Returns the state for whose pair `is_one` is true, or null.
  template <typename F>
  PlanState* StateOf(F is_one) {
    for (size_t i = 0; i < options_.states.size(); ++i) {
      if (is_one(options_.states[i])) return &plan_.states[i];
    }
    return nullptr;
  }

  absl::Status AddCalls() {
    for (const Call& spec : calls_) {
      PlanCall call{spec, {}, -1};
      for (ValueId input : spec.inputs) {
        const auto it = by_value_.find(input);
        if (it == by_value_.end()) {
          return absl::InternalError(
              absl::StrCat(spec.function, " reads a value that nothing makes"));
        }
        call.args.push_back(it->second);
      }
      for (ValueId output : spec.outputs) {
        if (const auto it = by_value_.find(output); it != by_value_.end()) {
          call.args.push_back(it->second);
          continue;
        }
        const int id = AddBuffer(output, absl::StrCat("t", plan_.buffers.size()),
                                 PlanBufferKind::kIntermediate);
        call.args.push_back(id);
        if (spec.function.empty()) {
          buffer(id).alias_of = call.args[0];
          buffer(id).is_view = true;
        }
      }
      if (spec.workspace_bytes > 0 && !options_.scratch_from_runtime) {
        call.scratch = static_cast<int>(plan_.buffers.size());
        plan_.buffers.push_back({.name = absl::StrCat("scratch", plan_.calls.size()),
                                 .type = {{spec.workspace_bytes}, DType::UInt(8)},
                                 .kind = PlanBufferKind::kScratch});
      }
      plan_.calls.push_back(std::move(call));
    }
    return absl::OkStatus();
  }

  // Marks the buffers of the model's outputs and gives them their names. If an output is a view,
  // its buffer becomes the root, so that the viewed value is written into the output's memory.
  absl::Status BindOutputs() {
    std::vector<std::vector<int>> aliases(plan_.buffers.size());
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      const int of = plan_.buffers[i].alias_of;
      if (of >= 0) aliases[static_cast<size_t>(of)].push_back(static_cast<int>(i));
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const auto it = by_value_.find(graph_.outputs[i]);
      if (it == by_value_.end()) return absl::InternalError("an output that no call makes");
      const int id = it->second;
      const int root = plan_.Root(id);
      if (buffer(root).kind != PlanBufferKind::kIntermediate ||
          buffer(id).kind == PlanBufferKind::kOutput) {
        return absl::InternalError("an output that shares memory with another value");
      }
      const int index = static_cast<int>(i);
      buffer(id).name = graph_.OutputName(index);
      PlanState* state = StateOf([&](const StatePair& pair) { return pair.output == index; });
      if (state != nullptr) {
        buffer(id).io_index = index;
        state->output = id;
        continue;
      }
      if (root != id) {
        buffer(id).alias_of = -1;
        buffer(root).alias_of = id;
        std::vector<int>& own = aliases[static_cast<size_t>(id)];
        for (int other : std::exchange(aliases[static_cast<size_t>(root)], {})) {
          if (other == id) continue;
          buffer(other).alias_of = id;
          own.push_back(other);
        }
        own.push_back(root);
      }
      buffer(id).kind = PlanBufferKind::kOutput;
      buffer(id).io_index = index;
      plan_.outputs.push_back(id);
    }
    return absl::OkStatus();
  }

  // Sets all lifetimes. The lifetime of a root covers all buffers that share its memory.
  void FindLifetimes() {
    const int end = static_cast<int>(plan_.calls.size());
    for (PlanBuffer& b : plan_.buffers) {
      const bool is_there = b.kind == PlanBufferKind::kInput || b.kind == PlanBufferKind::kState;
      b.first_call = is_there ? 0 : std::numeric_limits<int>::max();
      b.last_call = b.kind == PlanBufferKind::kOutput ? end : -1;
    }
    const auto touch = [&](int id, int call) {
      for (const int b : {id, plan_.Root(id)}) {
        buffer(b).first_call = std::min(buffer(b).first_call, call);
        buffer(b).last_call = std::max(buffer(b).last_call, call);
      }
    };
    for (int c = 0; c < end; ++c) {
      const PlanCall& call = plan_.calls[static_cast<size_t>(c)];
      for (int arg : call.args) touch(arg, c);
      if (call.scratch >= 0) touch(call.scratch, c);
    }
    for (int id : plan_.outputs) touch(id, end);
    // A state is alive until the end if its next value is in its memory, or is copied there.
    for (const PlanState& state : plan_.states) {
      if (plan_.Root(state.output) == state.input) touch(state.output, end);
      if (state.is_copied) touch(state.input, end);
    }
  }

  // True if the plan chooses the memory of the buffer.
  bool IsPlaced(const PlanBuffer& b) const {
    if (b.kind == PlanBufferKind::kState) return false;
    return options_.workspace_io || b.kind == PlanBufferKind::kIntermediate ||
           b.kind == PlanBufferKind::kScratch;
  }

  // Lets outputs of calls take the memory of inputs that nothing reads later, and updates the
  // last_call of roots. It is the number after the last call if the memory has a model output.
  void AliasInPlace() {
    for (size_t c = 0; c < calls_.size(); ++c) {
      const PlanCall& call = plan_.calls[c];
      std::vector<int> used;
      for (const auto& [in, out] : calls_[c].in_place) {
        int output = call.args[static_cast<size_t>(call.num_inputs()) + static_cast<size_t>(out)];
        // If an output of the model is a view of this result, the output owns the memory.
        const int root = plan_.Root(output);
        if (IsPlaced(buffer(root)) && buffer(root).kind == PlanBufferKind::kOutput) output = root;
        const int input = plan_.Root(call.args[static_cast<size_t>(in)]);
        const bool twice = std::count_if(call.args.begin(), call.args.begin() + call.num_inputs(),
                                         [&](int a) { return plan_.Root(a) == input; }) > 1;
        if (twice || !IsPlaced(buffer(output)) || plan_.Root(output) != output ||
            !IsPlaced(buffer(input)) || buffer(input).last_call != static_cast<int>(c) ||
            buffer(input).bytes() < buffer(output).bytes() ||
            std::find(used.begin(), used.end(), input) != used.end()) {
          continue;
        }
        // Views of the output follow it, so the root also takes over its last call.
        buffer(output).alias_of = input;
        buffer(input).last_call = std::max(buffer(input).last_call, buffer(output).last_call);
        used.push_back(input);
        break;
      }
    }
  }

  void AddPools() {
    if (options_.pools.empty()) {
      plan_.pools.push_back({.name = "workspace", .alignment_bytes = options_.alignment_bytes});
    }
    for (const PoolSpec& spec : options_.pools) {
      plan_.pools.push_back({.name = spec.name,
                             .alignment_bytes = spec.alignment_bytes > 0 ? spec.alignment_bytes
                                                                         : options_.alignment_bytes,
                             .external = true,
                             .limit_bytes = spec.limit_bytes,
                             .speed = spec.speed});
    }
  }

  // Returns for each root the bytes that the calls read from and write to its memory.
  std::vector<int64_t> Traffic() const {
    std::vector<int64_t> traffic(plan_.buffers.size(), 0);
    for (const PlanCall& call : plan_.calls) {
      if (call.function.empty()) continue;
      for (int arg : call.args) {
        traffic[static_cast<size_t>(plan_.Root(arg))] +=
            plan_.buffers[static_cast<size_t>(arg)].bytes();
      }
      if (call.scratch < 0) continue;
      const size_t scratch = static_cast<size_t>(call.scratch);
      traffic[scratch] += 2 * plan_.buffers[scratch].bytes();
    }
    return traffic;
  }

  absl::Status PlaceAll() {
    std::vector<int> placed;
    std::vector<Lifetime> lifetimes;
    const std::vector<int64_t> traffic = Traffic();
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      const PlanBuffer& b = plan_.buffers[i];
      if (b.alias_of >= 0 || !IsPlaced(b) || b.bytes() == 0) continue;
      const int id = static_cast<int>(i);
      placed.push_back(id);
      // Time 0 is before the first call, when the inputs are written.
      const int first = b.kind == PlanBufferKind::kInput ? 0 : b.first_call + 1;
      lifetimes.push_back(
          {AlignUp(b.bytes(), options_.alignment_bytes), first, b.last_call + 1, traffic[i]});
    }
    std::vector<PoolShape> shapes;
    for (const PlanPool& pool : plan_.pools) {
      PoolShape shape{.speed = pool.speed};
      // Every buffer takes a multiple of the alignment.
      if (pool.limit_bytes >= 0) {
        shape.limit_bytes = pool.limit_bytes - pool.limit_bytes % options_.alignment_bytes;
      }
      shapes.push_back(shape);
    }
    plan_.lower_bound_bytes = LowerBound(lifetimes);
    const Placement placement = shapes.size() == 1
                                    ? PlaceInOne(lifetimes, shapes[0].limit_bytes, placed)
                                    : PlaceIn(shapes, Effort::kUsual, lifetimes, placed);
    plan_.strategy = placement.strategy;
    if (shapes.size() == 1 && placement.total_bytes > shapes[0].limit_bytes) {
      // A placement with the limit tells which buffers have no place.
      return PoolsTooSmall(plan_, PlaceIn(shapes, Effort::kUsual, lifetimes, placed), placed,
                           lifetimes, {.pool = 0, .bytes = placement.total_bytes});
    }
    if (!placement.unplaced.empty()) {
      return PoolsTooSmall(plan_, placement, placed, lifetimes,
                           EnoughMemoryOf(lifetimes, shapes, placed));
    }
    for (size_t p = 0; p < plan_.pools.size(); ++p) {
      std::vector<Lifetime> inside;
      for (size_t i = 0; i < lifetimes.size(); ++i) {
        if (placement.pools[i] == static_cast<int>(p)) inside.push_back(lifetimes[i]);
      }
      plan_.pools[p].size_bytes = placement.pool_bytes[p];
      plan_.pools[p].lower_bound_bytes = LowerBound(inside);
    }
    for (size_t i = 0; i < placed.size(); ++i) {
      buffer(placed[i]).pool = placement.pools[i];
      buffer(placed[i]).offset_bytes = placement.offsets[i];
    }
    return absl::OkStatus();
  }

  Placement PlaceIn(const std::vector<PoolShape>& pools, Effort effort,
                    const std::vector<Lifetime>& lifetimes, const std::vector<int>& placed) {
    return PlaceOverlapping(lifetimes, pools, placed, options_.find_overlap, effort, plan_);
  }

  // Places the buffers in one pool. The limit only decides how long a small placement is searched
  // for, so a plan that fits a pool fits every larger one.
  Placement PlaceInOne(const std::vector<Lifetime>& lifetimes, int64_t limit_bytes,
                       const std::vector<int>& placed) {
    if (!options_.find_smallest) {
      Placement usual = PlaceIn({{}}, Effort::kUsual, lifetimes, placed);
      if (usual.total_bytes <= limit_bytes) return usual;
    }
    return PlaceIn({{}}, Effort::kSmallest, lifetimes, placed);
  }

  // Returns a sufficient size of the slowest pool. Places all buffers again without a limit for
  // that pool; the same placement fits a pool with the bytes that it uses there.
  EnoughMemory EnoughMemoryOf(const std::vector<Lifetime>& lifetimes, std::vector<PoolShape> shapes,
                              const std::vector<int>& placed) {
    size_t slowest = 0;
    for (size_t p = 1; p < shapes.size(); ++p) {
      if (shapes[p].speed <= shapes[slowest].speed) slowest = p;
    }
    shapes[slowest].limit_bytes = PoolShape().limit_bytes;
    const Placement placement = PlaceIn(shapes, Effort::kUsual, lifetimes, placed);
    return {.pool = slowest, .bytes = placement.pool_bytes[slowest]};
  }

  // Sets the storage ids for the graph executor. A buffer gets the smallest free storage that fits,
  // otherwise the largest free one, otherwise a new one. Calls are processed in order, so that a
  // free storage stays free until it is taken.
  void NumberStorage() {
    std::vector<int64_t> storage_bytes;
    using Numbered = std::pair<int64_t, int>;
    std::set<Numbered> free;  // (bytes, storage)
    // (the last call that needs the storage, storage)
    std::priority_queue<Numbered, std::vector<Numbered>, std::greater<>> taken;
    const auto add = [&](int64_t bytes) {
      storage_bytes.push_back(bytes);
      return static_cast<int>(storage_bytes.size()) - 1;
    };
    for (int id : plan_.inputs) buffer(id).storage_id = add(buffer(id).bytes());
    for (int id : plan_.outputs) buffer(id).storage_id = add(buffer(id).bytes());
    for (const PlanCall& call : plan_.calls) {
      for (size_t a = static_cast<size_t>(call.num_inputs()); a < call.args.size(); ++a) {
        const int root = plan_.Root(call.args[a]);
        PlanBuffer& b = buffer(root);
        if (b.storage_id >= 0) continue;
        for (; !taken.empty() && taken.top().first < b.first_call; taken.pop()) {
          const int storage = taken.top().second;
          free.insert({storage_bytes[static_cast<size_t>(storage)], storage});
        }
        auto best = free.lower_bound({b.bytes(), 0});
        if (best == free.end() && !free.empty()) {
          best = free.lower_bound({free.rbegin()->first, 0});
        }
        if (best == free.end()) {
          b.storage_id = add(b.bytes());
        } else {
          b.storage_id = best->second;
          free.erase(best);
        }
        int64_t& bytes = storage_bytes[static_cast<size_t>(b.storage_id)];
        bytes = std::max(bytes, b.bytes());
        taken.push({b.last_call, b.storage_id});
      }
    }
    for (size_t i = 0; i < plan_.buffers.size(); ++i) {
      plan_.buffers[i].storage_id = buffer(plan_.Root(static_cast<int>(i))).storage_id;
    }
  }

  const Graph& graph_;
  const std::vector<Call>& calls_;
  const PlanOptions& options_;
  Plan plan_;
  std::map<ValueId, int> by_value_;
};

}  // namespace

int Plan::Root(int buffer) const {
  while (buffers[static_cast<size_t>(buffer)].alias_of >= 0) {
    buffer = buffers[static_cast<size_t>(buffer)].alias_of;
  }
  return buffer;
}

int64_t Plan::workspace_bytes() const {
  int64_t total = 0;
  for (const PlanPool& pool : pools) total += pool.is_state ? 0 : pool.size_bytes;
  return total;
}

absl::StatusOr<Plan> MakePlan(const Graph& graph, const std::vector<Call>& calls,
                              const PlanOptions& options) {
  return Planner(graph, calls, options).Run();
}

}  // namespace kiln
