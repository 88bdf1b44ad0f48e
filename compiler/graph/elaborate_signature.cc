// SPDX-License-Identifier: Apache-2.0
// Elaboration of parameters, types and outputs.
#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/graph/elaborate.h"

namespace kiln::relay {
namespace {

constexpr absl::string_view kInputNames = "input_names";
constexpr absl::string_view kOutputNames = "output_tensor_names";

bool IsTensorWithAnyExtent(const TypeSyntax& type) {
  const Shape& shape = type.tensor.shape;
  return type.kind == TypeSyntax::Kind::kTensor &&
         std::find(shape.begin(), shape.end(), kAnyExtent) != shape.end();
}

const AttrSyntax* FindAttr(const Function& function, absl::string_view name) {
  for (const AttrSyntax& attr : function.attrs) {
    if (attr.name == name) return &attr;
  }
  return nullptr;
}

}  // namespace

Attrs GraphAttrs(const Function& function) {
  Attrs attrs;
  for (const AttrSyntax& attr : function.attrs) {
    if (attr.name != kInputNames && attr.name != kOutputNames) attrs.Set(attr.name, attr.value);
  }
  return attrs;
}

absl::Status Elaborator::CheckPinnedShapes(const Function& main) const {
  std::string missing;
  Position position;
  for (const Parameter& parameter : main.parameters) {
    if (!parameter.type || !IsTensorWithAnyExtent(*parameter.type)) continue;
    if (options_.input_shapes.find(parameter.name) != options_.input_shapes.end()) continue;
    if (missing.empty()) position = parameter.type->position;
    absl::StrAppend(&missing, " --input ", parameter.name, ":shape");
  }
  if (missing.empty()) return absl::OkStatus();
  return UnimplementedAt(
      file_name_, position,
      absl::StrCat("found '?', a dimension that is known only at run time, which is not supported; "
                   "give the shape:",
                   missing));
}

absl::StatusOr<TypeSyntax> Elaborator::MainParameterType(const Parameter& parameter) const {
  const std::string what = absl::StrCat("parameter %", parameter.name, " of @main");
  if (!parameter.type || parameter.type->kind == TypeSyntax::Kind::kAny) {
    return Error(parameter.position, absl::StrCat(what, " needs a type, such as %", parameter.name,
                                                  ": Tensor[(1, 8), float32]"));
  }
  TypeSyntax type = *parameter.type;
  auto pinned = options_.input_shapes.find(parameter.name);
  if (pinned == options_.input_shapes.end() || type.kind != TypeSyntax::Kind::kTensor) return type;
  bool fits = pinned->second.size() == type.tensor.shape.size();
  for (size_t i = 0; fits && i < pinned->second.size(); ++i) {
    fits = type.tensor.shape[i] == kAnyExtent || type.tensor.shape[i] == pinned->second[i];
  }
  type.tensor.shape = pinned->second;
  if (!fits) {
    return Error(parameter.type->position, absl::StrCat("the shape ", ShapeToString(pinned->second),
                                                        " that is given for the input '",
                                                        parameter.name, "' does not fit its type"));
  }
  if (absl::Status status = CheckTensorType(type.tensor); !status.ok()) {
    return Error(parameter.type->position, status.message());
  }
  return type;
}

absl::StatusOr<TypeSyntax> Elaborator::GroupParameterType(const Parameter& parameter,
                                                          const Result& argument) const {
  const bool is_known = parameter.type && parameter.type->kind != TypeSyntax::Kind::kAny &&
                        !IsTensorWithAnyExtent(*parameter.type);
  if (is_known) return *parameter.type;
  const ValueId* id = std::get_if<ValueId>(&argument);
  if (id == nullptr || !graph().value(*id).type) {
    return Error(parameter.position,
                 absl::StrCat("parameter %", parameter.name,
                              " of a function with Primitive or Compiler needs a type"));
  }
  TypeSyntax type;
  type.kind = TypeSyntax::Kind::kTensor;
  type.position = parameter.position;
  type.tensor = *graph().value(*id).type;
  return type;
}

absl::Status Elaborator::AddParameters(const Function& function,
                                       const std::vector<TypeSyntax>& types, Scope& scope) {
  std::set<std::string> taken;
  for (const Parameter& parameter : function.parameters) taken.insert(parameter.name);
  for (size_t i = 0; i < types.size(); ++i) {
    const Parameter& parameter = function.parameters[i];
    KILN_ASSIGN_OR_RETURN(Result result, AddParameter(types[i], parameter.name, taken));
    KILN_RETURN_IF_ERROR(Define(scope, parameter.name, std::move(result), parameter.position));
  }
  const AttrSyntax* attr = FindAttr(function, kInputNames);
  if (attr == nullptr) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(std::vector<std::string> names, NamesAttr(*attr, graph().inputs.size()));
  if (std::set<std::string>(names.begin(), names.end()).size() != names.size()) {
    return Error(attr->position, absl::StrCat(kInputNames, ": found a name twice"));
  }
  for (size_t i = 0; i < names.size(); ++i) {
    graph().value(graph().inputs[i]).name = std::move(names[i]);
  }
  return absl::OkStatus();
}

absl::StatusOr<Result> Elaborator::AddParameter(const TypeSyntax& type, const std::string& name,
                                                std::set<std::string>& taken) {
  switch (type.kind) {
    case TypeSyntax::Kind::kTensor:
      if (IsTensorWithAnyExtent(type)) {
        return UnimplementedAt(file_name_, type.position,
                               "found '?' inside a tuple, which is not supported; write the size");
      }
      return Result(graph().AddInput(name, type.tensor));
    case TypeSyntax::Kind::kTuple: {
      std::vector<Result> fields;
      for (size_t i = 0; i < type.fields.size(); ++i) {
        std::string field_name = absl::StrCat(name, "_", i);
        while (!taken.insert(field_name).second) field_name += "_";
        KILN_ASSIGN_OR_RETURN(Result field, AddParameter(type.fields[i], field_name, taken));
        fields.push_back(std::move(field));
      }
      return MakeTuple(std::move(fields), type.position);
    }
    case TypeSyntax::Kind::kAny:
      return Error(type.position, "found _ as a parameter's type, wanted a tensor's");
    case TypeSyntax::Kind::kFunction:
      break;
  }
  return UnimplementedAt(file_name_, type.position,
                         "a function as an input is not supported; call it where it is written");
}

absl::Status Elaborator::SetOutputs(const Function& function, const Result& result) {
  if (function.result_type) KILN_RETURN_IF_ERROR(ApplyType(result, *function.result_type));
  KILN_RETURN_IF_ERROR(Flatten(result, function.body.result->position, graph().outputs));
  const AttrSyntax* attr = FindAttr(function, kOutputNames);
  if (attr == nullptr) return absl::OkStatus();
  KILN_ASSIGN_OR_RETURN(graph().output_names, NamesAttr(*attr, graph().outputs.size()));
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> Elaborator::NamesAttr(const AttrSyntax& attr,
                                                               size_t count) const {
  std::vector<std::string> names;
  const auto* list = std::get_if<std::vector<AttrValue>>(&attr.value.value);
  if (list != nullptr) {
    for (const AttrValue& item : *list) {
      const std::string* name = std::get_if<std::string>(&item.value);
      if (name != nullptr && !name->empty()) names.push_back(*name);
    }
  }
  if (list == nullptr || names.size() != list->size() || names.size() != count) {
    return Error(attr.position, absl::StrCat(attr.name, ": wanted a list of ", count,
                                             " names that are not empty"));
  }
  return names;
}

absl::Status Elaborator::ApplyType(const Result& result, const TypeSyntax& type) {
  if (type.kind == TypeSyntax::Kind::kAny) return absl::OkStatus();
  if (const ValueId* id = std::get_if<ValueId>(&result);
      id != nullptr && type.kind == TypeSyntax::Kind::kTensor) {
    if (IsTensorWithAnyExtent(type)) return absl::OkStatus();
    std::optional<TensorType>& known = graph().value(*id).type;
    if (known && *known != type.tensor) {
      return Error(type.position, absl::StrCat("found type ", type.tensor.ToString(),
                                               ", wanted the value's type ", known->ToString()));
    }
    known = type.tensor;
    return absl::OkStatus();
  }
  const auto* tuple = std::get_if<std::shared_ptr<const Tuple>>(&result);
  if (tuple != nullptr && type.kind == TypeSyntax::Kind::kTuple &&
      (*tuple)->fields.size() == type.fields.size()) {
    for (size_t i = 0; i < type.fields.size(); ++i) {
      KILN_RETURN_IF_ERROR(ApplyType((*tuple)->fields[i], type.fields[i]));
    }
    return absl::OkStatus();
  }
  if (std::holds_alternative<Closure>(result) && type.kind == TypeSyntax::Kind::kFunction) {
    return absl::OkStatus();
  }
  return Error(type.position, absl::StrCat("found a type that does not fit the value, which is ",
                                           DescribeResult(result)));
}

void Elaborator::SuggestType(const Result& result, const TypeSyntax& type) {
  if (const ValueId* id = std::get_if<ValueId>(&result)) {
    if (type.kind != TypeSyntax::Kind::kTensor || IsTensorWithAnyExtent(type)) return;
    std::optional<TensorType>& known = graph().value(*id).type;
    if (!known) known = type.tensor;
  } else if (const auto* tuple = std::get_if<std::shared_ptr<const Tuple>>(&result)) {
    if (type.fields.size() != (*tuple)->fields.size()) return;
    for (size_t i = 0; i < type.fields.size(); ++i) {
      SuggestType((*tuple)->fields[i], type.fields[i]);
    }
  }
}

absl::Status Elaborator::Flatten(const Result& result, Position position,
                                 std::vector<ValueId>& values) const {
  if (const ValueId* id = std::get_if<ValueId>(&result)) {
    values.push_back(*id);
    return absl::OkStatus();
  }
  const auto* tuple = std::get_if<std::shared_ptr<const Tuple>>(&result);
  if (tuple == nullptr) return Error(position, "found a function, wanted a tensor or a tuple");
  for (const Result& field : (*tuple)->fields) {
    KILN_RETURN_IF_ERROR(Flatten(field, position, values));
  }
  return absl::OkStatus();
}

}  // namespace kiln::relay
