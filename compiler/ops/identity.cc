// SPDX-License-Identifier: Apache-2.0
// copy, device_copy and annotations; zeros_like and ones_like, full_like; nn.dropout at inference.
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

absl::Status LowerIdentity(StageBuilder& b) {
  b.Output(0, b.Input(0));
  return absl::OkStatus();
}

template <int kValue>
absl::Status LowerConstant(StageBuilder& b) {
  b.Output(0, [type = ComputeType(b.output_dtype(0))](const Indices&) {
    return loop::Const(type, kValue);
  });
  return absl::OkStatus();
}

InferResult InferFullLike(const InferContext& c) {
  const TensorType& fill = c.inputs[1];
  KILN_CONSTRAINT(1, fill.num_elements() == 1, fill.ToString(), "one value");
  return OutputTypes({c.inputs[0]});
}

absl::Status LowerFullLike(StageBuilder& b) {
  const Indices zero(b.input_shape(1).size(), Expr(0));
  b.Output(0, [&](const Indices&) { return b.Input(1)(zero); });
  return absl::OkStatus();
}

InferResult InferDropout(const InferContext& c) {
  KILN_CONSTRAINT(1, c.inputs[0].dtype.is_float(), c.inputs[0].dtype.ToString(), "floats");
  return OutputTypes({c.inputs[0], c.inputs[0]});
}

absl::Status LowerDropout(StageBuilder& b) {
  b.Output(0, b.Input(0));
  b.Output(
      1, [type = ComputeType(b.output_dtype(1))](const Indices&) { return loop::Const(type, 1); });
  return absl::OkStatus();
}

constexpr OpTraits kAlike = {.fusion = Fusion::kElementwise, .layout = LayoutRule::kElementwise};
constexpr OpTraits kSame = {.fusion = Fusion::kElementwise,
                            .layout = LayoutRule::kElementwise,
                            .origin = Origin::kMoved,
                            .view = View::kSame};
// An identity that remains in the graph and does not fuse.
constexpr OpTraits kBarrier = {.layout = LayoutRule::kFixed};

// The mask is all ones at inference.
absl::StatusOr<std::vector<ValueId>> WithoutDropout(Graph& graph, const Node&,
                                                    const std::vector<ValueId>& inputs) {
  return std::vector<ValueId>{inputs[0],
                              graph.AddConstant(Tensor::Filled(graph.type(inputs[0]), 1))};
}

OpDef Like(std::string name, std::string doc, absl::Status (*lower)(StageBuilder&), OpTraits traits,
           const std::vector<double>& expected) {
  return {{.name = std::move(name), .doc = std::move(doc), .inputs = {{"data", "any type"}}},
          {},
          traits,
          InferAny,
          lower,
          {Case({Values(F32({3}), {-1.5, 0, 2})}, {}, {Values(F32({3}), expected)}),
           {.inputs = {Bools({2, 3})}},
           {.inputs = {F16({2, 3})}},
           {.inputs = {I64({})}}}};
}

const OpDef kLikes[] = {
    Like("copy", "data, unchanged.", LowerIdentity, kSame, {-1.5, 0, 2}),
    Like("annotation.stop_fusion",
         "data, unchanged. Operators before and after it are never fused into one function.",
         LowerIdentity, kBarrier, {-1.5, 0, 2}),
    {{.name = "annotation.cast_hint",
      .doc = "data, unchanged.",
      .inputs = {{"data", "any type"}},
      .attrs = {{"dtype", AttrType::kDType, "", false, "dtype that a cast would give; not read"}}},
     {},
     kSame,
     InferAny,
     LowerIdentity,
     {Case({Values(F32({2}), {1, -2})}, {}, {Values(F32({2}), {1, -2})}),
      {.inputs = {F16({2, 3})}, .attrs = {{"dtype", "int8"}}}}},
    {{.name = "device_copy",
      .doc = "data, unchanged. There is only one device.",
      .inputs = {{"data", "any type"}},
      .attrs = {{"src_virtual_device", AttrType::kReference, {}, false, "not read"},
                {"dst_virtual_device", AttrType::kReference, {}, false, "not read"}}},
     {},
     kSame,
     InferAny,
     LowerIdentity,
     {Case({Values(I8({2}), {1, -2})}, {}, {Values(I8({2}), {1, -2})}), {.inputs = {F16({2, 3})}}}},
    Like("zeros_like", "Zeros of the type of data.", LowerConstant<0>, kAlike, {0, 0, 0}),
    Like("ones_like", "Ones of the type of data.", LowerConstant<1>, kAlike, {1, 1, 1}),
    {{.name = "full_like",
      .doc = "A tensor of the type of data, filled with fill_value, which is cast to its dtype.",
      .inputs = {{"data", "any type"}, {"fill_value", "one value"}}},
     {"fill_value has one element"},
     kAlike,
     InferFullLike,
     LowerFullLike,
     {Case({Values(F32({2}), {1, 2}), Values(F32({}), {7})}, {}, {Values(F32({2}), {7, 7})}),
      Case({Values(I8({2}), {1, 2}), Values(F32({1}), {-3.5})}, {}, {Values(I8({2}), {-3, -3})}),
      {.inputs = {F16({2, 3}), F16({})}}}},
    {{.name = "nn.dropout",
      .doc = "At inference, the results are data and a mask of ones. The canonical graph has no "
             "dropout.",
      .inputs = {{"data", "floats of any shape"}},
      .attrs = {{"rate", AttrType::kFloat, 0.5, false, "rate of dropout in training; not read"}},
      .num_outputs = [](const Attrs&, size_t) -> absl::StatusOr<int> { return 2; }},
     {"data holds floats"},
     {.fusion = Fusion::kOpaque, .layout = LayoutRule::kFixed, .canonical = WithoutDropout},
     InferDropout,
     LowerDropout,
     {Case({Values(F32({2}), {1, -2})}, {}, {Values(F32({2}), {1, -2}), Values(F32({2}), {1, 1})}),
      {.inputs = {F32({2, 3})}, .attrs = {{"rate", 0.25}}},
      {.inputs = {F16({4})}}}},
};
KILN_REGISTER_OPS(kLikes);

}  // namespace
}  // namespace kiln
