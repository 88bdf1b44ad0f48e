// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/place_constants.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/align.h"
#include "compiler/loop/mutate.h"

namespace kiln {
namespace {

using Reads = std::map<const loop::BufferNode*, double>;

// Adds to `reads` the number of elements that the statement reads from each buffer. A loop of
// unknown extent counts once, and both branches of a condition count.
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

// Returns the alignment of all constants in their sections: the largest that a constant requires.
int64_t AlignmentOf(const std::vector<loop::Constant>& constants) {
  int alignment = 1;
  for (const loop::Constant& constant : constants) {
    const loop::BufferNode& buffer = *constant.buffer;
    alignment = std::max({alignment, buffer.alignment_bytes, buffer.dtype.bytes()});
  }
  return alignment;
}

// Returns the bytes of a constant in its section. A constant without elements takes space too.
int64_t BytesOf(const loop::Constant& constant, int64_t alignment) {
  return AlignUp(std::max<int64_t>(1, constant.buffer->num_bytes()), alignment);
}

absl::Status TooSmall(const std::vector<PoolSpec>& pools,
                      const std::vector<const loop::Constant*>& unplaced, int64_t alignment) {
  constexpr size_t kMostNamed = 8;
  int64_t missing = 0;
  std::string names, given;
  for (size_t i = 0; i < unplaced.size(); ++i) {
    const loop::BufferNode& buffer = *unplaced[i]->buffer;
    missing += BytesOf(*unplaced[i], alignment);
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

// The pool of each constant; -1: it has no place.
struct Places {
  std::vector<int> pools;
  int64_t unplaced_bytes = 0;
  double cost = 0;  // sum of traffic / speed
};

// Properties of a constant that matter for placing.
struct Item {
  int64_t bytes = 0;
  double traffic = 0;  // bytes that are read
};

// Places each item of `order` in turn in a pool that has room: in the fastest one, or with
// `tightest` in the one with the least room.
Places Fill(const std::vector<PoolSpec>& pools, const std::vector<Item>& items,
            const std::vector<size_t>& order, bool tightest) {
  std::vector<int64_t> room;
  for (const PoolSpec& pool : pools) {
    room.push_back(pool.limit_bytes < 0 ? std::numeric_limits<int64_t>::max() : pool.limit_bytes);
  }
  const auto is_better = [&](size_t a, size_t b) {
    return tightest && room[a] != room[b] ? room[a] < room[b] : pools[a].speed > pools[b].speed;
  };
  Places places{.pools = std::vector<int>(items.size(), -1)};
  for (size_t i : order) {
    size_t best = pools.size();
    for (size_t p = 0; p < pools.size(); ++p) {
      if (room[p] < items[i].bytes) continue;
      if (best == pools.size() || is_better(p, best)) best = p;
    }
    if (best == pools.size()) {
      places.unplaced_bytes += items[i].bytes;
      continue;
    }
    room[best] -= items[i].bytes;
    places.pools[i] = static_cast<int>(best);
    places.cost += items[i].traffic / pools[best].speed;
  }
  return places;
}

// Returns the best of several ways to fill the pools: the fewest bytes without a place, then the
// lowest cost.
Places BestPlaces(const std::vector<PoolSpec>& pools, const std::vector<Item>& items) {
  std::vector<size_t> by_heat(items.size());
  std::iota(by_heat.begin(), by_heat.end(), size_t{0});
  std::vector<size_t> by_size = by_heat;
  std::stable_sort(by_heat.begin(), by_heat.end(), [&](size_t a, size_t b) {
    return items[a].traffic * static_cast<double>(items[b].bytes) >
           items[b].traffic * static_cast<double>(items[a].bytes);
  });
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](size_t a, size_t b) { return items[a].bytes > items[b].bytes; });
  Places best = Fill(pools, items, by_heat, /*tightest=*/false);
  for (const auto* order : {&by_heat, &by_size}) {
    for (const bool tightest : {false, true}) {
      Places places = Fill(pools, items, *order, tightest);
      if (std::tie(places.unplaced_bytes, places.cost) < std::tie(best.unplaced_bytes, best.cost)) {
        best = std::move(places);
      }
    }
  }
  return best;
}

}  // namespace

absl::Status PlaceConstants(const std::vector<PoolSpec>& pools, loop::LoopProgram& program,
                            Plan& plan) {
  if (pools.empty()) return absl::OkStatus();
  Reads reads;
  for (const loop::Func& func : program.funcs) CountReads(func.body, 1, reads);
  const int64_t alignment = AlignmentOf(program.constants);
  std::vector<Item> items;
  for (const loop::Constant& constant : program.constants) {
    const loop::BufferNode& buffer = *constant.buffer;
    const auto it = reads.find(&buffer);
    const double elements = it == reads.end() ? 0 : it->second;
    items.push_back(
        {.bytes = BytesOf(constant, alignment), .traffic = elements * buffer.dtype.bytes()});
  }
  const Places places = BestPlaces(pools, items);
  std::vector<const loop::Constant*> unplaced;
  for (size_t i = 0; i < items.size(); ++i) {
    loop::Constant& constant = program.constants[i];
    if (places.pools[i] < 0) {
      unplaced.push_back(&constant);
    } else {
      constant.pool = pools[static_cast<size_t>(places.pools[i])].name;
    }
  }
  if (!unplaced.empty()) return TooSmall(pools, unplaced, alignment);
  for (const PoolSpec& pool : pools) {
    plan.constant_pools.push_back({.name = pool.name,
                                   .alignment_bytes = std::max(pool.alignment_bytes, alignment),
                                   .external = true,
                                   .limit_bytes = pool.limit_bytes,
                                   .speed = pool.speed});
  }
  return absl::OkStatus();
}

}  // namespace kiln
