// SPDX-License-Identifier: Apache-2.0
// nn.matmul and nn.batch_matmul.
#include <algorithm>

#include "compiler/ops/matrix_product.h"

namespace kiln {
namespace {

// Rows and columns of op(A) op(B), and the depth of its sums. The last two dimensions of
// A and B are matrices. MakeProduct checks constraint 5 (depths). Its callers have
// checked constraint 4 (ranks).
struct MatrixProduct {
  int64_t rows, columns, depth;
};

absl::StatusOr<MatrixProduct> MakeProduct(const InferContext& c) {
  const Shape &a = c.inputs[0].shape, &b = c.inputs[1].shape;
  const bool at = c.attrs.Bool("transpose_a"), bt = c.attrs.Bool("transpose_b");
  const int64_t a0 = a[a.size() - 2], a1 = a.back(), b0 = b[b.size() - 2], b1 = b.back();
  const MatrixProduct p{at ? a1 : a0, bt ? b0 : b1, at ? a0 : a1};
  KILN_CONSTRAINT(5, p.depth == (bt ? b1 : b0),
                  absl::StrCat("depths ", p.depth, " and ", bt ? b1 : b0), "one depth");
  return p;
}

InferResult InferMatmul(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, ProductType(c));
  const Shape &a = c.inputs[0].shape, &b = c.inputs[1].shape;
  KILN_CONSTRAINT(4, a.size() >= 2 && b.size() == 2,
                  absl::StrCat(ShapeToString(a), " and ", ShapeToString(b)),
                  "tensor_a of rank 2 or more and tensor_b of rank 2");
  KILN_CONSTRAINT(4, a.size() == 2 || !c.attrs.Bool("transpose_a"), ShapeToString(a),
                  "rank 2 where tensor_a is transposed");
  KILN_ASSIGN_OR_RETURN(const MatrixProduct p, MakeProduct(c));
  KILN_CONSTRAINT(6, c.attrs.IsNone("units") || c.attrs.Int("units") == p.columns,
                  absl::StrCat("units ", c.attrs.Get("units").ToString()),
                  absl::StrCat(p.columns, " as tensor_b has"));
  Shape shape = a;
  shape[shape.size() - 2] = a.size() == 2 ? p.rows : shape[shape.size() - 2];
  shape.back() = p.columns;
  return OutputTypes({{std::move(shape), dtype}});
}

InferResult InferBatchMatmul(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const DType dtype, ProductType(c));
  const Shape &a = c.inputs[0].shape, &b = c.inputs[1].shape;
  KILN_CONSTRAINT(4, a.size() >= 3 && a.size() == b.size(),
                  absl::StrCat(ShapeToString(a), " and ", ShapeToString(b)),
                  "one rank, of 3 or more");
  KILN_ASSIGN_OR_RETURN(const MatrixProduct p, MakeProduct(c));
  KILN_ASSIGN_OR_RETURN(Shape shape, BatchShape(a, b));
  shape.insert(shape.end(), {p.rows, p.columns});
  return OutputTypes({{std::move(shape), dtype}});
}

// Lowers both operators. The output's index is (batch…, row, column).
absl::Status LowerMatmul(StageBuilder& b) {
  const bool at = b.attrs().Bool("transpose_a"), bt = b.attrs().Bool("transpose_b");
  const Factor x = WidenedInput(b, 0), y = WidenedInput(b, 1);
  const Shape xs = b.input_shape(0), ys = b.input_shape(1);
  const int64_t depth = at ? xs[xs.size() - 2] : xs.back();
  b.Output(0, b.Reduce("matmul", b.output_shape(0), {depth}, loop::Combine::kSum,
                       [&](const Indices& i, const Indices& r) {
                         return x(MatrixIndex(i, xs, {i[i.size() - 2], r[0]}, at)) *
                                y(MatrixIndex(i, ys, {r[0], i.back()}, bt));
                       }));
  return absl::OkStatus();
}

// False if a batch of data is broadcast: several output rows then read the same row of data.
bool MatmulByRows(const Graph& graph, const Node& node) {
  const Shape &data = graph.type(node.inputs[0]).shape, &out = graph.type(node.outputs[0]).shape;
  return !node.attrs.Bool("transpose_a") && std::equal(data.begin(), data.end() - 1, out.begin());
}

const AttrSchema kOutDType = {"out_dtype", AttrType::kDType, "", false,
                              "dtype of the sums; that of the inputs if \"\""};
const AttrSchema kTransposeA = {"transpose_a", AttrType::kBool, false, false,
                                "true if tensor_a holds transposed matrices"};
const AttrSchema kTransposeB = {"transpose_b", AttrType::kBool, false, false,
                                "true if tensor_b holds transposed matrices"};

const OpDef kMatmul = {
    {.name = "nn.matmul",
     .doc = "The matrix product op(tensor_a) op(tensor_b), where op transposes a matrix if the "
            "attribute says so.",
     .inputs = {{"tensor_a", "(…, m, k), or (k, m) if transposed"},
                {"tensor_b", "(k, n), or (n, k) if transposed"}},
     .attrs =
         {{"units", AttrType::kInt, {}, false, "number of columns n; taken from tensor_b if None"},
          kOutDType,
          kTransposeA,
          kTransposeB}},
    {"both inputs hold floats, or both hold integers",
     "their dtypes are equal, or out_dtype is given",
     "out_dtype is of the same kind and not narrower",
     "tensor_a has rank 2 or more (exactly 2 if transposed), and tensor_b has rank 2",
     "the depths agree", "units is None or the number of columns"},
    {.fusion = Fusion::kContraction,
     .layout = LayoutRule::kFixed,
     .weight = 1,
     .by_rows = MatmulByRows},
    InferMatmul,
    LowerMatmul,
    {Case({Values(F32({2, 2}), {1, 2, 3, 4}), Values(F32({2, 2}), {1, 0, -1, 2})}, {{"units", 2}},
          {Values(F32({2, 2}), {-1, 4, -1, 8})}),
     Case({Values(F32({2, 1}), {1, 2}), Values(F32({3, 2}), {1, 0, 0, 1, 1, 1})},
          {{"units", 3}, {"transpose_a", true}, {"transpose_b", true}},
          {Values(F32({1, 3}), {1, 2, 3})}),
     {.inputs = {F32({2, 3, 5}), F32({5, 7})}, .attrs = {{"units", 7}}},
     {.inputs = {I8({3, 5}), I8({5, 2})}, .attrs = {{"units", 2}, {"out_dtype", "int32"}}}},
};
KILN_REGISTER_OP(kMatmul);

const OpDef kBatchMatmul = {
    {.name = "nn.batch_matmul",
     .doc = "The matrix product op(tensor_a[i]) op(tensor_b[i]) of every batch i, where op "
            "transposes a matrix if the attribute says so. A batch extent of 1 stands for every "
            "index. TVM's operator takes one batch axis, and this one takes any number.",
     .inputs = {{"tensor_a", "(batch…, m, k), or (batch…, k, m) if transposed"},
                {"tensor_b", "(batch…, k, n), or (batch…, n, k) if transposed"}},
     .attrs = {kOutDType, kTransposeA, kTransposeB}},
    {"both inputs hold floats, or both hold integers",
     "their dtypes are equal, or out_dtype is given",
     "out_dtype is of the same kind and not narrower",
     "both have the same rank, which is 3 or more", "the depths agree",
     "the batch extents are equal, or 1 in one of the inputs"},
    {.fusion = Fusion::kContraction,
     .layout = LayoutRule::kFixed,
     .weight = 1,
     .by_rows = MatmulByRows},
    InferBatchMatmul,
    LowerMatmul,
    {Case({Values(F32({2, 1, 2}), {1, 2, 3, 4}), Values(F32({1, 2, 2}), {1, 0, -1, 2})}, {},
          {Values(F32({2, 1, 2}), {-1, 4, -1, 8})}),
     {.inputs = {F32({2, 3, 4}), F32({2, 5, 4})}, .attrs = {{"transpose_b", true}}},
     {.inputs = {F32({1, 4, 3}), F32({2, 5, 4})},
      .attrs = {{"transpose_a", true}, {"transpose_b", true}}},
     {.inputs = {F32({2, 1, 3, 4}), F32({1, 3, 4, 5})}},
     {.inputs = {I8({2, 3, 4}), I8({2, 4, 2})}, .attrs = {{"out_dtype", "int32"}}},
     {.inputs = {F16({2, 3, 4}), F16({2, 4, 2})}}},
};
KILN_REGISTER_OP(kBatchMatmul);

}  // namespace
}  // namespace kiln
