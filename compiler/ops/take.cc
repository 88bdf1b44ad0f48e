// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/math.h"
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/index_input.h"
#include "compiler/ops/reindex.h"

namespace kiln {
namespace {

InferResult InferTake(const InferContext& c) {
  const TensorType &data = c.inputs[0], &indices = c.inputs[1];
  KILN_CONSTRAINT(1, indices.dtype.is_integral(), indices.dtype.ToString(),
                  "indices that are integers");
  const std::string& mode = c.attrs.String("mode");
  KILN_CONSTRAINT(2, mode == "clip" || mode == "wrap" || mode == "fast",
                  absl::StrCat("mode ", mode), "clip, wrap or fast");
  Shape shape;
  int64_t extent = data.num_elements();
  const int64_t batch = c.attrs.Int("batch_dims");
  if (c.attrs.IsNone("axis")) {
    KILN_CONSTRAINT(4, batch == 0, absl::StrCat("batch_dims ", batch, " without an axis"), "0");
    shape = indices.shape;
  } else {
    KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 3));
    KILN_CONSTRAINT(4, batch >= -indices.rank() && batch <= indices.rank(),
                    absl::StrCat("batch_dims ", batch), absl::StrCat("at most ", indices.rank()));
    const int dims = static_cast<int>(batch < 0 ? batch + indices.rank() : batch);
    KILN_CONSTRAINT(4,
                    dims <= axis && std::equal(data.shape.begin(), data.shape.begin() + dims,
                                               indices.shape.begin()),
                    absl::StrCat("batch_dims ", batch, " of ", ShapeToString(data.shape), " and ",
                                 ShapeToString(indices.shape)),
                    "equal first dimensions, before the axis");
    shape.assign(data.shape.begin(), data.shape.begin() + axis);
    shape.insert(shape.end(), indices.shape.begin() + dims, indices.shape.end());
    shape.insert(shape.end(), data.shape.begin() + axis + 1, data.shape.end());
    extent = data.shape[static_cast<size_t>(axis)];
  }
  KILN_CONSTRAINT(5, extent >= 1 || indices.num_elements() == 0, "no elements to take from",
                  "at least one");
  return OutputTypes({{std::move(shape), data.dtype}});
}

// Brings an index of the user into the extent, as `mode` says.
Expr BoundedIndex(const Expr& index, int64_t extent, const std::string& mode) {
  if (mode != "wrap") return ClampIndex(index, extent);
  const Expr wrapped = loop::FloorMod(loop::ToIndex(index), Expr(std::max<int64_t>(extent, 1)));
  return ClampIndex(wrapped, extent);
}

absl::Status LowerTake(StageBuilder& b) {
  const Shape data_shape = b.input_shape(0);
  const size_t indices_rank = b.input_shape(1).size();
  const std::string& mode = b.attrs().String("mode");
  const Access data = b.Input(0), indices = b.Input(1);
  if (b.attrs().IsNone("axis")) {
    const int64_t elements = NumElements(data_shape);
    b.Output(0, [&](const Indices& i) {
      return data(Reindexed({BoundedIndex(indices(i), elements, mode)}, {elements}, data_shape));
    });
    return absl::OkStatus();
  }
  const size_t axis = AxisOf(b.attrs().Int("axis"), data_shape.size());
  const size_t batch = AxisOf(b.attrs().Int("batch_dims"), indices_rank),
               own = indices_rank - batch;
  b.Output(0, [&](const Indices& i) {
    const auto begin = i.begin() + static_cast<std::ptrdiff_t>(axis),
               end = begin + static_cast<std::ptrdiff_t>(own);
    Indices which(i.begin(), i.begin() + static_cast<std::ptrdiff_t>(batch));
    which.insert(which.end(), begin, end);
    Indices at(i.begin(), begin);
    at.push_back(BoundedIndex(indices(which), data_shape[axis], mode));
    at.insert(at.end(), end, i.end());
    return data(at);
  });
  return absl::OkStatus();
}

// With mode wrap, every index has a meaning.
std::optional<IndexInput> IndexOfTake(const InferContext& c) {
  if (c.attrs.String("mode") == "wrap") return std::nullopt;
  const TensorType& data = c.inputs[0];
  const int64_t extent =
      c.attrs.IsNone("axis")
          ? data.num_elements()
          : data.shape[AxisOf(c.attrs.Int("axis"), static_cast<size_t>(data.rank()))];
  return IndexInput{1, {{0, extent - 1}}};
}

const OpDef kTake = {
    {.name = "take",
     .doc =
         "Elements of data at the indices. The dimension axis of data is replaced by the "
         "dimensions of indices. With batch_dims, the first dimensions of both are shared. Indices "
         "out of range are clamped to the nearest end (clip and fast) or wrap around (wrap).",
     .inputs = {{"data", "any type"}, {"indices", "integers of any shape"}},
     .attrs = {{"batch_dims", AttrType::kInt, 0, false, "number of shared first dimensions"},
               {"axis",
                AttrType::kInt,
                {},
                false,
                "axis to take from; data is taken as a vector if None"},
               {"mode", AttrType::kString, "clip", false,
                "clip, wrap or fast; fast is the same as clip"}}},
    {"indices are integers", "mode is clip, wrap or fast", "axis is an axis of data",
     "the first batch_dims dimensions of both are equal and before the axis; batch_dims is 0 "
     "without an axis",
     "there is at least one element to take"},
    {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed, .origin = Origin::kMoved},
    InferTake,
    LowerTake,
    {Case({Values(F32({3, 2}), {1, 2, 3, 4, 5, 6}), Values(I32({2}), {2, 0})}, {{"axis", 0}},
          {Values(F32({2, 2}), {5, 6, 1, 2})}),
     Case({Values(F32({2, 2}), {1, 2, 3, 4}), Values(I64({2}), {-1, 9})},
          {{"axis", AttrValue::None()}}, {Values(F32({2}), {1, 4})}),
     Case({Values(F32({3}), {1, 2, 3}), Values(I32({3}), {-1, 3, 7})},
          {{"axis", 0}, {"mode", "wrap"}}, {Values(F32({3}), {3, 1, 2})}),
     Case({Values(I32({2, 2}), {1, 2, 3, 4}), Values(I32({2, 1}), {1, 0})},
          {{"axis", 1}, {"batch_dims", 1}}, {Values(I32({2, 1}), {2, 3})}),
     Case({Iota(F32({2, 2})), Values(I32({}), {1})}, {{"axis", -1}, {"mode", "fast"}},
          {Values(F32({2}), {1, 3})}),
     Case({Iota(F32({300})), Values(U8({2}), {255, 3})}, {{"axis", 0}},
          {Values(F32({2}), {255, 3})})},
    IndexOfTake,
};
KILN_REGISTER_OP(kTake);

}  // namespace
}  // namespace kiln
