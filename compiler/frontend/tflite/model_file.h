// SPDX-License-Identifier: Apache-2.0
// ModelFile: the contents of a TFLite file. They are checked once, so later code never meets an
// absent vector or an index out of range.
//
//   KILN_ASSIGN_OR_RETURN(const ModelFile file, ModelFile::Parse(bytes, "model.tflite"));
//   for (const OperatorInfo& op : file.subgraphs()[0].operators) …
#ifndef KILN_COMPILER_FRONTEND_TFLITE_MODEL_FILE_H_
#define KILN_COMPILER_FRONTEND_TFLITE_MODEL_FILE_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/base/tensor.h"
#include "compiler/frontend/tflite/quantization.h"
#include "compiler/frontend/tflite/schema_generated.h"

namespace kiln::tflite_frontend {

// Index of an absent optional operand.
inline constexpr int kAbsent = -1;

struct TensorInfo {
  std::string name;  // may be empty
  tflite_schema::TensorType type = tflite_schema::TensorType::FLOAT32;
  std::vector<int64_t> shape;      // may have extents that TensorType does not allow
  std::vector<int64_t> signature;  // -1 if the extent is dynamic; empty: equals shape
  bool is_variable = false;
  absl::string_view data;  // data of a constant; empty if there is none
  const tflite_schema::QuantizationParameters* quantization = nullptr;
  const tflite_schema::SparsityParameters* sparsity = nullptr;

  // Unimplemented for element types that Kiln lacks. InvalidArgument for a shape out of range.
  absl::StatusOr<TensorType> ToTensorType() const;
  absl::StatusOr<DType> ToDType() const;
  absl::StatusOr<std::optional<Quantization>> ToQuantization() const;
  bool is_complex() const { return type == tflite_schema::TensorType::COMPLEX64; }
  // True if the file declares scales, even if they are invalid.
  bool IsQuantized() const;
  // Returns "Tensor[(1, 8), float32]". A type that Kiln lacks has its name in the file.
  std::string TypeText() const;
};

struct OperatorInfo {
  tflite_schema::BuiltinOperator code = tflite_schema::BuiltinOperator::ADD;
  std::string code_name;             // "CONV_2D", "CUSTOM Mfcc", "number 190"
  std::string custom_name;           // "Mfcc"; empty for a built-in operator
  std::string name;                  // name of the first output, or "CONV_2D_7"
  std::vector<int> inputs, outputs;  // tensors of the subgraph; inputs may be kAbsent
  const tflite_schema::Operator* raw = nullptr;
};

struct Subgraph {
  std::vector<TensorInfo> tensors;
  std::vector<int> inputs, outputs;
  std::vector<OperatorInfo> operators;
};

class ModelFile {
 public:
  // `bytes` are untrusted. The result points into them, or into its own copy. Errors begin with
  // `path`.
  static absl::StatusOr<ModelFile> Parse(absl::string_view bytes, const std::string& path);

  // Makes the tensors of these names the outputs of the main subgraph, in this order, and removes
  // the operators that they do not need. InvalidArgument with the nearest names if a name does not
  // exist.
  absl::Status EndAt(const std::vector<std::string>& names);

  const std::vector<Subgraph>& subgraphs() const { return subgraphs_; }
  // Returns the description and the metadata of the file unchanged.
  std::vector<std::pair<std::string, std::string>> properties() const;
  size_t num_bytes() const { return bytes_.size(); }

 private:
  ModelFile() = default;
  absl::Status ReadSubgraph(const tflite_schema::SubGraph& from, Subgraph& to) const;
  absl::Status ReadTensor(const tflite_schema::Tensor& from, TensorInfo& to) const;
  absl::Status ReadOperator(const tflite_schema::Operator& from, size_t index,
                            const std::vector<TensorInfo>& tensors, OperatorInfo& to) const;

  std::shared_ptr<const std::string> copy_;  // null if the bytes are already aligned
  absl::string_view bytes_;
  const tflite_schema::Model* model_ = nullptr;
  std::vector<Subgraph> subgraphs_;
};

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_MODEL_FILE_H_
