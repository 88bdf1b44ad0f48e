// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/float16_values.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "compiler/base/tensor.h"

namespace kiln::loop {
namespace {

constexpr uint32_t kHalves = 65536;
constexpr uint32_t kRandomFloats = 16384;

template <typename T>
void Append(T value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Candidates for a number, made of random bits. Those after the first kFiniteKinds may be infinite
// or NaN.
using Kinds = std::array<uint32_t, 6>;
constexpr uint32_t kFiniteKinds = 4;

// Returns the bytes of `count` numbers, each a randomly chosen candidate.
template <typename T>
std::string OfKinds(int64_t count, uint32_t seed, bool finite, Kinds (*kinds)(uint32_t bits)) {
  std::mt19937 random(seed);
  std::string bytes;
  for (int64_t i = 0; i < count; ++i) {
    const Kinds numbers = kinds(static_cast<uint32_t>(random()));
    Append(static_cast<T>(numbers[random() % (finite ? kFiniteKinds : numbers.size())]), bytes);
  }
  return bytes;
}

}  // namespace

std::string AllHalves() {
  std::string bytes;
  for (uint32_t half = 0; half < kHalves; ++half) Append(static_cast<uint16_t>(half), bytes);
  return bytes;
}

std::string FloatsAroundHalves() {
  std::string bytes;
  for (uint32_t half = 0; half < kHalves; ++half) {
    const float value = FloatFromHalf(static_cast<uint16_t>(half));
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    for (uint32_t offset : {0u, 1u, ~0u, 0xfffu, 0x1000u, 0x1001u}) Append(bits + offset, bytes);
    // float16's subnormals are multiples of 2^-24.
    const float unit = std::copysign(0x1p-25f, value);
    for (float near : {value + unit, std::nextafter(value + unit, 0.0f)}) Append(near, bytes);
  }
  std::mt19937 random(7);
  for (uint32_t i = 0; i < kRandomFloats; ++i) Append(static_cast<uint32_t>(random()), bytes);
  return bytes;
}

std::string BFloats(int64_t count, uint32_t seed, bool finite) {
  constexpr uint32_t kSignAndFraction = 0x807f;
  return OfKinds<uint16_t>(count, seed, finite, [](uint32_t bits) -> Kinds {
    const uint32_t number = bits & kSignAndFraction, near = (bits >> 16) % 4 << 7;
    return {number,
            bits & 0x8000,
            number | (0x3f00 + near),
            number | (0x1f00 + near),
            (bits & 0x8003) | 0x7f80,
            bits};
  });
}

std::string SumsOfBFloats(int64_t count, uint32_t seed, bool finite) {
  constexpr uint32_t kSignAndFraction = 0x807fffff;
  return OfKinds<uint32_t>(count, seed, finite, [](uint32_t bits) -> Kinds {
    const uint32_t number = bits & kSignAndFraction;
    return {number,
            (bits & 0x80000003) | 0x00800000,
            number | 0x00800000,
            number | 0x3f800000,
            (bits & 0x80000001) | 0x7f800000,
            bits};
  });
}

std::string WithOneHalfNan(std::string halves) {
  for (size_t i = 0; i + sizeof(uint16_t) <= halves.size(); i += sizeof(uint16_t)) {
    uint16_t bits;
    std::memcpy(&bits, &halves[i], sizeof bits);
    if ((bits & 0x7fff) > 0x7c00) bits = 0x7e00;
    std::memcpy(&halves[i], &bits, sizeof bits);
  }
  return halves;
}

}  // namespace kiln::loop
