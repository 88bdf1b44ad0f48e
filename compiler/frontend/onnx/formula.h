// SPDX-License-Identifier: Apache-2.0
// Formula: writes operators as nested calls, like a formula.
//
//   Formula f(c);
//   const ValueId x = f.Input(0);
//   return f.Output(0, f("multiply", {x, f("sigmoid", {x})}));
//
// The first error is kept, and no operators are added after it. Output returns it. Code that reads
// a type must check ok() first.
#ifndef KILN_COMPILER_FRONTEND_ONNX_FORMULA_H_
#define KILN_COMPILER_FRONTEND_ONNX_FORMULA_H_

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/frontend/onnx/converter.h"

namespace kiln::onnx_frontend {

class Formula {
 public:
  explicit Formula(Converter& c) : c_(c) {}

  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

  ValueId Input(int i) { return Take(c_.Input(i)); }
  ValueId operator()(absl::string_view op, std::vector<ValueId> inputs, Attrs attrs = {}) {
    return ok() ? Take(c_.Op(op, std::move(inputs), std::move(attrs))) : kNoId;
  }
  // Returns a scalar with the dtype of `like`.
  ValueId Number(double value, ValueId like) { return ok() ? c_.Scalar(like, value) : kNoId; }
  ValueId Reshape(ValueId value, const Shape& shape) {
    return ok() ? Take(c_.Reshape(value, shape)) : kNoId;
  }
  // Returns `value` itself if it already has the dtype.
  ValueId Cast(ValueId value, DType dtype) { return ok() ? Take(c_.Cast(value, dtype)) : kNoId; }
  ValueId Transpose(ValueId value, const std::vector<int64_t>& axes) {
    return (*this)("transpose", {value}, {{"axes", AttrValue::Ints(axes)}});
  }
  // Reduces axes with sum, mean, max, …. With `keepdims`, they keep the extent 1.
  ValueId Reduce(absl::string_view op, ValueId value, const std::vector<int64_t>& axes,
                 bool keepdims = true) {
    return (*this)(op, {value}, {{"axis", AttrValue::Ints(axes)}, {"keepdims", keepdims}});
  }
  // Returns begin, begin + 1, … up to end - 1, as a vector of int64.
  ValueId Count(int64_t begin, int64_t end) {
    const auto number = [&](int64_t v) {
      return c_.Constant(Tensor::From<int64_t>({}, DType::Int(64), {v}));
    };
    return (*this)("arange", {number(begin), number(end), number(1)}, {{"dtype", "int64"}});
  }
  // Sets output i of the node.
  absl::Status Output(int i, ValueId value) {
    if (ok()) c_.SetOutput(i, value);
    return status_;
  }

 private:
  ValueId Take(absl::StatusOr<ValueId> value) {
    if (value.ok()) return *value;
    if (ok()) status_ = value.status();
    return kNoId;
  }

  Converter& c_;
  absl::Status status_;
};

}  // namespace kiln::onnx_frontend

#endif  // KILN_COMPILER_FRONTEND_ONNX_FORMULA_H_
