// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/common/narrow_weights.h"

#include <map>
#include <set>
#include <string>

#include "compiler/base/tensor.h"
#include "compiler/frontend/onnx/model_file.h"
#include "compiler/frontend/onnx/storage_types.h"
#include "onnx/onnx_pb.h"

namespace kiln::onnx_frontend {
namespace {

// Returns the bits per element if there are at most 8; 0 for wider types.
int NarrowBits(int data_type) {
  if (data_type == onnx::TensorProto::INT8 || data_type == onnx::TensorProto::UINT8) return 8;
  const StorageType* const stored = FindStorageType(data_type);
  return stored != nullptr && stored->bits <= 8 ? stored->bits : 0;
}

}  // namespace

frontend::NarrowWeights ModelFile::narrow_weights() const {
  std::map<std::string, const onnx::TensorProto*> initializers;
  for (const onnx::TensorProto& tensor : model_->graph().initializer()) {
    initializers[tensor.name()] = &tensor;
  }
  frontend::NarrowWeights weights;
  std::set<std::string> seen;
  for (const onnx::NodeProto& node : model_->graph().node()) {
    if (node.op_type() != "DequantizeLinear" || node.input_size() < 2) continue;
    const auto data = initializers.find(node.input(0));
    if (data == initializers.end() || !seen.insert(data->first).second) continue;
    frontend::NarrowWeight weight = {.name = data->first,
                                     .bits = NarrowBits(data->second->data_type())};
    if (weight.bits == 0) continue;
    const Shape shape(data->second->dims().begin(), data->second->dims().end());
    const TensorType type{.shape = shape, .dtype = DType::Int(8)};
    if (!CheckTensorType(type).ok()) continue;  // the import reports it
    weight.elements = type.num_elements();
    const auto scale = initializers.find(node.input(1));
    if (scale != initializers.end() && scale->second->data_type() == onnx::TensorProto::FLOAT16) {
      weight.float_bytes = 2;
    }
    weights.push_back(weight);
  }
  return weights;
}

}  // namespace kiln::onnx_frontend
