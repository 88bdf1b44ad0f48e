// SPDX-License-Identifier: Apache-2.0
// scatter_elements, scatter, scatter_add and scatter_nd: data with some elements replaced by
// updates or combined with them, one update after the other.
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/index_input.h"

namespace kiln {
namespace {

constexpr const char* kModes = "update, add, mul, min or max";

absl::Status CheckMode(const std::string& mode, DType dtype, int constraint) {
  const bool known =
      mode == "update" || mode == "add" || mode == "mul" || mode == "min" || mode == "max";
  KILN_CONSTRAINT(constraint, known, mode, kModes);
  KILN_CONSTRAINT(constraint, mode == "update" || IsNumeric(dtype),
                  absl::StrCat(mode, " of ", dtype.ToString()), "numbers");
  return absl::OkStatus();
}

Expr Combined(const std::string& mode, const Expr& old, const Expr& value) {
  if (mode == "add") return old + value;
  if (mode == "mul") return old * value;
  if (mode == "min") return loop::Minimum(old, value);
  if (mode == "max") return loop::Maximum(old, value);
  return value;
}

// Copies data, then applies the updates in order: the update at index i goes to `index(i)`.
void Scatter(StageBuilder& b, const std::string& mode,
             const std::function<Indices(const Indices&)>& index) {
  b.Output(0, b.Input(0));
  if (NumElements(b.input_shape(2)) == 0) return;
  b.Update(0, b.input_shape(2), index,
           [&, updates = b.Input(2)](const Indices& i, const Expr& old) {
             return Combined(mode, old, updates(i));
           });
}

InferResult InferElements(const InferContext& c) {
  const TensorType &data = c.inputs[0], &indices = c.inputs[1], &updates = c.inputs[2];
  KILN_CONSTRAINT(1, indices.dtype.is_integral() && updates.dtype == data.dtype,
                  absl::StrCat(indices.dtype.ToString(), " and ", updates.dtype.ToString()),
                  "indices that are integers, and updates of data's dtype");
  KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 2));
  KILN_CONSTRAINT(3, indices.shape == updates.shape && data.rank() == indices.rank(),
                  absl::StrCat(ShapeToString(indices.shape), " and ", ShapeToString(updates.shape)),
                  "one shape, of data's rank");
  for (size_t d = 0; d < data.shape.size(); ++d) {
    const bool fits = static_cast<int>(d) == axis ? data.shape[d] >= 1 || updates.shape[d] == 0
                                                  : updates.shape[d] <= data.shape[d];
    KILN_CONSTRAINT(3, fits || updates.num_elements() == 0,
                    absl::StrCat(ShapeToString(updates.shape), " of ", ShapeToString(data.shape)),
                    "updates no larger than data but along the axis");
  }
  const bool has_mode = c.attrs.Has("reduction");
  KILN_RETURN_IF_ERROR(CheckMode(has_mode ? c.attrs.String("reduction") : "update", data.dtype, 4));
  return OutputTypes({data});
}

InferResult InferScatterAdd(const InferContext& c) {
  KILN_CONSTRAINT(4, IsNumeric(c.inputs[0].dtype), c.inputs[0].dtype.ToString(), "numbers");
  return InferElements(c);
}

absl::Status LowerAlongAxis(StageBuilder& b, const std::string& mode) {
  const size_t axis = AxisOf(b.attrs().Int("axis"), b.input_shape(0).size());
  const int64_t extent = b.input_shape(0)[axis];
  Scatter(b, mode, [&, indices = b.Input(1)](const Indices& i) {
    Indices at = i;
    at[axis] = IndexFromEnds(indices(i), extent);
    return at;
  });
  return absl::OkStatus();
}

absl::Status LowerElements(StageBuilder& b) {
  return LowerAlongAxis(b, b.attrs().String("reduction"));
}
absl::Status LowerScatter(StageBuilder& b) { return LowerAlongAxis(b, "update"); }
absl::Status LowerScatterAdd(StageBuilder& b) { return LowerAlongAxis(b, "add"); }

InferResult InferNd(const InferContext& c) {
  const TensorType &data = c.inputs[0], &indices = c.inputs[1], &updates = c.inputs[2];
  KILN_CONSTRAINT(1, indices.dtype.is_integral() && updates.dtype == data.dtype,
                  absl::StrCat(indices.dtype.ToString(), " and ", updates.dtype.ToString()),
                  "indices that are integers, and updates of data's dtype");
  KILN_CONSTRAINT(2, indices.rank() >= 1 && indices.shape[0] <= data.rank(),
                  absl::StrCat("indices of shape ", ShapeToString(indices.shape)),
                  absl::StrCat("at most ", data.rank(), " per place"));
  Shape wanted(indices.shape.begin() + 1, indices.shape.end());
  if (c.attrs.Int("axis") == 0) {
    wanted.insert(wanted.end(), data.shape.begin() + indices.shape[0], data.shape.end());
  } else {
    KILN_ASSIGN_OR_RETURN(const int axis, NormalizeAxis(c.attrs.Int("axis"), data.rank(), 5));
    KILN_CONSTRAINT(5, indices.rank() == 2 && indices.shape[0] == 1,
                    absl::StrCat("indices of shape ", ShapeToString(indices.shape)),
                    "one index per place, and a list of places");
    wanted = data.shape;
    wanted[static_cast<size_t>(axis)] = indices.shape[1];
  }
  KILN_CONSTRAINT(3, updates.shape == wanted, ShapeToString(updates.shape), ShapeToString(wanted));
  KILN_CONSTRAINT(3, data.num_elements() >= 1 || updates.num_elements() == 0,
                  "no elements to update", "at least one");
  KILN_RETURN_IF_ERROR(CheckMode(c.attrs.String("mode"), data.dtype, 4));
  return OutputTypes({data});
}

absl::Status LowerNd(StageBuilder& b) {
  const Shape &data = b.input_shape(0), &indices = b.input_shape(1);
  if (b.attrs().Int("axis") != 0) {
    const size_t axis = AxisOf(b.attrs().Int("axis"), data.size());
    Scatter(b, b.attrs().String("mode"), [&, read = b.Input(1)](const Indices& i) {
      Indices at = i;
      at[axis] = IndexFromEnds(read({Expr(0), i[axis]}), data[axis]);
      return at;
    });
    return absl::OkStatus();
  }
  const auto depth = static_cast<size_t>(indices[0]);
  Scatter(b, b.attrs().String("mode"), [&, read = b.Input(1)](const Indices& i) {
    const auto own = i.begin() + static_cast<std::ptrdiff_t>(indices.size() - 1);
    Indices at;
    for (size_t d = 0; d < depth; ++d) {
      Indices which = {Expr(static_cast<int64_t>(d))};
      which.insert(which.end(), i.begin(), own);
      at.push_back(IndexFromEnds(read(which), data[d]));
    }
    at.insert(at.end(), own, i.end());
    return at;
  });
  return absl::OkStatus();
}

std::optional<IndexInput> IndexAlongAxis(const InferContext& c) {
  const Shape& data = c.inputs[0].shape;
  return IndexInput{1, {FromEnds(data[AxisOf(c.attrs.Int("axis"), data.size())])}};
}

std::optional<IndexInput> IndexOfNd(const InferContext& c) {
  if (c.attrs.Int("axis") != 0) return IndexAlongAxis(c);
  return PlacesOf(c.inputs[0].shape, 0, 1, c.inputs[1]);
}

// scatter_elements under the names that older models use.
OpDef Alias(std::string name, std::string reduction, InferResult (*infer)(const InferContext&),
            absl::Status (*lower)(StageBuilder&), const std::vector<double>& expected) {
  return {
      {.name = std::move(name),
       .doc = absl::StrCat("scatter_elements with the reduction ", reduction, "."),
       .inputs = {{"data", "any type; numbers if updates are added"},
                  {"indices", "integers, with as many dimensions as data"},
                  {"updates", "a tensor of the dtype of data and the shape of indices"}},
       .attrs = {{"axis", AttrType::kInt, 0, false, "axis of data that the indices count along"}}},
      {"indices are integers, and updates have the dtype of data", "axis is an axis of data",
       "indices and updates have the same shape, with the rank of data, and are no larger than "
       "data except along the axis",
       "added elements are numbers"},
      {.fusion = Fusion::kOpaque, .layout = LayoutRule::kFixed, .updates = 0},
      infer,
      lower,
      {Case({Values(F32({1, 3}), {1, 2, 3}), Values(I32({1, 3}), {2, -3, 2}),
             Values(F32({1, 3}), {10, 20, 30})},
            {{"axis", 1}}, {Values(F32({1, 3}), expected)}),
       {.inputs = {I32({4}), I64({2}), I32({2})}, .input_min = 0, .input_max = 0.7}},
      IndexAlongAxis};
}

const OpDef kScatter[] = {
    Alias("scatter", "update", InferElements, LowerScatter, {20, 2, 30}),
    Alias("scatter_add", "add", InferScatterAdd, LowerScatterAdd, {21, 2, 43}),
    {{.name = "scatter_elements",
      .doc = "data with elements replaced by updates or combined with them. updates[i, …, k] goes "
             "to the element at i, …, k with the index along the axis replaced by indices[i, …, "
             "k]. Updates follow row-major order, so that the last of several updates of an "
             "element stays. Negative indices count from the end, and indices out of range are "
             "clamped to the nearest end.",
      .inputs = {{"data", "any type"},
                 {"indices", "integers, with as many dimensions as data"},
                 {"updates", "a tensor of the dtype of data and the shape of indices"}},
      .attrs = {{"axis", AttrType::kInt, 0, false, "axis of data that the indices count along"},
                {"reduction", AttrType::kString, "update", false, kModes}}},
     {"indices are integers, and updates have the dtype of data", "axis is an axis of data",
      "indices and updates have the same shape, with the rank of data, and are no larger than data "
      "except along the axis",
      "reduction is update, add, mul, min or max, and all but update require numbers"},
     {.fusion = Fusion::kOpaque, .layout = LayoutRule::kFixed, .updates = 0},
     InferElements,
     LowerElements,
     {Case({Values(F32({3, 3}), {0, 0, 0, 0, 0, 0, 0, 0, 0}),
            Values(I64({2, 3}), {1, 0, 2, 0, 2, 1}), Values(F32({2, 3}), {1, 2, 3, 4, 5, 6})},
           {{"axis", 0}}, {Values(F32({3, 3}), {4, 2, 0, 1, 0, 6, 0, 5, 3})}),
      Case({Values(F32({1, 5}), {1, 2, 3, 4, 5}), Values(I32({1, 2}), {1, -4}),
            Values(F32({1, 2}), {1.5, 2})},
           {{"axis", 1}, {"reduction", "add"}}, {Values(F32({1, 5}), {1, 5.5, 3, 4, 5})}),
      Case({Values(F16({3}), {1, 2, 3}), Values(U8({4}), {2, 0, 9, 2}),
            Values(F16({4}), {7, 0, 4, 5})},
           {{"reduction", "max"}}, {Values(F16({3}), {1, 2, 7})}),
      Case({Values(I32({2}), {2, 3}), Values(I32({1}), {0}), Values(I32({1}), {5})},
           {{"reduction", "mul"}}, {Values(I32({2}), {10, 3})})},
     IndexAlongAxis},
    {{.name = "scatter_nd",
      .doc = "data with parts replaced by updates or combined with them, in row-major order. "
             "updates[i, …] goes to the part at [indices[0, i], indices[1, i], …]. With an axis "
             "other than 0, the part of updates at index i along the axis goes to the part of data "
             "at index indices[0, i]. Negative indices count from the end, and indices out of "
             "range are clamped to the nearest end.",
      .inputs = {{"data", "any type"},
                 {"indices", "integers, (indices per position, positions…)"},
                 {"updates",
                  "a tensor of the dtype of data, (positions…, rest of data…), or of the shape of "
                  "data with one index along the axis per position"}},
      .attrs = {{"mode", AttrType::kString, {}, true, kModes},
                {"axis", AttrType::kInt, 0, false, "axis of data that the indices count along"}}},
     {"indices are integers, and updates have the dtype of data",
      "there are no more indices per position than dimensions of data",
      "updates have the dimensions of the positions and the other dimensions of data",
      "mode is update, add, mul, min or max, and all but update require numbers",
      "axis is an axis of data; if it is not 0, indices have the shape (1, positions)"},
     {.fusion = Fusion::kOpaque, .layout = LayoutRule::kFixed, .updates = 0},
     InferNd,
     LowerNd,
     {Case({Values(F32({4}), {1, 2, 3, 4}), Values(I32({1, 2}), {3, 1}), Values(F32({2}), {9, 8})},
           {{"mode", "update"}}, {Values(F32({4}), {1, 8, 3, 9})}),
      Case({Values(I32({2, 2}), {1, 2, 3, 4}), Values(I64({1, 2}), {1, -1}),
            Values(I32({2, 2}), {10, 20, 30, 40})},
           {{"mode", "add"}}, {Values(I32({2, 2}), {1, 2, 43, 64})}),
      Case({Values(F32({2, 3}), {1, 2, 3, 4, 5, 6}), Values(I64({1, 2}), {2, -3}),
            Values(F32({2, 2}), {7, 8, 9, 10})},
           {{"mode", "update"}, {"axis", 1}}, {Values(F32({2, 3}), {8, 2, 7, 10, 5, 9})}),
      {.inputs = {F32({2, 5, 3}), I32({1, 4}), F32({2, 4, 3})},
       .attrs = {{"mode", "add"}, {"axis", -2}},
       .input_min = 0,
       .input_max = 0.2},
      {.inputs = {F32({2, 3}), I32({2, 4}), F32({4})},
       .attrs = {{"mode", "min"}},
       .input_min = 0,
       .input_max = 0.2}},
     IndexOfNd},
};
KILN_REGISTER_OPS(kScatter);

}  // namespace
}  // namespace kiln
