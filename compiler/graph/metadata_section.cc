// SPDX-License-Identifier: Apache-2.0
#include "compiler/graph/metadata_section.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/ndarray_bytes.h"
#include "compiler/base/status.h"
#include "nlohmann/json.hpp"

namespace kiln::relay {
namespace {

using nlohmann::json;

constexpr char kConstantKey[] = "relay.Constant";
// The node graph is flat: an object of arrays of objects that contain objects and arrays.
constexpr int kMaxJsonDepth = 8;

absl::Status Malformed(absl::string_view message) {
  return absl::InvalidArgumentError(absl::StrCat("metadata section: ", message));
}

// True if brackets outside of strings nest at most kMaxJsonDepth deep. Run before a JSON tree is
// built, so that a hostile text is refused early.
bool IsShallow(absl::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    in_string = c == '"';
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth > kMaxJsonDepth) return false;
  }
  return true;
}

// Returns the member `key` of an object, or null.
const json* Find(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

// Returns an index into an array of `size` elements. TVM writes it as a number in "data" and
// "root", and as a string in "attrs".
absl::StatusOr<size_t> IndexOf(const json* value, size_t size, absl::string_view what) {
  int64_t index = -1;
  if (value != nullptr && value->is_number_integer()) {
    index = value->is_number_unsigned() && value->get<uint64_t>() > uint64_t{kMaxGraphNodes} * 64
                ? -1
                : value->get<int64_t>();
  } else if (value == nullptr || !value->is_string() ||
             !absl::SimpleAtoi(value->get_ref<const std::string&>(), &index)) {
    return Malformed(absl::StrCat("wanted an index as ", what));
  }
  if (index < 0 || static_cast<uint64_t>(index) >= size) {
    return Malformed(
        absl::StrCat("found index ", index, " as ", what, ", wanted less than ", size));
  }
  return static_cast<size_t>(index);
}

absl::StatusOr<Tensor> DecodeTensor(const json& encoded) {
  std::string bytes;
  if (!encoded.is_string() ||
      !absl::Base64Unescape(encoded.get_ref<const std::string&>(), &bytes)) {
    return Malformed("b64ndarrays: wanted strings in base64");
  }
  absl::string_view rest = bytes;
  absl::StatusOr<Tensor> tensor = TakeNDArray(rest);
  if (!tensor.ok()) return Annotate(tensor.status(), "metadata section: ");
  if (!rest.empty()) return Malformed("b64ndarrays: found bytes behind a tensor");
  return tensor;
}

class Reader {
 public:
  explicit Reader(const json& root) : root_(root) {}

  absl::StatusOr<std::vector<Tensor>> Run() {
    nodes_ = Find(root_, "nodes");
    if (nodes_ == nullptr || !nodes_->is_array()) return Malformed("wanted an array 'nodes'");
    KILN_RETURN_IF_ERROR(ReadTensors());
    KILN_ASSIGN_OR_RETURN(const json* map, NodeAt(Find(root_, "root"), "'root'"));
    KILN_ASSIGN_OR_RETURN(const json* array, ArrayOfConstants(*map));
    std::vector<Tensor> constants;
    if (array == nullptr) return constants;
    const json* data = Find(*array, "data");
    if (data == nullptr) return constants;  // an empty array has no "data"
    if (!data->is_array()) return Malformed("wanted an array as 'data'");
    for (const json& item : *data) {
      KILN_ASSIGN_OR_RETURN(const json* node, NodeAt(&item, "a constant"));
      const json* attrs = Find(*node, "attrs");
      const json* tensor = attrs == nullptr ? nullptr : Find(*attrs, "data");
      KILN_ASSIGN_OR_RETURN(const size_t index,
                            IndexOf(tensor, tensors_.size(), "the data of a constant"));
      constants.push_back(tensors_[index]);
    }
    return constants;
  }

 private:
  absl::Status ReadTensors() {
    const json* encoded = Find(root_, "b64ndarrays");
    if (encoded == nullptr) return absl::OkStatus();
    if (!encoded->is_array()) return Malformed("wanted an array as 'b64ndarrays'");
    for (const json& item : *encoded) {
      KILN_ASSIGN_OR_RETURN(Tensor tensor, DecodeTensor(item));
      tensors_.push_back(std::move(tensor));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<const json*> NodeAt(const json* reference, absl::string_view what) const {
    KILN_ASSIGN_OR_RETURN(const size_t index, IndexOf(reference, nodes_->size(), what));
    return &(*nodes_)[index];
  }

  // Returns the node under the key "relay.Constant" of the map, or null if there is no such key.
  absl::StatusOr<const json*> ArrayOfConstants(const json& map) const {
    const json* keys = Find(map, "keys");
    const json* data = Find(map, "data");
    if (keys == nullptr && data == nullptr) return nullptr;
    if (keys == nullptr || data == nullptr || !keys->is_array() || !data->is_array() ||
        keys->size() != data->size()) {
      return Malformed("wanted as many 'keys' as 'data' in the root");
    }
    for (size_t i = 0; i < keys->size(); ++i) {
      if ((*keys)[i] == kConstantKey) return NodeAt(&(*data)[i], kConstantKey);
    }
    return nullptr;
  }

  const json& root_;
  const json* nodes_ = nullptr;
  std::vector<Tensor> tensors_;
};

}  // namespace

absl::StatusOr<std::vector<Tensor>> ReadMetadata(absl::string_view text) {
  if (!IsShallow(text)) return Malformed("nested too deeply");
  const json root =
      json::parse(text.begin(), text.end(), /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded()) return Malformed("it is not JSON");
  return Reader(root).Run();
}

std::string WriteMetadata(absl::Span<const Tensor> constants) {
  // Nodes 0 to 2 are null, the map, and the array of constants.
  std::string text =
      "{\n  \"root\": 1,\n  \"nodes\": [\n    {\"type_key\": \"\"},\n"
      "    {\"type_key\": \"Map\", \"keys\": [\"relay.Constant\"], \"data\": [2]},\n"
      "    {\"type_key\": \"Array\", \"data\": [";
  for (size_t i = 0; i < constants.size(); ++i) absl::StrAppend(&text, i == 0 ? "" : ", ", i + 3);
  absl::StrAppend(&text, "]}");
  for (size_t i = 0; i < constants.size(); ++i) {
    absl::StrAppend(&text,
                    ",\n    {\"type_key\": \"relay.Constant\", \"attrs\": {\"_checked_type_\": "
                    "\"0\", \"data\": \"",
                    i, "\", \"span\": \"0\", \"virtual_device_\": \"0\"}}");
  }
  absl::StrAppend(&text, "\n  ],\n  \"b64ndarrays\": [");
  for (size_t i = 0; i < constants.size(); ++i) {
    std::string bytes;
    AppendNDArray(constants[i], bytes);
    absl::StrAppend(&text, i == 0 ? "\n    \"" : ",\n    \"", absl::Base64Escape(bytes), "\"");
  }
  absl::StrAppend(&text, "\n  ],\n  \"attrs\": {\"tvm_version\": \"0.9.0\"}\n}\n");
  return text;
}

}  // namespace kiln::relay
