// SPDX-License-Identifier: Apache-2.0
// sort, argsort and topk, by merging: each level makes runs of twice the length from pairs of
// sorted runs. Element k of a merged run is found from k alone, by a search for how many of the
// first k elements are of the first run of the pair (the "merge path"), so a level is a stage like
// others. n log² n in all; equal elements stay in order.
#include <bit>

#include "compiler/loop/math.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"

namespace kiln {
namespace {

// Whether a stands before b, and not beside it. NaNs are last.
Expr Before(const Expr& a, const Expr& b, bool ascending) {
  const Expr order = ascending ? a < b : a > b;
  if (!a.type().dtype.is_float()) return order;
  return order || (loop::IsNan(b) && loop::Not(loop::IsNan(a)));
}

// The element of data's input 0 along the axis that stands at each place of the sorted, as int32.
Access Permutation(StageBuilder& b, size_t axis, bool ascending) {
  const Shape& shape = b.input_shape(0);
  const int64_t n = shape[axis];
  const Access x = b.Input(0);
  Access from = b.Compute(
      "order0", shape, [&](const Indices& i) { return loop::MakeCast(DType::Int(32), i[axis]); });
  for (int64_t width = 1; width < n; width *= 2) {
    const auto level = [&](const Indices& i) {
      // Places of the pair of runs begin at `start`; the first run has `first` of them.
      const Expr start = i[axis] / Expr(2 * width) * Expr(2 * width);
      const Expr first = Min(Expr(width), Expr(n) - start);
      const Expr second = Max(Min(Expr(width), Expr(n - width) - start), Expr(0));
      const Expr k = i[axis] - start;
      const auto element = [&](const Expr& place) {
        Indices at = i;
        at[axis] = ClampIndex(place, n);
        return from(at);
      };
      const auto value = [&](const Expr& place) {
        Indices at = i;
        at[axis] = loop::ToIndex(element(place));
        return x(at);
      };
      // Between `low` and `high` of the first k are of the first run.
      const int steps = static_cast<int>(std::bit_width(static_cast<uint64_t>(width)));
      Expr low = Max(k - second, Expr(0)), high = Min(k, first);
      for (int step = 0; step < steps; ++step) {
        const Expr middle = (low + high) / Expr(2);
        const Expr more =
            low < high && loop::Not(Before(value(start + first + k - Expr(1) - middle),
                                           value(start + middle), ascending));
        low = loop::MakeSelect(more, middle + Expr(1), low);
        high = loop::MakeSelect(more, high, middle);
      }
      const Expr in_first = start + low, in_second = start + first + k - low;
      const Expr take_first =
          low < first &&
          (k - low >= second || loop::Not(Before(value(in_second), value(in_first), ascending)));
      return element(loop::MakeSelect(take_first, in_first, in_second));
    };
    from = b.Compute(absl::StrCat("order", 2 * width), shape, level);
  }
  return from;
}

// Constraints 1 and 2: numbers, and an axis whose places int32 can count.
absl::StatusOr<int> AxisToSort(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  KILN_CONSTRAINT(1, IsNumeric(data.dtype), data.dtype.ToString(), "numbers");
  KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2));
  const int64_t extent = data.shape[static_cast<size_t>(axis)];
  KILN_CONSTRAINT(2, extent <= INT32_MAX, absl::StrCat(extent, " places"), "at most 2^31 - 1");
  return axis;
}

InferResult InferSort(const InferContext& c) {
  KILN_RETURN_IF_ERROR(AxisToSort(c).status());
  const DType dtype = c.attrs.DTypeOr("dtype", c.inputs[0].dtype);
  KILN_CONSTRAINT(3, dtype == c.inputs[0].dtype, dtype.ToString(), c.inputs[0].dtype.ToString());
  return OutputTypes({c.inputs[0]});
}

InferResult InferArgsort(const InferContext& c) {
  KILN_RETURN_IF_ERROR(AxisToSort(c).status());
  const DType dtype = c.attrs.DTypeOr("dtype", DType::Int(32));
  KILN_CONSTRAINT(3, IsNumeric(dtype), dtype.ToString(), "numbers");
  return OutputTypes({{c.inputs[0].shape, dtype}});
}

InferResult InferTopk(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(const int axis, AxisToSort(c));
  Shape shape = c.inputs[0].shape;
  int64_t& extent = shape[static_cast<size_t>(axis)];
  const int64_t k = c.attrs.IsNone("k") ? extent : c.attrs.Int("k");
  const DType dtype = c.attrs.DTypeOr("dtype", DType::Int(32));
  KILN_CONSTRAINT(3, IsNumeric(dtype), dtype.ToString(), "numbers");
  KILN_CONSTRAINT(4, k <= extent, absl::StrCat("k ", k), absl::StrCat("at most ", extent));
  if (k >= 1) extent = k;  // Relay: all of them where k is not positive
  const std::string& ret_type = c.attrs.String("ret_type");
  KILN_CONSTRAINT(5, ret_type == "both" || ret_type == "values" || ret_type == "indices", ret_type,
                  "both, values or indices");
  std::vector<TensorType> types;
  if (ret_type != "indices") types.push_back({shape, c.inputs[0].dtype});
  if (ret_type != "values") types.push_back({shape, dtype});
  return OutputTypes(std::move(types));
}

// The values at the first places of the sorted to output `values`, where they stood to `indices`.
absl::Status LowerTo(StageBuilder& b, int values, int indices) {
  const size_t axis = AxisOf(b.attrs().Int("axis"), b.input_shape(0).size());
  const Access from = Permutation(b, axis, b.attrs().Bool("is_ascend"));
  if (values >= 0) {
    b.Output(values, [&, x = b.Input(0)](const Indices& i) {
      Indices at = i;
      at[axis] = loop::ToIndex(from(i));
      return x(at);
    });
  }
  if (indices >= 0) {
    const DType dtype = ComputeType(b.output_dtype(indices));
    b.Output(indices, [&](const Indices& i) { return loop::MakeCast(dtype, from(i)); });
  }
  return absl::OkStatus();
}

absl::Status LowerSort(StageBuilder& b) { return LowerTo(b, 0, -1); }
absl::Status LowerArgsort(StageBuilder& b) { return LowerTo(b, -1, 0); }
absl::Status LowerTopk(StageBuilder& b) {
  const std::string& ret_type = b.attrs().String("ret_type");
  return LowerTo(b, ret_type == "indices" ? -1 : 0,
                 ret_type == "values"    ? -1
                 : ret_type == "indices" ? 0
                                         : 1);
}

bool GivesBoth(const Attrs& attrs) { return attrs.String("ret_type") == "both"; }

const AttrSchema kAxis = {"axis", AttrType::kInt, -1, false, "to sort along"};
const AttrSchema kAscend = {"is_ascend", AttrType::kBool, true, false, "smallest first"};
AttrValue None() { return AttrValue::None(); }

const OpDef kSorts[] = {
    {{.name = "sort",
      .doc = "The elements along the axis in order; NaNs are last. By merging, n log² n.",
      .inputs = {{"data", "numbers of rank 1 or more"}},
      .attrs = {kAxis, kAscend, {"dtype", AttrType::kDType, "", false, "\"\" or data's"}}},
     {"data holds numbers", "axis is an axis of data, of at most 2^31 - 1 places",
      "dtype is \"\" or that of data"},
     {.fusion = Fusion::kOpaque, .layout = {LayoutRule::kAxis, "axis"}},
     InferSort,
     LowerSort,
     {Case({Values(F32({2, 5}), {3, -1, 2, 3, 0, 5, 4, 3, 2, 1})}, {},
           {Values(F32({2, 5}), {-1, 0, 2, 3, 3, 1, 2, 3, 4, 5})}),
      {.inputs = {F32({37, 3})}, .attrs = {{"axis", 0}, {"is_ascend", false}}},
      {.inputs = {F16({4, 9})}}}},
    {{.name = "argsort",
      .doc = "Where the elements along the axis stand that sort would give; equal ones in order.",
      .inputs = {{"data", "numbers of rank 1 or more"}},
      .attrs = {kAxis, kAscend, {"dtype", AttrType::kDType, "", false, "\"\": int32"}}},
     {"data holds numbers", "axis is an axis of data, of at most 2^31 - 1 places",
      "dtype is one of numbers"},
     {.fusion = Fusion::kOpaque, .layout = {LayoutRule::kAxis, "axis"}},
     InferArgsort,
     LowerArgsort,
     {Case({Values(F32({7}), {3, -1, 2, 3, 0, 3, -1})}, {},
           {Values(I32({7}), {1, 6, 4, 2, 0, 3, 5})}),
      Case({Values(I32({4}), {1, 2, 1, 2})}, {{"is_ascend", false}, {"dtype", "int64"}},
           {Values(I64({4}), {1, 3, 0, 2})}),
      {.inputs = {I8({3, 20})}}}},
    {{.name = "topk",
      .doc = "The first k of the elements sorted along the axis, and where they stood; of equal "
             "ones those that stand first.",
      .inputs = {{"data", "numbers of rank 1 or more"}},
      .attrs = {{"k", AttrType::kInt, None(), false, "how many; None, or not positive: all"},
                kAxis,
                {"ret_type", AttrType::kString, "both", false, "both, values or indices"},
                {"is_ascend", AttrType::kBool, false, false, "smallest first"},
                {"dtype", AttrType::kDType, "", false, "of the places; \"\": int32"}},
      .num_outputs = [](const Attrs& attrs, size_t) -> absl::StatusOr<int> {
        return GivesBoth(attrs) ? 2 : 1;
      },
      .gives_tuple = GivesBoth},
     {"data holds numbers", "axis is an axis of data, of at most 2^31 - 1 places",
      "dtype is one of numbers", "k is not more than there are",
      "ret_type is both, values or indices"},
     {.fusion = Fusion::kOpaque, .layout = {LayoutRule::kAxis, "axis"}},
     InferTopk,
     LowerTopk,
     {Case({Values(F32({2, 4}), {1, 4, 2, 4, 9, 8, 7, 9})}, {{"k", 3}},
           {Values(F32({2, 3}), {4, 4, 2, 9, 9, 8}), Values(I32({2, 3}), {1, 3, 2, 0, 3, 1})}),
      Case({Values(I32({4}), {5, 7, 1, 6})}, {{"k", 2}, {"ret_type", "values"}},
           {Values(I32({2}), {7, 6})}),
      Case({Values(F16({4}), {5, 7, 1, 6})},
           {{"k", 2}, {"ret_type", "indices"}, {"dtype", "int64"}}, {Values(I64({2}), {1, 3})}),
      {.inputs = {F32({19, 2})}, .attrs = {{"k", 5}, {"axis", 0}, {"is_ascend", true}}}}},
};
KILN_REGISTER_OPS(kSorts);

}  // namespace
}  // namespace kiln
