// SPDX-License-Identifier: Apache-2.0
// For tests of dot products: machines that have an instruction, and constants for it.
#ifndef KILN_COMPILER_SCHEDULE_TESTING_DOT_MACHINES_H_
#define KILN_COMPILER_SCHEDULE_TESTING_DOT_MACHINES_H_

#include <string>
#include <vector>

#include "compiler/schedule/testing/run_kernel.h"

namespace kiln::schedule {

// A machine with vectors of `vector_bits` and LLVM's `features`: "+avx2,+avxvnni".
Target WithFeatures(int vector_bits, std::string triple, std::string features);
// AVX-512 with VNNI.
Target DotTarget();
// A Cortex-M4, which has no vectors and little memory for copied rows.
Target DspTarget();

// A machine whose best instruction for bytes of either sign is `row`.
struct DotMachine {
  std::string row;
  Target target;
};
std::vector<DotMachine> DotMachines();

// Returns a constant "w" of integers from `least` to `most`, in an irregular order. Both limits
// occur.
loop::Constant Numbers(DType dtype, const Shape& shape, int64_t least, int64_t most);

struct Weights {
  DType dtype;
  int64_t least, most;
};
// int8, uint8, int8 values in int16, and int16 values in a range of at most 256 around another
// center.
inline const Weights kWeights[] = {
    {kI8, -128, 127}, {kU8, 0, 255}, {kI16, -128, 127}, {kI16, -148, 107}, {kI16, 3, 200}};

// Returns the product of two small integers as int32.
Expr Product(const Expr& x, const Expr& y);

// Returns a stage that pads data of [height, width, channels] with 7s, `pad` places on each side,
// into `padded`.
loop::Stage Pad(const Buffer& data, const Buffer& padded, int64_t pad);

}  // namespace kiln::schedule

#endif  // KILN_COMPILER_SCHEDULE_TESTING_DOT_MACHINES_H_
