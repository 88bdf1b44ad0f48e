// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/overlap.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "compiler/loop/access_order.h"

namespace kiln::loop {
namespace {

constexpr int64_t kMaxAccesses = int64_t{1} << 25;
constexpr int64_t kMaxBytes = int64_t{1} << 20;
// Distances are tried in multiples of k times the alignment, with k up to this number. If a
// function processes one channel after the other, its writes avoid unread elements only if the
// distance is a multiple of the number of channels.
constexpr int64_t kMaxMultiples = 64;

// The first write or the last read of a byte of a parameter.
struct Event {
  int64_t time;
  bool is_read;
  int64_t byte;
};

// Returns the events, the latest first. At equal times, writes precede reads in this order, because
// they happen after them.
std::vector<Event> EventsOf(const AccessOrder& order, int64_t read_bytes, int64_t written_bytes) {
  std::vector<Event> events;
  const auto add = [&](const std::vector<int64_t>& times, int64_t never, bool is_read,
                       int64_t bytes) {
    for (size_t e = 0; e < times.size(); ++e) {
      const int64_t first = static_cast<int64_t>(e) * bytes;
      for (int64_t b = first; times[e] != never && b < first + bytes; ++b) {
        events.push_back({times[e], is_read, b});
      }
    }
  };
  add(order.last_read, AccessOrder::kNeverRead, true, read_bytes);
  add(order.first_write, AccessOrder::kNeverWritten, false, written_bytes);
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    return std::tuple(-a.time, a.is_read, a.byte) < std::tuple(-b.time, b.is_read, b.byte);
  });
  return events;
}

// Returns the least multiple of `multiple` that is larger than every multiple at which a byte would
// be written before it is read.
int64_t DistanceBy(int64_t multiple, const std::vector<Event>& events) {
  constexpr int64_t kNone = std::numeric_limits<int64_t>::max();
  // For each remainder modulo `multiple`, the lowest byte that is read later.
  std::vector<int64_t> first(static_cast<size_t>(multiple), kNone);
  int64_t distance = 0;
  for (const Event& event : events) {
    int64_t& of_class = first[static_cast<size_t>(event.byte % multiple)];
    if (event.is_read) {
      of_class = std::min(of_class, event.byte);
    } else if (of_class != kNone) {
      distance = std::max(distance, event.byte - of_class + multiple);
    }
  }
  return distance;
}

}  // namespace

std::optional<Overlap> FindOverlap(const Func& func, int input, int output,
                                   int64_t alignment_bytes) {
  const Buffer& in = func.params[static_cast<size_t>(input)];
  const Buffer& out =
      func.params[static_cast<size_t>(func.num_inputs) + static_cast<size_t>(output)];
  // C compilers may assume that a store of one type does not alias a load of another type, unless
  // one of them is a byte.
  const bool may_alias =
      in->dtype == out->dtype || in->dtype.bytes() == 1 || out->dtype.bytes() == 1;
  if (func.kind != Func::Kind::kOperator || !may_alias ||
      in->num_bytes() + out->num_bytes() > kMaxBytes) {
    return std::nullopt;
  }
  const std::optional<AccessOrder> order = FollowAccesses(func, in, out, kMaxAccesses);
  if (!order.has_value()) return std::nullopt;
  const std::vector<Event> events = EventsOf(*order, in->dtype.bytes(), out->dtype.bytes());
  std::optional<Overlap> best;
  for (int64_t k = 1; k <= kMaxMultiples && k * alignment_bytes < out->num_bytes(); ++k) {
    const int64_t distance = DistanceBy(k * alignment_bytes, events);
    if (distance >= out->num_bytes()) continue;
    if (!best.has_value() || distance < best->distance_bytes) {
      best = Overlap{distance, k * alignment_bytes};
    }
  }
  return best;
}

}  // namespace kiln::loop
