// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

// The diagonals `first` to `last` of a matrix. Diagonal k has the elements with column - row == k.
struct Diagonals {
  int64_t rows, columns, first, last;

  // Number of elements of the longest diagonal.
  int64_t longest() const {
    return std::min(rows + std::min<int64_t>(last, 0), columns - std::max<int64_t>(first, 0));
  }
};

Diagonals DiagonalsOf(const Attrs& attrs, const Shape& input) {
  return {input[input.size() - 2], input.back(), attrs.Int("k1"), attrs.Int("k2")};
}

InferResult InferMatrixSetDiag(const InferContext& c) {
  const TensorType &input = c.inputs[0], &diagonal = c.inputs[1];
  KILN_CONSTRAINT(1, input.dtype == diagonal.dtype,
                  absl::StrCat(input.dtype.ToString(), " and ", diagonal.dtype.ToString()),
                  "one dtype");
  KILN_CONSTRAINT(2, input.rank() >= 2, ShapeToString(input.shape), "rank 2 or more");
  const Diagonals d = DiagonalsOf(c.attrs, input.shape);
  KILN_CONSTRAINT(3, -d.rows < d.first && d.first <= d.last && d.last < d.columns,
                  absl::StrCat("k1 ", d.first, " and k2 ", d.last),
                  absl::StrCat("diagonals of a ", d.rows, " × ", d.columns, " matrix, in order"));
  Shape wanted(input.shape.begin(), input.shape.end() - 2);
  if (d.first != d.last) wanted.push_back(d.last - d.first + 1);
  wanted.push_back(d.longest());
  KILN_CONSTRAINT(4, diagonal.shape == wanted, ShapeToString(diagonal.shape),
                  ShapeToString(wanted));
  return OutputTypes({input});
}

absl::Status LowerMatrixSetDiag(StageBuilder& b) {
  const Diagonals d = DiagonalsOf(b.attrs(), b.input_shape(0));
  const bool upper_right = b.attrs().Bool("super_diag_right_align"),
             lower_right = b.attrs().Bool("sub_diag_right_align");
  b.Output(0, [&, x = b.Input(0), diagonal = b.Input(1)](const Indices& i) {
    const Expr row = i[i.size() - 2], column = i.back(), k = column - row;
    Expr at = Min(row, column);
    Indices index(i.begin(), i.end() - 2);
    if (d.first != d.last) {
      // A diagonal that is shorter than the longest one is aligned to an end of its line.
      const Expr length = Min(Expr(d.columns) - Max(k, 0), Expr(d.rows) + Min(k, 0));
      const Expr room = Expr(d.longest()) - length;
      at = at + loop::MakeSelect(k >= Expr(0), upper_right ? room : Expr(0),
                                 lower_right ? room : Expr(0));
      index.push_back(Expr(d.last) - k);
    }
    index.push_back(at);
    return GuardedValue(diagonal, b.input_shape(1), index, k >= Expr(d.first) && k <= Expr(d.last),
                        x(i));
  });
  return absl::OkStatus();
}

const OpDef kMatrixSetDiag = {
    {.name = "matrix_set_diag",
     .doc =
         "input with the diagonals k1 to k2 of its matrices replaced. Diagonal k has the elements "
         "with column - row = k, and its new values are in line k2 - k of diagonal. A diagonal "
         "shorter than the longest one is aligned to the right or left end of its line.",
     .inputs = {{"input", "any type, (…, rows, columns)"},
                {"diagonal", "(…, k2 - k1 + 1, longest), or (…, longest) for a single diagonal"}},
     .attrs = {{"k1", AttrType::kInt, 0, false, "first diagonal"},
               {"k2", AttrType::kInt, 0, false, "last diagonal"},
               {"super_diag_right_align", AttrType::kBool, true, false,
                "true if diagonals with k >= 0 are aligned to the right"},
               {"sub_diag_right_align", AttrType::kBool, false, false,
                "true if diagonals with k < 0 are aligned to the right"}}},
    {"input and diagonal have the same dtype", "input has rank 2 or more",
     "k1 and k2 are diagonals of input, in order",
     "diagonal has the shape that these diagonals require"},
    {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed},
    InferMatrixSetDiag,
    LowerMatrixSetDiag,
    {Case({Values(F32({3, 4}), {7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7}), Values(F32({3}), {1, 2, 3})},
          {}, {Values(F32({3, 4}), {1, 7, 7, 7, 7, 2, 7, 7, 7, 7, 3, 7})}),
     Case({Values(I32({3, 3}), {7, 7, 7, 7, 7, 7, 7, 7, 7}),
           Values(I32({3, 3}), {0, 8, 9, 1, 2, 3, 4, 5, 0})},
          {{"k1", -1}, {"k2", 1}}, {Values(I32({3, 3}), {1, 8, 7, 4, 2, 9, 7, 5, 3})}),
     Case({Values(I32({2, 3}), {7, 7, 7, 7, 7, 7}), Values(I32({2, 2}), {5, 6, 8, 9})},
          {{"k1", 1}, {"k2", 2}, {"super_diag_right_align", false}},
          {Values(I32({2, 3}), {7, 8, 5, 7, 7, 9})}),
     {.inputs = {F16({2, 4, 5}), F16({2, 4, 4})},
      .attrs = {{"k1", -3}, {"k2", 0}, {"sub_diag_right_align", true}}}},
};
KILN_REGISTER_OP(kMatrixSetDiag);

}  // namespace
}  // namespace kiln
