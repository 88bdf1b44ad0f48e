// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/widened_weights.h"

#include <cstdint>
#include <cstdio>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/terminal/text.h"

namespace kiln::tools {
namespace {

constexpr int64_t kMinElements = 1024;  // smaller weights are not worth a note

}  // namespace

std::string WidenedWeightsText(const frontend::NarrowWeights& weights,
                               const std::vector<int64_t>& byte_constants) {
  std::multiset<int64_t> kept(byte_constants.begin(), byte_constants.end());
  int64_t count = 0, before = 0, after = 0;
  std::set<int> bits;
  for (const frontend::NarrowWeight& weight : weights) {
    if (weight.elements < kMinElements) continue;
    if (const auto it = kept.find(weight.elements); it != kept.end()) {
      kept.erase(it);
      continue;
    }
    ++count;
    before += weight.file_bytes();
    after += weight.elements * weight.float_bytes;
    bits.insert(weight.bits);
  }
  if (count == 0) return "";
  return absl::StrCat(Counted(static_cast<size_t>(count), "weight"), " that the model stores in ",
                      absl::StrJoin(bits, " and "), " bits ", count == 1 ? "is" : "are",
                      " stored as floats in the library: ", after, " bytes instead of ", before);
}

void NoteWidenedWeights(const frontend::NarrowWeights& weights,
                        const std::vector<int64_t>& byte_constants) {
  const std::string text = WidenedWeightsText(weights, byte_constants);
  if (!text.empty()) std::fprintf(stderr, "kiln: note: %s\n", text.c_str());
}

}  // namespace kiln::tools
