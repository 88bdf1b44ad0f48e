// SPDX-License-Identifier: Apache-2.0
// Shorthands for the examples of operators.
//
//   {.inputs = {F32({2})},
//    .values = {Values(F32({2}), {1, -1})},
//    .expected = {Values(F32({2}), {1, 0})}}
#ifndef KILN_COMPILER_OPS_EXAMPLE_H_
#define KILN_COMPILER_OPS_EXAMPLE_H_

#include <utility>
#include <vector>

#include "compiler/base/tensor.h"
#include "compiler/ops/op_def.h"

namespace kiln {

inline TensorType F32(Shape shape) { return {std::move(shape), DType::Float(32)}; }
inline TensorType F16(Shape shape) { return {std::move(shape), DType::Float(16)}; }
inline TensorType I8(Shape shape) { return {std::move(shape), DType::Int(8)}; }
inline TensorType U8(Shape shape) { return {std::move(shape), DType::UInt(8)}; }
inline TensorType U32(Shape shape) { return {std::move(shape), DType::UInt(32)}; }
inline TensorType I16(Shape shape) { return {std::move(shape), DType::Int(16)}; }
inline TensorType I32(Shape shape) { return {std::move(shape), DType::Int(32)}; }
inline TensorType I64(Shape shape) { return {std::move(shape), DType::Int(64)}; }
inline TensorType Bools(Shape shape) { return {std::move(shape), DType::Bool()}; }

// An attribute that is a list of integers, or a list of such lists.
inline AttrValue List(const std::vector<int64_t>& values) { return AttrValue::Ints(values); }
inline AttrValue Lists(const std::vector<std::vector<int64_t>>& lists) {
  std::vector<AttrValue> values;
  for (const std::vector<int64_t>& list : lists) values.push_back(List(list));
  return values;
}

// A tensor with these elements, rounded to its dtype.
Tensor Values(TensorType type, const std::vector<double>& elements);
// A tensor with the elements 0, 1, 2, …
Tensor Iota(TensorType type);

// An example with the values of all inputs and outputs.
OpExample Case(std::vector<Tensor> inputs, Attrs attrs, std::vector<Tensor> expected,
               double tolerance = 0);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_EXAMPLE_H_
