// SPDX-License-Identifier: Apache-2.0
// Operators that generate random numbers. A compiled model is a function of its inputs, so the
// numbers become an additional input. The application chooses the generator and the seed, or passes
// zeros.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "compiler/frontend/onnx/converter.h"
#include "compiler/frontend/onnx/formula.h"
#include "compiler/frontend/onnx/tensor_proto.h"

namespace kiln::onnx_frontend {
namespace {

// Returns the type of the noise. The shape is an attribute, or that of the input. In the latter
// case the input's dtype is the default.
absl::StatusOr<TensorType> TypeOfNoise(const Converter& c, bool is_like_input) {
  TensorType type{{}, DType::Float(32)};
  if (is_like_input) {
    KILN_ASSIGN_OR_RETURN(const ValueId like, c.Input(0));
    type = c.type(like);
  } else {
    if (!c.HasAttr("shape")) return Wrong("shape", "nothing", "the extents of the result");
    type.shape = c.Ints("shape");
  }
  if (c.HasAttr("dtype")) {
    KILN_ASSIGN_OR_RETURN(type.dtype, DTypeOf(static_cast<int>(c.Int("dtype", 0))));
  }
  if (!type.dtype.is_float()) return Wrong("dtype", type.dtype.ToString(), "a float");
  KILN_RETURN_IF_ERROR(CheckTensorType(type));
  return type;
}

// begin + extent * noise. The noise is an input of the model.
absl::Status AddNoise(Converter& c, TensorType type, const char* distribution, double begin,
                      double extent) {
  Formula f(c);
  ValueId result = c.AddNoise(std::move(type), distribution);
  if (extent != 1) result = f("multiply", {result, f.Number(extent, result)});
  if (begin != 0) result = f("add", {result, f.Number(begin, result)});
  return f.Output(0, result);
}

template <bool kIsLikeInput>
absl::Status RandomNormal(Converter& c) {
  KILN_ASSIGN_OR_RETURN(TensorType type, TypeOfNoise(c, kIsLikeInput));
  return AddNoise(c, std::move(type), "the standard normal distribution", c.Float("mean", 0),
                  c.Float("scale", 1));
}

template <bool kIsLikeInput>
absl::Status RandomUniform(Converter& c) {
  KILN_ASSIGN_OR_RETURN(TensorType type, TypeOfNoise(c, kIsLikeInput));
  const double low = c.Float("low", 0);
  return AddNoise(c, std::move(type), "the uniform distribution from 0 to 1", low,
                  c.Float("high", 1) - low);
}

constexpr OnnxOperator kNoiseRows[] = {
    {"RandomNormal", RandomNormal<false>},
    {"RandomNormalLike", RandomNormal<true>},
    {"RandomUniform", RandomUniform<false>},
    {"RandomUniformLike", RandomUniform<true>},
};

}  // namespace

absl::Span<const OnnxOperator> NoiseOperators() { return kNoiseRows; }

}  // namespace kiln::onnx_frontend
