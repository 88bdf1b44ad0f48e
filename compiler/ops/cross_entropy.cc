// SPDX-License-Identifier: Apache-2.0
// nn.cross_entropy and nn.cross_entropy_with_logits.
#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

InferResult InferCrossEntropy(const InferContext& c) {
  const TensorType &x = c.inputs[0], &y = c.inputs[1];
  KILN_CONSTRAINT(1, x.dtype.is_float() && x.dtype == y.dtype,
                  absl::StrCat(x.dtype.ToString(), " and ", y.dtype.ToString()),
                  "floats of one dtype");
  KILN_CONSTRAINT(2, x.rank() == 2 && x.shape == y.shape && x.shape[0] >= 1,
                  absl::StrCat(ShapeToString(x.shape), " and ", ShapeToString(y.shape)),
                  "one shape (n, classes), with n of 1 or more");
  return OutputTypes({{{}, x.dtype}});
}

template <bool kOfLogarithms>
absl::Status LowerCrossEntropy(StageBuilder& b) {
  const Access sum =
      b.Reduce("sum", {}, b.input_shape(0), loop::Combine::kSum,
               [&, x = b.Input(0), y = b.Input(1)](const Indices&, const Indices& r) {
                 return (kOfLogarithms ? x(r) : loop::Log(x(r))) * y(r);
               });
  b.Output(0, [&](const Indices& i) {
    const Expr total = sum(i);
    return -total / loop::Const(total.type(), static_cast<double>(b.input_shape(0)[0]));
  });
  return absl::OkStatus();
}

OpDef CrossEntropy(std::string name, std::string doc, std::string x,
                   absl::Status (*lower)(StageBuilder&), double expected) {
  return {
      {.name = std::move(name),
       .doc = std::move(doc),
       .inputs = {{"x", std::move(x)}, {"y", "floats, (n, classes): the wanted probabilities"}}},
      {"x and y hold floats of the same dtype",
       "x and y have the same shape (n, classes), with n of 1 or more"},
      {.fusion = Fusion::kReduction, .layout = LayoutRule::kFixed},
      InferCrossEntropy,
      lower,
      {Case({Values(F32({2, 2}), {0.5, 0.25, 1, 0.125}), Values(F32({2, 2}), {1, 0, 0.5, 0.5})}, {},
            {Values(F32({}), {expected})}, 1e-6),
       {.inputs = {F32({3, 9}), F32({3, 9})}, .input_min = 0.1, .input_max = 1},
       {.inputs = {F16({2, 4}), F16({2, 4})}, .input_min = 0.1, .input_max = 1}}};
}

const OpDef kCrossEntropies[] = {
    // (ln 2 + 1.5 ln 2) / 2
    CrossEntropy("nn.cross_entropy", "-sum(log(x) * y) / n.", "floats, (n, classes): probabilities",
                 LowerCrossEntropy<false>, 0.8664339756999316),
    CrossEntropy("nn.cross_entropy_with_logits", "-sum(x * y) / n.",
                 "floats, (n, classes): logarithms of probabilities", LowerCrossEntropy<true>,
                 -0.53125),
};
KILN_REGISTER_OPS(kCrossEntropies);

}  // namespace
}  // namespace kiln
