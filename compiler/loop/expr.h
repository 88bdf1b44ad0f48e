// SPDX-License-Identifier: Apache-2.0
// Expressions of the loop IR. An expression with one of these operations has the lanes of its
// operands:
//
//   expr := int | float | var | unary(expr) | binary(expr, expr) | fma(expr, expr, expr)
//         | compare(expr, expr) | select(expr, expr, expr) | cast<type>(expr)
//         | bitcast<type>(expr) | load(buffer, expr…)
//
// These have other numbers of lanes:
//
//   expr := dot<instruction, group>(expr, expr, expr) | interleave(expr, …)
//         | ramp(expr, stride, lanes) | broadcast(expr, lanes)
//
// Semantics. Every engine (interpreter, C, LLVM) gives the same bits on every machine:
// - An expression has no side effect. All operands are evaluated, including both values of a
//   select. A load must therefore be in bounds wherever its expression is evaluated: guard the
//   index (ClampedLoad), not the load.
// - Integers wrap around (two's complement). Division and remainder truncate towards zero. x / 0 is
//   0, x % 0 is 0, and MIN / -1 is MIN. Shift amounts count modulo the width. shr of a signed
//   integer keeps the sign.
// - The index type is a signed integer wide enough for every offset of the target. Its overflow is
//   a mistake of the compiler, and code generators may assume that it does not happen.
// - Floats are IEEE 754 with rounding to nearest even, never contracted or reassociated. fma rounds
//   once. The sign and payload of a NaN result are the only bits that are not defined.
// - min(a, b) is b < a ? b : a, and max(a, b) is b > a ? b : a. A NaN in the first operand is kept,
//   a NaN in the second is not.
// - Comparisons with NaN are false, except that != is true. The result of a comparison is bool.
// - cast from a float to an integer truncates towards zero, saturates, and makes 0 of NaN. Between
//   integers it wraps or extends. From an integer or bool to a float it rounds to nearest even. To
//   bool it is != 0.
// - float16 and bfloat16 are for storage only. They can be cast to and from float32 and nothing
//   else. A subnormal float32 becomes a bfloat16 of 0 (BFloatFromFloat in base/tensor.h).
// - rounding_mul_high(a, b) of two int32 is (a * b + 2^30) >> 31 of the exact product: a * b / 2^31
//   rounded to nearest, halves up. MIN by MIN wraps around to MIN.
// - rounding_mul_top(a, b) of two int32 is (a * b + 2^31) >> 32: the upper word of the product,
//   rounded to nearest, halves up.
// - rounding_shr(a, n) of two int32 is a / 2^n rounded to nearest, halves away from zero. n counts
//   modulo 32, as in shr.
// - saturate_int8(a) of an int32 is the value of int8 that is nearest to a, as int32.
//   saturate_uint8, saturate_int16 and saturate_uint16 are analogous.
// - dot(sum, a, b) adds products of integers in groups. a has R = lanes of a / group rows, and b
//   has C = lanes of b / group columns, each of `group` neighboring lanes. If sum has R * C lanes,
//   then
//     lane r * C + c of the result =
//         that of sum + Σ over k < group of a[r * group + k] * b[c * group + k].
//   If a and b have `group` times the lanes of sum each, they are paired instead: lane l of the
//   result is that of sum + Σ over k of a[l * group + k] * b[l * group + k]. A dot with `swaps`
//   multiplies a[k] by b[k'], where k' is k with elements 1 and 2 of every four exchanged. Factors
//   are extended to the type of sum before they are multiplied, and sums wrap around. The
//   instruction is the one that the schedule has chosen (compiler/target/instructions.h). It does
//   not change the result.
// - dot(sum, a, b) with a float32 sum has factors of bfloat16. The products of a group are added
//   from the last to the first, each by fma. Subnormals are replaced by 0 of their sign: factors,
//   sums, and the result of an fma that is subnormal once it is rounded to 24 bits with an
//   unlimited exponent.
// - interleave(a, b, …) of n operands is a vector with n times their lanes: the first lane of each
//   operand, then the second of each, and so on.
// - Vectors: any other operation on vectors applies to each lane.
//
// Expressions are immutable and shared: one may occur in several places (a DAG). Engines evaluate a
// shared node once, and mutators keep sharing (mutate.h).
#ifndef KILN_COMPILER_LOOP_EXPR_H_
#define KILN_COMPILER_LOOP_EXPR_H_

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/types/span.h"
#include "compiler/base/dtype.h"
#include "compiler/base/tensor.h"

namespace kiln::loop {

struct Type {
  DType dtype = DType::Int(64);
  int lanes = 1;
  bool index = false;  // if true, dtype is int64

  static constexpr Type Index(int lanes = 1) { return {DType::Int(64), lanes, true}; }
  static constexpr Type Of(DType dtype, int lanes = 1) { return {dtype, lanes, false}; }
  constexpr Type WithLanes(int n) const { return {dtype, n, index}; }
  constexpr bool is_vector() const { return lanes > 1; }
  // "float32", "float32x16", "index".
  std::string ToString() const;
  friend constexpr bool operator==(const Type&, const Type&) = default;
};

enum class UnaryOp {
  kNeg,
  kAbs,
  kNot,
  kSqrt,
  kFloor,
  kCeil,
  kTrunc,
  kRoundEven,
  kSaturateInt8,  // of int32 only, like the three below
  kSaturateUint8,
  kSaturateInt16,
  kSaturateUint16
};  // kNot: of bits, or of a bool

// Operations that limit an int32 to the range of another type.
struct Saturation {
  UnaryOp op;
  DType to;
};
inline constexpr Saturation kSaturations[] = {{UnaryOp::kSaturateInt8, DType::Int(8)},
                                              {UnaryOp::kSaturateUint8, DType::UInt(8)},
                                              {UnaryOp::kSaturateInt16, DType::Int(16)},
                                              {UnaryOp::kSaturateUint16, DType::UInt(16)}};
// Returns nothing for other operations.
constexpr std::optional<DType> SaturationOf(UnaryOp op) {
  for (const Saturation& saturation : kSaturations) {
    if (saturation.op == op) return saturation.to;
  }
  return std::nullopt;
}

enum class BinaryOp {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMod,
  kMin,
  kMax,
  kAnd,
  kOr,
  kXor,
  kShl,
  kShr,
  kRoundingMulHigh,  // of int32 only, like the two below
  kRoundingMulTop,
  kRoundingShr
};  // kAnd … kXor: of bits, or of bools
enum class CompareOp { kEq, kNe, kLt, kLe, kGt, kGe };

struct ExprNode;

// A reference to an immutable node, cheap to copy. A default-constructed Expr refers to nothing.
class Expr {
 public:
  Expr() = default;
  explicit Expr(std::shared_ptr<const ExprNode> node) : node_(std::move(node)) {}
  Expr(int value);      // NOLINT: an index constant
  Expr(int64_t value);  // NOLINT: an index constant

  explicit operator bool() const { return node_ != nullptr; }
  const ExprNode& operator*() const { return *node_; }
  const ExprNode* operator->() const { return node_.get(); }
  const ExprNode* get() const { return node_.get(); }
  inline const Type& type() const;
  // The node as a T, one of the structs below, or null.
  template <typename T>
  const T* As() const;

 private:
  std::shared_ptr<const ExprNode> node_;
};

// Memory. Two buffers are the same if they are the same object. Elements are dense and in row-major
// order of `shape`.
enum class BufferScope {
  kParam,      // parameter of the function: the caller's memory
  kConstant,   // read-only data of the program
  kWorkspace,  // scratch, allocated in the function's workspace parameter by the plan
  kLocal,      // on the stack or in registers; small, alive in its Allocate statement
  kStatic,     // one block of the program for as long as it runs; contents and use as of kLocal
};

struct BufferNode {
  std::string name;
  DType dtype;
  Shape shape;
  BufferScope scope = BufferScope::kParam;
  int alignment_bytes = 0;  // 0: chosen by the plan, at least the element's size
  // Buffer that contains this slice; null if this is not a slice. A slice has no memory of its own.
  // Its element (i, j, …) is element first + i * slice_strides[0] + j * slice_strides[1] + … of
  // `whole`. Schedules work with slices, and FlattenBuffers replaces them by their wholes. A slice
  // is indexed by its dimensions, or by one index in elements that counts from `first`.
  std::shared_ptr<const BufferNode> whole = nullptr;
  int64_t first = 0;
  Shape slice_strides = {};

  // Strides of all dimensions, in elements.
  Shape strides() const { return whole == nullptr ? RowMajorStrides(shape) : slice_strides; }
  int64_t num_elements() const { return NumElements(shape); }
  int64_t num_bytes() const { return num_elements() * dtype.bytes(); }
};
using Buffer = std::shared_ptr<const BufferNode>;

// Properties of a dot apart from its operands.
struct DotKind {
  std::string instruction;  // a name, or empty
  int group = 1;            // products that a step adds to each lane
  bool swaps = false;       // exchanges elements 1 and 2 of every four of b; 4 divides group
  int steps = 1;            // groups of each row and column; the groups of one step are contiguous
  int run = 0;              // contiguous elements of a row in a step; 0: the whole group
  // Contiguous elements of a column in a step; 0: the whole group. If they are fewer than the
  // group, products of floats are summed separately for each place in such a run, starting from 0,
  // before these sums are added.
  int column_run = 0;
  // Number of parts whose sum is a factor: 1, or kPartsOfFloat if column_run is set. The largest
  // part comes first. In a step, the first parts of all rows (or columns) are contiguous, then the
  // second parts follow, and so on. DotShape::products lists the pairs of parts that are
  // multiplied.
  int parts = 1;

  // Number of bfloat16 values whose sum is a float32. Each holds a third of its 24 bits.
  static constexpr int kPartsOfFloat = 3;
  // Elements of each row and column, over all steps and parts.
  int64_t elements() const { return int64_t{steps} * group * parts; }
  friend bool operator==(const DotKind&, const DotKind&) = default;
};

// Layout of the elements that a dot multiplies in the lanes of its factors.
struct DotShape {
  int rows, columns;
  bool paired;  // row l is multiplied by column l only; otherwise every row by every column
  int group, steps, run, column_run, parts;
  bool swaps;

  // Returns nothing if the numbers of lanes fit neither form.
  static std::optional<DotShape> Of(int sum_lanes, int a_lanes, int b_lanes, const DotKind& kind);
  int lanes() const { return paired ? rows : rows * columns; }
  // Pairs of parts of both factors that are multiplied, in this order. With three parts six
  // products are added. The other three are smaller than the last place of the product of the first
  // parts.
  struct Product {
    int of_a, of_b;
  };
  absl::Span<const Product> products() const { return ProductsOf(parts); }
  static absl::Span<const Product> ProductsOf(int64_t parts) {
    static constexpr Product kOfThree[] = {{2, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 2}, {0, 0}};
    static constexpr Product kOfOne[] = {{0, 0}};
    return parts == 1 ? absl::MakeConstSpan(kOfOne) : absl::MakeConstSpan(kOfThree);
  }
  // Calls multiply() for each of products(). Before it, calls load_a(part) or load_b(part) if the
  // previous product used another part of that factor.
  template <typename LoadA, typename LoadB, typename Multiply>
  void ForEachProduct(const LoadA& load_a, const LoadB& load_b, const Multiply& multiply) const {
    Product loaded = {-1, -1};
    for (const Product& product : products()) {
      if (product.of_a != loaded.of_a) load_a(product.of_a);
      if (product.of_b != loaded.of_b) load_b(product.of_b);
      loaded = product;
      multiply();
    }
  }
  // True if products of floats are summed separately for each place in a run of a column.
  bool sums_apart() const { return column_run < group; }
  // Number of elements of a row, or of a column, that are multiplied for each lane.
  int terms() const { return steps * group; }
  // Term that a sum of floats adds as its k-th. In each group the last term comes first.
  int TermOfBFloats(int k) const { return k / group * group + (group - 1 - k % group); }
  // Index in a (InA) or in b (InB) of part `part` of element `term` of the row or column of `lane`.
  int InA(int lane, int term, int part = 0) const {
    const int row = paired ? lane : lane / columns;
    return (term / group * parts + part) * rows * group + InStepOfA(row, term % group);
  }
  int InB(int lane, int term, int part = 0) const {
    const int column = paired ? lane : lane % columns, k = term % group;
    return (term / group * parts + part) * columns * group +
           InStepOfB(column, k / column_run, k % column_run);
  }
  // Index within the first step and the first part. InStepOfA: of element k of a row's group.
  // InStepOfB: of the element at `place` in run `which_run` of a column's group. T is int or Expr.
  template <typename T>
  T InStepOfA(const T& row, const T& k) const {
    return (k / T(run) * T(rows) + row) * T(run) + k % T(run);
  }
  template <typename T>
  T InStepOfB(const T& column, const T& which_run, int place) const {
    const int swapped = swaps && (place % 4 == 1 || place % 4 == 2) ? place ^ 3 : place;
    return (which_run * T(columns) + column) * T(column_run) + T(swapped);
  }
};

Buffer MakeBuffer(std::string name, DType dtype, Shape shape, BufferScope scope,
                  int alignment_bytes = 0);
Buffer MakeSlice(std::string name, Shape shape, Buffer whole, int64_t first, Shape strides);

struct IntImm {
  int64_t value;
};  // of an integer type, index or bool
struct FloatImm {
  double value;
};  // exactly representable in the type
struct VarNode {
  std::string name;
};
struct Unary {
  UnaryOp op;
  Expr a;
};
struct Binary {
  BinaryOp op;
  Expr a, b;
};
struct Fma {
  Expr a, b, c;
};  // a * b + c, rounded once
struct Dot {
  DotKind kind;
  Expr sum, a, b;
};
struct Interleave {
  std::vector<Expr> operands;

  // Lane `lane` of the result is lane InOperand(lane) of operand WhichOperand(lane).
  size_t WhichOperand(int lane) const { return static_cast<size_t>(lane) % operands.size(); }
  int InOperand(int lane) const { return lane / static_cast<int>(operands.size()); }
};
struct Compare {
  CompareOp op;
  Expr a, b;
};
struct Select {
  Expr condition, if_true, if_false;
};
struct Cast {
  Expr a;
};
struct Bitcast {
  Expr a;
};  // same width
// One index per dimension of the buffer, or, after flattening, one index in elements. A load with a
// vector index is a gather, and contiguous if the index is a ramp of stride 1.
struct Load {
  Buffer buffer;
  std::vector<Expr> index;
};
struct Ramp {
  Expr base;
  int64_t stride;
  int lanes;
};  // base, base + stride, …; index only
struct Broadcast {
  Expr a;
  int lanes;
};

struct ExprNode {
  Type type;
  std::variant<IntImm, FloatImm, VarNode, Unary, Binary, Fma, Dot, Interleave, Compare, Select,
               Cast, Bitcast, Load, Ramp, Broadcast>
      value;
};

inline const Type& Expr::type() const { return node_->type; }
template <typename T>
const T* Expr::As() const {
  return node_ == nullptr ? nullptr : std::get_if<T>(&node_->value);
}

// A variable is an expression that refers to a VarNode; two are the same if they are the same node.
using Var = Expr;
Var MakeVar(std::string name, Type type = Type::Index());

// Builders. Operands must have the same type; a mismatch is a mistake of the compiler and aborts. A
// scalar next to a vector is broadcast, and an index constant next to another type is converted to
// that type. Builders fold constants and apply cheap identities that are exact (x + 0, x * 1,
// select of a constant).
Expr IntConst(Type type, int64_t value);
Expr FloatConst(Type type, double value);
// `value` as a constant of any dtype: rounded to float, truncated to integer.
Expr Const(DType dtype, double value);
Expr Const(Type type, double value);

Expr MakeUnary(UnaryOp op, Expr a);
Expr MakeBinary(BinaryOp op, Expr a, Expr b);
Expr MakeFma(Expr a, Expr b, Expr c);
// The lanes of the operands must form a DotShape.
Expr MakeDot(DotKind kind, Expr sum, Expr a, Expr b);
// Takes two or more operands.
Expr MakeInterleave(std::vector<Expr> operands);
Expr MakeCompare(CompareOp op, Expr a, Expr b);
Expr MakeSelect(Expr condition, Expr if_true, Expr if_false);
Expr MakeCast(Type type, Expr a);    // lanes must agree
Expr MakeCast(DType dtype, Expr a);  // keeps the lanes; never to index
Expr ToIndex(Expr a);                // an integer as index
Expr MakeBitcast(DType dtype, Expr a);
Expr MakeLoad(Buffer buffer, std::vector<Expr> index);
Expr MakeRamp(Expr base, int64_t stride, int lanes);
Expr MakeBroadcast(Expr a, int lanes);

Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b);
Expr operator%(Expr a, Expr b);
Expr operator-(Expr a);
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr operator==(Expr a, Expr b);
Expr operator!=(Expr a, Expr b);
// Templates, so that `e && flag` with a bool remains the test for an empty Expr.
template <std::same_as<Expr> A, std::same_as<Expr> B>
Expr operator&&(const A& a, const B& b) {  // both sides are evaluated
  return MakeBinary(BinaryOp::kAnd, a, b);
}
template <std::same_as<Expr> A, std::same_as<Expr> B>
Expr operator||(const A& a, const B& b) {
  return MakeBinary(BinaryOp::kOr, a, b);
}
Expr Not(Expr a);
bool operator!(const Expr&) = delete;  // Not(e), or e.get() == nullptr
Expr RoundingMulHigh(Expr a, Expr b);
Expr RoundingMulTop(Expr a, Expr b);
Expr RoundingShr(Expr a, Expr b);
Expr Min(Expr a, Expr b);
Expr Max(Expr a, Expr b);

// Gets the value of an integer constant (scalar or broadcast). Returns false if `e` is not one.
bool AsInt(const Expr& e, int64_t* value);
bool IsInt(const Expr& e, int64_t value);

std::string ToString(const Expr& e);

}  // namespace kiln::loop

#endif  // KILN_COMPILER_LOOP_EXPR_H_
