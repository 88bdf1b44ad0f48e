// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/chips.h"

#include <cstddef>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"

namespace kiln::tools {
namespace {

constexpr char kNoAtomics[] = "riscv32-unknown-elf -mattr=+m,+c";
constexpr char kOnlyC[] = "with --codegen c";

// Normalizes a name: "ESP32-C3" and "esp32c3" are equal, and so are "i.MX RT1062" and "IMXRT1062".
std::string Letters(absl::string_view text) {
  return absl::AsciiStrToLower(
      absl::StrReplaceAll(text, {{"-", ""}, {"_", ""}, {".", ""}, {" ", ""}}));
}

// True if `word` belongs to `family`. A family is a prefix of its part numbers. A name of two
// letters is too short for a prefix and must match exactly: "E3" is Alif's Ensemble E3 and must not
// match "E31", a core of SiFive.
bool BeginsWith(absl::string_view word, absl::string_view family) {
  return family.size() > 2 ? absl::StartsWith(word, family) : word == family;
}

}  // namespace

const std::vector<Chip>& Chips() {
  static const auto& chips = *new std::vector<Chip>{
      // STMicroelectronics
      {"STM32F0", "Cortex-M0", "cortex-m0", ""},
      {"STM32G0 STM32L0 STM32C0 STM32U0 STM32WB0", "Cortex-M0+", "cortex-m0plus", ""},
      {"STM32F1 STM32F2 STM32L1", "Cortex-M3", "cortex-m3", ""},
      {"STM32F3", "Cortex-M4F", "cortex-m4f", ""},
      {"STM32F4", "Cortex-M4F", "cortex-m4f", ""},
      {"STM32G4", "Cortex-M4F", "cortex-m4f", ""},
      {"STM32L4", "Cortex-M4F", "cortex-m4f", ""},
      {"STM32WB STM32WL", "Cortex-M4F", "cortex-m4f", "STM32WL: cortex-m4, without an FPU"},
      {"STM32F7", "Cortex-M7F", "cortex-m7f", ""},
      {"STM32H7", "Cortex-M7F", "cortex-m7f", ""},
      {"STM32H5", "Cortex-M33F", "cortex-m33f", ""},
      {"STM32L5 STM32U5 STM32WBA", "Cortex-M33F", "cortex-m33f", ""},
      {"STM32N6", "Cortex-M55", "cortex-m55", ""},
      {"STM32MP1", "Cortex-A7 and M4F", "cortex-m4f", "of the Cortex-M4F"},
      // Nordic Semiconductor
      {"nRF51", "Cortex-M0", "cortex-m0", ""},
      {"nRF52810 nRF52805 nRF52811 nRF52820", "Cortex-M4", "cortex-m4", "no FPU"},
      {"nRF52832 nRF52833 nRF52840", "Cortex-M4F", "cortex-m4f", ""},
      {"nRF5340", "Cortex-M33F", "cortex-m33f", "of the application core"},
      {"nRF54", "Cortex-M33F", "cortex-m33f", ""},
      {"nRF91", "Cortex-M33F", "cortex-m33f", ""},
      // Raspberry Pi
      {"RP2040 Pico", "Cortex-M0+", "cortex-m0plus", "Raspberry Pi Pico"},
      {"RP2350 Pico2", "Cortex-M33F", "cortex-m33f",
       "Raspberry Pi Pico 2; of its RISC-V cores riscv32imac"},
      // Espressif
      {"ESP32-C2 ESP32-C3", "RV32IMC", kNoAtomics, ""},
      {"ESP32-C5 ESP32-C6 ESP32-H2", "RV32IMAC", "riscv32imac", ""},
      {"ESP32-P4", "RV32IMAFC", "riscv32imafc", ""},
      {"ESP32-S2", "Xtensa LX7", "xtensa-esp32s2-elf", kOnlyC},
      {"ESP32-S3", "Xtensa LX7", "xtensa-esp32s3-elf", kOnlyC},
      {"ESP8266", "Xtensa L106", "xtensa-lx106-elf", kOnlyC},
      {"ESP32", "Xtensa LX6", "xtensa-esp32-elf", kOnlyC},
      // Microchip
      {"SAMD21 SAMD20 SAML21 SAMC21", "Cortex-M0+", "cortex-m0plus", ""},
      {"SAMD51 SAME51 SAME53 SAME54", "Cortex-M4F", "cortex-m4f", ""},
      {"SAM4", "Cortex-M4", "cortex-m4", "SAM4E: cortex-m4f"},
      {"SAMS70 SAME70 SAMV70 SAMV71", "Cortex-M7F", "cortex-m7f", ""},
      {"SAM3X SAM3A", "Cortex-M3", "cortex-m3", "Arduino Due"},
      // NXP
      {"LPC8", "Cortex-M0+", "cortex-m0plus", ""},
      {"LPC17", "Cortex-M3", "cortex-m3", ""},
      {"LPC18", "Cortex-M3", "cortex-m3", ""},
      {"LPC40 LPC43", "Cortex-M4F", "cortex-m4f", ""},
      {"LPC54", "Cortex-M4F", "cortex-m4f", ""},
      {"LPC55", "Cortex-M33F", "cortex-m33f", ""},
      {"MIMXRT5 MIMXRT6 RT500 RT600", "Cortex-M33F", "cortex-m33f", ""},
      {"MIMXRT10 IMXRT10 RT10", "Cortex-M7F", "cortex-m7f", "Teensy 4"},
      {"MIMXRT11 IMXRT11 RT116 RT117", "Cortex-M7F", "cortex-m7f", "of the Cortex-M7F"},
      {"MCXN", "Cortex-M33F", "cortex-m33f", ""},
      {"MKL KL0 KL1 KL2 KL3 KL4", "Cortex-M0+", "cortex-m0plus", "Kinetis L"},
      {"MK20 MK21 MK60 K20 K21 K60 MK22D K22D", "Cortex-M4", "cortex-m4",
       "Kinetis K with a D in the part number, without an FPU; Teensy 3.2"},
      {"MK2 MK6 MK20F MK21F MK60F K20F K21F K60F K22 K24 K26 K27 K28 K61 K63 K64 K65 K66",
       "Cortex-M4F", "cortex-m4f",
       "Kinetis K with an F in the part number, with an FPU; Teensy 3.5, 3.6"},
      // Renesas
      {"R7FA2 RA2", "Cortex-M23", "cortex-m23", ""},
      {"R7FA4M1 R7FA4W1 RA4M1 RA4W1", "Cortex-M4F", "cortex-m4f", "Arduino UNO R4"},
      {"R7FA4M2 R7FA4M3 R7FA4E R7FA4T1 RA4M2 RA4M3 RA4E RA4T1", "Cortex-M33F", "cortex-m33f", ""},
      {"R7FA6M1 R7FA6M2 R7FA6M3 R7FA6T1 RA6M1 RA6M2 RA6M3 RA6T1", "Cortex-M4F", "cortex-m4f", ""},
      {"R7FA6M4 R7FA6M5 R7FA6E R7FA6T2 R7FA6T3 RA6M4 RA6M5 RA6E RA6T2 RA6T3", "Cortex-M33F",
       "cortex-m33f", ""},
      {"R7FA8 RA8", "Cortex-M85", "cortex-m85", ""},
      // Ambiq
      {"AMA3 Apollo3", "Cortex-M4F", "cortex-m4f", ""},
      {"AMA4 Apollo4", "Cortex-M4F", "cortex-m4f", ""},
      {"AP510 Apollo510", "Cortex-M55", "cortex-m55", ""},
      // Alif Semiconductor, Analog Devices
      {"AE1 AE3 AE5 AE7 Ensemble E3 E5 E7", "Cortex-M55", "cortex-m55", "of the Cortex-M55"},
      {"MAX78000 MAX78002", "Cortex-M4F", "cortex-m4f", "of the Cortex-M4F"},
      // Infineon
      {"CY8C4 PSoC4", "Cortex-M0+", "cortex-m0plus", ""},
      {"CY8C5 PSoC5", "Cortex-M3", "cortex-m3", ""},
      {"CY8C6 PSoC6", "Cortex-M4F", "cortex-m4f", ""},
      {"XMC1", "Cortex-M0", "cortex-m0", ""},
      {"XMC4", "Cortex-M4F", "cortex-m4f", ""},
      // Texas Instruments, Silicon Labs
      {"TM4C MSP432 CC1312 CC1352 CC2642 CC2652", "Cortex-M4F", "cortex-m4f", ""},
      {"MSPM0", "Cortex-M0+", "cortex-m0plus", ""},
      {"EFR32MG1 EFM32GG EFM32PG", "Cortex-M4F", "cortex-m4f", "EFM32GG of series 0: cortex-m3"},
      {"EFR32MG2 EFR32BG2", "Cortex-M33F", "cortex-m33f", ""},
      // GigaDevice, WCH, Artery
      {"GD32F1", "Cortex-M3", "cortex-m3", ""},
      {"GD32F30 GD32F4", "Cortex-M4F", "cortex-m4f", ""},
      {"GD32E5", "Cortex-M33F", "cortex-m33f", ""},
      {"GD32VF103", "RV32IMAC", "riscv32imac", ""},
      {"CH32V1 CH32V2", "RV32IMAC", "riscv32imac", ""},
      {"CH32V3", "RV32IMAFC", "riscv32imafc", ""},
      {"AT32F403 AT32F407 AT32F413 AT32F435 AT32F437", "Cortex-M4F", "cortex-m4f", ""},
      // Others
      {"HX6538 WiseEye2", "Cortex-M55", "cortex-m55", ""},
      {"BL602 BL604", "RV32IMAFC", "riscv32imafc", ""},
      {"FE310", "RV32IMAC", "riscv32imac", "SiFive"},
      {"K210", "RV64GC", "riscv64gc", "Kendryte"},
  };
  return chips;
}

const Chip* FindChip(absl::string_view text) {
  const std::string word = Letters(text);
  const Chip* found = nullptr;
  size_t longest = 0;
  for (const Chip& chip : Chips()) {
    for (absl::string_view family : absl::StrSplit(chip.family, ' ')) {
      const std::string name = Letters(family);
      if (!BeginsWith(word, name) || name.size() <= longest) continue;
      longest = name.size();
      found = &chip;
    }
  }
  return found;
}

}  // namespace kiln::tools
