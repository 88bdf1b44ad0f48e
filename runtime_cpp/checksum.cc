// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/checksum.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kiln::runtime {
namespace {

// A little-endian integer at an address of any alignment.
template <typename T>
T ReadAt(const char* bytes) {
  T value = 0;
  memcpy(&value, bytes, sizeof(T));
  if constexpr (std::endian::native == std::endian::big) {
    return sizeof(T) == 8 ? static_cast<T>(__builtin_bswap64(value))
                          : static_cast<T>(__builtin_bswap32(static_cast<uint32_t>(value)));
  }
  return value;
}

}  // namespace

uint64_t Xxh64::Round(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * kPrimes[1], 31) * kPrimes[0];
}

void Xxh64::AddStripes(const char* bytes, size_t count) {
  // Local, so that the four sums stay in registers.
  uint64_t a = lanes_[0], b = lanes_[1], c = lanes_[2], d = lanes_[3];
  for (; count > 0; --count, bytes += kStripeBytes) {
    a = Round(a, ReadAt<uint64_t>(bytes));
    b = Round(b, ReadAt<uint64_t>(bytes + 8));
    c = Round(c, ReadAt<uint64_t>(bytes + 16));
    d = Round(d, ReadAt<uint64_t>(bytes + 24));
  }
  lanes_[0] = a, lanes_[1] = b, lanes_[2] = c, lanes_[3] = d;
}

void Xxh64::Add(absl::string_view bytes) {
  const size_t waiting = total_bytes_ % kStripeBytes;
  total_bytes_ += bytes.size();
  if (waiting > 0) {
    const size_t taken = std::min(kStripeBytes - waiting, bytes.size());
    memcpy(rest_ + waiting, bytes.data(), taken);
    bytes.remove_prefix(taken);
    if (waiting + taken < kStripeBytes) return;
    AddStripes(rest_, 1);
  }
  const size_t stripes = bytes.size() / kStripeBytes;
  AddStripes(bytes.data(), stripes);
  bytes.remove_prefix(stripes * kStripeBytes);
  if (!bytes.empty()) memcpy(rest_, bytes.data(), bytes.size());
}

uint64_t Xxh64::Value() const {
  uint64_t hash = lanes_[2] + kPrimes[4];  // of fewer bytes than a stripe: the seed and a prime
  if (total_bytes_ >= kStripeBytes) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) +
           std::rotl(lanes_[3], 18);
    for (const uint64_t lane : lanes_) {
      hash = (hash ^ Round(0, lane)) * kPrimes[0] + kPrimes[3];
    }
  }
  hash += total_bytes_;
  const char* at = rest_;
  const char* const end = rest_ + total_bytes_ % kStripeBytes;
  for (; end - at >= 8; at += 8) {
    hash = std::rotl(hash ^ Round(0, ReadAt<uint64_t>(at)), 27) * kPrimes[0] + kPrimes[3];
  }
  for (; end - at >= 4; at += 4) {
    hash = std::rotl(hash ^ ReadAt<uint32_t>(at) * kPrimes[0], 23) * kPrimes[1] + kPrimes[2];
  }
  for (; at < end; ++at) {
    hash = std::rotl(hash ^ static_cast<unsigned char>(*at) * kPrimes[4], 11) * kPrimes[0];
  }
  hash = (hash ^ hash >> 33) * kPrimes[1];
  hash = (hash ^ hash >> 29) * kPrimes[2];
  return hash ^ hash >> 32;
}

}  // namespace kiln::runtime
