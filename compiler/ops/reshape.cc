// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/limits.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/reindex.h"

namespace kiln {
namespace {

// Walks along newshape and the extents of data in parallel.
struct NewShape {
  const std::vector<int64_t>& entries;
  const Shape& data;
  bool allowzero;
  Shape result = {};
  int infer_at = -1;  // position of -1 in the result
  size_t source = 0;  // index into `data`

  absl::Status Take(int64_t* extent) {
    KILN_CONSTRAINT(2, source < data.size(), "an entry for a dimension that data has not",
                    absl::StrCat("at most ", data.size()));
    *extent = data[source++];
    return absl::OkStatus();
  }

  absl::Status SetInferred() {
    KILN_CONSTRAINT(3, infer_at < 0, "-1 twice", "-1 at most once");
    infer_at = static_cast<int>(result.size());
    result.push_back(1);
    return absl::OkStatus();
  }

  // -4, a, b: splits an extent of data into a and b. One of them may be -1.
  absl::Status Split(size_t k) {
    int64_t extent = 0;
    KILN_RETURN_IF_ERROR(Take(&extent));
    KILN_CONSTRAINT(4, k + 2 < entries.size(), "-4 near the end", "two extents behind it");
    int64_t a = entries[k + 1], b = entries[k + 2];
    if (a == -1 && b > 0) a = extent / b;
    if (b == -1 && a > 0) b = extent / a;
    int64_t product = 0;
    KILN_CONSTRAINT(
        4, a >= 0 && b >= 0 && !__builtin_mul_overflow(a, b, &product) && product == extent,
        absl::StrCat("[-4, ", entries[k + 1], ", ", entries[k + 2], "]"),
        absl::StrCat("two factors of ", extent));
    result.push_back(a);
    result.push_back(b);
    return absl::OkStatus();
  }

  absl::Status Entry(size_t* k) {
    const int64_t entry = entries[*k];
    KILN_CONSTRAINT(1, entry >= -4, absl::StrCat(entry), "an extent, or 0, -1, -2, -3, -4");
    KILN_CONSTRAINT(5, result.size() < static_cast<size_t>(kMaxRank), "more dimensions",
                    absl::StrCat("at most ", kMaxRank));
    int64_t a = 0, b = 0;
    if (entry > 0 || (entry == 0 && allowzero)) {
      if (source < data.size()) ++source;
      result.push_back(entry);
    } else if (entry == 0) {
      KILN_RETURN_IF_ERROR(Take(&a));
      result.push_back(a);
    } else if (entry == -1) {
      if (source < data.size()) ++source;
      return SetInferred();
    } else if (entry == -2) {
      while (source < data.size()) result.push_back(data[source++]);
    } else if (entry == -3) {
      KILN_RETURN_IF_ERROR(Take(&a));
      KILN_RETURN_IF_ERROR(Take(&b));
      result.push_back(a * b);
    } else {
      KILN_RETURN_IF_ERROR(Split(*k));
      *k += 2;
    }
    return absl::OkStatus();
  }
};

// Number of elements, or -1 if the type exceeds the limits.
int64_t CheckedElements(const Shape& shape, DType dtype) {
  return CheckTensorType({shape, dtype}).ok() ? NumElements(shape) : -1;
}

InferResult InferReshape(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  const std::vector<int64_t> entries = c.attrs.Ints("newshape");
  NewShape walk{entries, data.shape, c.attrs.Bool("allowzero")};
  for (size_t k = 0; k < entries.size(); ++k) KILN_RETURN_IF_ERROR(walk.Entry(&k));
  const int64_t elements = data.num_elements();
  const int64_t known = CheckedElements(walk.result, data.dtype);
  if (walk.infer_at >= 0) {
    KILN_CONSTRAINT(6, known > 0 && elements % known == 0,
                    absl::StrCat("newshape ", c.attrs.Get("newshape").ToString()),
                    absl::StrCat("known extents that divide ", elements, " elements"));
    walk.result[static_cast<size_t>(walk.infer_at)] = elements / known;
  } else {
    KILN_CONSTRAINT(6, known == elements,
                    absl::StrCat("newshape ", c.attrs.Get("newshape").ToString()),
                    absl::StrCat("one with ", elements, " elements"));
  }
  return OutputTypes({{std::move(walk.result), data.dtype}});
}

Attrs To(const std::vector<int64_t>& newshape, bool allowzero = false) {
  return {{"newshape", AttrValue::Ints(newshape)}, {"allowzero", allowzero}};
}

const OpDef kReshape = {
    {.name = "reshape",
     .doc =
         "The elements of data, in the same order, in another shape. The entries of newshape walk "
         "along the dimensions of data. An extent replaces one dimension. 0 copies one dimension, "
         "or is the extent 0 with allowzero. -1, which occurs at most once, is inferred from the "
         "number of elements. -2 copies all remaining dimensions. -3 merges two dimensions. -4 "
         "splits one dimension into the two extents that follow it, and one of these may be -1.",
     .inputs = {{"data", "any shape"}},
     .attrs = {{"newshape", AttrType::kInts, {}, true, "entries as described above"},
               {"allowzero", AttrType::kBool, false, false, "true if 0 is an extent"}}},
    {"an entry is an extent, 0, -1, -2, -3 or -4",
     "entries copy and merge dimensions that data has", "-1 occurs at most once",
     "-4 is followed by two extents with the right product", "the rank stays within the limits",
     "the number of elements stays the same"},
    {.fusion = Fusion::kInjective,
     .layout = LayoutRule::kReshape,
     .origin = Origin::kMoved,
     .view = View::kReshaped},
    InferReshape,
    LowerReindex,
    {Case({Iota(F32({2, 3}))}, To({3, -1}), {Iota(F32({3, 2}))}),
     Case({Iota(I32({2, 3, 4}))}, To({0, -3}), {Iota(I32({2, 12}))}),
     Case({Iota(I32({2, 6}))}, To({-4, 1, -1, -2}), {Iota(I32({1, 2, 6}))}),
     Case({Iota(U8({1}))}, To({}), {Iota(U8({}))}),
     {.inputs = {F32({2, 3, 4})}, .attrs = To({4, 3, 2})},
     {.inputs = {F32({2, 6, 3, 4})}, .attrs = To({2, 2, 3, 3, 4})},
     {.inputs = {F32({0, 3})}, .attrs = To({3, 0}, true)},
     {.inputs = {F16({6, 4})}, .attrs = To({2, 3, 1, 4})}},
};
KILN_REGISTER_OP(kReshape);

InferResult InferFlatten(const InferContext& c) {
  const Shape& shape = c.inputs[0].shape;
  KILN_CONSTRAINT(1, !shape.empty(), "rank 0", "rank 1 or more");
  const int64_t inner = NumElements(Shape(shape.begin() + 1, shape.end()));
  return OutputTypes({{{shape[0], inner}, c.inputs[0].dtype}});
}

const OpDef kBatchFlatten = {
    {.name = "nn.batch_flatten",
     .doc = "data with all dimensions except the first merged into one.",
     .inputs = {{"data", "any type of rank 1 or more"}}},
    {"data has rank 1 or more"},
    {.fusion = Fusion::kInjective,
     .layout = LayoutRule::kFixed,
     .origin = Origin::kMoved,
     .view = View::kReshaped},
    InferFlatten,
    LowerReindex,
    {Case({Iota(F32({2, 3, 2}))}, {}, {Iota(F32({2, 6}))}),
     {.inputs = {F32({3})}},
     {.inputs = {F32({2, 3, 4, 5})}}},
};
KILN_REGISTER_OP(kBatchFlatten);

}  // namespace
}  // namespace kiln
