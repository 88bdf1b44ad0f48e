// SPDX-License-Identifier: Apache-2.0
//
// XXH64 (seed 0), a hash that finds bytes that were damaged by accident: every changed byte gives
// another value, but for one in 2^64. It does not protect against somebody who changes bytes and
// checksum alike. The algorithm: https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md.
//
//   Xxh64 hash;
//   hash.Add("some bytes");
//   hash.Add("and more");
//   hash.Value();
#ifndef KILN_RUNTIME_CPP_CHECKSUM_H_
#define KILN_RUNTIME_CPP_CHECKSUM_H_

#include <cstddef>
#include <cstdint>

#include "absl/strings/string_view.h"

namespace kiln::runtime {

class Xxh64 {
 public:
  // How the bytes are cut into calls makes no difference.
  void Add(absl::string_view bytes);

  // Of all bytes so far.
  uint64_t Value() const;

 private:
  static constexpr size_t kStripeBytes = 32;
  static constexpr uint64_t kPrimes[5] = {0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F,
                                          0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                                          0x27D4EB2F165667C5};

  static uint64_t Round(uint64_t lane, uint64_t input);
  void AddStripes(const char* bytes, size_t count);

  uint64_t lanes_[4] = {kPrimes[0] + kPrimes[1], kPrimes[1], 0, 0 - kPrimes[0]};
  uint64_t total_bytes_ = 0;
  char rest_[kStripeBytes] = {};  // total_bytes_ % kStripeBytes bytes that fill no stripe yet
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_CHECKSUM_H_
