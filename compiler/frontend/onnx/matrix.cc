// SPDX-License-Identifier: Apache-2.0
// Matrices: triangles, diagonals, determinants.
#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/tensor_proto.h"

namespace kiln::onnx_frontend {
namespace {

// Returns a matrix of bools: column - row, as int64, compared with `offset` by `relation`.
ValueId DiagonalMask(Formula& f, Converter& c, absl::string_view relation, int64_t rows,
                     int64_t columns, int64_t offset) {
  const ValueId row = f.Reshape(f.Count(0, rows), {rows, 1});
  const ValueId column = f.Reshape(f.Count(0, columns), {1, columns});
  const ValueId k = c.Constant(Tensor::From<int64_t>({}, DType::Int(64), {offset}));
  return f(relation, {f("subtract", {column, row}), k});
}

absl::Status Trilu(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const TensorType type = c.type(x);
  if (type.rank() < 2) return Wrong("data", type.ToString(), "matrices");
  const int64_t rows = type.shape[type.shape.size() - 2], columns = type.shape.back();
  int64_t k = 0;
  if (c.HasInput(1)) {
    KILN_ASSIGN_OR_RETURN(const Tensor offset, c.ConstantInput(1, "k"));
    if (offset.type().num_elements() != 1) return Wrong("k", offset.type().ToString(), "a scalar");
    k = std::clamp(offset.AsInt(0), -rows, columns);
  }
  Formula f(c);
  if (type.num_elements() == 0) return f.Output(0, x);
  const char* relation = c.Int("upper", 1) != 0 ? "greater_equal" : "less_equal";
  const ValueId kept = DiagonalMask(f, c, relation, rows, columns, k);
  return f.Output(0, f("where", {kept, x, f.Number(0, x)}));
}

absl::Status EyeLike(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const TensorType type = c.type(x);
  if (type.rank() != 2) return Wrong("data", type.ToString(), "a matrix");
  DType dtype = type.dtype;
  if (c.HasAttr("dtype")) {
    KILN_ASSIGN_OR_RETURN(dtype, DTypeOf(static_cast<int>(c.Int("dtype", 0))));
  }
  const int64_t k = std::clamp(c.Int("k", 0), -type.shape[0], type.shape[1]);
  Formula f(c);
  return f.Output(0, f.Cast(DiagonalMask(f, c, "equal", type.shape[0], type.shape[1], k), dtype));
}

// Determinants are expanded by rows, and the minors of the last rows are shared. This takes about n
// 2^(n-1) products.
constexpr int64_t kMaxDeterminant = 6;

absl::Status Det(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  Shape shape = c.type(x).shape;
  const int64_t n = shape.empty() ? 0 : shape.back();
  if (shape.size() < 2 || shape[shape.size() - 2] != n || n < 1) {
    return Wrong("data", c.type(x).ToString(), "square matrices");
  }
  if (n > kMaxDeterminant) {
    return absl::UnimplementedError(
        absl::StrCat("determinants of ", n, " rows; at most ", kMaxDeterminant));
  }
  shape.resize(shape.size() - 2);
  const int64_t count = NumElements(shape);
  Formula f(c);
  const ValueId flat = f.Reshape(x, {count, n * n});
  const auto element = [&](int64_t row, int64_t column) {
    const ValueId at = c.Constant(Tensor::From<int64_t>({}, DType::Int(64), {row * n + column}));
    return f("take", {flat, at}, {{"axis", 1}});
  };
  // The minors of the last rows and a set of as many columns, keyed by the set.
  std::map<unsigned, ValueId> minors;
  for (int64_t row = n - 1; row >= 0; --row) {
    std::map<unsigned, ValueId> next;
    for (unsigned set = 1; set < 1u << n; ++set) {
      if (__builtin_popcount(set) != n - row) continue;
      ValueId sum = kNoId;
      bool negative = false;
      for (int64_t column = 0; column < n; ++column) {
        const unsigned bit = 1u << column;
        if ((set & bit) == 0) continue;
        ValueId term = element(row, column);
        if (row + 1 < n) term = f("multiply", {term, minors.at(set & ~bit)});
        sum = sum == kNoId ? term : f(negative ? "subtract" : "add", {sum, term});
        negative = !negative;
      }
      next[set] = sum;
    }
    minors = std::move(next);
  }
  return f.Output(0, f.Reshape(minors.at((1u << n) - 1), shape));
}

constexpr OnnxOperator kMatrixRows[] = {
    Composite("Det", Det),
    {"EyeLike", EyeLike},
    {"Trilu", Trilu},
};

}  // namespace

absl::Span<const OnnxOperator> MatrixOperators() { return kMatrixRows; }

}  // namespace kiln::onnx_frontend
