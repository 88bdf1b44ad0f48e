// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/instructions.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "compiler/target/instructions/rows.h"

namespace kiln {
std::array<uint8_t, 64> MatrixShapes() {
  constexpr size_t kMatrices = 8, kRowBytesAt = 16, kRowsAt = 48;
  std::array<uint8_t, 64> bytes = {1};
  for (size_t i = 0; i < kMatrices; ++i) {
    bytes[kRowBytesAt + 2 * i] = kMatrixRowBytes;
    bytes[kRowsAt + i] = kMatrixSide;
  }
  return bytes;
}

bool DotInstruction::IsOfArch(absl::string_view triple) const {
  for (const absl::string_view name : absl::StrSplit(arch, ',')) {
    if (absl::StartsWith(triple, name)) return true;
  }
  return false;
}

const DotForm* DotInstruction::FormOf(const Target& target) const {
  if (!IsOfArch(target.triple)) return nullptr;
  for (const DotForm& form : forms) {
    if (target.by_c_compiler && c.guard.empty() && form.c.empty()) continue;
    const int bits = vector_columns(form) * vector_rows() * 32;
    const bool fits = geometry == DotGeometry::kReduction || bits <= target.vector_bits;
    if (fits && target.HasFeatures(form.features)) return &form;
  }
  return nullptr;
}

std::string DotLoop::StepAt(int64_t a_bytes, int64_t b_bytes) const {
  constexpr int64_t kMaxBytes = 32;  // upper bound of the bytes that a step reads
  std::vector<std::pair<std::string, std::string>> offsets;
  for (int64_t i = 0; i <= kMaxBytes; ++i) {
    offsets.emplace_back(absl::StrCat("{a+", i, "}"), absl::StrCat(a_bytes + i));
    offsets.emplace_back(absl::StrCat("{b+", i, "}"), absl::StrCat(b_bytes + i));
  }
  return absl::StrReplaceAll(step, offsets);
}

bool DotInstruction::IsNamed(absl::string_view dot_name, int dot_group, bool dot_swaps,
                             int dot_column_run, DType of_a, DType of_b) const {
  return name == dot_name && group == dot_group && swaps == dot_swaps &&
         column_run == dot_column_run && a == of_a && b == of_b;
}

bool DotInstruction::HoldsTile(int rows, int columns, int run) const {
  // A tile takes at most two by two of the eight registers for its sums.
  const auto fits = [](int extent) { return extent == kMatrixSide || extent == 2 * kMatrixSide; };
  return geometry == DotGeometry::kMatrix && fits(rows) && fits(columns) && run == group;
}

const DotLoop* DotInstruction::FindLoop(int rows, int columns, int run, int slide) const {
  for (const DotLoop& loop : loops) {
    if (loop.rows == rows && loop.columns == columns && loop.run == run && loop.slide == slide) {
      return &loop;
    }
  }
  return nullptr;
}

double DotInstruction::CostOn(const Target& target) const {
  const bool by_vectors = geometry != DotGeometry::kMatrix;
  return a.is_bfloat() && by_vectors ? cost * target.machine->dots.bfloat_slots : cost;
}

double DotInstruction::ProductsPerSlot(const Target& target) const {
  return FormOf(target)->lanes * group / CostOn(target);
}

const std::vector<DotInstruction>& DotInstructions() {
  static const auto& rows = *[] {
    auto* all = new std::vector<DotInstruction>;
    for (const auto& of_arch : {instructions::X86(), instructions::AArch64(), instructions::ArmM(),
                                instructions::RiscV()}) {
      all->insert(all->end(), of_arch.begin(), of_arch.end());
    }
    return all;
  }();
  return rows;
}

std::vector<const DotInstruction*> DotInstructionsOf(const Target& target, DType sum) {
  std::vector<const DotInstruction*> rows;
  for (const DotInstruction& row : DotInstructions()) {
    if (row.sum == sum && row.FormOf(target) != nullptr) rows.push_back(&row);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) {
    return a->ProductsPerSlot(target) > b->ProductsPerSlot(target);
  });
  return rows;
}

const DotInstruction* FindDotInstruction(absl::string_view name) {
  for (const DotInstruction& row : DotInstructions()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

}  // namespace kiln
