// SPDX-License-Identifier: Apache-2.0
// A dot of a vector of sums, as C can say it by intrinsics.
#ifndef KILN_COMPILER_CODEGEN_C_DOT_VECTOR_H_
#define KILN_COMPILER_CODEGEN_C_DOT_VECTOR_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/loop/expr.h"
#include "compiler/target/instructions.h"

namespace kiln::codegen {

struct DotVector {
  // Neighbouring elements of memory, or one number for all lanes.
  struct Factor {
    const loop::Load* load = nullptr;  // of the dot; null: `number`
    int64_t number = 0;
    DType dtype() const { return load->buffer->dtype; }
    const loop::Expr& offset() const;  // of the first element
  };
  const DotInstruction* row;
  loop::DotShape shape;
  // Whole groups of the instruction's elements; or, where `apart`, one factor for each element of a
  // group, with elements of all lanes.
  std::vector<Factor> a;
  bool apart = false;
  Factor b;  // whole groups, whose elements may have half of the instruction's bits
  int lanes() const { return shape.lanes(); }
  bool of_floats() const { return row->sum.is_float(); }
};

// A load of neighbouring elements, one for each lane of the factor; null if it is another.
const loop::Load* AsNeighbours(const loop::Expr& factor);

// Nothing if there is no spelling.
std::optional<DotVector> AsDotVector(const loop::Dot& dot);

}  // namespace kiln::codegen

#endif  // KILN_COMPILER_CODEGEN_C_DOT_VECTOR_H_
