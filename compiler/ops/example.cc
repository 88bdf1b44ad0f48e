// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/example.h"

#include <string>

namespace kiln {

Tensor Values(TensorType type, const std::vector<double>& elements) {
  std::string bytes;
  for (double element : elements) bytes += Tensor::Scalar(type.dtype, element).bytes();
  return Tensor(std::move(type), std::move(bytes));
}

Tensor Iota(TensorType type) {
  std::vector<double> elements;
  for (int64_t i = 0; i < type.num_elements(); ++i) elements.push_back(static_cast<double>(i));
  return Values(std::move(type), elements);
}

OpExample Case(std::vector<Tensor> inputs, Attrs attrs, std::vector<Tensor> expected,
               double tolerance) {
  OpExample example{.attrs = std::move(attrs), .tolerance = tolerance};
  for (const Tensor& input : inputs) example.inputs.push_back(input.type());
  example.values = std::move(inputs);
  example.expected = std::move(expected);
  return example;
}

}  // namespace kiln
