// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/machine.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/target/target.h"

namespace kiln {
namespace {

std::string MachineFor(const std::string& target) {
  return std::string(Target::Parse(target)->machine->name);
}

TEST(Machine, EachKnownTargetHasItsRow) {
  const std::map<std::string, std::string> rows = {
      {"x86-64", "x86-64"},          {"x86-64-v2", "x86-64"},      {"x86-64-v3", "x86-64"},
      {"x86-64-v4", "x86-64"},       {"aarch64", "aarch64"},       {"cortex-m0", "cortex-m"},
      {"cortex-m0plus", "cortex-m"}, {"cortex-m3", "cortex-m"},    {"cortex-m4", "cortex-m4"},
      {"cortex-m4f", "cortex-m4"},   {"cortex-m7", "cortex-m7"},   {"cortex-m7f", "cortex-m7"},
      {"cortex-m23", "cortex-m"},    {"cortex-m33", "cortex-m33"}, {"cortex-m33f", "cortex-m33"},
      {"cortex-m52", "cortex-m55"},  {"cortex-m55", "cortex-m55"}, {"cortex-m85", "cortex-m55"},
      {"riscv32imac", "riscv32"},    {"riscv32imafc", "riscv32"},  {"riscv64gc", "riscv"},
      {"riscv64gcv", "riscv"}};
  std::map<std::string, std::string> found;
  for (const std::string& name : ListTargets()) found[name] = MachineFor(name);
  EXPECT_EQ(found, rows);
}

TEST(Machine, FollowsFromTheProcessor) {
  for (const auto& [target, row] : std::vector<std::pair<const char*, const char*>>{
           {"x86_64-pc-linux-gnu", "x86-64"},
           {"x86_64-pc-linux-gnu -mcpu=haswell", "x86-64"},
           {"x86_64-pc-linux-gnu -mcpu=znver4", "zen4"},
           {"x86-64-v3 -mcpu=znver5", "zen5"},
           {"x86-64 -mcpu=sapphirerapids", "sapphire-rapids"},
           {"x86-64 -mcpu=graniterapids-d", "granite-rapids"},
           // The last -mcpu= counts, also after a host's own processor.
           {"x86-64-v4 -mcpu=sapphirerapids -mcpu=znver5", "zen5"},
           {"host -mcpu=znver4", "zen4"},
           {"aarch64-linux-gnu -mcpu=cortex-a72", "aarch64"},
           {"aarch64 -mcpu=neoverse-n1", "neoverse"},
           {"arm64-apple-macosx14", "aarch64"},
           {"armv7-unknown-linux-gnueabihf", "arm"},
           // The same processor in the 32-bit state has no row of its own.
           {"armv8-unknown-linux-gnueabihf -mcpu=neoverse-n1", "arm"},
           {"thumbv7em-none-eabihf -mcpu=cortex-m4", "cortex-m4"},
           {"thumbv7em-none-eabi", "arm"},
           {"riscv32-unknown-elf -mattr=+m", "riscv"},
           {"xtensa-esp32-elf", "unknown"}}) {
    EXPECT_EQ(MachineFor(target), row) << target;
  }
  EXPECT_EQ(Target().machine, &kUnknownMachine);
}

TEST(Machine, RowsAreNamedAndSayWhatTheyWereMeasuredOn) {
  std::set<absl::string_view> names, cpus;
  for (const Machine* row : Machines()) {
    EXPECT_TRUE(names.insert(row->name).second) << row->name;
    EXPECT_FALSE(row->measured_on.empty()) << row->name;
    if (row->cpus.empty()) continue;
    for (const absl::string_view cpu : absl::StrSplit(row->cpus, ',')) {
      EXPECT_TRUE(cpus.insert(cpu).second) << cpu;
    }
  }
  EXPECT_TRUE(names.contains(Target::Host().machine->name));
}

// A misspelled processor would leave its target with the numbers of another one.
TEST(Machine, ProcessorsOfRowsExist) {
  const std::map<std::string, std::string> triples = {{"sapphire-rapids", "x86_64-pc-linux-gnu"},
                                                      {"granite-rapids", "x86_64-pc-linux-gnu"},
                                                      {"zen5", "x86_64-pc-linux-gnu"},
                                                      {"zen4", "x86_64-pc-linux-gnu"},
                                                      {"neoverse", "aarch64-linux-gnu"},
                                                      {"cortex-m4", "thumbv7em-none-eabi"},
                                                      {"cortex-m7", "thumbv7em-none-eabi"},
                                                      {"cortex-m33", "thumbv8m.main-none-eabi"},
                                                      {"cortex-m55", "thumbv8.1m.main-none-eabi"},
                                                      {"cortex-m", "thumbv6m-none-eabi"},
                                                      {"riscv32", "riscv32-unknown-elf"}};
  for (const Machine* row : Machines()) {
    if (row->cpus.empty()) continue;
    for (const absl::string_view cpu : absl::StrSplit(row->cpus, ',')) {
      const std::string text = absl::StrCat(triples.at(std::string(row->name)), " -mcpu=", cpu);
      const auto target = Target::Parse(text);
      ASSERT_TRUE(target.ok()) << target.status();
      EXPECT_EQ(target->machine, row) << text;
    }
  }
}

TEST(Machine, ProcessorsOfIntelIssueBFloatsSlowly) {
  const auto slots = [](const char* target) {
    return Target::Parse(target)->machine->dots.bfloat_slots;
  };
  for (const char* cpu :
       {"cooperlake", "emeraldrapids", "graniterapids", "graniterapids-d", "sapphirerapids"}) {
    EXPECT_EQ(slots(absl::StrCat("x86-64 -mcpu=", cpu).c_str()), 4) << cpu;
  }
  for (const char* cpu : {"znver4", "znver5", "skylake", "x86-64-v4"}) {
    EXPECT_EQ(slots(absl::StrCat("x86-64 -mcpu=", cpu).c_str()), 1) << cpu;
  }
}

}  // namespace
}  // namespace kiln
