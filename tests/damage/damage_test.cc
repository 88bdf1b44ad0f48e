// SPDX-License-Identifier: Apache-2.0
// Checks that the damage is done, and that errors of a reader are detected.
#include "tests/damage/damage.h"

#include <set>

#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"

namespace kiln::testing {
namespace {

// Accepts only "abc".
absl::Status ReadAbc(absl::string_view bytes) {
  return bytes == "abc" ? absl::OkStatus() : absl::InvalidArgumentError("not abc");
}

TEST(Damage, EveryPrefixIsCut) {
  std::set<std::string> seen;
  ExpectCutsFail("abc", [&](absl::string_view bytes) {
    seen.insert(std::string(bytes));
    return ReadAbc(bytes);
  });
  EXPECT_EQ(seen, (std::set<std::string>{"", "a", "ab", "abc"}));
}

TEST(Damage, EveryBitIsFlipped) {
  std::set<std::string> seen;
  ExpectFlipsAreHarmless("abc", [&](absl::string_view bytes) {
    seen.insert(std::string(bytes));
    return ReadAbc(bytes);
  });
  EXPECT_EQ(seen.size(), 1u + 24u);
  EXPECT_EQ(seen.count("aBc"), 1u);
}

TEST(Damage, AcceptedCutsAreFound) {
  EXPECT_FATAL_FAILURE(ExpectCutsFail("abc",
                                      [](absl::string_view bytes) {
                                        return bytes.size() > 1
                                                   ? absl::OkStatus()
                                                   : absl::InvalidArgumentError("too short");
                                      }),
                       "cut off after 2 of 3 bytes");
}

}  // namespace
}  // namespace kiln::testing
