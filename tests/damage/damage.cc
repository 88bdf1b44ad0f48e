// SPDX-License-Identifier: Apache-2.0
#include "tests/damage/damage.h"

#include <algorithm>
#include <memory>
#include <random>

#include "gtest/gtest.h"

namespace kiln::testing {
namespace {

absl::Status ReadExactly(absl::string_view bytes, const Reader& read) {
  const std::unique_ptr<char[]> block(new char[bytes.size()]);
  std::copy(bytes.begin(), bytes.end(), block.get());
  return read(absl::string_view(block.get(), bytes.size()));
}

// Expects a status with a text that is not an internal error.
void ExpectProper(const absl::Status& status) {
  EXPECT_FALSE(status.message().empty());
  EXPECT_FALSE(absl::IsInternal(status) || absl::IsUnknown(status)) << status;
}

}  // namespace

void ExpectCutsFail(const std::string& bytes, const Reader& read) {
  const absl::Status whole = ReadExactly(bytes, read);
  ASSERT_TRUE(whole.ok()) << whole;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const absl::Status status = ReadExactly(absl::string_view(bytes).substr(0, size), read);
    ASSERT_FALSE(status.ok()) << "cut off after " << size << " of " << bytes.size() << " bytes";
    ExpectProper(status);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "cut off after " << size << " bytes";
  }
}

void ExpectCutsAreHarmless(const std::string& bytes, const Reader& read) {
  const absl::Status whole = ReadExactly(bytes, read);
  ASSERT_TRUE(whole.ok()) << whole;
  for (size_t size = 0; size < bytes.size(); ++size) {
    const absl::Status status = ReadExactly(absl::string_view(bytes).substr(0, size), read);
    if (!status.ok()) ExpectProper(status);
    ASSERT_FALSE(::testing::Test::HasFailure()) << "cut off after " << size << " bytes";
  }
}

void ExpectSomeDamageIsHarmless(const std::string& bytes, const Reader& read, int count) {
  constexpr size_t kEnds = 2048;
  const absl::Status whole = ReadExactly(bytes, read);
  ASSERT_TRUE(whole.ok()) << whole;
  std::mt19937 random(1);
  const auto place = [&]() -> size_t {
    if (random() % 2 == 0 || bytes.size() < 2 * kEnds) return random() % bytes.size();
    const size_t at = random() % (2 * kEnds);
    return at < kEnds ? at : bytes.size() - 1 - (at - kEnds);
  };
  for (int i = 0; i < 2 * count; ++i) {
    const size_t at = place();
    std::string damaged = i % 2 == 0 ? bytes.substr(0, at) : bytes;
    const char value = static_cast<char>(random());
    if (i % 2 != 0) damaged[at] = value == bytes[at] ? static_cast<char>(~value) : value;
    const absl::Status status = ReadExactly(damaged, read);
    if (!status.ok()) ExpectProper(status);
    ASSERT_FALSE(::testing::Test::HasFailure())
        << (i % 2 == 0 ? "cut off after " : "another value of byte ") << at;
  }
}

void ExpectFlipsAreHarmless(const std::string& bytes, const Reader& read, size_t begin, size_t end,
                            size_t every) {
  const absl::Status whole = ReadExactly(bytes, read);
  ASSERT_TRUE(whole.ok()) << whole;
  std::string damaged = bytes;
  for (size_t bit = 8 * begin; bit < 8 * std::min(end, bytes.size()); bit += every) {
    char& byte = damaged[bit / 8];
    const char original = byte;
    byte = static_cast<char>(byte ^ (1 << bit % 8));
    const absl::Status status = ReadExactly(damaged, read);
    if (!status.ok()) ExpectProper(status);
    ASSERT_FALSE(::testing::Test::HasFailure())
        << "bit " << bit % 8 << " of byte " << bit / 8 << " is flipped";
    byte = original;
  }
}

}  // namespace kiln::testing
