// SPDX-License-Identifier: Apache-2.0
// OpDef: everything that Kiln knows of an operator, in one place: compiler/ops/<name>.cc. The build
// collects the operators from the files of this folder. Parsing, printing, type checks, passes,
// code generation, docs/ops.md and the tests of every engine read the OpDef.
//
//   const OpDef kRelu = {
//       {.name = "nn.relu", .doc = "max(x, 0).", .inputs = {{"data", "numbers of any shape"}}},
//       {"data holds numbers"},
//       {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise},
//       InferNumeric,
//       LowerUnary<Relu>,
//       {{.inputs = {F32({4})}}},
//   };
//   KILN_REGISTER_OP(kRelu);
//
// Operators with the same structure (exp, sin, …) are rows of one table,
// registered by KILN_REGISTER_OPS.
#ifndef KILN_COMPILER_OPS_OP_DEF_H_
#define KILN_COMPILER_OPS_OP_DEF_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "compiler/base/tensor.h"
#include "compiler/graph/op_schema.h"
#include "compiler/ops/traits.h"

namespace kiln {

class StageBuilder;  // stage_builder.h

// Input of type inference. `constants[k]` is the value of input k if it is a constant, else null.
struct InferContext {
  const Attrs& attrs;
  const std::vector<TensorType>& inputs;
  std::vector<const Tensor*> constants;
};

using InferResult = absl::StatusOr<std::vector<TensorType>>;

// One case for documentation and tests. Inputs without given values are filled from a fixed seed.
// An input with a given value counts as a constant in inference.
struct OpExample {
  std::vector<TensorType> inputs = {};
  Attrs attrs = {};
  std::vector<Tensor> values = {};  // empty, or one per input (an empty Tensor: from the seed)
  std::vector<Tensor> expected =
      {};                // empty, or one per output: the wanted value, within `tolerance`
  double tolerance = 0;  // absolute and relative
  double input_min = -2,
         input_max = 2;  // range of the random floats (integers: rounded from range * 4)
};

// Smallest and largest valid index, both inclusive.
struct IndexBounds {
  int64_t least, largest;
};

// An input whose values are indices into other inputs, at which the operator reads or writes.
struct IndexInput {
  int input;
  // One entry for all elements, or one per index of the input's first dimension. `lower` clamps an
  // index out of bounds to the nearest valid one.
  std::vector<IndexBounds> bounds;
};

struct OpDef : OpSchema {
  // Requirements on inputs and attributes. `infer` cites constraints[n-1] as "constraint n".
  std::vector<std::string> constraints;
  OpTraits traits;
  // Returns the types of the outputs for any normalized attributes and any input types. Their
  // number is the one that the schema gives. InvalidArgument: "constraint 2: found …, wanted …";
  // the caller prepends node and operator.
  InferResult (*infer)(const InferContext&) = nullptr;
  // Defines the value of every output at every index. Types have been inferred, so everything
  // that `infer` checks holds.
  absl::Status (*lower)(StageBuilder&) = nullptr;
  std::vector<OpExample> examples;
  // Returns the input that holds indices, or nothing if these attributes and types have
  // none to check. Types have been inferred. Null: no input holds indices, or every value
  // of the indices has a meaning.
  std::optional<IndexInput> (*index_input)(const InferContext&) = nullptr;
};

// The operator of this name; null if there is none.
const OpDef* FindOp(absl::string_view name);
// FindOp as an OpLookup, for the graph package.
const OpSchema* FindOpSchema(absl::string_view name);
// All operators, ordered by name.
std::vector<const OpDef*> AllOps();
// The text of docs/ops.md: every operator with its inputs, the dtypes that they may have, its
// attributes and its constraints.
std::string OpsMarkdown();

namespace internal {
struct OpRegistration {
  explicit OpRegistration(absl::Span<const OpDef> ops);
};
}  // namespace internal

#define KILN_REGISTER_OP(op)                                            \
  static const ::kiln::internal::OpRegistration kiln_registration_##op( \
      absl::Span<const ::kiln::OpDef>(&(op), 1))
#define KILN_REGISTER_OPS(array) \
  static const ::kiln::internal::OpRegistration kiln_registration_##array(array)

}  // namespace kiln

#endif  // KILN_COMPILER_OPS_OP_DEF_H_
