// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compiler/base/limits.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

// The dimension of the results along which input k varies.
size_t DimensionOf(const Attrs& attrs, size_t k, size_t count) {
  const bool swapped = count >= 2 && k < 2 && attrs.String("indexing") == "xy";
  return swapped ? 1 - k : k;
}

InferResult InferMeshgrid(const InferContext& c) {
  const std::string& indexing = c.attrs.String("indexing");
  KILN_CONSTRAINT(1, indexing == "ij" || indexing == "xy", absl::StrCat("indexing ", indexing),
                  "ij or xy");
  const size_t count = c.inputs.size();
  KILN_CONSTRAINT(2, count >= 1 && count <= static_cast<size_t>(kMaxRank),
                  absl::StrCat(count, " vectors"), absl::StrCat("1 to ", kMaxRank));
  Shape shape(count);
  for (size_t k = 0; k < count; ++k) {
    const TensorType& x = c.inputs[k];
    KILN_CONSTRAINT(3, x.rank() <= 1 && x.dtype == c.inputs[0].dtype, x.ToString(),
                    absl::StrCat("a vector or scalar of ", c.inputs[0].dtype.ToString()));
    shape[DimensionOf(c.attrs, k, count)] = x.num_elements();
  }
  return OutputTypes(std::vector<TensorType>(count, {shape, c.inputs[0].dtype}));
}

absl::Status LowerMeshgrid(StageBuilder& b) {
  const int count = b.num_inputs();
  for (int k = 0; k < count; ++k) {
    const size_t d = DimensionOf(b.attrs(), static_cast<size_t>(k), static_cast<size_t>(count));
    b.Output(k, [&, x = b.Input(k), is_scalar = b.input_shape(k).empty()](const Indices& i) {
      return x(is_scalar ? Indices() : Indices{i[d]});
    });
  }
  return absl::OkStatus();
}

const OpDef kMeshgrid = {
    {.name = "meshgrid",
     .doc = "A grid of vectors. Result k holds vector k along dimension k and repeats it along all "
            "others. With \"xy\", the first two dimensions are swapped.",
     .inputs = {{"data", "vectors or scalars of the same dtype"}},
     .attrs = {{"indexing", AttrType::kString, "ij", false,
                "order of the first two dimensions: ij or xy"}},
     .tuple_input = true,
     .num_outputs = [](const Attrs&, size_t num_inputs) -> absl::StatusOr<int> {
       return static_cast<int>(num_inputs);
     }},
    {"indexing is ij or xy", absl::StrCat("there are 1 to ", kMaxRank, " vectors"),
     "they are vectors or scalars of the same dtype"},
    {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed, .origin = Origin::kMoved},
    InferMeshgrid,
    LowerMeshgrid,
    {Case({Values(F32({2}), {1, 2}), Values(F32({3}), {5, 6, 7})}, {},
          {Values(F32({2, 3}), {1, 1, 1, 2, 2, 2}), Values(F32({2, 3}), {5, 6, 7, 5, 6, 7})}),
     Case({Values(I32({2}), {1, 2}), Values(I32({3}), {5, 6, 7})}, {{"indexing", "xy"}},
          {Values(I32({3, 2}), {1, 2, 1, 2, 1, 2}), Values(I32({3, 2}), {5, 5, 6, 6, 7, 7})}),
     {.inputs = {F16({3})}},
     {.inputs = {F32({2}), F32({}), F32({4})}, .attrs = {{"indexing", "xy"}}}},
};
KILN_REGISTER_OP(kMeshgrid);

}  // namespace
}  // namespace kiln
