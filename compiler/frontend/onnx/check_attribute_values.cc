// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/frontend/onnx/attribute_names.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {
namespace {

using Type = onnx::AttributeProto::AttributeType;

// Returns the types whose fields have a value. A writer may omit a zero number and an empty list.
std::vector<Type> ValuesOf(const onnx::AttributeProto& attr) {
  const std::pair<bool, Type> fields[] = {
      {attr.has_f(), onnx::AttributeProto::FLOAT},
      {attr.has_i(), onnx::AttributeProto::INT},
      {attr.has_s(), onnx::AttributeProto::STRING},
      {attr.has_t(), onnx::AttributeProto::TENSOR},
      {attr.has_g(), onnx::AttributeProto::GRAPH},
      {attr.has_sparse_tensor(), onnx::AttributeProto::SPARSE_TENSOR},
      {attr.has_tp(), onnx::AttributeProto::TYPE_PROTO},
      {attr.floats_size() > 0, onnx::AttributeProto::FLOATS},
      {attr.ints_size() > 0, onnx::AttributeProto::INTS},
      {attr.strings_size() > 0, onnx::AttributeProto::STRINGS},
      {attr.tensors_size() > 0, onnx::AttributeProto::TENSORS},
      {attr.graphs_size() > 0, onnx::AttributeProto::GRAPHS},
      {attr.sparse_tensors_size() > 0, onnx::AttributeProto::SPARSE_TENSORS},
      {attr.type_protos_size() > 0, onnx::AttributeProto::TYPE_PROTOS},
  };
  std::vector<Type> types;
  for (const auto& [has_value, type] : fields) {
    if (has_value) types.push_back(type);
  }
  return types;
}

std::string TypeNames(const std::vector<Type>& types) {
  return absl::StrJoin(types, " and ", [](std::string* out, Type type) {
    absl::StrAppend(out, onnx::AttributeProto::AttributeType_Name(type));
  });
}

// Files of the first ONNX version do not declare the type.
absl::Status CheckValue(const onnx::AttributeProto& attr, const std::string& what) {
  const std::vector<Type> types = ValuesOf(attr);
  if (types.empty() || (types.size() == 1 && attr.type() == onnx::AttributeProto::UNDEFINED)) {
    return absl::OkStatus();
  }
  if (types.size() == 1 && types[0] == attr.type()) return absl::OkStatus();
  return Wrong(what, absl::StrCat("values of the types ", TypeNames(types)),
               attr.type() == onnx::AttributeProto::UNDEFINED
                   ? "one value"
                   : absl::StrCat("one of the type ", TypeNames({attr.type()}), " that it states"));
}

}  // namespace

absl::Status CheckAttributeValues(const onnx::NodeProto& node) {
  std::set<absl::string_view> names;
  for (const onnx::AttributeProto& attr : node.attribute()) {
    const std::string what = absl::StrCat("attribute '", attr.name().substr(0, 64), "'");
    if (!names.insert(attr.name()).second) {
      return Wrong(what, "it twice", "it once: ONNX does not permit two of one name in a node");
    }
    absl::Status value = CheckValue(attr, what);
    if (!value.ok()) return value;
  }
  return absl::OkStatus();
}

}  // namespace kiln::onnx_frontend
