// SPDX-License-Identifier: Apache-2.0
// Memory: simulates the effect of a plan on memory, for tests.
#ifndef KILN_COMPILER_PLAN_TESTING_MEMORY_H_
#define KILN_COMPILER_PLAN_TESTING_MEMORY_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "compiler/plan/plan.h"
#include "gtest/gtest.h"

namespace kiln {

// Runs the plan on memory that records the value in each byte. Expects that every call finds its
// arguments.
class Memory {
 public:
  // `by_storage`: buffers are placed by their storage ids, as in the graph executor.
  Memory(const Plan& plan, bool by_storage) : plan_(plan), by_storage_(by_storage) {}

  void Run() {
    for (int id : plan_.inputs) Fill(id);
    for (const PlanState& state : plan_.states) Fill(state.input);
    for (size_t c = 0; c < plan_.calls.size(); ++c) {
      const PlanCall& call = plan_.calls[c];
      if (call.function.empty()) continue;
      if (call.scratch >= 0) Fill(call.scratch);
      const int output = call.args.back();
      const bool in_place = Buffer(output).alias_of >= 0 && !Buffer(output).is_view &&
                            Reads(call, plan_.Root(output));
      const bool overlaps =
          std::any_of(plan_.overlaps.begin(), plan_.overlaps.end(),
                      [&](const PlanOverlap& o) { return o.call == static_cast<int>(c); });
      // A function may write before it has read all of its inputs, unless it works in place.
      if (!in_place && !(overlaps && !by_storage_)) Fill(output);
      for (int i = 0; i < call.num_inputs(); ++i) Check(call.args[static_cast<size_t>(i)]);
      if (call.scratch >= 0 && !by_storage_) Check(call.scratch);
      Fill(output);
    }
    for (int id : plan_.outputs) Check(id);
    // The next run finds the next value in the memory of the old one.
    for (const PlanState& state : plan_.states) {
      if (!state.is_copied) Check(state.output);
      EXPECT_EQ(Place(state.is_copied ? state.input : state.output), Place(state.input));
    }
  }

 private:
  const PlanBuffer& Buffer(int id) const { return plan_.buffers[static_cast<size_t>(id)]; }

  bool Reads(const PlanCall& call, int root) const {
    return std::any_of(call.args.begin(), call.args.begin() + call.num_inputs(),
                       [&](int id) { return plan_.Root(id) == root; });
  }

  // Returns the value that a buffer holds: its own, or that of the buffer that it is a view of.
  int Value(int id) const {
    for (const PlanCall& call : plan_.calls) {
      if (call.function.empty() && call.args[1] == id) return Value(call.args[0]);
    }
    return id;
  }

  // Returns the piece of memory and the offset in it.
  std::pair<int, int64_t> Place(int id) const {
    const int root = plan_.Root(id);
    if (by_storage_) return {Buffer(id).storage_id, 0};
    if (Buffer(root).pool >= 0) return {-1 - Buffer(root).pool, Buffer(root).offset_bytes};
    return {root, 0};
  }

  void Fill(int id) {
    if (by_storage_ && Buffer(id).kind == PlanBufferKind::kScratch) return;
    const auto [piece, offset] = Place(id);
    for (int64_t at = offset; at < offset + Buffer(id).bytes(); ++at) {
      contents_[{piece, at}] = Value(id);
    }
  }
  void Check(int id) {
    const auto [piece, offset] = Place(id);
    for (int64_t at = offset; at < offset + Buffer(id).bytes(); ++at) {
      const int found = contents_[{piece, at}];
      ASSERT_EQ(found, Value(id)) << Buffer(id).name << " was overwritten by " << Buffer(found).name
                                  << "\n"
                                  << ToString(plan_);
    }
  }

  const Plan& plan_;
  const bool by_storage_;
  std::map<std::pair<int, int64_t>, int> contents_;
};

}  // namespace kiln

#endif  // KILN_COMPILER_PLAN_TESTING_MEMORY_H_
