// SPDX-License-Identifier: Apache-2.0
// AccessOrder: the time of the last read of each element of one parameter of a function, and of the
// first write of each element of another parameter.
#ifndef KILN_COMPILER_LOOP_ACCESS_ORDER_H_
#define KILN_COMPILER_LOOP_ACCESS_ORDER_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "compiler/loop/loop.h"

namespace kiln::loop {

// Times are counted from 1. If the write of an element and the read of another one have the same
// time, the read comes first.
struct AccessOrder {
  static constexpr int64_t kNeverRead = 0;
  static constexpr int64_t kNeverWritten = std::numeric_limits<int64_t>::max();

  std::vector<int64_t> last_read;    // by element of `read`
  std::vector<int64_t> first_write;  // by element of `written`
};

// Follows the accesses of the function, which must be flat. Returns nothing if an index, a
// condition or the range of a loop depends on data, if the function reads `written`, or if it makes
// more than `max_accesses` accesses. Functions with calls or other statements with side effects are
// not followed either.
std::optional<AccessOrder> FollowAccesses(const Func& func, const Buffer& read,
                                          const Buffer& written, int64_t max_accesses);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_ACCESS_ORDER_H_
