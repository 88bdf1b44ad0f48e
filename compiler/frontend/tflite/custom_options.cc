// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/tflite/custom_options.h"

#include "absl/strings/str_cat.h"
#include "compiler/frontend/common/errors.h"
#include "flatbuffers/flexbuffers.h"

namespace kiln::tflite_frontend {

using frontend::Wrong;

absl::StatusOr<CustomOptions> CustomOptions::Parse(absl::string_view bytes) {
  constexpr size_t kMaxBytes = 4096;
  CustomOptions options;
  if (bytes.empty()) return options;
  if (bytes.size() > kMaxBytes) {
    return Wrong("custom options", absl::StrCat(bytes.size(), " bytes"),
                 absl::StrCat("at most ", kMaxBytes));
  }
  // Copied, as the alignment of offsets is relative to the start of the memory.
  const std::string copy(bytes);
  const auto* data = reinterpret_cast<const uint8_t*>(copy.data());
  // Keeps the verifier from following each of many references to the same vector.
  std::vector<uint8_t> seen;
  if (!flexbuffers::VerifyBuffer(data, copy.size(), &seen)) {
    return Wrong("custom options", "bytes that are no FlexBuffer", "a FlexBuffer");
  }
  const flexbuffers::Reference root = flexbuffers::GetRoot(data, copy.size());
  if (!root.IsMap()) return Wrong("custom options", "no map", "a map of names to numbers");
  const flexbuffers::Map map = root.AsMap();
  const flexbuffers::TypedVector keys = map.Keys();
  const flexbuffers::Vector values = map.Values();
  for (size_t i = 0; i < keys.size() && i < values.size(); ++i) {
    const flexbuffers::Reference value = values[i];
    if (value.IsIntOrUint() || value.IsBool()) {
      options.ints_.emplace(keys[i].AsKey(), value.AsInt64());
    }
  }
  return options;
}

absl::StatusOr<int64_t> CustomOptions::Int(const std::string& name) const {
  const auto it = ints_.find(name);
  if (it != ints_.end()) return it->second;
  return Wrong("custom options", absl::StrCat("no number '", name, "'"), "one");
}

}  // namespace kiln::tflite_frontend
