// SPDX-License-Identifier: Apache-2.0
// StageBuilder: what an operator's `lower` writes its stages with.
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
// Whether a stage is stored or computed where it is read is the schedule's choice. An access
// function must be given indices that are in bounds, also where its value is then dropped by a
// select: loop/expr.h.
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
  // `inputs` are the buffers to read, `outputs` those to define; shapes as the types. Names of new
  // buffers begin with `name`.
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
  // The value of input k where it is a constant, else null.
  const Tensor* constant(int k) const { return constants_[static_cast<size_t>(k)]; }
  // Whether input k is a constant of integers, all of them from `least` to `largest`.
  bool IsWithin(int k, int64_t least, int64_t largest) const;

  // The value of input k, a literal where it is a constant of one element; float16 comes as
  // float32.
  Access Input(int k) const;

  // A stage with a value at every index of `shape`, of the dtype of the value.
  Access Compute(std::string name, Shape shape, const std::function<Expr(const Indices&)>& value);
  // A stage that combines `term(i, r)` over all r in `extents`; the accumulator has the term's
  // dtype. Reducing over no elements (an extent of 0) gives the neutral element.
  Access Reduce(std::string name, Shape shape, Shape extents, loop::Combine combine,
                const std::function<Expr(const Indices& i, const Indices& r)>& term);
  // Like Reduce, with axes that are not the buffer's dimensions: the space runs over `axes`, and
  // its value is stored at `index(axes)` of a buffer of `shape`, a bijection.
  Access ReduceInto(std::string name, Shape shape, Shape axes,
                    const std::function<Indices(const Indices&)>& index, Shape extents,
                    loop::Combine combine,
                    const std::function<Expr(const Indices& i, const Indices& r)>& term);
  // Defines output k. The value is cast to the output's dtype where it is computed in another
  // (float16).
  void Output(int k, const std::function<Expr(const Indices&)>& value);

  // Changes output k, which has been defined: for one point of `axes` after the other, in row-major
  // order, the element at `index(point)` becomes `value(point, that element)`. Indices may depend
  // on data; the operator's fusion is kOpaque.
  void Update(int k, Shape axes, const std::function<Indices(const Indices&)>& index,
              const std::function<Expr(const Indices&, const Expr& old)>& value);

  // Looks at output k, which has been defined, at `index(point)` for one point of `axes` after the
  // other; the function fails at the first where `check(element)` says so. As for Update, the
  // operator's fusion is kOpaque.
  void Check(int k, Shape axes, const std::function<Indices(const Indices&)>& index,
             const std::function<loop::Stage::Check(const Expr& element)>& check);

  // A stage that begins as `first` at every index of `shape`, in the dtype of that; then, for one
  // point of `axes` after the other, in row-major order, the element at `index(point)` becomes
  // `next(point, so_far)`, where `so_far` reads the elements as they are by then. As for Update,
  // the operator's fusion is kOpaque.
  Access Recurrence(std::string name, Shape shape, const std::function<Expr(const Indices&)>& first,
                    Shape axes, const std::function<Indices(const Indices&)>& index,
                    const std::function<Expr(const Indices&, const Access& so_far)>& next);
  // The sums of all elements up to each along `axis`, or products; linear in its extent.
  Access Running(std::string name, Shape shape, size_t axis, loop::Combine combine,
                 const std::function<Expr(const Indices&)>& term);

  // Places in order: of all places p in 0 … count-1, in ascending order of `key(i, p)`, the one at
  // index i[axis] of `shape`, as int32. Keys are int32 or int64 and do not depend on i[axis]; places
  // with the same key stay in order. There are no more ranks than places: shape[axis] <= count. As for
  // Update, the operator's fusion is kOpaque.
  Access Ranks(std::string name, Shape shape, size_t axis, int64_t count,
               const std::function<Expr(const Indices& i, const Expr& place)>& key);

  // Reads a table that is part of the operator's code; a literal where it has one element.
  Access Table(std::string name, Tensor tensor);

  // The stages made so far, and the tables that they read; every output must have been defined.
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
// The neutral element of `combine` in `dtype`: 0, 1, the lowest, the highest value.
Expr Neutral(loop::Combine combine, DType dtype);
// x(index) where `in_bounds`, else `otherwise`; the indices are clamped to `shape`, so that the
// load is in bounds either way.
Expr GuardedValue(const Access& x, const Shape& shape, Indices index, Expr in_bounds,
                  Expr otherwise);
// A constant of dtype int32.
Expr I32Const(int64_t value);
// index clamped to 0 … extent-1.
Expr ClampIndex(Expr index, int64_t extent);
// A negative index counts from the end; beyond the ends it is brought to the nearest.
Expr IndexFromEnds(const Expr& index, int64_t extent);

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_STAGE_BUILDER_H_
