// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/pass_machine.h"

#include <array>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace kiln {
namespace {

// The program is a number, and a pass changes it.
struct Context {
  int step = 1;
};
using Pass = PassOf<int, Context>;
using Property = PropertyOf<int, Context>;

enum : Properties { kPositive = 1, kEven = 2, kSmall = 4 };

absl::Status AddStep(int& n, const Context& context) {
  n += context.step;
  return absl::OkStatus();
}
absl::Status Double(int& n, const Context&) {
  n *= 2;
  return absl::OkStatus();
}
absl::Status Refuse(int&, const Context&) { return absl::InvalidArgumentError("no"); }

absl::Status Expect(bool holds, int n) {
  return holds ? absl::OkStatus() : absl::InternalError(absl::StrCat("it is ", n));
}
constexpr std::array kProperties = {
    Property{kPositive, "it is positive", Verified::kAfterEachPass,
             [](const int& n, const Context&) { return Expect(n > 0, n); }},
    Property{kEven, "it is even", Verified::kAfterEachPass,
             [](const int& n, const Context&) { return Expect(n % 2 == 0, n); }},
    Property{kSmall, "it is small", Verified::kWhereAsked,
             [](const int& n, const Context&) { return Expect(n < 10, n); }},
};
constexpr std::array kPasses = {
    Pass{"add", "", 0, kPositive, 0, false, AddStep},
    Pass{"double", "", kPositive, kEven | kSmall, kPositive, true, Double},
    Pass{"add-again", "", kEven, 0, kPositive, true, AddStep},
};

static_assert(OrderIsValid(kPasses, 0, kPositive));
static_assert(!OrderIsValid(kPasses, 0, kEven), "the last pass does not keep it");
static_assert(!OrderIsValid(WithSwapped(kPasses, 0), 0, kPositive));
static_assert(!OrderIsValid(WithSwapped(kPasses, 1), 0, kPositive));
static_assert(OrderIsValid(WithSwapped(kPasses, 1), kEven, kPositive) == false);
static_assert(KnownAfter(kPasses, kSmall) == kPositive);

absl::Status RunAll(int& n, const PassRun<int>& run = {}, Context context = {}) {
  return RunPassTable<int, Context>(kPasses, kProperties, 0, run, context, n);
}

TEST(PassMachineTest, RunsInOrder) {
  int n = 2;
  std::vector<std::string> seen;
  PassRun<int> run;
  run.after = [&](absl::string_view name, const int& value) {
    seen.push_back(absl::StrCat(name, "=", value));
  };
  EXPECT_EQ(RunAll(n, run), absl::OkStatus());
  EXPECT_EQ(seen, (std::vector<std::string>{"add=3", "double=6", "add-again=7"}));
}

TEST(PassMachineTest, VerifiesWhatIsGivenAndKept) {
  int n = -5;
  EXPECT_EQ(RunAll(n).message(), "after pass add it is wrong that it is positive: it is -4");
  n = 3;
  EXPECT_EQ(RunAll(n, {}, {.step = 8}), absl::OkStatus());
  n = 1;
  // The last pass keeps the property, and the program violates it.
  const PassRun<int> run{.disabled = {"double"}, .thorough = false, .after = nullptr};
  EXPECT_EQ(RunAll(n, run, {.step = -1}).message(),
            "after pass add it is wrong that it is positive: it is 0");
}

TEST(PassMachineTest, VerifiesWhatIsNotCheapWhereAsked) {
  int n = 5;
  EXPECT_EQ(RunAll(n), absl::OkStatus());
  n = 5;
  EXPECT_EQ(RunAll(n, {.disabled = {}, .thorough = true, .after = nullptr}).message(),
            "after pass double it is wrong that it is small: it is 12");
}

// A property with kAfterTheLast is verified once, after the last pass. Only thorough runs find a
// violation right after the pass that causes it.
TEST(PassMachineTest, VerifiesBehindTheLastPass) {
  std::array properties = kProperties;
  properties[0].verified = Verified::kAfterTheLast;
  const auto message = [&](int n, const PassRun<int>& run) {
    const Context context{.step = -1};
    return std::string(
        RunPassTable<int, Context>(kPasses, properties, 0, run, context, n).message());
  };
  EXPECT_EQ(message(1, {}), "after pass add-again it is wrong that it is positive: it is -1");
  EXPECT_EQ(message(1, {.disabled = {"add-again"}}),
            "after pass double it is wrong that it is positive: it is 0");
  EXPECT_EQ(message(1, {.thorough = true}),
            "after pass add it is wrong that it is positive: it is 0");
}

TEST(PassMachineTest, APassThatIsOffGivesNothing) {
  int n = 5;
  EXPECT_EQ(RunAll(n, {.disabled = {"double"}, .thorough = true, .after = nullptr}),
            absl::OkStatus());
  EXPECT_EQ(n, 7);
}

TEST(PassMachineTest, ErrorsOfPassesArePassedOn) {
  const Pass refuse{"refuse", "", 0, 0, 0, false, Refuse};
  int n = 0;
  const absl::Status status =
      RunPassTable<int, Context>({&refuse, 1}, kProperties, 0, {}, Context(), n);
  EXPECT_EQ(status, absl::InvalidArgumentError("no"));
}

TEST(PassMachineTest, NamesThatAreOff) {
  const absl::Span<const Pass> passes = kPasses;
  EXPECT_EQ(CheckDisabled(passes, {"double"}), absl::OkStatus());
  EXPECT_EQ(CheckDisabled(passes, {"add"}).message(),
            "cannot switch off pass 'add'; optional passes are double, add-again");
  EXPECT_EQ(CheckDisabled(passes, {"bake"}).message(),
            "unknown pass 'bake'; optional passes are double, add-again");
  EXPECT_EQ(CheckDisabled(absl::MakeConstSpan(kPasses), {"doubel"}).message(),
            "unknown pass 'doubel', perhaps 'double'; optional passes are double, add-again");
}

}  // namespace
}  // namespace kiln
