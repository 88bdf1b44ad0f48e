// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/known_targets.h"

#include <string>

namespace kiln {
namespace {

Target X86(const char* level) {
  Target target;
  target.name = target.cpu = level;
  target.triple = "x86_64-pc-linux-gnu";
  DescribeX86(target);
  target.l2_bytes = 1 << 20;
  target.cores = kDefaultCores;
  return target;
}

Target AArch64() {
  Target target;
  target.name = "aarch64";
  target.triple = "aarch64-unknown-linux-gnu";
  target.cpu = "generic";
  target.vector_registers = 32;
  target.has_fma = true;
  target.cores = kDefaultCores;
  return target;
}

// A microcontroller. It has no caches to block for; l1_bytes and l2_bytes are typical of the cores
// that have some.
Target Microcontroller(const char* name, const char* triple, const char* cpu,
                       const char* features) {
  Target target;
  target.name = name;
  target.triple = triple;
  target.cpu = cpu;
  target.features = features;
  target.has_fpu = target.hard_float_abi = false;
  target.SetBaremetal();
  target.pointer_bits = 32;
  target.vector_bits = 0;
  target.vector_registers = 0;
  target.l1_bytes = 16 << 10;
  target.l2_bytes = 64 << 10;
  return target;
}

Target WithFpu(Target target) {
  target.has_fpu = target.hard_float_abi = true;
  target.has_fma = true;
  return target;
}

// An Armv8.1-M core with an FPU and Helium. Only integers are vectorized: Helium's float arithmetic
// flushes subnormals to zero and drops the payload of a NaN, regardless of FPSCR.
Target WithHelium(const char* name) {
  Target target = WithFpu(Microcontroller(name, "thumbv8.1m.main-none-eabihf", name, ""));
  target.vector_bits = 128;
  target.vector_registers = 8;
  target.vector_float = false;
  target.features = "-mve.fp";
  return target;
}

Target WithAbi(Target target, const char* abi) {
  target.abi = abi;
  return target;
}

Target RiscV64(const char* name) {
  Target target;
  target.name = name;
  target.triple = "riscv64-unknown-linux-gnu";
  target.cpu = "generic-rv64";
  target.features = "+m,+a,+f,+d,+c";
  target.abi = "lp64d";
  target.vector_bits = 0;
  target.vector_registers = 0;
  target.has_fma = true;
  target.cores = kDefaultCores;
  return target;
}

// Adds vectors of 128 bits, the minimum of the V extension on application processors.
Target WithRiscVVectors(Target target) {
  target.features += ",+v";
  target.vector_bits = 128;
  target.vector_registers = 32;
  return target;
}

// Returns the targets with their rows of tuned numbers.
std::vector<Target> WithMachines(std::vector<Target> targets) {
  for (Target& target : targets) target.machine = &MachineOf(target.triple, target.cpu);
  return targets;
}

}  // namespace

const std::vector<Target>& KnownTargets() {
  static const auto& targets = *new auto(WithMachines({
      X86("x86-64"),
      X86("x86-64-v2"),
      X86("x86-64-v3"),
      X86("x86-64-v4"),
      AArch64(),
      Microcontroller("cortex-m0", "thumbv6m-none-eabi", "cortex-m0", ""),
      Microcontroller("cortex-m0plus", "thumbv6m-none-eabi", "cortex-m0plus", ""),
      Microcontroller("cortex-m3", "thumbv7m-none-eabi", "cortex-m3", ""),
      Microcontroller("cortex-m4", "thumbv7em-none-eabi", "cortex-m4", "-fpregs"),
      WithFpu(Microcontroller("cortex-m4f", "thumbv7em-none-eabihf", "cortex-m4", "")),
      Microcontroller("cortex-m7", "thumbv7em-none-eabi", "cortex-m7", "-fpregs"),
      WithFpu(Microcontroller("cortex-m7f", "thumbv7em-none-eabihf", "cortex-m7", "-fp64")),
      Microcontroller("cortex-m23", "thumbv8m.base-none-eabi", "cortex-m23", ""),
      Microcontroller("cortex-m33", "thumbv8m.main-none-eabi", "cortex-m33", "-fpregs,-dsp"),
      WithFpu(Microcontroller("cortex-m33f", "thumbv8m.main-none-eabihf", "cortex-m33", "")),
      WithHelium("cortex-m52"),
      WithHelium("cortex-m55"),
      WithHelium("cortex-m85"),
      WithAbi(Microcontroller("riscv32imac", "riscv32-unknown-elf", "generic-rv32", "+m,+a,+c"),
              "ilp32"),
      WithAbi(WithFpu(Microcontroller("riscv32imafc", "riscv32-unknown-elf", "generic-rv32",
                                      "+m,+a,+f,+c")),
              "ilp32f"),
      RiscV64("riscv64gc"),
      WithRiscVVectors(RiscV64("riscv64gcv")),
  }));
  return targets;
}

void DescribeX86(Target& target) {
  const bool avx512 = target.HasFeatures("avx512f,avx512bw,avx512dq,avx512vl");
  target.vector_bits = avx512 ? 512 : target.HasFeature("avx2") ? 256 : 128;
  target.vector_registers = avx512 ? 32 : 16;
  target.has_fma = target.HasFeature("fma");
}

const Target* FindKnownTarget(absl::string_view name) {
  for (const Target& target : KnownTargets()) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

}  // namespace kiln
