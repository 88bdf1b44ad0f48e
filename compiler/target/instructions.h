// SPDX-License-Identifier: Apache-2.0
// Dot product instructions as rows of data. They multiply integers, or floats of 16 bits, and add
// several products at once.
//
//   for (const DotInstruction* row : DotInstructionsOf(target, sum)) …  // the fastest first
//
// A row is the complete description of an instruction. Schedules choose one by types and shape, the
// loop IR names it (loop::Dot), code generators print its spelling, and tests are generated for
// every row. A row changes no bit of a result: if a code generator has no spelling for it, plain
// arithmetic computes the same sum.
//
// To add an instruction, add a row to instructions/<architecture>.cc.
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

// The layout of an instruction's sums in a contraction of rows by columns.
enum class DotGeometry {
  kColumns,    // one column per lane; the group of one row is multiplied with each column's group
  kReduction,  // a single sum of one row and one column; the lanes of the factors lie along it
  kOuter,      // 2 rows x 2 columns in row-major order; each row is multiplied with each column
  kMatrix,     // kMatrixSide rows x kMatrixSide columns, in a matrix register
};

// Rows and columns of a matrix register of sums, and the bytes of a row of any matrix register.
inline constexpr int kMatrixSide = 16, kMatrixRowBytes = 64;

// Operand of LDTILECFG that makes all eight matrix registers full size. Byte 0 is the palette.
// Bytes 16 to 31 are the bytes of a row (two bytes per register), bytes 48 to 55 the number of
// rows.
std::array<uint8_t, 64> MatrixShapes();

// The system call by which a process on x86-64 requests the matrix registers from Linux. It returns
// 0 if the process may use them. kRefusal is the error text that precedes any other result.
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
  int lanes;                   // lanes of the sum
  absl::string_view features;  // LLVM's names of all features it needs: "avx512vnni,avx512vl"
  // The new sum in LLVM's intrinsics, whose names are written without "llvm.". Empty if the row has
  // loops only. For kMatrix, only the name of the intrinsic. Otherwise:
  //   s, a, b: the sum and the factors; 0: the constant.
  //   a0, b1, …: a 32-bit word of a factor.
  //   ror8(expr): a word, rotated right by 8 bits.
  //   widen(expr): elements extended to twice as many bits, with their sign.
  //   expr + expr: an addition.
  //   intrinsic(expr, …): a call.
  std::string llvm;
  // `guard` is a preprocessor condition that is true if the C compiler knows the instruction. `c`
  // is the new sum in intrinsics of the vectors `s`, `a` and `b`, or for kMatrix only the name of
  // the intrinsic. Both are empty if C has no spelling.
  absl::string_view guard = {};
  std::string c = {};
};

// Spelling in C of an instruction with a single sum: from arm_acle.h, arm_mve.h and the like.
struct DotInC {
  absl::string_view guard;   // a preprocessor condition, true if the compiler knows it
  absl::string_view header;  // "arm_acle.h"
  // Body of a function that returns the new sum. Its parameters are `int32_t sum` and pointers `a`
  // and `b` to the groups in memory, which need not be aligned. Empty if the row has loops only.
  absl::string_view body;
};

// A loop in assembly over all steps of a tile of rows by columns. It is for machines with so few
// registers that compilers run short of them.
struct DotLoop {
  int rows, columns;
  // Elements of a row that are adjacent in memory. Several rows alternate in runs of this length.
  int run;
  // Distance in elements between the starts of overlapping rows, such as the windows of neighboring
  // outputs. Such a loop iterates only over several consecutive dots. It reads rows in whole words,
  // up to three bytes past the last element. 0: rows do not overlap.
  int slide = 0;
  int temporaries;
  // True if rows must be aligned to the bytes of a group, as copied rows are.
  bool copied_rows;
  // Assembly of one step in GNU syntax, one instruction per line. `{s0}`, `{s1}`, … are the sums,
  // row by row, and `{t0}`, … the temporaries. `{a}` and `{b}` are the addresses of the rows and
  // columns, which a step advances. If rows overlap, the addresses do not move: `{a+4}` is the
  // offset of the byte that is four bytes after the start of the first row, `{b+2}` the same for
  // columns.
  std::string step;

  // Largest offset that an LDRD encodes.
  static constexpr int64_t kMaxOffset = 1020;
  // Returns `step` with offsets, for overlapping rows. The dot starts `a_bytes` and `b_bytes` after
  // the first one.
  std::string StepAt(int64_t a_bytes, int64_t b_bytes) const;
};

struct DotInstruction {
  // Name in the text of the loop IR: "vpdpbusd". It is the mnemonic, with a suffix after `_` if
  // several rows have the same mnemonic.
  absl::string_view name;
  // Prefixes of the architecture in a triple, separated by commas: "thumb,arm".
  absl::string_view arch;
  DotGeometry geometry;
  int group;   // products added to each lane
  DType a, b;  // elements of rows and of columns as the instruction reads them
  DType sum = DType::Int(32);
  // Columns are stored with half of the bits of b, and extended when they are loaded.
  bool widens_in_steps = false;
  bool swaps = false;  // elements 1 and 2 of every four of b are swapped (loop::DotKind)
  int column_run = 0;  // adjacent elements of one column of b in memory; 0: its group
  // Issue slots, in units of one vector multiply-add of the same width. CostOn adjusts it to a
  // machine.
  double cost = 1;
  std::vector<DotForm> forms;  // the widest first
  DotInC c = {};
  std::vector<DotLoop> loops = {};  // most products per instruction first

  // Rows of a contraction in one vector of sums.
  int vector_rows() const { return geometry == DotGeometry::kOuter ? 2 : 1; }
  // Columns of such a vector. For kMatrix, columns of the vectors by which a matrix register is
  // read.
  int vector_columns(const DotForm& form) const {
    return geometry == DotGeometry::kMatrix ? kMatrixSide : form.lanes / vector_rows();
  }
  // True if the row is for the architecture of the triple.
  bool IsOfArch(absl::string_view triple) const;
  // The widest form that the target supports, or null.
  const DotForm* FormOf(const Target& target) const;
  // True if the row is the instruction of a loop::Dot with these properties.
  bool IsNamed(absl::string_view dot_name, int dot_group, bool dot_swaps, int dot_column_run,
               DType of_a, DType of_b) const;
  // True if matrix registers can hold the sums of a tile of rows by columns, and its factors in one
  // step. `run` is the number of adjacent elements of a row.
  bool HoldsTile(int rows, int columns, int run) const;
  // True if the row computes only overlapping windows, by loops, and no single sums.
  bool has_loops_only() const { return forms[0].llvm.empty(); }
  // The loop of this shape, or null.
  const DotLoop* FindLoop(int rows, int columns, int run, int slide) const;
  double CostOn(const Target& target) const;
  // The target must support a form of the row.
  double ProductsPerSlot(const Target& target) const;
};

// All rows, for every architecture.
const std::vector<DotInstruction>& DotInstructions();
// Rows with sums of type `sum` that the target supports, in descending order of products per issue
// slot.
std::vector<const DotInstruction*> DotInstructionsOf(const Target& target, DType sum);
// The row with this name, or null.
const DotInstruction* FindDotInstruction(absl::string_view name);

}  // namespace kiln

#endif  // KILN_COMPILER_TARGET_INSTRUCTIONS_H_
