// SPDX-License-Identifier: Apache-2.0
// OpDef: all that Kiln knows of an operator, said once, in compiler/ops/<name>.cc. The build makes
// the list of operators from the files of this folder; parsing, printing, type check, passes, code,
// docs/ops.md and the tests of every engine come from it.
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
// Operators of one shape (exp, sin, …) are rows of one table, registered by KILN_REGISTER_OPS.
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

// What type inference sees. `constants[k]` is the value of input k where it is a constant, else
// null.
struct InferContext {
  const Attrs& attrs;
  const std::vector<TensorType>& inputs;
  std::vector<const Tensor*> constants;
};

using InferResult = absl::StatusOr<std::vector<TensorType>>;

// One case for documentation and tests. Inputs without given values are filled from a fixed seed.
// An input whose value is given counts as a constant in inference.
struct OpExample {
  std::vector<TensorType> inputs = {};
  Attrs attrs = {};
  std::vector<Tensor> values = {};  // empty, or one per input (an empty Tensor: from the seed)
  std::vector<Tensor> expected =
      {};                // empty, or one per output: what must come out, within `tolerance`
  double tolerance = 0;  // absolute and relative
  double input_min = -2,
         input_max = 2;  // range of the random floats (integers: rounded from range * 4)
};

// The least and the largest index that is a place.
struct IndexBounds {
  int64_t least, largest;
};

// An input whose values say where in other inputs the operator reads or writes.
struct IndexInput {
  int input;
  // For all elements, or one for each part along the first dimension. What lies outside is taken
  // for the nearest place by `lower`.
  std::vector<IndexBounds> bounds;
};

struct OpDef : OpSchema {
  // What inputs and attributes must satisfy. `infer` cites constraints[n-1] as "constraint n".
  std::vector<std::string> constraints;
  OpTraits traits;
  // Types of the outputs, for any normalized attributes and any input types, as many as the schema
  // says. InvalidArgument: "constraint 2: found …, wanted …"; the caller puts node and operator
  // before it.
  InferResult (*infer)(const InferContext&) = nullptr;
  // Says every output's value at every index. Types have been inferred, so what `infer` checks may
  // be relied on.
  absl::Status (*lower)(StageBuilder&) = nullptr;
  std::vector<OpExample> examples;
  // Null: no input is an index, or all values of those that are have a meaning. Types have been
  // inferred. Nothing if it is so for these attributes and types.
  std::optional<IndexInput> (*index_input)(const InferContext&) = nullptr;
};

// Null if there is none.
const OpDef* FindOp(absl::string_view name);
// For the graph package: FindOp as an OpLookup.
const OpSchema* FindOpSchema(absl::string_view name);
// All operators, ordered by name.
std::vector<const OpDef*> AllOps();
// docs/ops.md: every operator with its inputs, the dtypes that they may have, attributes and
// constraints.
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
