// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/descriptor.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "metadata/check.h"
#include "metadata/json.h"
#include "metadata/version.h"

namespace kiln {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using Json = nlohmann::json;

absl::Status Wrong(const std::string& where, absl::string_view wanted) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": wanted ", wanted));
}

// Sets a singular field or adds one value to a repeated field.
class FieldWriter {
 public:
  FieldWriter(Message* message, const FieldDescriptor* field)
      : m_(message), r_(*message->GetReflection()), f_(field) {}

  absl::Status Write(const Json& value, const std::string& where) {
    switch (f_->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        return WriteInt32(value, where);
      case FieldDescriptor::CPPTYPE_INT64:
        return WriteInt64(value, where);
      case FieldDescriptor::CPPTYPE_FLOAT:
        if (!value.is_number()) return Wrong(where, "a number");
        f_->is_repeated() ? r_.AddFloat(m_, f_, value.get<float>())
                          : r_.SetFloat(m_, f_, value.get<float>());
        return absl::OkStatus();
      case FieldDescriptor::CPPTYPE_DOUBLE:
        if (!value.is_number()) return Wrong(where, "a number");
        f_->is_repeated() ? r_.AddDouble(m_, f_, value.get<double>())
                          : r_.SetDouble(m_, f_, value.get<double>());
        return absl::OkStatus();
      case FieldDescriptor::CPPTYPE_BOOL:
        if (!value.is_boolean()) return Wrong(where, "true or false");
        f_->is_repeated() ? r_.AddBool(m_, f_, value.get<bool>())
                          : r_.SetBool(m_, f_, value.get<bool>());
        return absl::OkStatus();
      case FieldDescriptor::CPPTYPE_ENUM:
        return WriteEnum(value, where);
      case FieldDescriptor::CPPTYPE_STRING:
        if (!value.is_string()) return Wrong(where, "a string");
        f_->is_repeated() ? r_.AddString(m_, f_, value.get<std::string>())
                          : r_.SetString(m_, f_, value.get<std::string>());
        return absl::OkStatus();
      default:
        return absl::InternalError(absl::StrCat("the field ", f_->full_name(), " has no JSON"));
    }
  }

 private:
  absl::Status WriteInt32(const Json& value, const std::string& where) {
    constexpr int64_t kMin = std::numeric_limits<int32_t>::min(),
                      kMax = std::numeric_limits<int32_t>::max();
    if (!IsInt64(value) || value.get<int64_t>() < kMin || value.get<int64_t>() > kMax) {
      return Wrong(where, "an integer of 32 bits");
    }
    const auto number = value.get<int32_t>();
    f_->is_repeated() ? r_.AddInt32(m_, f_, number) : r_.SetInt32(m_, f_, number);
    return absl::OkStatus();
  }

  absl::Status WriteInt64(const Json& value, const std::string& where) {
    if (!IsInt64(value)) return Wrong(where, "an integer of 64 bits");
    const auto number = value.get<int64_t>();
    f_->is_repeated() ? r_.AddInt64(m_, f_, number) : r_.SetInt64(m_, f_, number);
    return absl::OkStatus();
  }

  absl::Status WriteEnum(const Json& value, const std::string& where) {
    const auto* const known =
        value.is_string() ? f_->enum_type()->FindValueByName(value.get<std::string>()) : nullptr;
    if (known == nullptr) return Wrong(where, absl::StrCat("a name of ", f_->enum_type()->name()));
    f_->is_repeated() ? r_.AddEnum(m_, f_, known) : r_.SetEnum(m_, f_, known);
    return absl::OkStatus();
  }

  static bool IsInt64(const Json& value) {
    if (!value.is_number_integer()) return false;
    return !value.is_number_unsigned() ||
           value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  }

  Message* const m_;
  const Reflection& r_;
  const FieldDescriptor* const f_;
};

class MessageReader {
 public:
  // `is_complete`: the text has the current version, so every field must be present.
  explicit MessageReader(bool is_complete) : is_complete_(is_complete) {}

  absl::Status Read(const Json& json, const std::string& where, Message* message) const {
    if (!json.is_object()) return Wrong(where, "an object");
    const auto* const descriptor = message->GetDescriptor();
    for (const auto& item : json.items()) {
      if (descriptor->FindFieldByName(item.key()) == nullptr) {
        return absl::InvalidArgumentError(absl::StrCat(where, ": unknown key '", item.key(), "'"));
      }
    }
    for (int i = 0; i < descriptor->field_count(); ++i) {
      const FieldDescriptor* const field = descriptor->field(i);
      const auto found = json.find(field->name());
      if (found != json.end()) {
        const std::string name = absl::StrCat(where, ".", field->name());
        if (absl::Status s = ReadField(*found, name, message, field); !s.ok()) return s;
      } else if (is_complete_ && !field->has_presence()) {
        return absl::InvalidArgumentError(absl::StrCat(where, ": no key '", field->name(), "'"));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status ReadField(const Json& json, const std::string& where, Message* message,
                         const FieldDescriptor* field) const {
    if (!field->is_repeated()) return ReadValue(json, where, message, field);
    if (!json.is_array()) return Wrong(where, "a list");
    for (size_t i = 0; i < json.size(); ++i) {
      const std::string element = absl::StrCat(where, "[", i, "]");
      if (absl::Status s = ReadValue(json[i], element, message, field); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

  absl::Status ReadValue(const Json& json, const std::string& where, Message* message,
                         const FieldDescriptor* field) const {
    if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) {
      return FieldWriter(message, field).Write(json, where);
    }
    const Reflection& reflection = *message->GetReflection();
    return Read(json, where,
                field->is_repeated() ? reflection.AddMessage(message, field)
                                     : reflection.MutableMessage(message, field));
  }

  const bool is_complete_;
};

absl::StatusOr<proto::Metadata> Parse(absl::string_view text) {
  const Json json =
      Json::parse(text.begin(), text.end(), /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded()) return absl::InvalidArgumentError("the text is not JSON");
  const bool has_version =
      json.is_object() && json.contains("version") && json["version"].is_number_integer();
  if (!has_version) return absl::InvalidArgumentError("metadata without a version");
  // The version decides the meaning of all other fields, so it is checked first.
  const auto version = json["version"].get<int64_t>();
  if (version < kOldestMetadataVersion || version > kMetadataVersion) {
    return absl::FailedPreconditionError(
        absl::StrCat("found metadata of version ", version, ", versions ", kOldestMetadataVersion,
                     " to ", kMetadataVersion, " can be read; ",
                     version > kMetadataVersion ? "use a newer Kiln" : "compile the model again"));
  }
  proto::Metadata metadata;
  const MessageReader reader(/*is_complete=*/version == kMetadataVersion);
  if (absl::Status s = reader.Read(json, "metadata", &metadata); !s.ok()) return s;
  if (absl::Status s = CheckMetadata(metadata); !s.ok()) return s;
  // Later renderings of this metadata have the fields of the current version.
  metadata.set_version(kMetadataVersion);
  return metadata;
}

}  // namespace

absl::StatusOr<proto::Metadata> ParseMetadataJson(absl::string_view text, absl::string_view name) {
  absl::StatusOr<proto::Metadata> metadata = Parse(text);
  if (metadata.ok() || name.empty()) return metadata;
  return absl::Status(metadata.status().code(),
                      absl::StrCat(name, ": ", metadata.status().message()));
}

}  // namespace kiln
