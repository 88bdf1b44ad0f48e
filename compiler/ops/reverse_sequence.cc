// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/axes.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"

namespace kiln {
namespace {

InferResult InferReverseSequence(const InferContext& c) {
  const TensorType &data = c.inputs[0], &lengths = c.inputs[1];
  KILN_CONSTRAINT(1, lengths.dtype.is_integral(), lengths.dtype.ToString(), "integers");
  KILN_ASSIGN_OR_RETURN(const int seq, NormalizeAxis(c.attrs.Int("seq_axis"), data.rank(), 2));
  KILN_ASSIGN_OR_RETURN(const int batch, NormalizeAxis(c.attrs.Int("batch_axis"), data.rank(), 2));
  KILN_CONSTRAINT(2, seq != batch, absl::StrCat("axis ", seq, " twice"), "two axes");
  const Shape wanted = {data.shape[static_cast<size_t>(batch)]};
  KILN_CONSTRAINT(3, lengths.shape == wanted, ShapeToString(lengths.shape), ShapeToString(wanted));
  return OutputTypes({data});
}

absl::Status LowerReverseSequence(StageBuilder& b) {
  const Shape& shape = b.input_shape(0);
  const size_t seq = AxisOf(b.attrs().Int("seq_axis"), shape.size()),
               batch = AxisOf(b.attrs().Int("batch_axis"), shape.size());
  b.Output(0, [&, x = b.Input(0), lengths = b.Input(1)](const Indices& i) {
    const Expr length = ClampIndex(lengths({i[batch]}), shape[seq] + 1);
    Indices at = i;
    at[seq] = loop::MakeSelect(i[seq] < length, length - Expr(1) - i[seq], i[seq]);
    at[seq] = ClampIndex(at[seq], shape[seq]);
    return x(at);
  });
  return absl::OkStatus();
}

const OpDef kReverseSequence = {
    {.name = "reverse_sequence",
     .doc = "data with the first seq_lengths[b] positions along seq_axis reversed, where b is the "
            "index along batch_axis. Later positions stay as they are.",
     .inputs = {{"data", "any type of rank 2 or more"},
                {"seq_lengths", "integers, (extent of the batch,)"}},
     .attrs = {{"seq_axis", AttrType::kInt, 1, false, "axis of the sequence"},
               {"batch_axis", AttrType::kInt, 0, false, "axis of the batch"}}},
    {"seq_lengths are integers", "seq_axis and batch_axis are two different axes of data",
     "seq_lengths has one length per index of the batch"},
    {.fusion = Fusion::kInjective, .layout = LayoutRule::kFixed, .origin = Origin::kMoved},
    InferReverseSequence,
    LowerReverseSequence,
    {Case({Values(F32({2, 3}), {1, 2, 3, 4, 5, 6}), Values(I32({2}), {2, 3})}, {},
          {Values(F32({2, 3}), {2, 1, 3, 6, 5, 4})}),
     Case({Values(I32({2, 2}), {1, 2, 3, 4}), Values(I64({2}), {2, 0})},
          {{"seq_axis", 0}, {"batch_axis", -1}}, {Values(I32({2, 2}), {3, 2, 1, 4})}),
     // Lengths beyond the ends.
     Case({Values(I32({2, 2}), {1, 2, 3, 4}), Values(I64({2}), {-9223372036854775808.0, 9})}, {},
          {Values(I32({2, 2}), {1, 2, 4, 3})})},
};
KILN_REGISTER_OP(kReverseSequence);

}  // namespace
}  // namespace kiln
