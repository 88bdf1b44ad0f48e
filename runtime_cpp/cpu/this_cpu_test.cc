// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/cpu/this_cpu.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::array<uint32_t, kNumCpuWords> All() {
  std::array<uint32_t, kNumCpuWords> words;
  words.fill(~uint32_t{0});
  return words;
}

TEST(ThisCpu, HasAFeatureIfItsBitsAndThoseOfTheSystemAreSet) {
  for (const CpuFeature& feature : X86Features()) {
    EXPECT_TRUE(HasFeature(All(), feature)) << feature.name;
    auto words = All();
    words[feature.word] &= ~feature.bits;
    EXPECT_FALSE(HasFeature(words, feature)) << feature.name;
    words = All();
    words[kCpuXcr0] = 0;
    EXPECT_EQ(HasFeature(words, feature), feature.xcr0 == 0) << feature.name;
    words = All();
    words[kCpuLeaf1Ecx] &= ~kCpuOsXsave;
    EXPECT_EQ(HasFeature(words, feature), feature.xcr0 == 0) << feature.name;
  }
}

TEST(ThisCpu, UnknownNamesAreNotMissing) {
  EXPECT_THAT(MissingFeatures({}), IsEmpty());
  EXPECT_THAT(MissingFeatures({"no-such-feature", ""}), IsEmpty());
}

TEST(ThisCpu, FeaturesThatItHasAreNotMissing) {
  const auto words = ReadCpuWords();
  for (const CpuFeature& feature : X86Features()) {
#if defined(__x86_64__)
    const bool has = HasFeature(words, feature);
    EXPECT_EQ(MissingFeatures({feature.name}).empty(), has) << feature.name;
#else
    EXPECT_THAT(MissingFeatures({feature.name}), IsEmpty());
    EXPECT_FALSE(HasFeature(words, feature));
#endif
  }
}

TEST(ThisCpu, ItsLevelIsTheHighestThatIsComplete) {
  auto words = All();
  EXPECT_EQ(HighestX86Level(words), "x86-64-v4");
  words[FindX86Feature("avx512cd")->word] &= ~FindX86Feature("avx512cd")->bits;
  EXPECT_EQ(HighestX86Level(words), "x86-64-v3");
  words[FindX86Feature("movbe")->word] &= ~FindX86Feature("movbe")->bits;
  EXPECT_EQ(HighestX86Level(words), "x86-64-v2");
  EXPECT_EQ(HighestX86Level({}), "x86-64");
}

TEST(CpuText, LeavesOutWhatFollows) {
  EXPECT_EQ(CpuText("x86-64-v3", {}), "x86-64-v3");
  EXPECT_EQ(CpuText("x86-64-v3", {"sse3", "avx2", "fma"}), "x86-64-v3");
  EXPECT_EQ(CpuText("x86-64-v4", {"avx2", "avx512f", "avx512vnni", "amx-tile", "amx-int8"}),
            "x86-64-v4 with avx512vnni, amx-int8");
  EXPECT_EQ(CpuText("", {"dotprod"}), "a CPU with dotprod");
  EXPECT_EQ(CpuText("neoverse-n2", {"fullfp16", "sve", "sve2", "i8mm"}),
            "neoverse-n2 with sve2, i8mm");
}

}  // namespace
}  // namespace kiln
