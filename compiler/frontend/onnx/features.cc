// SPDX-License-Identifier: Apache-2.0
// Operators of the domain ai.onnx.ml that prepare features or name results.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/class_scores.h"
#include "compiler/frontend/onnx/machine_learning.h"

namespace kiln::onnx_frontend {
namespace {

// Returns an attribute with one number per feature, or one for all, as a row.
absl::StatusOr<ValueId> RowFor(Converter& c, ValueId x, absl::string_view name,
                               const std::vector<double>& values, DType dtype) {
  const int64_t features = c.type(x).shape.back(), count = static_cast<int64_t>(values.size());
  if (count != 1 && count != features) {
    return Wrong(name, absl::StrCat(count, " values"),
                 absl::StrCat(features, ", one for each feature, or 1"));
  }
  if (dtype.is_float()) return FloatConstant(c, values, {count}, dtype);
  std::vector<int64_t> integers(values.begin(), values.end());
  return c.Constant(Tensor::From<int64_t>({count}, DType::Int(64), integers));
}

// (x - offset) * scale
absl::Status Scaler(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, Samples(c));
  const DType dtype = c.type(x).dtype;
  KILN_ASSIGN_OR_RETURN(const ValueId offset, RowFor(c, x, "offset", c.Floats("offset"), dtype));
  KILN_ASSIGN_OR_RETURN(const ValueId scale, RowFor(c, x, "scale", c.Floats("scale"), dtype));
  Formula f(c);
  return f.Output(0, f("multiply", {f("subtract", {x, offset}), scale}));
}

// Divides each row by its largest element, the sum of its magnitudes or its length. Rows of zeros
// stay.
absl::Status Normalizer(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, Samples(c));
  const std::string norm = c.String("norm", "MAX");
  Formula f(c);
  ValueId size = kNoId;
  if (norm == "MAX") {
    size = f.Reduce("max", x, {1});
  } else if (norm == "L1") {
    size = f.Reduce("sum", f("abs", {x}), {1});
  } else if (norm == "L2") {
    size = f("sqrt", {f.Reduce("sum", f("multiply", {x, x}), {1})});
  } else {
    return Wrong("norm", norm, "MAX, L1 or L2");
  }
  const ValueId is_zero = f("equal", {size, f.Number(0, x)});
  return f.Output(0, f("divide", {x, f("where", {is_zero, f.Number(1, x), size})}));
}

// Replaces one value, which may be NaN, by other numbers.
absl::Status Imputer(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const DType dtype = c.type(x).dtype;
  if (c.type(x).rank() < 1) return Wrong("the data", c.type(x).ToString(), "features");
  std::vector<double> imputed = c.Floats("imputed_value_floats");
  double replaced = c.Float("replaced_value_float", 0);
  if (!dtype.is_float()) {
    const std::vector<int64_t> integers = c.Ints("imputed_value_int64s");
    imputed.assign(integers.begin(), integers.end());
    replaced = static_cast<double>(c.Int("replaced_value_int64", 0));
  }
  KILN_ASSIGN_OR_RETURN(const ValueId row, RowFor(c, x, "the imputed values", imputed, dtype));
  Formula f(c);
  const ValueId is_replaced =
      std::isnan(replaced) ? f("isnan", {x}) : f("equal", {x, f.Number(replaced, x)});
  return f.Output(0, f("where", {is_replaced, f.Cast(row, dtype), x}));
}

absl::Status Binarizer(Converter& c) {
  Formula f(c);
  const ValueId x = f.Input(0);
  const ValueId above = f("greater", {x, f.Number(c.Float("threshold", 0), x)});
  if (!f.ok()) return f.status();
  return f.Output(0, f.Cast(above, c.type(x).dtype));
}

// Concatenates the features of all inputs.
absl::Status FeatureVectorizer(Converter& c) {
  std::vector<ValueId> parts;
  Formula f(c);
  for (int i = 0; i < c.num_inputs(); ++i) {
    const ValueId x = f.Input(i);
    if (!f.ok()) return f.status();
    const Shape& shape = c.type(x).shape;
    if (shape.empty()) return Wrong("an input", c.type(x).ToString(), "(samples, features)");
    parts.push_back(
        f.Cast(f.Reshape(x, {shape[0], NumElements(shape) / std::max<int64_t>(shape[0], 1)}),
               DType::Float(32)));
  }
  if (parts.empty()) return Wrong("inputs", "none", "at least one");
  return f.Output(0, f("concatenate", parts, {{"axis", 1}}));
}

// Takes elements of the last axis at the indices in input 1.
absl::Status ArrayFeatureExtractor(Converter& c) {
  Formula f(c);
  ValueId x = f.Input(0), places = f.Input(1);
  if (!f.ok()) return f.status();
  const TensorType type = c.type(x);
  if (type.rank() < 1) return Wrong("the data", type.ToString(), "features");
  if (type.rank() == 1) x = f.Reshape(x, {1, type.shape[0]});
  places = f.Reshape(places, {c.type(places).num_elements()});
  return f.Output(0, f("take", {x, places}, {{"axis", -1}}));
}

// Returns a row for each number, with 1 at its index among the categories and 0 elsewhere.
absl::Status OneHotEncoder(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  const std::vector<int64_t> categories = c.Ints("cats_int64s");
  if (categories.empty()) {
    if (c.Strings("cats_strings").empty()) return Wrong("categories", "none", "cats_int64s");
    return absl::UnimplementedError(
        "categories that are strings; encode them as numbers before the model");
  }
  const auto count = static_cast<int64_t>(categories.size());
  Formula f(c);
  Shape shape = c.type(x).shape;
  shape.push_back(1);
  const ValueId numbers = f.Reshape(f.Cast(x, DType::Int(64)), shape);
  const ValueId row = c.Constant(Tensor::From<int64_t>({count}, DType::Int(64), categories));
  return f.Output(0, f.Cast(f("equal", {numbers, row}), DType::Float(32)));
}

// One side of the table of a LabelEncoder.
struct EncoderSide {
  std::vector<double> values;
  DType dtype;
};

absl::StatusOr<EncoderSide> SideOf(const Converter& c, const std::string& side) {
  if (c.HasAttr(side + "_tensor")) {
    KILN_ASSIGN_OR_RETURN(const Tensor tensor, c.TensorAttr(side + "_tensor"));
    EncoderSide found{{}, tensor.type().dtype};
    for (int64_t i = 0; i < tensor.type().num_elements(); ++i) {
      found.values.push_back(tensor.AsDouble(i));
    }
    return found;
  }
  if (c.HasAttr(side + "_floats")) return EncoderSide{c.Floats(side + "_floats"), DType::Float(32)};
  const std::vector<int64_t> integers = c.Ints(side + "_int64s");
  if (!integers.empty()) return EncoderSide{{integers.begin(), integers.end()}, DType::Int(64)};
  return absl::UnimplementedError(
      absl::StrCat(side,
                   " that are strings; a model computes with numbers: encode them before it, "
                   "and name its results behind it"));
}

absl::StatusOr<double> EncoderDefault(const Converter& c, DType dtype) {
  if (c.HasAttr("default_tensor")) {
    KILN_ASSIGN_OR_RETURN(const Tensor tensor, c.TensorAttr("default_tensor"));
    if (tensor.type().num_elements() == 1) return tensor.AsDouble(0);
    return Wrong("default_tensor", tensor.type().ToString(), "one number");
  }
  if (dtype.is_float()) return c.Float("default_float", -0.0);
  return static_cast<double>(c.Int("default_int64", -1));
}

// Integers are computed as int64.
DType Wide(DType dtype) { return dtype.is_float() ? dtype : DType::Int(64); }

ValueId Table(Converter& c, DType dtype, const std::vector<double>& values) {
  const Shape shape = {static_cast<int64_t>(values.size())};
  if (dtype.is_float()) return FloatConstant(c, values, shape, dtype);
  const std::vector<int64_t> integers(values.begin(), values.end());
  return c.Constant(Tensor::From<int64_t>(shape, dtype, integers));
}

// Returns the value for the key that equals the element, or a default if there is none.
absl::Status LabelEncoder(Converter& c) {
  KILN_ASSIGN_OR_RETURN(const ValueId x, c.Input(0));
  KILN_ASSIGN_OR_RETURN(EncoderSide keys, SideOf(c, "keys"));
  KILN_ASSIGN_OR_RETURN(EncoderSide values, SideOf(c, "values"));
  KILN_ASSIGN_OR_RETURN(const double otherwise, EncoderDefault(c, values.dtype));
  const DType dtype = c.type(x).dtype;
  if (keys.values.empty() || keys.values.size() != values.values.size()) {
    return Wrong("keys and values", absl::StrCat(keys.values.size(), " and ", values.values.size()),
                 "as many");
  }
  if (keys.dtype != dtype) return Wrong("the keys", keys.dtype.ToString(), dtype.ToString());
  double of_nan = otherwise;
  std::vector<size_t> order;
  for (size_t k = 0; k < keys.values.size(); ++k) {
    if (!std::isnan(keys.values[k])) {
      order.push_back(k);
    } else {
      of_nan = values.values[k];
    }
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return keys.values[a] < keys.values[b]; });
  std::vector<double> sorted_keys, sorted_values;
  for (size_t k : order) {
    sorted_keys.push_back(keys.values[k]);
    sorted_values.push_back(values.values[k]);
  }
  Formula f(c);
  const DType result = Wide(values.dtype);
  const auto number = [&](double value) { return c.Constant(Tensor::Scalar(result, value)); };
  const ValueId data = f.Cast(x, Wide(dtype));
  ValueId y = number(otherwise);
  if (!order.empty()) {
    const ValueId key_table = Table(c, Wide(dtype), sorted_keys);
    const ValueId place = f("searchsorted", {key_table, data});
    const ValueId found = f("equal", {f("take", {key_table, place}, {{"axis", 0}}), data});
    y = f("where", {found, f("take", {Table(c, result, sorted_values), place}, {{"axis", 0}}), y});
  }
  if (dtype.is_float()) y = f("where", {f("isnan", {data}), number(of_nan), y});
  return f.Output(0, f.Cast(y, values.dtype));
}

// Returns the scores as they are. The map from labels to scores is implied by the order of the
// labels.
absl::Status ZipMap(Converter& c) { return c.Output(0, c.Input(0)); }

constexpr OnnxOperator kFeaturesRows[] = {
    {"ArrayFeatureExtractor", ArrayFeatureExtractor, nullptr, kMachineLearningDomain},
    {"Binarizer", Binarizer, nullptr, kMachineLearningDomain},
    {"FeatureVectorizer", FeatureVectorizer, nullptr, kMachineLearningDomain},
    {"Imputer", Imputer, nullptr, kMachineLearningDomain},
    {"LabelEncoder", LabelEncoder, nullptr, kMachineLearningDomain},
    {"Normalizer", Normalizer, nullptr, kMachineLearningDomain},
    {"OneHotEncoder", OneHotEncoder, nullptr, kMachineLearningDomain},
    {"Scaler", Scaler, nullptr, kMachineLearningDomain},
    {"ZipMap", ZipMap, nullptr, kMachineLearningDomain},
};

}  // namespace

absl::Span<const OnnxOperator> FeatureOperators() { return kFeaturesRows; }

}  // namespace kiln::onnx_frontend
