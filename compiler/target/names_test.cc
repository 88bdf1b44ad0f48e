// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/names.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "compiler/target/target.h"

namespace kiln {
namespace {

std::string ErrorOf(const std::string& text) {
  const absl::StatusOr<Target> target = Target::Parse(text);
  if (target.ok()) return "";
  EXPECT_EQ(target.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(target.status().message());
}

TEST(Names, OfNoTargetGiveTheOneThatWasMeant) {
  for (const auto& [text, meant] : std::vector<std::pair<std::string, std::string>>{
           {"CORTEX-M4F", "'cortex-m4f'"},
           {"cortex-m4h", "'cortex-m4' or 'cortex-m4f'"},
           {"cortex-m5", "'cortex-m52' or 'cortex-m55'"},
           {"cortex-m85f", "'cortex-m85'"},
           {"x86-64-v5", "'x86-64-v2' or 'x86-64-v3' or 'x86-64-v4'"},
           {"x86-64-v1", "'x86-64'"},
           {"x86_64-v3", "'x86-64-v3'"},
           {"x86_64", "'x86-64'"},
           {"amd64", "'x86-64'"},
           {"arm64", "'aarch64'"},
           {"riscv64", "'riscv64gc'"},
           {"native", "'host'"},
           {"znver4", "'x86-64 -mcpu=znver4'"},
           {"cortex-a53", "'aarch64 -mcpu=cortex-a53'"},
           {"cortex-a7", "'arm-linux-gnueabihf -mcpu=cortex-a7'"},
           {"cortex-r5", "'arm-none-eabi -mcpu=cortex-r5'"},
           {"cortex-m35p", "'thumb-none-eabi -mcpu=cortex-m35p'"},
           {"sifive-u74", "'riscv64gc -mcpu=sifive-u74'"},
           {"x86-64-linux-gnu", "'x86_64-linux-gnu'"},
           {"amd64-unknown-freebsd14", "'x86_64-unknown-freebsd14'"},
           {"thumb7em-none-eabi", "'thumbv7em-none-eabi'"},
           {"aarch63-linux-gnu", "'aarch64-linux-gnu'"},
       }) {
    EXPECT_TRUE(absl::StartsWith(ErrorOf(text), "unknown target '" + text + "': ")) << text;
    EXPECT_TRUE(absl::EndsWith(ErrorOf(text), ", perhaps " + meant)) << ErrorOf(text);
  }
  // Suggestions are valid targets.
  for (const char* text : {"x86-64 -mcpu=znver4", "aarch64 -mcpu=cortex-a53",
                           "arm-linux-gnueabihf -mcpu=cortex-a7", "riscv64gc -mcpu=sifive-u74"}) {
    EXPECT_EQ(ErrorOf(text), "");
  }
  EXPECT_TRUE(absl::EndsWith(ErrorOf("foo-bar"), " or an LLVM triple")) << ErrorOf("foo-bar");
}

TEST(Names, OfTriples) {
  for (const char* triple :
       {"x86_64-pc-linux-gnu", "aarch64-none-elf", "arm64-apple-darwin20.1.0",
        "aarch64-linux-android", "armv7-linux-androideabi21", "armv7-unknown-linux-gnueabihf",
        "arm-none-eabihf", "thumbv8.1m.main-none-eabihf", "x86_64-unknown-freebsd14",
        "x86_64-apple-macosx14", "xtensa-esp32-elf", "arm-zephyr-eabi",
        "aarch64-buildroot-linux-uclibc", "wasm32-wasi", "i686-linux-gnu", "s390x-linux-gnu",
        "powerpc64le-linux-gnu", "riscv64-unknown-elf"}) {
    EXPECT_EQ(CheckTriple(triple).message(), "") << triple;
  }
  EXPECT_EQ(
      ErrorOf("thumbv7em-none-eabihff"),
      "unknown target 'thumbv7em-none-eabihff': 'eabihff' is no system or environment of an LLVM "
      "triple, as linux, none, gnu, eabi and eabihf are");
  EXPECT_EQ(
      ErrorOf("aarch64-linx-gnu"),
      "unknown target 'aarch64-linx-gnu': 'linx' is no operating system of an LLVM triple, and "
      "'gnu' needs one, perhaps 'linux'");
  EXPECT_NE(ErrorOf("x86_64-lnux-musl"), "");
  for (const char* triple :
       {"avr-none-elf", "nvptx64-nvidia-cuda", "x86_64-linux-gnux32", "arm-", "aarch64--gnu",
        "thumbv9m-none-eabi", "-linux-gnu", "aarch64-linux-", "aarch64_32-apple-watchos"}) {
    EXPECT_NE(ErrorOf(triple), "") << triple;
  }
}

TEST(Names, OfProcessorsFeaturesAndConventions) {
  for (const auto& [text, error] : std::vector<std::pair<std::string, std::string>>{
           {"thumbv7em-none-eabihf -mcpu=cortex-m99",
            "unknown processor 'cortex-m99' of thumbv7em"},
           {"cortex-m4f -mcpu=cortex-m4f",
            "unknown processor 'cortex-m4f' of thumbv7em, perhaps 'cortex-m4'"},
           {"x86-64 -mcpu=znver6", "unknown processor 'znver6' of x86_64, perhaps 'znver1' or "},
           {"x86-64 -mcpu=", "unknown processor '' of x86_64"},
           {"x86-64 -mcpu=i386", "unknown processor 'i386' of x86_64"},
           {"riscv64gc -mcpu=generic-rv32", "unknown processor 'generic-rv32' of riscv64"},
           {"x86-64 -mcpu=native", "unknown processor 'native'; the target 'host' is this machine"},
           {"x86-64 -mattr=+avx3", "unknown feature 'avx3' of x86_64, perhaps 'avx' or 'avx2'"},
           {"x86-64 -mattr=avx2", "found 'avx2' in -mattr=, wanted features with '+' or '-'"},
           {"x86-64 -mattr=", "found '' in -mattr=, wanted features"},
           {"x86-64 -mattr=+avx2,,+fma", "found '' in -mattr=, wanted features"},
           {"x86-64 -mattr=+", "found '+' in -mattr=, wanted features"},
           {"x86-64 -mattr=-64bit", "unknown feature '64bit' of x86_64"},
           {"riscv32imac -mabi=ilp33",
            "unknown calling convention 'ilp33' of riscv32, wanted one of ilp32, ilp32d"},
           {"x86-64 -mabi=sysv",
            "found -mabi=sysv, but no names of it are known for the architecture "
            "x86_64; wanted the triple without this option"},
           {"s390x-linux-gnu -mcpu=z15", "found -mcpu=z15, but no names of it are known"},
           {"xtensa-esp32-elf -mattr=+density",
            "found -mattr=+density, but no names of it are known"},
       }) {
    EXPECT_TRUE(absl::StartsWith(ErrorOf(text), "target '" + text + "': " + error))
        << ErrorOf(text);
  }
  for (const char* text : {"aarch64-linux-gnu -mcpu=cortex-a72 -mattr=+dotprod",
                           "aarch64 -mcpu=apple-m1", "thumbv8m.main-none-eabi -mcpu=cortex-m35p",
                           "riscv32imac -mabi=ilp32", "i686-linux-gnu -mcpu=haswell",
                           "i686-linux-gnu -mcpu=pentium4", "riscv32-unknown-elf -mattr=+m,+c"}) {
    EXPECT_EQ(ErrorOf(text), "");
  }
}

}  // namespace
}  // namespace kiln
