// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/target.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "compiler/target/float_units.h"
#include "compiler/target/instructions.h"

namespace kiln {
namespace {

// The dot instructions of a target, fastest first.
std::vector<std::string> DotsOf(const std::string& text, DType sum = DType::Int(32)) {
  std::vector<std::string> names;
  for (const DotInstruction* row : DotInstructionsOf(*Target::Parse(text), sum)) {
    names.push_back(absl::StrCat(row->name, " ", row->FormOf(*Target::Parse(text))->lanes));
  }
  return names;
}

TEST(Target, WidensBytes) {
  EXPECT_TRUE(Target::Parse("x86-64-v2")->widens_bytes());
  EXPECT_TRUE(Target::Parse("x86-64-v4")->widens_bytes());
  EXPECT_TRUE(Target::Parse("x86-64 -mattr=+sse4.1")->widens_bytes());
  EXPECT_FALSE(Target::Parse("x86-64")->widens_bytes());
  EXPECT_FALSE(Target::Parse("aarch64")->widens_bytes());
  EXPECT_FALSE(Target::Parse("cortex-m4f")->widens_bytes());
  Target by_c = *Target::Parse("x86-64-v4");
  by_c.by_c_compiler = true;
  EXPECT_FALSE(by_c.widens_bytes());
}

TEST(DotInstructions, FollowFromFeatures) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(DotsOf("x86-64"), (Names{"vpmaddwd 4"}));
  EXPECT_EQ(DotsOf("x86-64-v3"), (Names{"vpmaddwd 8"}));
  EXPECT_EQ(DotsOf("x86-64-v4"), (Names{"vpmaddwd 16"}));
  EXPECT_EQ(DotsOf("x86-64-v4 -mattr=+avx512vnni"),
            (Names{"vpdpbusd 16", "vpdpwssd 16", "vpmaddwd 16"}));
  // Eight lanes of four products in one slot beat 16 lanes of two products in two slots.
  EXPECT_EQ(DotsOf("x86-64-v4 -mattr=+avxvnni"),
            (Names{"vpdpbusd 8", "vpdpwssd 8", "vpmaddwd 16"}));
  EXPECT_EQ(DotsOf("x86_64-linux-gnu -mcpu=znver5"),
            DotsOf("x86-64-v4 -mattr=+avx512vnni,+avxvnni"));
  EXPECT_EQ(DotsOf("x86_64-linux-gnu -mcpu=alderlake"), DotsOf("x86-64-v3 -mattr=+avxvnni"));
  EXPECT_EQ(DotsOf("aarch64"), (Names{"smlal 4"}));
  EXPECT_EQ(DotsOf("aarch64 -mattr=+dotprod"), (Names{"sdot 4", "smlal 4"}));
  EXPECT_EQ(DotsOf("aarch64-linux-gnu -mcpu=neoverse-v1"),
            (Names{"smmla 4", "usmmla 4", "usdot 4", "sdot 4", "smlal 4"}));
  EXPECT_EQ(DotsOf("cortex-m55"), (Names{"vmlava.s8 1", "vmlava.s16 1", "smlad 1", "smlad_s8 1",
                                         "smlad_taps 1", "smlad_taps5 1", "smlad_taps7 1"}));
  EXPECT_EQ(DotsOf("cortex-m4f"),
            (Names{"smlad 1", "smlad_s8 1", "smlad_taps 1", "smlad_taps5 1", "smlad_taps7 1"}));
  EXPECT_EQ(DotsOf("cortex-m33 -mattr=-dsp"), Names{});
  EXPECT_EQ(DotsOf("cortex-m3"), Names{});
  EXPECT_EQ(DotsOf("riscv64gc"), Names{});
  EXPECT_EQ(DotsOf("riscv64gcv"), (Names{"vwmacc 4"}));
  EXPECT_EQ(DotsOf("riscv64gcv -mattr=+zvl256b -vector-bits=256"), (Names{"vwmacc 8"}));
  const DType sum = DType::Float(32);
  EXPECT_EQ(DotsOf("x86-64-v4", sum), Names{});
  EXPECT_EQ(DotsOf("x86-64-v4 -mattr=+avx512bf16", sum), (Names{"vdpbf16ps 16"}));
  EXPECT_EQ(DotsOf("x86-64-v4 -mattr=+avx512bf16 -vector-bits=256", sum), (Names{"vdpbf16ps 8"}));
  const DotInstruction& row = *FindDotInstruction("vdpbf16ps");
  EXPECT_EQ(row.ProductsPerSlot(*Target::Parse("x86-64-v4 -mattr=+avx512bf16")), 32);
  EXPECT_EQ(row.ProductsPerSlot(*Target::Parse("x86-64-v4 -mattr=+avx512bf16 -mcpu=znver5")), 32);
  EXPECT_EQ(
      row.ProductsPerSlot(*Target::Parse("x86-64-v4 -mattr=+avx512bf16 -mcpu=sapphirerapids")), 8);
  // The last -mcpu= determines the slots, as it does the processor.
  EXPECT_EQ(
      Target::Parse("x86-64-v4 -mcpu=sapphirerapids -mcpu=znver5")->machine->dots.bfloat_slots, 1);
}

TEST(DotInstructions, CodeOfCHasThoseThatCCanSpell) {
  // C has spellings for all vectors of sums, and for single sums on Arm's microcontrollers.
  Target x86 = *Target::Parse("x86-64-v4 -mattr=+avx512vnni");
  x86.by_c_compiler = true;
  EXPECT_EQ(DotInstructionsOf(x86, DType::Int(32)).size(), 3);
  Target helium = *Target::Parse("cortex-m55");
  helium.by_c_compiler = true;
  EXPECT_EQ(DotInstructionsOf(helium, DType::Int(32)).size(), 7);
}

TEST(TargetTest, FeaturesDoNotContradictEachOther) {
  const auto target = Target::Parse("x86-64-v3 -mattr=+avxvnni,-avxvnni");
  ASSERT_FALSE(target.ok());
  EXPECT_EQ(target.status().message(),
            "target 'x86-64-v3 -mattr=+avxvnni,-avxvnni': feature 'avxvnni' is both on and off");
}

TEST(TargetTest, EveryListedNameParsesToItself) {
  for (const std::string& name : ListTargets()) {
    absl::StatusOr<Target> target = Target::Parse(name);
    ASSERT_TRUE(target.ok()) << target.status();
    EXPECT_EQ(target->name, name);
    EXPECT_FALSE(target->triple.empty()) << name;
  }
}

TEST(TargetTest, LevelsOfX86DifferInVectorsAndFma) {
  EXPECT_EQ(Target::Parse("x86-64")->Lanes(DType::Float(32)), 4);
  EXPECT_FALSE(Target::Parse("x86-64-v2")->has_fma);
  EXPECT_EQ(Target::Parse("x86-64-v3")->Lanes(DType::Int(8)), 32);
  EXPECT_EQ(Target::Parse("x86-64-v4")->Lanes(DType::Float(64)), 8);
  EXPECT_EQ(Target::Parse("x86-64-v4")->vector_registers, 32);
}

TEST(TargetTest, MicrocontrollersAreBareMetal) {
  for (const char* name :
       {"cortex-m3", "cortex-m4f", "cortex-m7f", "cortex-m33f", "cortex-m55", "riscv32imac"}) {
    const Target target = *Target::Parse(name);
    EXPECT_TRUE(target.is_baremetal()) << name;
    EXPECT_EQ(target.Lanes(DType::Float(64)), 1) << name;
  }
  EXPECT_EQ(Target::Parse("cortex-m4f")->Lanes(DType::Float(32)), 1);
  EXPECT_EQ(Target::Parse("cortex-m55")->Lanes(DType::Int(8)), 16);
  EXPECT_EQ(Target::Parse("cortex-m55")->Lanes(DType::Float(32)), 1);
}

TEST(TargetTest, TriplesTakeOptions) {
  const Target a72 = *Target::Parse("aarch64-linux-gnu -mcpu=cortex-a72 -mattr=+dotprod -cores=8");
  EXPECT_EQ(a72.triple, "aarch64-linux-gnu");
  EXPECT_EQ(a72.cpu, "cortex-a72");
  EXPECT_EQ(a72.features, "+dotprod");
  EXPECT_EQ(a72.cores, 8);
  EXPECT_TRUE(a72.has_fma);
  EXPECT_FALSE(a72.is_baremetal());

  const Target avx2 = *Target::Parse("x86_64-linux-gnu -mattr=+avx2,+fma");
  EXPECT_EQ(avx2.vector_bits, 256);
  EXPECT_TRUE(avx2.has_fma);

  // Features are listed, follow from the processor, or are removed.
  EXPECT_TRUE(avx2.HasFeatures("avx2,fma"));
  EXPECT_FALSE(avx2.HasFeatures("avx2,avxvnni"));
  EXPECT_TRUE(Target::Parse("x86-64-v4")->HasFeature("avx512bw"));
  EXPECT_FALSE(Target::Parse("x86-64-v4")->HasFeature("avx512vnni"));
  EXPECT_TRUE(Target::Parse("cortex-m55")->HasFeature("mve"));
  EXPECT_FALSE(Target::Parse("cortex-m33")->HasFeature("dsp"));

  // Vector widths follow from the processor. Removing a feature also removes the features that need
  // it.
  for (const auto& [text, bits] : std::vector<std::pair<const char*, int>>{
           {"x86_64-pc-linux-gnu", 128},
           {"x86_64-pc-linux-gnu -mcpu=nehalem", 128},
           {"x86_64-pc-linux-gnu -mcpu=haswell", 256},
           {"x86_64-pc-linux-gnu -mcpu=x86-64-v3", 256},
           {"x86_64-pc-linux-gnu -mcpu=skylake-avx512", 512},
           {"x86_64-pc-linux-gnu -mcpu=znver4 -mattr=-avx512f", 256},
           {"x86_64-pc-linux-gnu -mattr=-avx512f -mcpu=znver4", 256},
           {"x86-64-v4 -mattr=-avx512bw", 256},
           {"x86-64-v4 -mattr=-avx", 128},
           {"x86-64 -mattr=+avx512bw,+avx512dq,+avx512vl", 512}}) {
    const Target target = *Target::Parse(text);
    EXPECT_EQ(target.vector_bits, bits) << text;
    EXPECT_EQ(target.vector_registers, bits == 512 ? 32 : 16) << text;
    EXPECT_EQ(target.has_fma, bits >= 256) << text;
    EXPECT_EQ(target.l2_bytes, Target::Parse("x86-64")->l2_bytes) << text;
  }
  EXPECT_FALSE(
      Target::Parse("x86-64-v4 -mattr=+avx512vnni -mattr=-avx512f")->HasFeature("avx512vnni"));
  EXPECT_TRUE(Target::Parse("x86-64-v4 -mattr=+amx-int8")->HasFeature("amx-tile"));

  const Target arm = *Target::Parse("thumbv7em-none-eabihf -mcpu=cortex-m4");
  EXPECT_TRUE(arm.is_baremetal());
  EXPECT_TRUE(arm.has_fpu);
  EXPECT_EQ(arm.vector_bits, 0);
}

// The number of cores and the size of a pointer do not matter.
TEST(TargetTest, ATripleWithoutAnOperatingSystemIsBareMetal) {
  for (const char* text : {"thumbv7em-none-eabi -cores=2", "arm-none-eabihf", "riscv32-unknown-elf",
                           "riscv64-unknown-elf", "aarch64-none-elf", "cortex-m7f -cores=2"}) {
    EXPECT_TRUE(Target::Parse(text)->is_baremetal()) << text;
    EXPECT_EQ(Target::Parse(text)->buffer_alignment(), 16) << text;
  }
  for (const char* text :
       {"armv7-unknown-linux-gnueabihf -cores=1", "aarch64-none-linux-gnu -cores=1",
        "armv7-linux-androideabi", "x86_64-apple-macosx14", "x86_64-unknown-freebsd",
        "x86-64 -cores=1", "host", "riscv64gc -cores=1"}) {
    EXPECT_FALSE(Target::Parse(text)->is_baremetal()) << text;
    EXPECT_EQ(Target::Parse(text)->buffer_alignment(), 64) << text;
  }
}

TEST(TargetTest, KnowsWhoComputesFloat64) {
  for (const char* text :
       {"aarch64-none-elf", "aarch64", "host", "cortex-m55", "riscv64gc", "s390x-linux-gnu"}) {
    EXPECT_TRUE(HasDoubles(*Target::Parse(text))) << text;
  }
  for (const char* text : {"cortex-m4f", "cortex-m7f", "cortex-m33f", "cortex-m3", "cortex-m0plus",
                           "riscv32imac", "riscv32-unknown-elf -mattr=+m,+f -mabi=ilp32f"}) {
    EXPECT_FALSE(HasDoubles(*Target::Parse(text))) << text;
  }
  EXPECT_TRUE(FusesMultiplyAdd(*Target::Parse("cortex-m4f"), DType::Float(32)));
  EXPECT_FALSE(FusesMultiplyAdd(*Target::Parse("cortex-m4f"), DType::Float(64)));
  EXPECT_TRUE(FusesMultiplyAdd(*Target::Parse("x86-64-v3"), DType::Float(64)));
  EXPECT_FALSE(FusesMultiplyAdd(*Target::Parse("x86-64-v3"), DType::Int(32)));
}

TEST(TargetTest, TheFloatAbiSaysNothingOfTheFpu) {
  const Target soft = *Target::Parse("cortex-m4f -mfloat-abi=soft");
  EXPECT_TRUE(soft.has_fpu);
  EXPECT_FALSE(soft.hard_float_abi);
  EXPECT_TRUE(FusesMultiplyAdd(soft, DType::Float(32)));
  EXPECT_TRUE(HasDoubles(*Target::Parse("cortex-m55 -mfloat-abi=soft")));
  const Target hard = *Target::Parse("thumbv7em-none-eabi -mcpu=cortex-m4 -mfloat-abi=hard");
  EXPECT_TRUE(hard.has_fpu && hard.hard_float_abi);
  const Target none = *Target::Parse("cortex-m4");
  EXPECT_FALSE(none.has_fpu || none.hard_float_abi);
}

TEST(TargetTest, HostIsAsWideAsItsFeatures) {
  const Target host = Target::Host();
  EXPECT_GE(host.cores, 1);
  EXPECT_GT(host.l1_bytes, 0);
  EXPECT_EQ(Target::Parse("host")->features, host.features);
  if (host.vector_bits == 512) {
    for (const char* feature : {"+avx512f", "+avx512bw", "+avx512dq", "+avx512vl"}) {
      EXPECT_NE(host.features.find(feature), std::string::npos) << feature;
    }
  }
}

TEST(TargetTest, SaysWhatItExpected) {
  for (const char* text : {"", "nonsense", "host -march=native", "x86-64 -vector-bits=100",
                           "x86-64 -cores=0", "cortex-m4f -mfloat-abi=softfp"}) {
    absl::StatusOr<Target> target = Target::Parse(text);
    ASSERT_FALSE(target.ok()) << text;
    EXPECT_EQ(target.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(std::string(target.status().message()).find("expected"), std::string::npos);
  }
}

}  // namespace
}  // namespace kiln
