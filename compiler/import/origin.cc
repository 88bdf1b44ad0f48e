// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/origin.h"

#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "compiler/base/sha256.h"
#include "compiler/base/tensor.h"

namespace kiln {
namespace {

// True if `text` is valid UTF-8 without a null character.
bool IsText(const std::string& text) {
  using Json = nlohmann::json;
  const auto skip_errors = Json::error_handler_t::ignore;
  return text.find('\0') == std::string::npos &&
         Json::parse(Json(text).dump(-1, ' ', false, skip_errors)).get<std::string>() == text;
}

}  // namespace

std::string ModelDigest(absl::string_view bytes, const std::map<std::string, std::string>& files) {
  const std::string digest = Sha256(bytes);
  if (files.empty()) return digest;
  std::string lines = absl::StrCat(digest, "  -\n");
  for (const auto& [name, path] : files) {
    const absl::StatusOr<std::string> of_file = Sha256OfFile(path);
    if (of_file.ok()) absl::StrAppend(&lines, *of_file, "  ", name, "\n");
  }
  return Sha256(lines);
}

std::string ImportOptionsText(const frontend::ImportOptions& options) {
  const auto& [pins, dims, outputs, constants] = options;
  std::string text;
  for (const auto& [name, shape, dtype] : pins) {
    absl::StrAppend(&text, "input=", name, ":", ShapeToString(shape),
                    dtype.has_value() ? ":" + dtype->ToString() : "", "\n");
  }
  for (const auto& [name, size] : dims) absl::StrAppend(&text, "dim=", name, "=", size, "\n");
  for (const std::string& name : outputs) absl::StrAppend(&text, "output=", name, "\n");
  for (const auto& [name, tensor] : constants) {
    absl::StrAppend(&text, "constant=", name, ":", tensor.type().ToString(), ":",
                    Sha256(tensor.bytes()), "\n");
  }
  return text;
}

Properties TextProperties(const Properties& properties) {
  Properties texts;
  size_t bytes = 0;
  for (const auto& [key, value] : properties) {
    if (key.size() + value.size() > kMaxPropertyBytes - bytes) continue;
    if (!IsText(key) || !IsText(value)) continue;
    bytes += key.size() + value.size();
    texts.emplace_back(key, value);
  }
  return texts;
}

}  // namespace kiln
