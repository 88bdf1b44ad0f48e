// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/fixed_point.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

// x, wrapped to 16 bits and widened again.
Expr Wrapped(const Expr& x) { return AsI32(loop::MakeCast(kI16, x)); }

InferResult InferSignalAutoScale(const InferContext& c) {
  const TensorType& data = c.inputs[0];
  KILN_CONSTRAINT(1, data.rank() == 1 && data.dtype == kI16, data.ToString(), "an int16 vector");
  return OutputTypes({data, {{}, kI32}});
}

// Returns the largest magnitude. The magnitude of -32768 wraps to -32768.
Access Largest(StageBuilder& b, const Access& data) {
  const int64_t size = b.input_shape(0)[0];
  if (!b.attrs().Bool("restart_at_lowest")) {
    const Access largest =
        b.Reduce("largest", {}, {size}, loop::Combine::kMax, [&](const Indices&, const Indices& r) {
          const Expr x = AsI32(data(r));
          return loop::MakeCast(kI16, loop::MakeSelect(x < Expr(0), -x, x));
        });
    return [=](const Indices&) { return Max(AsI32(largest({})), loop::Const(kI32, 0)); };
  }
  const auto first = [](const Indices&) { return loop::Const(kI32, 0); };
  const auto whole = [](const Indices&) { return Indices{Expr(0)}; };
  const Access largest = b.Recurrence(
      "largest", {1}, first, {size}, whole, [&](const Indices& i, const Access& so_far) {
        const Expr x = AsI32(data(i)), before = so_far({Expr(0)});
        return loop::MakeSelect(x > before, x, loop::MakeSelect(-x > before, Wrapped(-x), before));
      });
  return [=](const Indices&) { return largest({Expr(0)}); };
}

absl::Status LowerSignalAutoScale(StageBuilder& b) {
  const Access data = b.Input(0), largest = Largest(b, data);
  // Number of bits, of 15, that the largest magnitude does not need.
  const int64_t of_none = b.attrs().Bool("restart_at_lowest") ? 0 : 15;
  const Access bits = b.Compute("bits", {1}, [&](const Indices& i) {
    const Expr magnitude = largest(i);
    return loop::MakeSelect(magnitude > Expr(0), CountLeadingZeros(magnitude) - Expr(17),
                            loop::Const(kI32, static_cast<double>(of_none)));
  });
  b.Output(0, [&](const Indices& i) {
    return loop::MakeCast(kI16, Shl(AsI32(data(i)), bits({Expr(0)})));
  });
  b.Output(1, [&](const Indices&) { return bits({Expr(0)}); });
  return absl::OkStatus();
}

OpExample ScaledExample(const std::vector<double>& data, bool restart,
                        const std::vector<double>& scaled, double bits) {
  const TensorType type = I16({static_cast<int64_t>(data.size())});
  return Case({Values(type, data)}, {{"restart_at_lowest", restart}},
              {Values(type, scaled), Values(I32({}), {bits})});
}

// The expected values come from FftAutoScale of TensorFlow Lite Micro and from its microfrontend.
const OpDef kAutoScale = {
    {.name = "signal.auto_scale",
     .doc = "data * 2^bits, and bits: the scaling before a Fourier transform in fixed point. bits "
            "is the largest number that keeps the largest magnitude in int16. -32768 does not "
            "count, as in the microfrontend of TensorFlow Lite, and data of zeros alone has 15 "
            "bits. With restart_at_lowest, the largest magnitude is a running maximum that "
            "restarts below all numbers at each -32768, as in TensorFlow Lite's Signal library. A "
            "negative number above the maximum then counts with its sign, and a maximum of 0 or "
            "less has 0 bits. Not an operator of Relay.",
     .inputs = {{"data", "a vector of int16"}},
     .attrs = {{"restart_at_lowest", AttrType::kBool, false, false,
                "true if the maximum restarts at -32768"}},
     .num_outputs = [](const Attrs&, size_t) -> absl::StatusOr<int> { return 2; }},
    {"data is a vector of int16"},
    {.fusion = Fusion::kOpaque, .layout = LayoutRule::kFixed},
    InferSignalAutoScale,
    LowerSignalAutoScale,
    {ScaledExample({3, -100, 7}, false, {768, -25600, 1792}, 8),
     ScaledExample({3, -100, 7}, true, {768, -25600, 1792}, 8),
     ScaledExample({100, -32768, 5, -3}, false, {25600, 0, 1280, -768}, 8),
     ScaledExample({100, -32768, 5, -3}, true, {16384, 0, 20480, -12288}, 12),
     ScaledExample({1, -32768}, true, {1, -32768}, 0),
     ScaledExample({0, 0}, false, {0, 0}, 15),
     ScaledExample({0, 0}, true, {0, 0}, 0),
     {.inputs = {I16({37})}, .input_min = -500, .input_max = 500}},
};
KILN_REGISTER_OP(kAutoScale);

}  // namespace
}  // namespace kiln
