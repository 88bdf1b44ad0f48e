// SPDX-License-Identifier: Apache-2.0
// Target::Parse knows exactly LLVM's names, except for those listed here.
#include "compiler/target/names.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/AArch64TargetParser.h"
#include "llvm/TargetParser/Triple.h"

namespace kiln::codegen {
namespace {

using NameSet = std::set<std::string>;

#define ARM_ARCH(NAME, ...) NAME,
constexpr const char* kArmArchitectures[] = {
#include "llvm/TargetParser/ARMTargetParser.def"
};

NameSet Split(absl::string_view list) { return absl::StrSplit(list, ',', absl::SkipEmpty()); }

template <typename Names>
NameSet SetOf(const Names& names) {
  NameSet set;
  for (const auto& name : names) set.emplace(name);
  return set;
}

// Names of one set that the other one lacks, as a list that can be copied into a table.
std::string Without(const NameSet& names, const NameSet& others) {
  std::vector<std::string> rest;
  std::set_difference(names.begin(), names.end(), others.begin(), others.end(),
                      std::back_inserter(rest));
  std::string list;
  for (const std::string& name : rest) absl::StrAppend(&list, name, ",");
  return list;
}

void ExpectSame(const NameSet& table, const NameSet& llvm, const std::string& what) {
  EXPECT_EQ(Without(table, llvm), "") << what << ": names of the table that LLVM does not have";
  EXPECT_EQ(Without(llvm, table), "") << what << ": names of LLVM that the table does not have";
}

std::unique_ptr<llvm::MCSubtargetInfo> InfoOf(absl::string_view architecture,
                                              absl::string_view processor) {
  llvm::InitializeAllTargetInfos();
  llvm::InitializeAllTargets();
  llvm::InitializeAllTargetMCs();
  const std::string triple = absl::StrCat(architecture, "-unknown-linux-gnu");
  std::string error;
  const llvm::Target* const found = llvm::TargetRegistry::lookupTarget(triple, error);
  EXPECT_NE(found, nullptr) << error;
  return std::unique_ptr<llvm::MCSubtargetInfo>(found->createMCSubtargetInfo(
      triple, llvm::StringRef(processor.data(), processor.size()), ""));
}

// Features that repeat the triple. LLVM ends the process if the two contradict each other.
const NameSet& Modes() {
  static const auto& modes =
      *new NameSet{"16bit-mode", "32bit-mode", "64bit-mode", "32bit", "64bit", "thumb-mode"};
  return modes;
}

// Processors that can run code for the architecture.
NameSet ProcessorsOf(absl::string_view architecture) {
  NameSet names;
  const bool is_riscv = absl::StartsWith(architecture, "riscv");
  const bool is_64_bits = absl::StrContains(architecture, "64");
  for (const auto& processor : InfoOf(architecture, "")->getAllProcessorDescriptions()) {
    const auto info = InfoOf(architecture, processor.Key);
    if (architecture == "x86_64" && !info->checkFeatures("+64bit")) continue;
    if (is_riscv && !info->checkFeatures(is_64_bits ? "+64bit" : "+32bit")) continue;
    names.emplace(processor.Key);
  }
  if (architecture != "aarch64") return names;
  llvm::SmallVector<llvm::StringRef, 0> listed;
  llvm::AArch64::fillValidCPUArchList(listed);
  for (const llvm::StringRef name : listed) {
    if (names.count(llvm::AArch64::resolveCPUAlias(name).str()) > 0) names.emplace(name);
  }
  return names;
}

TEST(Names, ProcessorsAndFeatures) {
  int compared = 0;
  for (const Architecture& row : Architectures()) {
    if (row.processors.empty()) continue;
    const std::string architecture(row.names.substr(0, row.names.find(',')));
    const std::string all = absl::StrCat(row.processors, ",", row.processors_of_64_bits);
    ExpectSame(Split(all), ProcessorsOf(architecture), "processors of " + architecture);
    NameSet features;
    for (const auto& feature : InfoOf(architecture, "")->getAllProcessorFeatures()) {
      if (Modes().count(feature.Key) == 0) features.emplace(feature.Key);
    }
    ExpectSame(Split(row.features), features, "features of " + architecture);
    ++compared;
  }
  EXPECT_EQ(compared, 6);
}

TEST(Names, Architectures) {
  // Only GNU's tool chains know these.
  const NameSet of_gnu = {"microblaze", "nios2", "or1k", "rx", "sh", "tricore"};
  NameSet known;
  for (const Architecture& row : Architectures()) {
    for (const std::string& name : Split(row.names)) {
      known.insert(name);
      if (of_gnu.count(name) > 0) continue;
      const llvm::Triple triple(name + "-unknown-none");
      EXPECT_NE(triple.getArch(), llvm::Triple::UnknownArch) << name;
      EXPECT_EQ(triple.isArch64Bit(), row.pointer_bits == 64) << name;
    }
  }
  // GPUs, virtual machines, machines with 16-bit pointers or with 32-bit pointers and 64-bit
  // registers, and discontinued machines.
  const NameSet left_out = {
      "aarch64_32",     "amdgcn",         "amdil",  "amdil64", "avr",     "bpfeb",
      "bpfel",          "dxil",           "hsail",  "hsail64", "kalimba", "lanai",
      "le32",           "le64",           "msp430", "nvptx",   "nvptx64", "r600",
      "renderscript32", "renderscript64", "shave",  "spir",    "spir64",  "spirv",
      "spirv32",        "spirv64",        "tce",    "tcele",   "ve",      "xcore"};
  for (int kind = 1; kind <= llvm::Triple::LastArchType; ++kind) {
    const std::string name =
        llvm::Triple::getArchTypeName(static_cast<llvm::Triple::ArchType>(kind)).str();
    EXPECT_NE(known.count(name), left_out.count(name)) << name;
  }
}

TEST(Names, VersionsOfArm) {
  const NameSet versions = SetOf(ArmVersions());
  for (const std::string& version : versions) {
    for (const char* prefix : {"arm", "thumb"}) {
      EXPECT_TRUE(llvm::Triple(prefix + version + "-none-eabi").isARM() ||
                  llvm::Triple(prefix + version + "-none-eabi").isThumb())
          << prefix << version;
    }
  }
  const NameSet left_out = {"invalid", "iwmmxt", "iwmmxt2", "xscale"};
  for (const char* architecture : kArmArchitectures) {
    const std::string name = absl::StrReplaceAll(architecture, {{"arm", ""}, {"-", ""}});
    EXPECT_NE(versions.count(name), left_out.count(name)) << name;
  }
}

TEST(Names, SystemsAndEnvironments) {
  const NameSet systems = SetOf(TripleSystems()), environments = SetOf(TripleEnvironments());
  // Consoles, GPUs, and discontinued systems.
  const NameSet systems_left_out = {"amdhsa", "amdpal",      "bridgeos", "cuda", "elfiamcu",
                                    "lv2",    "mesa3d",      "nacl",     "nvcl", "ps4",
                                    "ps5",    "shadermodel", "vulkan"};
  for (int kind = 1; kind <= llvm::Triple::LastOSType; ++kind) {
    const std::string name =
        llvm::Triple::getOSTypeName(static_cast<llvm::Triple::OSType>(kind)).str();
    EXPECT_NE(systems.count(name), systems_left_out.count(name)) << name;
  }
  // Shader stages, and 32-bit pointers on 64-bit machines.
  const NameSet left_out = {"amplification", "anyhit",  "callable",     "closesthit", "code16",
                            "compute",       "domain",  "geometry",     "gnuabin32",  "gnu_ilp32",
                            "gnux32",        "hull",    "intersection", "library",    "mesh",
                            "miss",          "muslx32", "opencl",       "pauthtest",  "pixel",
                            "raygeneration", "vertex"};
  for (int kind = 1; kind <= llvm::Triple::LastEnvironmentType; ++kind) {
    const std::string name =
        llvm::Triple::getEnvironmentTypeName(static_cast<llvm::Triple::EnvironmentType>(kind))
            .str();
    EXPECT_NE(environments.count(name), left_out.count(name)) << name;
  }
}

}  // namespace
}  // namespace kiln::codegen
