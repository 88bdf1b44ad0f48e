// SPDX-License-Identifier: Apache-2.0
// sort, argsort and topk: ranks of integer keys that are ordered like the elements. The schedule
// chooses the sorting algorithm (compiler/schedule/ranks.cc).
#include <algorithm>
#include <limits>
#include <vector>

#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/order_key.h"

namespace kiln {
namespace {

// An int32 or int64 key, which is smaller the earlier x comes in the order.
Expr KeyOf(const Expr& x, bool ascending) {
  const DType dtype = x.type().dtype;
  const DType as = DType::Int(dtype.bits > 32 ? 64 : 32);
  Expr key = dtype.is_float() ? OrderKey(x) : loop::MakeCast(as, x);
  // After the cast, the upper half of unsigned integers of this width is negative. Inverting the
  // sign bit restores their order.
  if (dtype.is_uint() && dtype.bits == as.bits) {
    key = loop::MakeBinary(loop::BinaryOp::kXor, key,
                           loop::IntConst(loop::Type::Of(as), as.MinInt()));
  }
  return ascending ? key : loop::MakeUnary(loop::UnaryOp::kNot, key);
}

// The places along the axis of the first `count` elements in order, as int32.
Access FirstPlaces(StageBuilder& b, size_t axis, int64_t count) {
  Shape shape = b.input_shape(0);
  const int64_t places = shape[axis];
  shape[axis] = count;
  return b.Ranks("places", std::move(shape), axis, places,
                 [&, x = b.Input(0)](const Indices& i, const Expr& place) {
                   Indices at = i;
                   at[axis] = place;
                   return KeyOf(x(at), b.attrs().Bool("is_ascend"));
                 });
}

// Checks constraints 1 and 2: data holds numbers, and int32 can count the places of the axis.
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
  if (k >= 1) extent = k;  // Relay: all elements if k is not positive
  const std::string& ret_type = c.attrs.String("ret_type");
  KILN_CONSTRAINT(5, ret_type == "both" || ret_type == "values" || ret_type == "indices", ret_type,
                  "both, values or indices");
  std::vector<TensorType> types;
  if (ret_type != "indices") types.push_back({shape, c.inputs[0].dtype});
  if (ret_type != "values") types.push_back({shape, dtype});
  return OutputTypes(std::move(types));
}

// Defines output `values` as the first elements in order, and output `indices` as their places in
// data. -1: there is no such output.
absl::Status LowerTo(StageBuilder& b, int values, int indices) {
  const size_t axis = AxisOf(b.attrs().Int("axis"), b.input_shape(0).size());
  const int64_t count = b.output_shape(std::max(values, indices))[axis];
  const Access from = FirstPlaces(b, axis, count);
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

const AttrSchema kAxis = {"axis", AttrType::kInt, -1, false, "axis to sort along"};
const AttrSchema kAscend = {"is_ascend", AttrType::kBool, true, false,
                            "true if the smallest comes first"};

// Numbers of all kinds. kAscending has their places in ascending order, as NumPy's
// stable argsort gives them.
Tensor AllKinds(DType dtype) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return Values({{10}, dtype}, {0.0, kNan, -1, kInfinity, -0.0, 1, -kInfinity, kNan, 0.0, -1});
}
const std::vector<double> kAscending = {6, 2, 9, 0, 4, 8, 5, 3, 1, 7};
// Largest first, as in PyTorch and ONNX Runtime.
const std::vector<double> kDescending = {1, 7, 3, 5, 0, 4, 8, 2, 9, 6};

OpExample Argsort(DType dtype, bool ascending) {
  return Case({AllKinds(dtype)}, {{"is_ascend", ascending}},
              {Values(I32({10}), ascending ? kAscending : kDescending)});
}

const OpDef kSorts[] = {
    {{.name = "sort",
      .doc = "The elements along the axis in order. A NaN is above all numbers, as in NumPy: it "
             "comes last, or first if is_ascend is false. Equal elements keep their order.",
      .inputs = {{"data", "numbers of rank 1 or more"}},
      .attrs = {kAxis,
                kAscend,
                {"dtype", AttrType::kDType, "", false, "\"\" or the dtype of data"}}},
     {"data holds numbers", "axis is an axis of data with at most 2^31 - 1 positions",
      "dtype is \"\" or the dtype of data"},
     {.fusion = Fusion::kOpaque, .layout = {LayoutRule::kAxis, "axis"}},
     InferSort,
     LowerSort,
     {Case({Values(F32({2, 5}), {3, -1, 2, 3, 0, 5, 4, 3, 2, 1})}, {},
           {Values(F32({2, 5}), {-1, 0, 2, 3, 3, 1, 2, 3, 4, 5})}),
      {.inputs = {F32({37, 3})}, .attrs = {{"axis", 0}, {"is_ascend", false}}},
      {.inputs = {F16({4, 9})}}}},
    {{.name = "argsort",
      .doc = "The indices along the axis that put the elements in the order of sort.",
      .inputs = {{"data", "numbers of rank 1 or more"}},
      .attrs = {kAxis,
                kAscend,
                {"dtype", AttrType::kDType, "", false, "dtype of the result; int32 if \"\""}}},
     {"data holds numbers", "axis is an axis of data with at most 2^31 - 1 positions",
      "dtype is a number type"},
     {.fusion = Fusion::kOpaque, .layout = {LayoutRule::kAxis, "axis"}},
     InferArgsort,
     LowerArgsort,
     {Case({Values(F32({7}), {3, -1, 2, 3, 0, 3, -1})}, {},
           {Values(I32({7}), {1, 6, 4, 2, 0, 3, 5})}),
      Case({Values(I32({4}), {1, 2, 1, 2})}, {{"is_ascend", false}, {"dtype", "int64"}},
           {Values(I64({4}), {1, 3, 0, 2})}),
      Argsort(DType::Float(32), true),
      Argsort(DType::Float(32), false),
      Argsort(DType::Float(64), true),
      Argsort(DType::Float(64), false),
      Argsort(DType::Float(16), true),
      Argsort(DType::Float(16), false),
      Case({Values({{5}, DType::UInt(32)}, {1, 0xffffffff, 0, 0x80000000, 0x7fffffff})}, {},
           {Values(I32({5}), {2, 0, 4, 3, 1})}),
      Case({Values({{4}, DType::UInt(64)}, {1, 0x1p63, 0, 0x1p62})}, {{"is_ascend", false}},
           {Values(I32({4}), {1, 3, 0, 2})}),
      {.inputs = {I8({3, 20})}},
      {.inputs = {I64({2, 100})}, .attrs = {{"is_ascend", false}}}}},
    {{.name = "topk",
      .doc = "The first k elements along the axis in the order of sort, and their indices.",
      .inputs = {{"data", "numbers of rank 1 or more"}},
      .attrs = {{"k", AttrType::kInt, AttrValue::None(), false,
                 "number of elements; all if None or not positive"},
                kAxis,
                {"ret_type", AttrType::kString, "both", false, "both, values or indices"},
                {"is_ascend", AttrType::kBool, false, false, "true if the smallest comes first"},
                {"dtype", AttrType::kDType, "", false, "dtype of the indices; int32 if \"\""}},
      .num_outputs = [](const Attrs& attrs, size_t) -> absl::StatusOr<int> {
        return GivesBoth(attrs) ? 2 : 1;
      },
      .gives_tuple = GivesBoth},
     {"data holds numbers", "axis is an axis of data with at most 2^31 - 1 positions",
      "dtype is a number type", "k is at most the extent of the axis",
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
      Case({AllKinds(DType::Float(32))}, {{"k", 4}, {"ret_type", "indices"}},
           {Values(I32({4}), {1, 7, 3, 5})}),
      {.inputs = {F32({19, 2})}, .attrs = {{"k", 5}, {"axis", 0}, {"is_ascend", true}}},
      {.inputs = {F32({2, 300})}, .attrs = {{"k", 5}}},
      {.inputs = {I8({300, 2})}, .attrs = {{"k", 70}, {"axis", 0}}},
      {.inputs = {F16({1, 200})}, .attrs = {{"k", 1}, {"is_ascend", true}}}}},
};
KILN_REGISTER_OPS(kSorts);

}  // namespace
}  // namespace kiln
