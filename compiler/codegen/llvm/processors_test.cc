// SPDX-License-Identifier: Apache-2.0
// Target's features of processors, and the implications between features, equal those of LLVM,
// which generates code.
#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/target/target.h"
#include "gtest/gtest.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "runtime_cpp/cpu/aarch64_features.h"
#include "runtime_cpp/cpu/x86_features.h"

namespace kiln::codegen {
namespace {

using Info = std::unique_ptr<llvm::MCSubtargetInfo>;

Info InfoOf(const Target& target) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  std::string error;
  const llvm::Target* found = llvm::TargetRegistry::lookupTarget(target.triple, error);
  EXPECT_NE(found, nullptr) << error;
  return Info(found->createMCSubtargetInfo(target.triple, target.cpu, target.features));
}

std::vector<std::string> ProcessorsOf(const std::string& triple) {
  std::vector<std::string> names;
  for (const auto& processor : InfoOf(*Target::Parse(triple))->getAllProcessorDescriptions()) {
    names.emplace_back(processor.Key);
  }
  return names;
}

// Names of X86Features or Aarch64Features.
template <typename Feature>
std::vector<std::string> NamesOf(const std::vector<Feature>& features) {
  std::vector<std::string> names;
  for (const Feature& feature : features) names.emplace_back(feature.name);
  return names;
}

void ExpectAlike(const std::string& text, const std::vector<std::string>& features) {
  const Target target = Target::Parse(text).value();
  const Info info = InfoOf(target);
  for (const std::string& feature : features) {
    EXPECT_EQ(target.HasFeature(feature), info->checkFeatures("+" + feature))
        << text << ": " << feature;
  }
}

TEST(Processors, HaveTheFeaturesThatLlvmGivesThem) {
  int of_x86 = 0;
  for (const std::string& name : ProcessorsOf("x86_64-pc-linux-gnu")) {
    const std::string text = absl::StrCat("x86_64-pc-linux-gnu -mcpu=", name);
    if (!Target::Parse(text).ok()) continue;  // without 64-bit mode
    ExpectAlike(text, NamesOf(X86Features()));
    ++of_x86;
  }
  EXPECT_GT(of_x86, 80);
  std::vector<std::string> of_aarch64 = ProcessorsOf("aarch64-unknown-linux-gnu");
  // Names by other vendors, which LLVM does not list.
  of_aarch64.insert(of_aarch64.end(), {"apple-m1", "apple-m2", "apple-m3"});
  for (const std::string& name : of_aarch64) {
    ExpectAlike(absl::StrCat("aarch64-unknown-linux-gnu -mcpu=", name), NamesOf(Aarch64Features()));
  }
  int microcontrollers = 0;
  for (const std::string& name : ProcessorsOf("thumbv8.1m.main-none-eabihf")) {
    if (!absl::StartsWith(name, "cortex-m")) continue;
    ++microcontrollers;
    ExpectAlike(absl::StrCat("thumbv8.1m.main-none-eabihf -mcpu=", name), {"dsp", "fp64", "mve"});
  }
  EXPECT_GT(microcontrollers, 10);
}

// Tests each word of -mattr= that LLVM knows.
TEST(Features, ImplyThoseThatTheyImplyInLlvm) {
  const auto expect_alike = [](const std::string& triple,
                               const std::vector<std::string>& features) {
    const Info info = InfoOf(*Target::Parse(triple));
    EXPECT_GT(info->getAllProcessorFeatures().size(), 150);
    int known = 0;
    for (const auto& feature : info->getAllProcessorFeatures()) {
      const std::string text = absl::StrCat(triple, " -mattr=+", feature.Key);
      if (!Target::Parse(text).ok()) continue;  // a 16-bit or 32-bit mode
      ++known;
      ExpectAlike(text, features);
    }
    EXPECT_GT(known, 150);
  };
  expect_alike("x86_64-pc-linux-gnu", NamesOf(X86Features()));
  expect_alike("aarch64-unknown-linux-gnu", NamesOf(Aarch64Features()));
}

// Tests targets with several features, each added or removed at random.
void ExpectFeaturesFollowAlike(const std::vector<std::string>& processors,
                               const std::vector<std::string>& features,
                               const std::vector<std::string>& others) {
  std::mt19937 random(7);
  std::vector<std::string> words = features;
  words.insert(words.end(), others.begin(), others.end());
  for (int i = 0; i < 200; ++i) {
    std::string text = processors[random() % processors.size()];
    std::vector<std::string> said;
    for (int k = 0; k < 4; ++k) {
      const std::string word = words[random() % words.size()];
      if (std::find(said.begin(), said.end(), word) != said.end()) continue;
      said.push_back(word);
      absl::StrAppend(&text, " -mattr=", random() % 2 == 0 ? "+" : "-", word);
    }
    ExpectAlike(text, features);
  }
}

TEST(Features, FollowFromEachOtherAsInLlvm) {
  const std::string x86 = "x86_64-pc-linux-gnu -mcpu=",
                    aarch64 = "aarch64-unknown-linux-gnu -mcpu=";
  ExpectFeaturesFollowAlike(
      {x86 + "x86-64", x86 + "x86-64-v3", x86 + "znver5", x86 + "sapphirerapids"},
      NamesOf(X86Features()), {});
  ExpectFeaturesFollowAlike(
      {aarch64 + "generic", aarch64 + "cortex-a76", aarch64 + "apple-m4", aarch64 + "neoverse-n2"},
      NamesOf(Aarch64Features()), {"neon", "fp-armv8", "v8.1a"});
}

}  // namespace
}  // namespace kiln::codegen
