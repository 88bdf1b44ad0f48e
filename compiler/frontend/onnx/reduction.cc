// SPDX-License-Identifier: Apache-2.0
// Reductions over axes.
#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"

namespace kiln::onnx_frontend {
namespace {

// Returns the attributes of a Relay reduction. Absent if the node is the identity (no axes, with
// noop_with_empty_axes).
absl::StatusOr<std::optional<Attrs>> ReduceAttrs(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const std::optional<std::vector<int64_t>> axes,
                        c.IntsAttrOrInput("axes", 1));
  Attrs attrs = {{"keepdims", c.Int("keepdims", 1) != 0}};
  if (axes.has_value() && !axes->empty()) {
    attrs.Set("axis", AttrValue::Ints(*axes));
  } else if (c.Int("noop_with_empty_axes", 0) != 0) {
    return std::optional<Attrs>();
  }
  return attrs;
}

absl::StatusOr<ValueId> Reduced(Converter& c, ValueId x, absl::string_view relay) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Attrs> attrs, ReduceAttrs(c));
  if (!attrs.has_value()) return x;
  return c.Op(relay, {x}, *attrs);
}

absl::Status Reduce(Converter& c, absl::string_view relay) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, Reduced(c, x, relay));
}

// The largest or smallest element. For bools, as false is less than true, this is `any` or `all`.
absl::Status ReduceOrder(Converter& c, absl::string_view numbers, absl::string_view truth) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return Reduce(c, c.type(x).dtype.is_bool() ? truth : numbers);
}

absl::Status ReduceMax(Converter& c) { return ReduceOrder(c, "max", "any"); }
absl::Status ReduceMean(Converter& c) { return Reduce(c, "mean"); }
absl::Status ReduceMin(Converter& c) { return ReduceOrder(c, "min", "all"); }
absl::Status ReduceProd(Converter& c) { return Reduce(c, "prod"); }
absl::Status ReduceSum(Converter& c) { return Reduce(c, "sum"); }

absl::Status ReduceSumSquare(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(x, c.Op("multiply", {x, x}));
  return c.Output(0, Reduced(c, x, "sum"));
}

absl::Status ReduceL1(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(x, c.Op("abs", {x}));
  return c.Output(0, Reduced(c, x, "sum"));
}

absl::Status ReduceL2(Converter& c) {
  KILN_ASSIGN_OR_RETURN(ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(x, c.Op("multiply", {x, x}));
  KILN_ASSIGN_OR_RETURN(const ValueId y, Reduced(c, x, "sum"));
  return c.Output(0, c.Op("sqrt", {y}));
}

absl::Status ReduceLogSum(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId y, Reduced(c, x, "sum"));
  return c.Output(0, c.Op("log", {y}));
}

// log(sum(exp(x))). The largest x is subtracted first, so that exp does not overflow.
absl::Status ReduceLogSumExp(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(std::optional<Attrs> attrs, ReduceAttrs(c));
  Formula f(c);
  if (!attrs.has_value()) return f.Output(0, x);
  Attrs kept = *attrs;
  kept.Set("keepdims", true);
  ValueId most = f("max", {x}, kept);
  most = f("where", {f("isfinite", {most}), most, f.Number(0, x)});
  const ValueId sum = f("sum", {f("exp", {f("subtract", {x, most})})}, *attrs);
  if (!f.ok()) return f.status();
  return f.Output(0, f("add", {f("log", {sum}), f.Reshape(most, c.type(sum).shape)}));
}

absl::Status ArgReduce(Converter& c, absl::string_view relay) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const ValueId y,
                        c.Op(relay, {x},
                             {{"axis", AttrValue::Ints({c.Int("axis", 0)})},
                              {"keepdims", c.Int("keepdims", 1) != 0},
                              {"select_last_index", c.Int("select_last_index", 0) != 0}}));
  return c.Output(0, c.Op("cast", {y}, {{"dtype", "int64"}}));
}

absl::Status ArgMax(Converter& c) { return ArgReduce(c, "argmax"); }
absl::Status ArgMin(Converter& c) { return ArgReduce(c, "argmin"); }

// Sums or products of all elements up to each element.
absl::Status Running(Converter& c, absl::string_view relay) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const Tensor axis, c.ConstantInput(1, "axis"));
  if (axis.type().num_elements() != 1) return Wrong("axis", axis.type().ToString(), "a scalar");
  const bool backwards = c.Int("reverse", 0) != 0;
  Formula f(c);
  const auto turned = [&](ValueId v) {
    return backwards ? f("reverse", {v}, {{"axis", axis.AsInt(0)}}) : v;
  };
  const ValueId results =
      f(relay, {turned(x)}, {{"axis", axis.AsInt(0)}, {"exclusive", c.Int("exclusive", 0) != 0}});
  return f.Output(0, turned(results));
}

absl::Status CumProd(Converter& c) { return Running(c, "cumprod"); }
absl::Status CumSum(Converter& c) { return Running(c, "cumsum"); }

constexpr OnnxOperator kReductionRows[] = {
    {"ArgMax", ArgMax},
    {"ArgMin", ArgMin},
    {"CumProd", CumProd},
    {"CumSum", CumSum},
    {"ReduceL1", ReduceL1},
    Composite("ReduceL2", ReduceL2),
    Composite("ReduceLogSum", ReduceLogSum),
    Composite("ReduceLogSumExp", ReduceLogSumExp),
    {"ReduceMax", ReduceMax},
    {"ReduceMean", ReduceMean},
    {"ReduceMin", ReduceMin},
    {"ReduceProd", ReduceProd},
    {"ReduceSum", ReduceSum},
    Composite("ReduceSumSquare", ReduceSumSquare),
};

}  // namespace

absl::Span<const OnnxOperator> ReductionOperators() { return kReductionRows; }

}  // namespace kiln::onnx_frontend
