// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/tflite/model_file.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/limits.h"
#include "compiler/base/nearest.h"
#include "compiler/base/status.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;

constexpr uint32_t kVersion = 3;
constexpr size_t kAlignment = 8;  // alignment of the widest scalar

struct DTypeRow {
  schema::TensorType type;
  DType dtype;
};
constexpr DTypeRow kDTypes[] = {
    {schema::TensorType::FLOAT32, DType::Float(32)},
    {schema::TensorType::FLOAT16, DType::Float(16)},
    {schema::TensorType::INT32, DType::Int(32)},
    {schema::TensorType::UINT8, DType::UInt(8)},
    {schema::TensorType::INT64, DType::Int(64)},
    {schema::TensorType::BOOL, DType::Bool()},
    {schema::TensorType::INT16, DType::Int(16)},
    {schema::TensorType::INT8, DType::Int(8)},
    {schema::TensorType::FLOAT64, DType::Float(64)},
    {schema::TensorType::UINT64, DType::UInt(64)},
    {schema::TensorType::UINT32, DType::UInt(32)},
    {schema::TensorType::UINT16, DType::UInt(16)},
};

std::string TypeName(schema::TensorType type) {
  const absl::string_view name = schema::EnumNameTensorType(type);
  return name.empty() ? absl::StrCat("number ", static_cast<int>(type)) : std::string(name);
}

// Returns the elements of a vector, or none if it is absent.
template <typename To, typename Vector>
std::vector<To> Elements(const Vector* vector) {
  if (vector == nullptr) return {};
  return {vector->begin(), vector->end()};
}

absl::StatusOr<std::string> Text(const flatbuffers::String* text, absl::string_view what) {
  if (text == nullptr) return std::string();
  if (text->size() <= kMaxNameBytes) return text->str();
  return absl::InvalidArgumentError(
      absl::StrCat(what, ": found ", text->size(), " bytes, wanted at most ", kMaxNameBytes));
}

// Checks that every index is a tensor of the subgraph, or kAbsent if `optional`.
absl::Status CheckIndices(const std::vector<int>& indices, size_t tensors, bool optional,
                          absl::string_view what) {
  for (int index : indices) {
    if (optional && index == kAbsent) continue;
    if (index < 0 || static_cast<size_t>(index) >= tensors) {
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": found tensor ", index, ", there are ", tensors, " tensors"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<DType> TensorInfo::ToDType() const {
  for (const DTypeRow& row : kDTypes) {
    if (row.type == type) return row.dtype;
  }
  return absl::UnimplementedError(absl::StrCat("tensor '", name, "' holds ", TypeName(type)));
}

absl::StatusOr<TensorType> TensorInfo::ToTensorType() const {
  KILN_ASSIGN_OR_RETURN(const DType dtype, ToDType());
  TensorType result{shape, dtype};
  KILN_RETURN_IF_ERROR(Annotate(CheckTensorType(result), absl::StrCat("tensor '", name, "': ")));
  return result;
}

absl::StatusOr<std::optional<Quantization>> TensorInfo::ToQuantization() const {
  KILN_ASSIGN_OR_RETURN(const TensorType tensor_type, ToTensorType());
  absl::StatusOr<std::optional<Quantization>> result = ReadQuantization(quantization, tensor_type);
  if (!result.ok()) return Annotate(result.status(), absl::StrCat("tensor '", name, "': "));
  return result;
}

bool TensorInfo::IsQuantized() const {
  if (quantization == nullptr) return false;
  const absl::StatusOr<DType> dtype = ToDType();
  if (!dtype.ok() || !dtype->is_integral()) return false;
  return quantization->details_type() != 0 ||
         (quantization->scale() != nullptr && quantization->scale()->size() > 0);
}

std::string TensorInfo::TypeText() const {
  const absl::StatusOr<DType> dtype = ToDType();
  if (dtype.ok()) return TensorType{shape, *dtype}.ToString();
  return absl::StrCat("Tensor[", ShapeToString(shape), ", ", TypeName(type), "]");
}

absl::Status ModelFile::ReadTensor(const schema::Tensor& from, TensorInfo& to) const {
  KILN_ASSIGN_OR_RETURN(to.name, Text(from.name(), "the name of a tensor"));
  const std::string where = absl::StrCat("tensor '", to.name, "': ");
  to.type = from.type();
  to.shape = Elements<int64_t>(from.shape());
  to.signature = Elements<int64_t>(from.shape_signature());
  if (to.shape.size() > static_cast<size_t>(kMaxRank)) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, "found rank ", to.shape.size(), ", wanted at most ", kMaxRank));
  }
  for (const std::vector<int64_t>* extents : {&to.shape, &to.signature}) {
    for (const int64_t extent : *extents) {
      if (extent >= -1) continue;
      return absl::InvalidArgumentError(absl::StrCat(where, "shape: found the extent ", extent,
                                                     ", wanted -1, if it is open, or more"));
    }
  }
  to.is_variable = from.is_variable();
  to.quantization = from.quantization();
  to.sparsity = from.sparsity();
  const size_t buffers = model_->buffers() == nullptr ? 0 : model_->buffers()->size();
  if (from.buffer() == 0) return absl::OkStatus();
  if (from.buffer() >= buffers) {
    return absl::InvalidArgumentError(
        absl::StrCat(where, "found buffer ", from.buffer(), ", there are ", buffers, " buffers"));
  }
  const schema::Buffer& buffer = *model_->buffers()->Get(from.buffer());
  if (buffer.offset() > 1) {  // after the FlatBuffer, in files of more than 2 GB
    if (buffer.offset() > bytes_.size() || buffer.size() > bytes_.size() - buffer.offset()) {
      return absl::InvalidArgumentError(absl::StrCat(where, "its data lie beyond the file"));
    }
    to.data = bytes_.substr(buffer.offset(), buffer.size());
  } else if (buffer.data() != nullptr) {
    to.data = {reinterpret_cast<const char*>(buffer.data()->data()), buffer.data()->size()};
  }
  return absl::OkStatus();
}

absl::Status ModelFile::ReadOperator(const schema::Operator& from, size_t index,
                                     const std::vector<TensorInfo>& tensors,
                                     OperatorInfo& to) const {
  to.raw = &from;
  const size_t codes = model_->operator_codes() == nullptr ? 0 : model_->operator_codes()->size();
  if (from.opcode_index() >= codes) {
    return absl::InvalidArgumentError(absl::StrCat(
        "operator ", index, ": found code ", from.opcode_index(), ", there are ", codes, " codes"));
  }
  const schema::OperatorCode& code = *model_->operator_codes()->Get(from.opcode_index());
  to.code = static_cast<schema::BuiltinOperator>(std::max(
      static_cast<int>(code.deprecated_builtin_code()), static_cast<int>(code.builtin_code())));
  to.code_name = schema::EnumNameBuiltinOperator(to.code);
  if (to.code_name.empty()) to.code_name = absl::StrCat("number ", static_cast<int>(to.code));
  if (to.code == schema::BuiltinOperator::CUSTOM) {
    KILN_ASSIGN_OR_RETURN(to.custom_name,
                          Text(code.custom_code(), "the name of a custom operator"));
    to.code_name = absl::StrCat("CUSTOM ", to.custom_name);
  }
  to.inputs = Elements<int>(from.inputs());
  to.outputs = Elements<int>(from.outputs());
  const std::string where = absl::StrCat("operator ", index, " (", to.code_name, "): ");
  KILN_RETURN_IF_ERROR(CheckIndices(to.inputs, tensors.size(), true, where + "input"));
  KILN_RETURN_IF_ERROR(CheckIndices(to.outputs, tensors.size(), false, where + "output"));
  if (!to.outputs.empty()) to.name = tensors[static_cast<size_t>(to.outputs[0])].name;
  if (to.name.empty()) to.name = absl::StrCat(to.code_name, "_", index);
  return absl::OkStatus();
}

absl::Status ModelFile::ReadSubgraph(const schema::SubGraph& from, Subgraph& to) const {
  if (from.tensors() != nullptr) {
    to.tensors.resize(from.tensors()->size());
    for (uint32_t i = 0; i < from.tensors()->size(); ++i) {
      KILN_RETURN_IF_ERROR(ReadTensor(*from.tensors()->Get(i), to.tensors[i]));
    }
  }
  to.inputs = Elements<int>(from.inputs());
  to.outputs = Elements<int>(from.outputs());
  KILN_RETURN_IF_ERROR(CheckIndices(to.inputs, to.tensors.size(), false, "inputs of a subgraph"));
  KILN_RETURN_IF_ERROR(CheckIndices(to.outputs, to.tensors.size(), false, "outputs of a subgraph"));
  if (from.operators() != nullptr) {
    to.operators.resize(from.operators()->size());
    for (uint32_t i = 0; i < from.operators()->size(); ++i) {
      KILN_RETURN_IF_ERROR(ReadOperator(*from.operators()->Get(i), i, to.tensors, to.operators[i]));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<ModelFile> ModelFile::Parse(absl::string_view bytes, const std::string& path) {
  const auto not_a_model = [&] {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": found no whole TFLite model; the file may be cut off or damaged"));
  };
  if (bytes.size() < 16 || bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE) return not_a_model();
  ModelFile file;
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment != 0) {
    file.copy_ = std::make_shared<const std::string>(bytes);
    bytes = *file.copy_;
  }
  file.bytes_ = bytes;
  flatbuffers::Verifier::Options options;
  options.max_depth = 16;
  options.max_tables = 4 * kMaxGraphNodes;
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(),
                                 options);
  if (!schema::VerifyModelBuffer(verifier)) return not_a_model();
  file.model_ = schema::GetModel(bytes.data());
  if (file.model_->version() != kVersion) {
    return absl::UnimplementedError(absl::StrCat(path, ": version of the schema: found ",
                                                 file.model_->version(), ", wanted ", kVersion));
  }
  const auto* subgraphs = file.model_->subgraphs();
  if (subgraphs == nullptr || subgraphs->size() == 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": the model has no subgraph"));
  }
  int64_t operators = 0;
  for (const schema::SubGraph* subgraph : *subgraphs) {
    absl::Status status = file.ReadSubgraph(*subgraph, file.subgraphs_.emplace_back());
    if (!status.ok()) return Annotate(status, path + ": ");
    operators += static_cast<int64_t>(file.subgraphs_.back().operators.size());
    if (operators > kMaxGraphNodes) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": more than ", kMaxGraphNodes, " operators"));
    }
  }
  return file;
}

absl::Status ModelFile::EndAt(const std::vector<std::string>& names) {
  Subgraph& main = subgraphs_[0];
  std::vector<int> outputs;
  for (const std::string& name : names) {
    const auto found = std::find_if(main.tensors.begin(), main.tensors.end(),
                                    [&](const TensorInfo& info) { return info.name == name; });
    if (found == main.tensors.end()) {
      std::vector<std::string> known;
      for (const TensorInfo& info : main.tensors) known.push_back(info.name);
      return absl::InvalidArgumentError(
          absl::StrCat("--outputs: the model has no tensor '", name, "'", Perhaps(name, known)));
    }
    outputs.push_back(static_cast<int>(found - main.tensors.begin()));
  }
  // Visits operators in reverse, as readers come after producers. An operator without results
  // writes a variable and is kept.
  std::set<int> read(outputs.begin(), outputs.end());
  std::vector<OperatorInfo> needed;
  for (auto op = main.operators.rbegin(); op != main.operators.rend(); ++op) {
    const bool is_read = std::any_of(op->outputs.begin(), op->outputs.end(),
                                     [&](int output) { return read.contains(output); });
    if (!is_read && !op->outputs.empty()) continue;
    read.insert(op->inputs.begin(), op->inputs.end());
    needed.push_back(std::move(*op));
  }
  std::reverse(needed.begin(), needed.end());
  main.operators = std::move(needed);
  std::erase_if(main.inputs, [&](int input) { return !read.contains(input); });
  main.outputs = std::move(outputs);
  return absl::OkStatus();
}

}  // namespace kiln::tflite_frontend
