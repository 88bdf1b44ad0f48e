// SPDX-License-Identifier: Apache-2.0
#include "metadata/json.h"

#include <google/protobuf/descriptor.h>

#include <nlohmann/json.hpp>

namespace kiln {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using OrderedJson = nlohmann::ordered_json;

OrderedJson ToJson(const Message& message);

OrderedJson FieldToJson(const Message& m, const Reflection& r, const FieldDescriptor* f) {
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return r.GetInt32(m, f);
    case FieldDescriptor::CPPTYPE_INT64:
      return r.GetInt64(m, f);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return r.GetFloat(m, f);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return r.GetDouble(m, f);
    case FieldDescriptor::CPPTYPE_BOOL:
      return r.GetBool(m, f);
    case FieldDescriptor::CPPTYPE_ENUM:
      return r.GetEnum(m, f)->name();
    case FieldDescriptor::CPPTYPE_STRING:
      return r.GetString(m, f);
    case FieldDescriptor::CPPTYPE_MESSAGE:
      return ToJson(r.GetMessage(m, f));
    default:
      return nullptr;
  }
}

OrderedJson RepeatedToJson(const Message& m, const Reflection& r, const FieldDescriptor* f) {
  OrderedJson list = OrderedJson::array();
  for (int i = 0; i < r.FieldSize(m, f); ++i) {
    switch (f->cpp_type()) {
      case FieldDescriptor::CPPTYPE_INT32:
        list.push_back(r.GetRepeatedInt32(m, f, i));
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        list.push_back(r.GetRepeatedInt64(m, f, i));
        break;
      case FieldDescriptor::CPPTYPE_FLOAT:
        list.push_back(r.GetRepeatedFloat(m, f, i));
        break;
      case FieldDescriptor::CPPTYPE_DOUBLE:
        list.push_back(r.GetRepeatedDouble(m, f, i));
        break;
      case FieldDescriptor::CPPTYPE_MESSAGE:
        list.push_back(ToJson(r.GetRepeatedMessage(m, f, i)));
        break;
      default:
        list.push_back(r.GetRepeatedString(m, f, i));
    }
  }
  return list;
}

OrderedJson ToJson(const Message& message) {
  OrderedJson object = OrderedJson::object();
  const Reflection& reflection = *message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    if (field->is_repeated()) {
      object[field->name()] = RepeatedToJson(message, reflection, field);
    } else if (!field->has_presence() || reflection.HasField(message, field)) {
      object[field->name()] = FieldToJson(message, reflection, field);
    }
  }
  return object;
}

// `indent` is the indentation per level; -1 puts all text on one line.
std::string Text(const proto::Metadata& metadata, int indent) {
  return ToJson(metadata).dump(indent, ' ', /*ensure_ascii=*/true,
                               OrderedJson::error_handler_t::replace);
}

}  // namespace

std::string MetadataJson(const proto::Metadata& metadata) { return Text(metadata, 2) + "\n"; }

std::string CompactMetadataJson(const proto::Metadata& metadata) { return Text(metadata, -1); }

}  // namespace kiln
