// SPDX-License-Identifier: Apache-2.0
#include "compiler/loop/math.h"
#include "compiler/ops/constraint.h"
#include "compiler/ops/example.h"
#include "compiler/ops/stage_builder.h"

namespace kiln {
namespace {

constexpr int64_t kRootBits = 32;

InferResult InferSignalSquareRoot(const InferContext& c) {
  KILN_CONSTRAINT(1, c.inputs[0].dtype == kU64, c.inputs[0].dtype.ToString(), "uint64");
  return OutputTypes({{c.inputs[0].shape, kU32}});
}

Expr Square(const Expr& root) {
  const Expr wide = loop::MakeCast(kU64, root);
  return wide * wide;
}

// Computes the root bit by bit, beginning with the highest one.
absl::Status LowerSignalSquareRoot(StageBuilder& b) {
  const Shape shape = b.input_shape(0);
  Shape steps = shape;
  steps.push_back(kRootBits);
  const auto element = [](const Indices& point) { return Indices(point.begin(), point.end() - 1); };
  const Access data = b.Input(0);
  const Access root = b.Recurrence(
      "root", shape, [](const Indices&) { return loop::IntConst(loop::Type::Of(kU32), 0); }, steps,
      element,
      [&](const Indices& point, const Access& so_far) {
        const Expr before = so_far(element(point));
        const Expr shift = loop::MakeCast(kU32, Expr(kRootBits - 1) - point.back());
        const Expr bit = Shl(loop::IntConst(shift.type(), 1), shift);
        const Expr with = loop::MakeBinary(loop::BinaryOp::kOr, before, bit);
        return loop::MakeSelect(Square(with) <= data(element(point)), with, before);
      });
  b.Output(0, [&](const Indices& i) {
    const Expr x = data(i), floor = root(i);
    const Expr is_wide = x > loop::IntConst(x.type(), UINT32_MAX);
    const Expr largest = loop::MakeSelect(is_wide, loop::IntConst(floor.type(), UINT32_MAX),
                                          loop::IntConst(floor.type(), UINT16_MAX));
    const Expr is_above = x - Square(floor) > loop::MakeCast(kU64, floor);
    return floor + loop::MakeCast(kU32, is_above && floor != largest);
  });
  return absl::OkStatus();
}

TensorType U64(Shape shape) { return {std::move(shape), kU64}; }

const OpDef kSquareRoot = {
    {.name = "signal.square_root",
     .doc = "The square root, rounded to the nearest integer. As in TensorFlow Lite Micro, it is "
            "65535 for the numbers just below 2^32, and 2^32 - 1 for the numbers just below 2^64. "
            "Not an operator of Relay.",
     .inputs = {{"data", "uint64 of any shape"}}},
    {"data is uint64"},
    {.fusion = Fusion::kOpaque, .layout = LayoutRule::kFixed},
    InferSignalSquareRoot,
    LowerSignalSquareRoot,
    {Case({Values(U64({10}), {0, 1, 2, 3, 6, 7, 4294901760, 4294967295, 4294967296, 4295032833})},
          {}, {Values(U32({10}), {0, 1, 1, 2, 2, 3, 65535, 65535, 65536, 65537})}),
     Case({Values(U64({3}), {18446744056529682432.0, 18446744065119617024.0, 1e18})}, {},
          {Values(U32({3}), {4294967294, 4294967295, 1000000000})}),
     {.inputs = {U64({3, 5})}, .input_min = 0, .input_max = 1e6}},
};
KILN_REGISTER_OP(kSquareRoot);

}  // namespace
}  // namespace kiln
