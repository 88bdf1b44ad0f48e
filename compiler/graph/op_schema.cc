// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/op_schema.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/base/status.h"

namespace kiln {
namespace {

using List = std::vector<AttrValue>;

absl::string_view TypeName(AttrType type) {
  switch (type) {
    case AttrType::kBool:
      return "True or False";
    case AttrType::kInt:
      return "an int";
    case AttrType::kFloat:
      return "a float";
    case AttrType::kString:
      return "a string";
    case AttrType::kDType:
      return "a dtype such as \"float32\"";
    case AttrType::kInts:
      return "a list of ints";
    case AttrType::kFloats:
      return "a list of floats";
    case AttrType::kIntLists:
      return "a list of lists of ints";
    case AttrType::kIntOrInts:
      return "an int or a list of ints";
    case AttrType::kReference:
      return "a reference to the metadata section";
  }
  return "nothing";
}

bool IsInt(const AttrValue& value) { return std::holds_alternative<int64_t>(value.value); }

bool IsIntList(const AttrValue& value) {
  const List* list = std::get_if<List>(&value.value);
  return list != nullptr && std::all_of(list->begin(), list->end(), IsInt);
}

// Converts an int to a float. False if `value` is neither an int nor a float.
bool Widen(AttrValue& value) {
  if (const int64_t* v = std::get_if<int64_t>(&value.value)) value = static_cast<double>(*v);
  return std::holds_alternative<double>(value.value);
}

// Converts `value` to the normal form of `type`. False if that is impossible.
bool Coerce(AttrType type, AttrValue& value) {
  switch (type) {
    case AttrType::kBool:
      if (const int64_t* v = std::get_if<int64_t>(&value.value);
          v != nullptr && (*v == 0 || *v == 1)) {
        value = *v == 1;
      }
      return std::holds_alternative<bool>(value.value);
    case AttrType::kInt:
      if (const bool* v = std::get_if<bool>(&value.value)) value = *v ? 1 : 0;
      return IsInt(value);
    case AttrType::kFloat:
      return Widen(value);
    case AttrType::kString:
      return std::holds_alternative<std::string>(value.value);
    case AttrType::kDType: {
      if (value.is_none()) value = "";
      const std::string* v = std::get_if<std::string>(&value.value);
      return v != nullptr && (v->empty() || DType::Parse(*v).ok());
    }
    case AttrType::kInts:
      if (IsInt(value)) value = AttrValue(List{value});
      return IsIntList(value);
    case AttrType::kFloats: {
      if (Widen(value)) value = AttrValue(List{value});
      List* list = std::get_if<List>(&value.value);
      return list != nullptr && std::all_of(list->begin(), list->end(), Widen);
    }
    case AttrType::kIntLists: {
      const List* list = std::get_if<List>(&value.value);
      return list != nullptr &&
             (IsIntList(value) || std::all_of(list->begin(), list->end(), IsIntList));
    }
    case AttrType::kIntOrInts:
      return IsInt(value) || IsIntList(value);
    case AttrType::kReference:
      return false;  // the parser has replaced the reference by None
  }
  return false;
}

absl::Status UnknownAttr(const OpSchema& schema, absl::string_view name) {
  const std::string known =
      schema.attrs.empty()
          ? "it has none"
          : absl::StrCat("known are ", absl::StrJoin(schema.attrs, ", ",
                                                     [](std::string* out, const AttrSchema& attr) {
                                                       absl::StrAppend(out, attr.name);
                                                     }));
  return absl::InvalidArgumentError(
      absl::StrCat(schema.name, ": unknown attribute '", name, "'; ", known));
}

// Returns "2 inputs (data, weight)" or "2 to 3 inputs (…)".
std::string DescribeArity(const OpSchema& op) {
  const size_t most = op.inputs.size();
  const size_t least = most - static_cast<size_t>(op.num_optional_inputs);
  return absl::StrCat(least == most ? "" : absl::StrCat(least, " to "), most,
                      most == 1 ? " input" : " inputs", most == 0 ? "" : " (",
                      absl::StrJoin(op.inputs, ", ",
                                    [](std::string* out, const InputSchema& input) {
                                      absl::StrAppend(out, input.name);
                                    }),
                      most == 0 ? "" : ")");
}

}  // namespace

AttrValue AttrSchema::NormalDefault() const {
  AttrValue value = default_value;
  if (!value.is_none()) Coerce(type, value);
  return value;
}

const AttrSchema* OpSchema::FindAttr(absl::string_view attr_name) const {
  for (const AttrSchema& attr : attrs) {
    if (attr.name == attr_name) return &attr;
  }
  return nullptr;
}

absl::StatusOr<int> OpSchema::NumOutputs(const Attrs& node_attrs, size_t num_inputs) const {
  if (num_outputs == nullptr) return 1;
  return num_outputs(node_attrs, num_inputs);
}

bool OpSchema::GivesTuple(const Attrs& node_attrs) const {
  if (num_outputs == nullptr) return false;
  return gives_tuple == nullptr || gives_tuple(node_attrs);
}

absl::Status CheckNumInputs(const OpSchema& schema, size_t found) {
  const size_t most = schema.inputs.size();
  const size_t least = most - static_cast<size_t>(schema.num_optional_inputs);
  if (schema.tuple_input ? found > 0 : found >= least && found <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("found ", found, found == 1 ? " input" : " inputs", ", wanted ",
                   schema.tuple_input ? "at least 1" : DescribeArity(schema)));
}

absl::StatusOr<Attrs> NormalizeAttrs(const OpSchema& schema, Attrs attrs) {
  for (const auto& [name, value] : attrs.values()) {
    if (schema.FindAttr(name) == nullptr) return UnknownAttr(schema, name);
  }
  for (const AttrSchema& attr : schema.attrs) {
    const bool may_be_none = attr.default_value.is_none() && !attr.required;
    if (!attrs.Has(attr.name)) {
      if (attr.required) {
        return absl::InvalidArgumentError(absl::StrCat(
            schema.name, ": attribute '", attr.name, "' is missing, wanted ", TypeName(attr.type)));
      }
      attrs.Set(attr.name, attr.default_value);
    }
    AttrValue value = attrs.Get(attr.name);
    if (value.is_none() && may_be_none) continue;
    if (!Coerce(attr.type, value)) {
      return absl::InvalidArgumentError(
          absl::StrCat(schema.name, ": attribute '", attr.name, "': found ", value.ToString(),
                       ", wanted ", TypeName(attr.type), may_be_none ? " or None" : ""));
    }
    attrs.Set(attr.name, std::move(value));
  }
  return attrs;
}

}  // namespace kiln
