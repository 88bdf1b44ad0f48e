// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/tflite/model_builder.h"

#include <algorithm>

namespace kiln::tflite_frontend {

namespace schema = tflite_schema;

ModelBuilder::ModelBuilder() {
  model.version = 3;
  model.buffers.push_back(std::make_unique<schema::BufferT>());  // the empty buffer
  AddSubgraph();
}

void ModelBuilder::AddSubgraph() {
  model.subgraphs.push_back(std::make_unique<schema::SubGraphT>());
}

int ModelBuilder::Add(std::string name, Shape shape, Type type) {
  auto tensor = std::make_unique<schema::TensorT>();
  tensor->name = std::move(name);
  tensor->shape = std::move(shape);
  tensor->type = type;
  subgraph().tensors.push_back(std::move(tensor));
  return static_cast<int>(subgraph().tensors.size()) - 1;
}

int ModelBuilder::Input(std::string name, Shape shape, Type type) {
  const int tensor = Add(std::move(name), std::move(shape), type);
  subgraph().inputs.push_back(tensor);
  return tensor;
}

void ModelBuilder::SetData(int i, std::vector<uint8_t> bytes) {
  auto buffer = std::make_unique<schema::BufferT>();
  buffer->data = std::move(bytes);
  tensor(i).buffer = static_cast<uint32_t>(model.buffers.size());
  model.buffers.push_back(std::move(buffer));
}

void ModelBuilder::Quantize(int i, std::vector<float> scales, std::vector<int64_t> zero_points,
                            int axis) {
  auto quantization = std::make_unique<schema::QuantizationParametersT>();
  quantization->scale = std::move(scales);
  quantization->zero_point = std::move(zero_points);
  quantization->quantized_dimension = axis;
  tensor(i).quantization = std::move(quantization);
}

schema::OperatorT& ModelBuilder::AddOperator(schema::BuiltinOperator code, std::vector<int> inputs,
                                             std::vector<int> outputs) {
  auto op_code = std::make_unique<schema::OperatorCodeT>();
  op_code->builtin_code = code;
  op_code->deprecated_builtin_code = static_cast<int8_t>(std::min(static_cast<int>(code), 127));
  auto op = std::make_unique<schema::OperatorT>();
  op->opcode_index = static_cast<uint32_t>(model.operator_codes.size());
  op->inputs = std::move(inputs);
  op->outputs = std::move(outputs);
  model.operator_codes.push_back(std::move(op_code));
  subgraph().operators.push_back(std::move(op));
  return *subgraph().operators.back();
}

int ModelBuilder::Op(schema::BuiltinOperator code, std::vector<int> inputs, std::string name,
                     Shape shape, Type type) {
  const int y = Add(std::move(name), std::move(shape), type);
  AddOperator(code, std::move(inputs), {y});
  return y;
}

std::string ModelBuilder::Bytes() const {
  flatbuffers::FlatBufferBuilder builder;
  schema::FinishModelBuffer(builder, schema::Model::Pack(builder, &model));
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

}  // namespace kiln::tflite_frontend
