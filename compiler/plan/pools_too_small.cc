// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/pools_too_small.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace kiln {
namespace {

constexpr char kEnoughBytes[] = "kiln/enough-bytes";

}  // namespace

absl::Status PoolsTooSmall(const Plan& plan, const Placement& placement,
                           const std::vector<int>& placed, const std::vector<Lifetime>& lifetimes,
                           const EnoughMemory& enough) {
  constexpr size_t kMostNamed = 8;
  int64_t missing = 0, given = 0;
  std::string names, pools;
  for (size_t k = 0; k < placement.unplaced.size(); ++k) {
    const size_t i = static_cast<size_t>(placement.unplaced[k]);
    missing += lifetimes[i].bytes;
    if (k >= kMostNamed) continue;
    const PlanBuffer& b = plan.buffers[static_cast<size_t>(placed[i])];
    absl::StrAppend(&names, k == 0 ? "" : ", ", "'", b.name, "' (", b.bytes(), " bytes, ",
                    b.kind == PlanBufferKind::kScratch ? "scratch" : b.type.ToString(), ", calls ",
                    b.first_call, " to ", b.last_call, ")");
  }
  if (placement.unplaced.size() > kMostNamed) {
    absl::StrAppend(&names, " and ", placement.unplaced.size() - kMostNamed, " more");
  }
  for (const PlanPool& pool : plan.pools) {
    given += pool.limit_bytes;
    absl::StrAppend(&pools, pools.empty() ? "" : ", ", "'", pool.name, "' ", pool.limit_bytes);
  }
  const PlanPool& slowest = plan.pools[enough.pool];
  absl::Status error = absl::ResourceExhaustedError(
      absl::StrCat("the pools (", pools, " bytes) are too small: '", slowest.name,
                   "' would do with ", enough.bytes, " bytes, ", enough.bytes - slowest.limit_bytes,
                   " more; buffers of ", missing, " bytes have no place: ", names, "; at most ",
                   plan.lower_bound_bytes, " bytes are alive at once, and the pools have ", given,
                   "; --emit=plan shows the calls by their numbers"));
  // Debian's Abseil has no symbol for clang's spelling of the constructor from a string.
  const std::string enough_bytes = absl::StrCat(enough.bytes);
  error.SetPayload(kEnoughBytes, absl::Cord(absl::string_view(enough_bytes)));
  return error;
}

int64_t EnoughBytes(const absl::Status& error) {
  const absl::optional<absl::Cord> bytes = error.GetPayload(kEnoughBytes);
  int64_t value = -1;
  if (bytes.has_value() && !absl::SimpleAtoi(std::string(*bytes), &value)) return -1;
  return value;
}

}  // namespace kiln
