// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/place_constants.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/loop/mutate.h"

namespace kiln {
namespace {

constexpr int64_t kAlignment = 64;  // of a constant in its section

using Reads = std::map<const loop::BufferNode*, double>;

// Adds how often the statement reads elements of each buffer; a loop of unknown extent counts once,
// and both branches of a condition do.
void CountReads(const loop::Stmt& stmt, double times, Reads& reads) {
  if (!stmt) return;
  const auto count = [&](const loop::Expr& e) {
    loop::VisitExpr(e, [&](const loop::Expr& node) {
      const auto* load = node.As<loop::Load>();
      if (load != nullptr) reads[load->buffer.get()] += times;
    });
  };
  if (const auto* loop = stmt.As<loop::For>()) {
    int64_t extent = 1;
    (void)loop::AsInt(loop->extent, &extent);
    CountReads(loop->body, times * static_cast<double>(extent), reads);
  } else if (const auto* block = stmt.As<loop::Block>()) {
    for (const loop::Stmt& s : block->stmts) CountReads(s, times, reads);
  } else if (const auto* branch = stmt.As<loop::If>()) {
    CountReads(branch->then_body, times, reads);
    CountReads(branch->else_body, times, reads);
  } else if (const auto* allocate = stmt.As<loop::Allocate>()) {
    CountReads(allocate->body, times, reads);
  } else if (const auto* store = stmt.As<loop::Store>()) {
    for (const loop::Expr& i : store->index) count(i);
    count(store->value);
  }
}

int64_t Aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

absl::Status TooSmall(const std::vector<PoolSpec>& pools,
                      const std::vector<const loop::Constant*>& unplaced) {
  constexpr size_t kMostNamed = 8;
  int64_t missing = 0;
  std::string names, given;
  for (size_t i = 0; i < unplaced.size(); ++i) {
    const loop::BufferNode& buffer = *unplaced[i]->buffer;
    missing += Aligned(buffer.num_bytes());
    if (i < kMostNamed) {
      absl::StrAppend(&names, i == 0 ? "" : ", ", "'", buffer.name, "' (", buffer.num_bytes(),
                      " bytes)");
    }
  }
  if (unplaced.size() > kMostNamed) {
    absl::StrAppend(&names, " and ", unplaced.size() - kMostNamed, " more");
  }
  for (const PoolSpec& pool : pools) {
    absl::StrAppend(&given, given.empty() ? "" : ", ", "'", pool.name, "' ", pool.limit_bytes);
  }
  return absl::ResourceExhaustedError(absl::StrCat("the pools of constants (", given,
                                                   " bytes) are too small: ", missing,
                                                   " bytes have no place: ", names));
}

}  // namespace

absl::Status PlaceConstants(const std::vector<PoolSpec>& pools, loop::LoopProgram& program,
                            Plan& plan) {
  if (pools.empty()) return absl::OkStatus();
  Reads reads;
  for (const loop::Func& func : program.funcs) CountReads(func.body, 1, reads);
  std::vector<size_t> order(program.constants.size()), preference(pools.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::iota(preference.begin(), preference.end(), size_t{0});
  const auto heat = [&](size_t i) {
    const loop::BufferNode& buffer = *program.constants[i].buffer;
    const auto it = reads.find(&buffer);
    const double elements = static_cast<double>(std::max<int64_t>(1, buffer.num_elements()));
    return it == reads.end() ? 0 : it->second / elements;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return heat(a) > heat(b); });
  std::stable_sort(preference.begin(), preference.end(),
                   [&](size_t a, size_t b) { return pools[a].speed > pools[b].speed; });
  std::vector<int64_t> room;
  for (const PoolSpec& pool : pools) {
    room.push_back(pool.limit_bytes < 0 ? std::numeric_limits<int64_t>::max() : pool.limit_bytes);
  }
  std::vector<const loop::Constant*> unplaced;
  for (size_t i : order) {
    loop::Constant& constant = program.constants[i];
    const int64_t bytes = Aligned(constant.buffer->num_bytes());
    const auto pool = std::find_if(preference.begin(), preference.end(),
                                   [&](size_t p) { return room[p] >= bytes; });
    if (pool == preference.end()) {
      unplaced.push_back(&constant);
      continue;
    }
    room[*pool] -= bytes;
    constant.pool = pools[*pool].name;
  }
  if (!unplaced.empty()) return TooSmall(pools, unplaced);
  for (const PoolSpec& pool : pools) {
    plan.constant_pools.push_back({.name = pool.name,
                                   .alignment_bytes = std::max(pool.alignment_bytes, kAlignment),
                                   .external = true,
                                   .limit_bytes = pool.limit_bytes,
                                   .speed = pool.speed});
  }
  return absl::OkStatus();
}

}  // namespace kiln
