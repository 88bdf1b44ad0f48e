// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>

#include "compiler/base/status.h"
#include "compiler/base/tensor.h"
#include "compiler/frontend/tflite/import.h"
#include "compiler/frontend/tflite/model_file.h"

namespace kiln::tflite_frontend {
namespace {

using Type = tflite_schema::TensorType;

// Returns the bits per element if there are at most 8; 0 for wider types.
int NarrowBits(Type type) {
  if (type == Type::INT8 || type == Type::UINT8) return 8;
  return type == Type::INT4 ? 4 : 0;
}

bool GivesFloats(const Subgraph& subgraph, const OperatorInfo& op) {
  return !op.outputs.empty() &&
         subgraph.tensors[static_cast<size_t>(op.outputs[0])].type == Type::FLOAT32;
}

}  // namespace

absl::StatusOr<frontend::NarrowWeights> ReadNarrowWeights(absl::string_view bytes,
                                                          const std::string& path) {
  KILN_ASSIGN_OR_RETURN(const ModelFile file, ModelFile::Parse(bytes, path));
  frontend::NarrowWeights weights;
  for (const Subgraph& subgraph : file.subgraphs()) {
    std::set<int> seen;
    for (const OperatorInfo& op : subgraph.operators) {
      if (!GivesFloats(subgraph, op)) continue;
      for (const int input : op.inputs) {
        if (input == kAbsent) continue;
        const TensorInfo& info = subgraph.tensors[static_cast<size_t>(input)];
        const int bits = NarrowBits(info.type);
        if (bits == 0 || info.data.empty() || !info.IsQuantized() || !seen.insert(input).second) {
          continue;
        }
        const TensorType type{.shape = info.shape, .dtype = DType::Int(8)};
        if (!CheckTensorType(type).ok()) continue;  // the import reports it
        weights.push_back({.name = info.name, .bits = bits, .elements = type.num_elements()});
      }
    }
  }
  return weights;
}

}  // namespace kiln::tflite_frontend
