// SPDX-License-Identifier: Apache-2.0
// AccessOrder: when a function reads each element of one of its parameters for the last time, and
// when it writes each element of another for the first time.
#ifndef KILN_COMPILER_LOOP_ACCESS_ORDER_H_
#define KILN_COMPILER_LOOP_ACCESS_ORDER_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// Times are counted from 1. An element that is written at the time at which another is read is
// written after that.
struct AccessOrder {
  static constexpr int64_t kNeverRead = 0;
  static constexpr int64_t kNeverWritten = std::numeric_limits<int64_t>::max();

  std::vector<int64_t> last_read;    // by element of `read`
  std::vector<int64_t> first_write;  // by element of `written`
};

// Follows the function, whose accesses must be flat. Nothing where an index, a condition or the
// range of a loop depends on data, where the function reads what it writes or calls another, and
// where it makes more than `max_accesses`.
std::optional<AccessOrder> FollowAccesses(const Func& func, const Buffer& read,
                                          const Buffer& written, int64_t max_accesses);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_ACCESS_ORDER_H_
