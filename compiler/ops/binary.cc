// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/binary.h"

namespace kiln {
namespace {

struct Kind {
  const char* name;
  bool (*allows)(DType);
};
constexpr Kind kNumber = {"numbers", IsNumeric};
constexpr Kind kInteger = {"integers", [](DType t) { return t.is_integral(); }};
constexpr Kind kIntegerOrBool = {"integers or bool", [](DType t) { return !t.is_float(); }};
constexpr Kind kTruth = {"bool", [](DType t) { return t.is_bool(); }};
constexpr Kind kAnything = {"any elements", [](DType) { return true; }};

// Constraints: 1: one dtype; 2: `kKind` allows it; 3: the shapes broadcast.
template <const Kind& kKind>
absl::StatusOr<TensorType> BroadcastType(const InferContext& c) {
  const TensorType &x = c.inputs[0], &y = c.inputs[1];
  KILN_CONSTRAINT(1, x.dtype == y.dtype,
                  absl::StrCat(x.dtype.ToString(), " and ", y.dtype.ToString()), "one dtype");
  KILN_CONSTRAINT(2, kKind.allows(x.dtype), x.dtype.ToString(), kKind.name);
  KILN_ASSIGN_OR_RETURN(Shape shape, BroadcastShapes(x.shape, y.shape, 3));
  return TensorType{std::move(shape), x.dtype};
}

template <const Kind& kKind>
InferResult InferSameDType(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(TensorType type, BroadcastType<kKind>(c));
  return OutputTypes({std::move(type)});
}

template <const Kind& kKind>
InferResult InferComparison(const InferContext& c) {
  KILN_ASSIGN_OR_RETURN(TensorType type, BroadcastType<kKind>(c));
  type.dtype = DType::Bool();
  return OutputTypes({std::move(type)});
}

OpExample VectorCase(DType from, DType to, const std::vector<double>& x,
                     const std::vector<double>& y, const std::vector<double>& expected,
                     double tolerance) {
  const Shape shape = {static_cast<int64_t>(x.size())};
  return Case({Values({shape, from}, x), Values({shape, from}, y)}, {},
              {Values({shape, to}, expected)}, tolerance);
}

}  // namespace

constinit const BinaryDomain kNumbers = {kNumber.name, InferSameDType<kNumber>};
constinit const BinaryDomain kIntegers = {kInteger.name, InferSameDType<kInteger>};
constinit const BinaryDomain kIntegersOrBool = {kIntegerOrBool.name,
                                                InferSameDType<kIntegerOrBool>};
constinit const BinaryDomain kBool = {kTruth.name, InferSameDType<kTruth>};
constinit const BinaryDomain kNumbersToBool = {kNumber.name, InferComparison<kNumber>};
constinit const BinaryDomain kAnythingToBool = {kAnything.name, InferComparison<kAnything>};

OpDef BinaryOp(std::string name, std::string doc, const BinaryDomain& domain,
               absl::Status (*lower)(StageBuilder&), std::vector<OpExample> examples,
               Arithmetic arithmetic) {
  return {{.name = std::move(name),
           .doc = std::move(doc),
           .inputs = {{"lhs", domain.kind},
                      {"rhs", absl::StrCat(domain.kind, ", of the dtype of lhs")}}},
          {"lhs and rhs have the same dtype", absl::StrCat("they hold ", domain.kind),
           "their shapes broadcast"},
          {.fusion = Fusion::kElementwise,
           .layout = LayoutRule::kElementwise,
           .arithmetic = arithmetic},
          domain.infer,
          lower,
          std::move(examples)};
}

OpExample BinaryCase(DType dtype, const std::vector<double>& x, const std::vector<double>& y,
                     const std::vector<double>& expected, double tolerance) {
  return VectorCase(dtype, dtype, x, y, expected, tolerance);
}

OpExample CompareCase(DType dtype, const std::vector<double>& x, const std::vector<double>& y,
                      const std::vector<double>& expected) {
  return VectorCase(dtype, DType::Bool(), x, y, expected, 0);
}

}  // namespace kiln
