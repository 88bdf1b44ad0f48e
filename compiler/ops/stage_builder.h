// SPDX-License-Identifier: Apache-2.0
// StageBuilder: the interface with which an operator's `lower` defines its stages.
//
// Access functions give the value of a tensor at an index. Compute and Reduce make stages and
// return access functions to them:
//
//   // softmax over the last axis of [rows, n]
//   Access x = b.Input(0);
//   Access max = b.Reduce("max", {rows}, {n}, Combine::kMax,
//                         [=](const Indices& i, const Indices& r) { return x({i[0], r[0]}); });
//   Access e = b.Compute("exp", {rows, n},
//                        [=](const Indices& i) { return Exp(x(i) - max({i[0]})); });
//   Access sum = b.Reduce("sum", {rows}, {n}, Combine::kSum,
//                         [=](const Indices& i, const Indices& r) { return e({i[0], r[0]}); });
//   b.Output(0, [=](const Indices& i) { return e(i) / sum({i[0]}); });
//
// The schedule decides whether a stage is stored or computed at each use. The indices given to an
// access function must be in bounds, even if a select then drops the value: loop/expr.h.
#ifndef KILN_COMPILER_OPS_STAGE_BUILDER_H_
#define KILN_COMPILER_OPS_STAGE_BUILDER_H_

#include <functional>
#include <string>
#include <vector>

#include "compiler/base/tensor.h"
#include "compiler/graph/attrs.h"
#include "compiler/loop/expr.h"
#include "compiler/loop/loop.h"
#include "compiler/loop/stage.h"

namespace kiln {

using loop::Expr;
using Indices = std::vector<loop::Expr>;
using Access = std::function<Expr(const Indices&)>;

class StageBuilder {
 public:
  // `inputs` are the buffers to read, `outputs` the buffers to define; they have the shapes of the
  // types. Names of new buffers begin with `name`. `constants` has the values of constant inputs;
  // null or missing entries are not constant.
  StageBuilder(std::string name, const Attrs& attrs, std::vector<loop::Buffer> inputs,
               std::vector<loop::Buffer> outputs, std::vector<const Tensor*> constants);

  const Attrs& attrs() const { return attrs_; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  int num_outputs() const { return static_cast<int>(outputs_.size()); }
  const Shape& input_shape(int k) const { return inputs_[static_cast<size_t>(k)]->shape; }
  const Shape& output_shape(int k) const { return outputs_[static_cast<size_t>(k)]->shape; }
  // The dtype in memory. Values of float16 tensors are computed as float32: ComputeType.
  DType input_dtype(int k) const { return inputs_[static_cast<size_t>(k)]->dtype; }
  DType output_dtype(int k) const { return outputs_[static_cast<size_t>(k)]->dtype; }
  TensorType input_type(int k) const { return {input_shape(k), input_dtype(k)}; }
  // The value of input k if it is a constant, else null.
  const Tensor* constant(int k) const { return constants_[static_cast<size_t>(k)]; }
  // True if input k is a constant of integers that all lie in `least` … `largest`.
  bool IsWithin(int k, int64_t least, int64_t largest) const;

  // The value of input k; a literal if it is a constant of one element. float16
  // is converted to float32.
  Access Input(int k) const;

  // Makes a stage with `value` at every index of `shape`. The stage has the dtype of the value.
  Access Compute(std::string name, Shape shape, const std::function<Expr(const Indices&)>& value);
  // Makes a stage that combines `term(i, r)` over all r in `extents`. The accumulator has the
  // term's dtype. Reducing over no elements (an extent of 0) gives the neutral element.
  Access Reduce(std::string name, Shape shape, Shape extents, loop::Combine combine,
                const std::function<Expr(const Indices& i, const Indices& r)>& term);
  // Like Reduce, but the stage iterates over `axes`, which differ from the buffer's
  // dimensions. The value at point p of `axes` is stored at `index(p)` of a buffer of
  // `shape`. `index` is a bijection.
  Access ReduceInto(std::string name, Shape shape, Shape axes,
                    const std::function<Indices(const Indices&)>& index, Shape extents,
                    loop::Combine combine,
                    const std::function<Expr(const Indices& i, const Indices& r)>& term);
  // Defines output k. The value is cast to the output's dtype if it is computed
  // in another one (float16).
  void Output(int k, const std::function<Expr(const Indices&)>& value);

  // Changes output k, which must have been defined. For each point of `axes`, in row-major order,
  // the element at `index(point)` becomes `value(point, old)`; `old` is the element before the
  // change. Indices may depend on data. The operator's fusion must be kOpaque.
  void Update(int k, Shape axes, const std::function<Indices(const Indices&)>& index,
              const std::function<Expr(const Indices&, const Expr& old)>& value);

  // Checks elements of output k, which must have been defined: the element at `index(point)` for
  // each point of `axes` in turn. The function fails at the first element that `check(element)`
  // rejects. The operator's fusion must be kOpaque, as for Update.
  void Check(int k, Shape axes, const std::function<Indices(const Indices&)>& index,
             const std::function<loop::Stage::Check(const Expr& element)>& check);

  // Makes a stage that is initialized with `first` at every index of `shape` and has the dtype of
  // `first`. Then, for each point of `axes` in row-major order, the element at `index(point)`
  // becomes `next(point, so_far)`; `so_far` reads the current elements. The operator's fusion must
  // be kOpaque, as for Update.
  Access Recurrence(std::string name, Shape shape, const std::function<Expr(const Indices&)>& first,
                    Shape axes, const std::function<Indices(const Indices&)>& index,
                    const std::function<Expr(const Indices&, const Access& so_far)>& next);
  // Running sums or products: each element combines the terms along `axis` up to its own index,
  // inclusive. The time is linear in the extent.
  Access Running(std::string name, Shape shape, size_t axis, loop::Combine combine,
                 const std::function<Expr(const Indices&)>& term);

  // Argsort of the places 0 … count-1: the element at index i is the place of rank i[axis], as
  // int32, if all places p are sorted by ascending `key(i, p)`. Keys are int32 or int64 and do not
  // depend on i[axis]. Places with equal keys keep their order. shape[axis] must be at most
  // `count`. The operator's fusion must be kOpaque, as for Update.
  Access Ranks(std::string name, Shape shape, size_t axis, int64_t count,
               const std::function<Expr(const Indices& i, const Expr& place)>& key);

  // Adds a table to the operator's code and returns access to it; a table of
  // one element is a literal.
  Access Table(std::string name, Tensor tensor);

  // The stages made so far, and the tables that they read. Every output must have been defined.
  struct Result {
    std::vector<loop::Stage> stages;
    std::vector<loop::Constant> constants;
  };
  Result Finish() &&;

 private:
  std::string name_;
  const Attrs& attrs_;
  std::vector<loop::Buffer> inputs_;
  std::vector<loop::Buffer> outputs_;
  std::vector<const Tensor*> constants_;
  Result result_;
};

// float32 for float16, else the dtype itself.
DType ComputeType(DType dtype);
// The neutral element of `combine` in `dtype`: 0, 1, the lowest or the highest value.
Expr Neutral(loop::Combine combine, DType dtype);
// Returns x(index) if `in_bounds`, else `otherwise`. The indices are clamped to `shape`, so that
// the load is in bounds either way.
Expr GuardedValue(const Access& x, const Shape& shape, Indices index, Expr in_bounds,
                  Expr otherwise);
// A constant of dtype int32.
Expr I32Const(int64_t value);
// `index` clamped to 0 … extent-1.
Expr ClampIndex(Expr index, int64_t extent);
// `index`, counted from the end if it is negative, then clamped to 0 … extent-1.
Expr IndexFromEnds(const Expr& index, int64_t extent);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_STAGE_BUILDER_H_
