// SPDX-License-Identifier: Apache-2.0
#include "compiler/codegen/llvm/target_machine.h"

#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/base/status.h"
#include "llvm/IR/IntrinsicsAArch64.h"
#include "llvm/IR/IntrinsicsARM.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetOptions.h"

namespace kiln::codegen {
namespace {

// If LLVM's allocator runs out of memory, the process behaves as it does for `new`.
void OnBadAlloc(void*, const char*, bool) {
  if (const std::new_handler handler = std::get_new_handler(); handler != nullptr) handler();
  std::abort();
}

void InitializeLlvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::install_bad_alloc_error_handler(OnBadAlloc);
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    llvm::InitializeAllAsmParsers();
  });
}

llvm::TargetOptions TargetOptionsOf(const Target& target, const llvm::Triple& triple) {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  options.FloatABIType = target.hard_float_abi ? llvm::FloatABI::Hard : llvm::FloatABI::Soft;
  options.MCOptions.ABIName = target.abi;
  // Nothing unwinds through firmware. Arm's own tables would still take 8 bytes per function.
  if (target.is_baremetal() && (triple.isARM() || triple.isThumb())) {
    options.ExceptionModel = llvm::ExceptionHandling::DwarfCFI;
    // Every C library has memcpy, but few have __aeabi_memcpy. Arithmetic functions remain those of
    // the run-time ABI.
    options.EABIVersion = llvm::EABI::GNU;
  }
  // Firmware is linked with --gc-sections.
  options.FunctionSections = target.is_baremetal();
  options.DataSections = target.is_baremetal();
  return options;
}

llvm::CodeGenOptLevel OptLevel(int level) {
  if (level <= 0) return llvm::CodeGenOptLevel::None;
  if (level == 1) return llvm::CodeGenOptLevel::Less;
  return level == 2 ? llvm::CodeGenOptLevel::Default : llvm::CodeGenOptLevel::Aggressive;
}

}  // namespace

llvm::Triple TripleOf(const Target& target) {
  return llvm::Triple(llvm::Triple::normalize(target.triple));
}

absl::StatusOr<std::unique_ptr<llvm::TargetMachine>> MakeTargetMachine(const Target& target,
                                                                       const LlvmOptions& options) {
  InitializeLlvm();
  const llvm::Triple triple = TripleOf(target);
  std::string error;
  const llvm::Target* llvm_target = llvm::TargetRegistry::lookupTarget(triple.str(), error);
  if (llvm_target == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat("target '", target.name, "': ", error));
  }
  // RISC-V addresses are relative to the program counter, so that code may be at any address.
  std::optional<llvm::CodeModel::Model> code_model;
  if (triple.isRISCV()) code_model = llvm::CodeModel::Medium;
  std::unique_ptr<llvm::TargetMachine> machine(llvm_target->createTargetMachine(
      triple.str(), target.cpu, target.features, TargetOptionsOf(target, triple),
      options.position_independent ? llvm::Reloc::PIC_ : llvm::Reloc::Static, code_model,
      OptLevel(options.opt_level)));
  if (machine == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("target '", target.name, "': LLVM has no code generator for it"));
  }
  return machine;
}

namespace {

// The rows and forms that the machine supports, in the order of the table.
std::vector<DotChoice> DotsOf(const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& info = *machine.getMCSubtargetInfo();
  const std::string arch(machine.getTargetTriple().getArchName());
  std::vector<DotChoice> dots;
  for (const DotInstruction& row : DotInstructions()) {
    if (!row.IsOfArch(arch)) continue;
    for (const DotForm& form : row.forms) {
      std::string features;
      for (const absl::string_view f : absl::StrSplit(form.features, ',', absl::SkipEmpty())) {
        absl::StrAppend(&features, features.empty() ? "+" : ",+", f);
      }
      if (features.empty() || info.checkFeatures(features)) dots.push_back({&row, &form});
    }
  }
  return dots;
}

}  // namespace

MachineTraits TraitsOf(const llvm::TargetMachine& machine) {
  const llvm::MCSubtargetInfo& info = *machine.getMCSubtargetInfo();
  const llvm::Triple& triple = machine.getTargetTriple();
  MachineTraits traits;
  if (triple.isX86()) {
    traits.rounds_float32 = traits.rounds_float64 = info.checkFeatures("+sse4.1");
    traits.sqrt_float32 = info.checkFeatures("+sse");
    traits.sqrt_float64 = info.checkFeatures("+sse2");
    traits.fma_float32 = traits.fma_float64 = info.checkFeatures("+fma");
    traits.converts_float16 = info.checkFeatures("+f16c");
    traits.casts_by_lane = traits.pairs_in_words = true;
    traits.permutes_lanes = info.checkFeatures("+avx512f");
    if (info.checkFeatures("+avx512bf16")) {
      traits.bfloat_of_16_lanes = llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_512;
      if (info.checkFeatures("+avx512vl")) {
        traits.bfloat_of_8_lanes = llvm::Intrinsic::x86_avx512bf16_cvtneps2bf16_256;
      }
    }
  } else if (triple.isAArch64()) {
    const bool fp = info.checkFeatures("+fp-armv8");
    traits = {.rounds_float32 = fp,
              .rounds_float64 = fp,
              .sqrt_float32 = fp,
              .sqrt_float64 = fp,
              .fma_float32 = fp,
              .fma_float64 = fp,
              .converts_float16 = fp,
              .saturating_narrow = llvm::Intrinsic::aarch64_neon_sqxtn,
              .saturating_narrow_to_unsigned = llvm::Intrinsic::aarch64_neon_sqxtun,
              .rounding_mul_high = llvm::Intrinsic::aarch64_neon_sqrdmulh};
  } else if (triple.isARM() || triple.isThumb()) {
    // The features describe the unit's arithmetic, not the calling convention for floats.
    traits.rounds_float32 = info.checkFeatures("+fp-armv8d16sp");
    traits.rounds_float64 = info.checkFeatures("+fp-armv8d16,+fp64");
    traits.round_even_is_rint = true;
    traits.sqrt_float32 = info.checkFeatures("+vfp2sp");
    traits.sqrt_float64 = info.checkFeatures("+vfp2,+fp64");
    traits.fma_float32 = info.checkFeatures("+vfp4d16sp");
    traits.fma_float64 = info.checkFeatures("+vfp4d16,+fp64");
    traits.converts_float16 = info.checkFeatures("+fp16,+fpregs");
    traits.multiplies_upper_words = info.checkFeatures("+dsp");
    if (info.checkFeatures("+mve")) {
      traits.rounding_mul_high = llvm::Intrinsic::arm_mve_vqrdmulh;
      traits.rounding_mul_top = llvm::Intrinsic::arm_mve_vrmulh;
    }
  } else if (triple.isRISCV()) {
    traits.rounds_float32 = traits.sqrt_float32 = traits.fma_float32 = info.checkFeatures("+f");
    traits.rounds_float64 = traits.sqrt_float64 = traits.fma_float64 = info.checkFeatures("+d");
  } else if (triple.isWasm()) {
    traits.rounds_float32 = traits.rounds_float64 = true;
    traits.sqrt_float32 = traits.sqrt_float64 = true;
  }
  traits.dots = DotsOf(machine);
  return traits;
}

}  // namespace kiln::codegen
