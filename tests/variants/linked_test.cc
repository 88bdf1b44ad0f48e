// SPDX-License-Identifier: Apache-2.0
// Variants of linked models give the same results as the model that is compiled for one target.
// Only the variants that this machine supports are tested.
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/cpu_variant.h"
#include "runtime_cpp/metadata.h"
#include "runtime_cpp/module.h"
#include "tests/variants/run_digits.h"

namespace kiln::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StrEq;

constexpr const char* kVariants[] = {"x86-64-v2", "x86-64-v3", "x86-64-v4"};
constexpr const char* kModules[] = {"aot_c", "aot_default", "graph_c", "graph_default"};

// Number of variants that this machine supports, by the C++ compiler's own functions.
int NumVariants() {
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("sse4.2")) return 0;
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return 1;
  return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") ? 3 : 2;
}

void ExpectSameBits(const absl::StatusOr<std::vector<float>>& found, int variant) {
  ASSERT_TRUE(found.ok()) << found.status();
  const auto wanted = RunModule(std::string("only_") + (kVariants[variant] + 7));
  ASSERT_TRUE(wanted.ok()) << wanted.status();
  ASSERT_EQ(found->size(), wanted->size());
  EXPECT_EQ(std::memcmp(found->data(), wanted->data(), found->size() * sizeof(float)), 0);
}

TEST(Linked, TheBestRunsByItself) {
  ASSERT_GT(NumVariants(), 0) << "this machine has no x86-64-v2";
  const std::string best = kVariants[NumVariants() - 1];
  for (const char* const name : kModules) {
    SCOPED_TRACE(name);
    const Module module = Module::SystemLib(name).value();
    EXPECT_EQ(CpuVariant(module).value(), best);
    ExpectSameBits(RunModule(name), NumVariants() - 1);
    const ModelMetadata metadata = ModelMetadata::Find(module).value();
    EXPECT_THAT(metadata.cpu_variants(),
                ElementsAre(StrEq("x86-64-v2"), StrEq("x86-64-v3"), StrEq("x86-64-v4")));
  }
}

TEST(Linked, EveryVariantGivesTheBitsOfItsTarget) {
  for (const char* const name : kModules) {
    const Module module = Module::SystemLib(name).value();
    for (int k = 0; k < NumVariants(); ++k) {
      SCOPED_TRACE(std::string(name) + " " + kVariants[k]);
      ASSERT_TRUE(SetCpuVariant(module, kVariants[k]).ok());
      EXPECT_EQ(CpuVariant(module).value(), kVariants[k]);
      ExpectSameBits(RunModule(name), k);
    }
  }
}

TEST(Linked, PlainFunctionsDoSoToo) {
  for (const char* const name : {"plain_c", "plain_default"}) {
    EXPECT_EQ(PlainVariant(name), kVariants[NumVariants() - 1]);
    for (int k = 0; k < NumVariants(); ++k) {
      SCOPED_TRACE(std::string(name) + " " + kVariants[k]);
      ASSERT_TRUE(SetPlainVariant(name, kVariants[k]));
      EXPECT_EQ(PlainVariant(name), kVariants[k]);
      ExpectSameBits(RunPlain(name), k);
    }
    for (const char* const wrong :
         {"x86-64", "x86-64-v22", "", static_cast<const char*>(nullptr)}) {
      EXPECT_FALSE(SetPlainVariant(name, wrong));
    }
    EXPECT_EQ(PlainVariant(name), kVariants[NumVariants() - 1]);
  }
}

TEST(Linked, RefusesWhatIsNoVariant) {
  for (const char* const name : kModules) {
    const Module module = Module::SystemLib(name).value();
    const std::string before = CpuVariant(module).value();
    for (const char* const wrong : {"x86-64", "x86-64-v", "x86-64-v22", ""}) {
      EXPECT_THAT(std::string(SetCpuVariant(module, wrong).message()),
                  HasSubstr(std::string(name) + ": found the name of no CPU variant, wanted one of "
                                                "x86-64-v2, x86-64-v3, x86-64-v4"));
    }
    EXPECT_FALSE((*module.GetFunction("set_cpu_variant", true))(1).ok());
    EXPECT_EQ(CpuVariant(module).value(), before);
  }
  const Module other = Module::SystemLib("only_v2").value();
  EXPECT_EQ(CpuVariant(other).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(SetCpuVariant(other, "x86-64-v2").code(), absl::StatusCode::kNotFound);
}

TEST(Linked, ALoneVariantIsRunOrRefused) {
  for (const char* const name : {"highest_c", "highest_default"}) {
    if (NumVariants() == 3) {
      ExpectSameBits(RunModule(name), 2);
      continue;
    }
    EXPECT_THAT(std::string(RunModule(name).status().message()),
                HasSubstr(std::string(name) + ": found a CPU without "));
  }
}

}  // namespace
}  // namespace kiln::runtime
