// SPDX-License-Identifier: Apache-2.0
// Reductions over axes, and running sums.
#include <set>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/tflite/converter.h"
#include "compiler/frontend/tflite/quantized.h"
#include "compiler/frontend/tflite/quantized_elementwise.h"
#include "compiler/frontend/tflite/wide_sums.h"

namespace kiln::tflite_frontend {
namespace {

namespace schema = tflite_schema;
using tflite_schema::BuiltinOperator;

// Returns the sum of the numbers minus their zero point, in the scale of output 0.
absl::StatusOr<ValueId> QuantizedSum(Converter& c, ValueId x, const Quantization& in, bool has_axes,
                                     const Attrs& attrs) {
  KILN_ASSIGN_OR_RETURN(const Quantization out, QuantizationOfOutput(c, 0));
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  int64_t terms = 1;
  for (int64_t axis : attrs.Ints("axis")) terms *= c.type(x).shape[static_cast<size_t>(axis)];
  const bool beyond_int32 = BeyondInt32(static_cast<double>(terms) *
                                        LargestDifference(c.type(x).dtype, in.zero_points[0]));
  KILN_ASSIGN_OR_RETURN(ValueId y, CentredAs(c, {x, in}, DType::Int(beyond_int32 ? 64 : 32)));
  if (has_axes) {
    KILN_ASSIGN_OR_RETURN(y, c.Op("sum", {y}, attrs));
  }
  const double factor = static_cast<double>(in.scales[0]) / static_cast<double>(out.scales[0]);
  return RescaledSums(c, y, beyond_int32, {factor}, out.zero_points[0], dtype);
}

absl::Status Reduce(Converter& c, absl::string_view relay) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const std::vector<int64_t> given, c.IntsInput(1, "the axes"));
  std::set<int64_t> axes;  // an axis may be given twice
  for (int64_t axis : given) {
    KILN_ASSIGN_OR_RETURN(axis, NormalAxis(axis, c.type(x).rank()));
    axes.insert(axis);
  }
  const Attrs attrs = {{"axis", AttrValue::Ints({axes.begin(), axes.end()})},
                       {"keepdims", c.Options<schema::ReducerOptions>().keep_dims()}};
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, InputQuantization(c, 0));
  ValueId y = x;
  if (q.has_value() && relay == "mean") {
    KILN_ASSIGN_OR_RETURN(y, QnnUnary(c, "qnn.mean", x, attrs));
  } else if (q.has_value() && relay == "sum") {
    KILN_ASSIGN_OR_RETURN(y, QuantizedSum(c, x, *q, !axes.empty(), attrs));
  } else if (!axes.empty()) {
    KILN_ASSIGN_OR_RETURN(y, c.Op(relay, {x}, attrs));
  }
  return c.Output(0, y);
}

absl::Status ReduceAll(Converter& c) { return Reduce(c, "all"); }
absl::Status ReduceAny(Converter& c) { return Reduce(c, "any"); }
absl::Status ReduceMax(Converter& c) { return Reduce(c, "max"); }
absl::Status ReduceMean(Converter& c) { return Reduce(c, "mean"); }
absl::Status ReduceMin(Converter& c) { return Reduce(c, "min"); }
absl::Status ReduceProd(Converter& c) { return Reduce(c, "prod"); }
absl::Status ReduceSum(Converter& c) { return Reduce(c, "sum"); }

absl::Status ArgReduce(Converter& c, absl::string_view relay) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(const int64_t axis, c.IntInput(1, "the axis"));
  KILN_ASSIGN_OR_RETURN(ValueId y, c.Op(relay, {x}, {{"axis", AttrValue::Ints({axis})}}));
  KILN_ASSIGN_OR_RETURN(const DType dtype, c.OutputDType(0));
  if (dtype != c.type(y).dtype) {
    KILN_ASSIGN_OR_RETURN(y, c.Op("cast", {y}, {{"dtype", dtype.ToString()}}));
  }
  return c.Output(0, y);
}

absl::Status ArgMax(Converter& c) { return ArgReduce(c, "argmax"); }
absl::Status ArgMin(Converter& c) { return ArgReduce(c, "argmin"); }

absl::Status Cumsum(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const std::optional<Quantization> q, InputQuantization(c, 0));
  if (q.has_value()) return QuantizedCumsum(c);
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  return c.Output(0, CumulativeSum(c, x));
}

constexpr TfliteOperator kReductionRows[] = {
    {BuiltinOperator::ARG_MAX, ArgMax, nullptr, Quantised::kMoves},
    {BuiltinOperator::ARG_MIN, ArgMin, nullptr, Quantised::kMoves},
    {BuiltinOperator::CUMSUM, Cumsum, nullptr, Quantised::kComputes8},
    {BuiltinOperator::MEAN, ReduceMean, nullptr, Quantised::kComputes},
    {BuiltinOperator::REDUCE_ALL, ReduceAll},
    {BuiltinOperator::REDUCE_ANY, ReduceAny},
    {BuiltinOperator::REDUCE_MAX, ReduceMax, nullptr, Quantised::kOneScale},
    {BuiltinOperator::REDUCE_MIN, ReduceMin, nullptr, Quantised::kOneScale},
    {BuiltinOperator::REDUCE_PROD, ReduceProd},
    {BuiltinOperator::SUM, ReduceSum, nullptr, Quantised::kComputes},
};

}  // namespace

absl::StatusOr<ValueId> CumulativeSum(Converter& c, ValueId x) {
  const auto& options = c.Options<schema::CumsumOptions>();
  ValueId y = x;
  KILN_ASSIGN_OR_RETURN(const int64_t axis, c.IntInput(1, "the axis"));
  const Attrs reverse = {{"axis", AttrValue::Ints({axis})}};
  if (options.reverse()) {
    KILN_ASSIGN_OR_RETURN(y, c.Op("reverse", {y}, reverse));
  }
  KILN_ASSIGN_OR_RETURN(y,
                        c.Op("cumsum", {y}, {{"axis", axis}, {"exclusive", options.exclusive()}}));
  if (options.reverse()) {
    KILN_ASSIGN_OR_RETURN(y, c.Op("reverse", {y}, reverse));
  }
  return y;
}

absl::Span<const TfliteOperator> ReductionOperators() { return kReductionRows; }

}  // namespace kiln::tflite_frontend
