// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/known_kernels.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace kiln {
namespace {

// Maximum size of constants that are compared by their contents. Operators make new tables for each
// node, of up to 513 int32 or int64 numbers.
constexpr size_t kSmallBytes = 4608;

std::string IdentityOf(const Tensor& tensor) {
  const std::string& bytes = tensor.bytes();
  return absl::StrCat(
      tensor.type().ToString(), " ",
      bytes.size() <= kSmallBytes ? bytes : absl::StrCat(reinterpret_cast<uintptr_t>(bytes.data())),
      "\n");
}

// Returns the whole and the strides of every slice, which the text of a kernel does not show.
std::string PlacesOf(const loop::Kernel& kernel) {
  std::string text;
  std::unordered_map<const loop::BufferNode*, size_t> wholes;
  for (const auto* buffers : {&kernel.inputs, &kernel.outputs}) {
    for (const loop::Buffer& buffer : *buffers) {
      if (buffer->whole == nullptr) continue;
      const size_t whole = wholes.try_emplace(buffer->whole.get(), wholes.size()).first->second;
      absl::StrAppend(&text, whole, ":", absl::StrJoin(buffer->slice_strides, ","), "\n");
    }
  }
  return text;
}

}  // namespace

std::optional<std::string> KnownKernels::KeyOf(const loop::Kernel& kernel,
                                               const std::optional<TensorMemory>& memory) {
  const auto checks = [](const loop::Stage& stage) { return stage.check.has_value(); };
  if (std::any_of(kernel.stages.begin(), kernel.stages.end(), checks)) return std::nullopt;
  std::string key = PlacesOf(kernel);
  if (memory.has_value())
    absl::StrAppend(&key, memory->least_bytes, " ", memory->spare_bytes, "\n");
  for (const loop::Constant& constant : kernel.constants) {
    key += IdentityOf(constant.tensor);
  }
  return absl::StrCat(key, loop::ToString(loop::Kernel{.name = {},
                                                       .inputs = kernel.inputs,
                                                       .outputs = kernel.outputs,
                                                       .constants = {},
                                                       .stages = kernel.stages}));
}

const Scheduled* KnownKernels::Find(const std::optional<std::string>& key) const {
  if (!key.has_value()) return nullptr;
  const auto it = known_.find(*key);
  return it == known_.end() ? nullptr : &it->second.scheduled;
}

void KnownKernels::Add(std::optional<std::string> key, const loop::Kernel& kernel,
                       Scheduled scheduled) {
  if (!key.has_value()) return;
  known_.emplace(*std::move(key),
                 Known{.scheduled = std::move(scheduled), .constants = kernel.constants});
}

}  // namespace kiln
