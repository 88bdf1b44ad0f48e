// SPDX-License-Identifier: Apache-2.0
// ModelBuilder: builds small TFLite files for tests.
//
//   ModelBuilder b;
//   const int x = b.Input("x", {1, 4});
//   const int y = b.Op(BuiltinOperator::RELU, {x}, "y", {1, 4});
//   b.Output(y);
//   ImportTflite(b.Bytes(), …);
#ifndef KILN_COMPILER_FRONTEND_TFLITE_MODEL_BUILDER_H_
#define KILN_COMPILER_FRONTEND_TFLITE_MODEL_BUILDER_H_

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compiler/frontend/tflite/schema_generated.h"

namespace kiln::tflite_frontend {

class ModelBuilder {
 public:
  using Type = tflite_schema::TensorType;
  using Shape = std::vector<int32_t>;

  ModelBuilder();

  // Adds a tensor to the last subgraph and returns its number.
  int Add(std::string name, Shape shape, Type type = Type::FLOAT32);
  int Input(std::string name, Shape shape, Type type = Type::FLOAT32);
  void Output(int tensor) { subgraph().outputs.push_back(tensor); }
  template <typename T>
  int Constant(Shape shape, Type type, const std::vector<T>& values) {
    const int tensor = Add("c" + std::to_string(model.buffers.size()), std::move(shape), type);
    const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
    SetData(tensor, {bytes, bytes + values.size() * sizeof(T)});
    return tensor;
  }
  int Floats(Shape shape, const std::vector<float>& values) {
    return Constant(std::move(shape), Type::FLOAT32, values);
  }
  // Adds a constant vector.
  int Ints(const std::vector<int32_t>& values) {
    return Constant({static_cast<int32_t>(values.size())}, Type::INT32, values);
  }
  void SetData(int tensor, std::vector<uint8_t> bytes);
  void Quantize(int tensor, std::vector<float> scales, std::vector<int64_t> zero_points,
                int axis = 0);

  // Adds an operator to the last subgraph.
  tflite_schema::OperatorT& AddOperator(tflite_schema::BuiltinOperator code,
                                        std::vector<int> inputs, std::vector<int> outputs);
  template <typename Options>
  void AddOperator(tflite_schema::BuiltinOperator code, std::vector<int> inputs,
                   std::vector<int> outputs, Options options) {
    AddOperator(code, std::move(inputs), std::move(outputs))
        .builtin_options.Set(std::move(options));
  }
  // Adds an operator whose output is a new tensor, and returns the tensor.
  int Op(tflite_schema::BuiltinOperator code, std::vector<int> inputs, std::string name,
         Shape shape, Type type = Type::FLOAT32);
  template <typename Options>
  int Op(tflite_schema::BuiltinOperator code, std::vector<int> inputs, std::string name,
         Shape shape, Options options, Type type = Type::FLOAT32) {
    const int y = Add(std::move(name), std::move(shape), type);
    AddOperator(code, std::move(inputs), {y}, std::move(options));
    return y;
  }

  // Begins another subgraph.
  void AddSubgraph();
  tflite_schema::SubGraphT& subgraph() { return *model.subgraphs.back(); }
  tflite_schema::TensorT& tensor(int i) { return *subgraph().tensors[static_cast<size_t>(i)]; }

  std::string Bytes() const;

  tflite_schema::ModelT model;
};

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_MODEL_BUILDER_H_
