// SPDX-License-Identifier: Apache-2.0
// Instructions that multiply integers, or floats of 16 bits, and add several products at once, as rows
// of data.
//
//   for (const DotInstruction* row : DotInstructionsOf(target, sum)) …  // the fastest first
//
// A row is all that is said of an instruction: schedules choose one by its types and its shape, the
// loop IR names it (loop::Dot), the code generators print its spelling, and tests are generated for
// every row. A row changes no bit of a result: where a code generator cannot spell it, the same sum
// is computed by plain arithmetic.
//
// Adding an instruction: a row in instructions/<architecture>.cc.
#ifndef KILN_COMPILER_TARGET_INSTRUCTIONS_H_
#define KILN_COMPILER_TARGET_INSTRUCTIONS_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "compiler/base/dtype.h"
#include "compiler/target/target.h"

namespace kiln {

// How the lanes of an instruction's sums lie in a contraction of rows by columns.
enum class DotGeometry {
  kColumns,    // one column to each lane; the group of one row meets the groups of all of them
  kReduction,  // one sum, of one row and one column; the lanes of the factors run along the sum
  kOuter,      // two rows by two columns, row by row; the groups of both rows meet both columns
  kMatrix,     // kMatrixSide rows by as many columns, in a register that holds a matrix
};

// Rows and columns of a register of sums, and the bytes of a row of any such register.
inline constexpr int kMatrixSide = 16, kMatrixRowBytes = 64;

// All eight are whole ones, as these bytes say, which LDTILECFG reads: the first is the palette; those from 16
// on are the bytes of a row of each, two by two, and those from 48 on its rows.
std::array<uint8_t, 64> MatrixShapes();

// How a process asks Linux for these registers, on x86-64: a system call that returns 0 if it may use
// them; and what an error says before what it has returned otherwise.
struct MatrixRequest {
  static constexpr int kCall = 158;       // arch_prctl
  static constexpr int kOption = 0x1023;  // ARCH_REQ_XCOMP_PERM
  static constexpr int kComponent = 18;   // XTILEDATA
  static constexpr absl::string_view kRefusal =
      "the operating system does not let this process use AMX, for which the library was compiled: "
      "arch_prctl(ARCH_REQ_XCOMP_PERM, 18) returned ";
};

// An instruction at one width.
struct DotForm {
  int lanes;                   // of the sum
  absl::string_view features;  // by LLVM's names, all that it needs: "avx512vnni,avx512vl"
  // The new sum in LLVM's intrinsics, whose names are written without "llvm."; empty where the row
  // has loops only. Of matrices the name of the intrinsic alone. Otherwise:
  //   expr := s | a | b       the sum and the factors
  //         | a0 | b1 | …     a word of 32 bits of a factor
  //         | 0               the constant
  //         | ror8(expr)      a word, rotated right by 8 bits
  //         | widen(expr)     with elements of twice as many bits, of the same sign
  //         | expr + expr | intrinsic(expr, …)
  std::string llvm;
  // In C: a preprocessor condition, true where the compiler knows the instruction, and the new sum in
  // intrinsics of `s`, `a` and `b`, vectors of the machine's types; of matrices the name of the
  // intrinsic alone. Empty where C does not spell it.
  absl::string_view guard = {};
  std::string c = {};
};

// How C says an instruction of single sums: in arm_acle.h, arm_mve.h and the like.
struct DotInC {
  absl::string_view guard;   // a preprocessor condition, true where the compiler knows it
  absl::string_view header;  // "arm_acle.h"
  // Empty where the row has loops only. The body of a function of `int32_t sum` and of pointers `a` and `b` to the groups in memory,
  // which need not be aligned: returns the new sum.
  absl::string_view body;
};

// All steps of a tile of rows by columns as one loop in assembly, for machines with so few registers
// that compilers run short of them.
struct DotLoop {
  int rows, columns;
  // Elements of a row that lie side by side: where there are several rows, they alternate.
  int run;
  // Where rows overlap, as the windows of neighboring outputs do: elements from the beginning of one
  // to that of the next. Such a loop has no iterations but for several dots one after the other, and
  // reads rows by whole words, up to three bytes behind the last element. 0: rows are apart.
  int slide = 0;
  int temporaries;
  // Whether rows have to begin at a multiple of a group's bytes, as copied ones do.
  bool copied_rows;
  // One step. `{s0}`, `{s1}`, … are the sums, row by row, `{a}` and `{b}` the addresses of the rows
  // and columns, which a step moves on, `{t0}`, … the temporaries. GNU syntax, a line each. Where rows
  // overlap, `{a+4}` is the offset in bytes of what lies four bytes behind the first row, `{b+2}` that
  // of columns, and neither address moves.
  std::string step;

  // The most that an offset can be: that of an LDRD.
  static constexpr int64_t kMaxOffset = 1020;
  // A step of rows that overlap, with offsets in it: of a dot that lies so many bytes behind the first.
  std::string StepAt(int64_t a_bytes, int64_t b_bytes) const;
};

struct DotInstruction {
  // In the text of the loop IR: "vpdpbusd". It is the mnemonic, with what tells rows of one
  // instruction apart behind a `_`.
  absl::string_view name;
  // The architecture of a triple begins with one of these, separated by commas: "thumb,arm".
  absl::string_view arch;
  DotGeometry geometry;
  int group;   // products that are added to each lane
  DType a, b;  // of rows and of columns, as the instruction reads them
  DType sum = DType::Int(32);
  // Columns are stored in half of b's bits and extended when they are read.
  bool widens_in_steps = false;
  bool swaps = false;  // elements 1 and 2 of every four of b are exchanged (loop::DotKind)
  int column_run = 0;  // elements of a column of b that lie side by side; 0: its group
  // Issue slots at one width, in units of one vector multiply-add; CostOn has a machine's.
  double cost = 1;
  std::vector<DotForm> forms;  // the widest first
  DotInC c = {};
  std::vector<DotLoop> loops = {};  // the one with the most products per instruction first

  // Rows of a contraction that one vector of sums holds.
  int vector_rows() const { return geometry == DotGeometry::kOuter ? 2 : 1; }
  // Columns of such a vector, or of the vectors that what a matrix holds is read as.
  int vector_columns(const DotForm& form) const {
    return geometry == DotGeometry::kMatrix ? kMatrixSide : form.lanes / vector_rows();
  }
  // Whether the row is of the architecture that a triple begins with.
  bool IsOfArch(absl::string_view triple) const;
  // The widest form that the target has; null if it has none.
  const DotForm* FormOf(const Target& target) const;
  // Whether a dot of the loop IR with this name, group and order, and factors of these types, is its.
  bool IsNamed(absl::string_view dot_name, int dot_group, bool dot_swaps, int dot_column_run,
               DType of_a, DType of_b) const;
  // Whether registers that hold matrices hold the sums of a tile, and its rows and columns of a step;
  // `run` elements of a row lie side by side.
  bool HoldsTile(int rows, int columns, int run) const;
  // Whether windows that overlap are computed by it, and no single sums.
  bool has_loops_only() const { return forms[0].llvm.empty(); }
  // Null if there is none of this shape.
  const DotLoop* FindLoop(int rows, int columns, int run, int slide) const;
  double CostOn(const Target& target) const;
  // Of a target that has a form.
  double ProductsPerSlot(const Target& target) const;
};

// All rows.
const std::vector<DotInstruction>& DotInstructions();
// The rows that the target has for sums of this type, in the order of products per issue slot.
std::vector<const DotInstruction*> DotInstructionsOf(const Target& target, DType sum);
// Null if there is no row of this name.
const DotInstruction* FindDotInstruction(absl::string_view name);

}  // namespace kiln

#endif  // KILN_COMPILER_TARGET_INSTRUCTIONS_H_
