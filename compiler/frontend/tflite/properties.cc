// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/frontend/tflite/model_file.h"
#include "compiler/frontend/tflite/schema_generated.h"

namespace kiln::tflite_frontend {

std::vector<std::pair<std::string, std::string>> ModelFile::properties() const {
  std::vector<std::pair<std::string, std::string>> properties;
  if (model_->description() != nullptr && model_->description()->size() > 0) {
    properties.emplace_back("description", model_->description()->str());
  }
  if (model_->metadata() == nullptr || model_->buffers() == nullptr) return properties;
  for (const tflite_schema::Metadata* entry : *model_->metadata()) {
    if (entry == nullptr || entry->name() == nullptr ||
        entry->buffer() >= model_->buffers()->size()) {
      continue;
    }
    const tflite_schema::Buffer* const buffer = model_->buffers()->Get(entry->buffer());
    if (buffer == nullptr || buffer->data() == nullptr) continue;
    const char* const bytes = reinterpret_cast<const char*>(buffer->data()->data());
    // Texts are padded with zeros.
    std::string value(bytes, buffer->data()->size());
    value.resize(value.find_last_not_of('\0') + 1);
    properties.emplace_back(entry->name()->str(), std::move(value));
  }
  return properties;
}

absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadProperties(
    absl::string_view bytes, const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const ModelFile file, ModelFile::Parse(bytes, path));
  return file.properties();
}

}  // namespace kiln::tflite_frontend
