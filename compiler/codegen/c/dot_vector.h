// SPDX-License-Identifier: Apache-2.0
// A dot with a vector of sums that C can express by intrinsics.
#ifndef KILN_COMPILER_CODEGEN_C_DOT_VECTOR_H_
#define KILN_COMPILER_CODEGEN_C_DOT_VECTOR_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/loop/expr.h"
#include "compiler/target/instructions.h"

namespace kiln::codegen {

struct DotVector {
  // Neighboring elements in memory, or one number for all lanes.
  struct Factor {
    const loop::Load* load = nullptr;  // a load of the dot; null: `number`
    int64_t number = 0;
    DType dtype() const { return load->buffer->dtype; }
    const loop::Expr& offset() const;  // offset of the first element
  };
  const DotInstruction* row;
  loop::DotShape shape;
  // One factor with whole groups of the instruction's elements. If `apart`, one factor for each
  // element of a group, with that element of all lanes.
  std::vector<Factor> a;
  bool apart = false;
  Factor b;  // whole groups; their elements may have half of the instruction's bits
  int lanes() const { return shape.lanes(); }
  bool of_floats() const { return row->sum.is_float(); }
};

// Returns the factor if it loads neighboring elements, one per lane, otherwise null.
const loop::Load* AsNeighbours(const loop::Expr& factor);

// Returns nothing if C has no intrinsics for the dot.
std::optional<DotVector> AsDotVector(const loop::Dot& dot);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_DOT_VECTOR_H_
