// SPDX-License-Identifier: Apache-2.0
#include "tools/judge/comparison.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <utility>

namespace kiln::tools {
namespace {

// Relative slack for rounding errors in differences of real numbers that are multiples of a scale.
constexpr double kQuantaRounding = 1e-3;
constexpr uint64_t kMostUlp = std::numeric_limits<int64_t>::max();

constexpr int kLeastLayoutRank = 3, kMostLayoutRank = 5;

Shape WithoutOnes(Shape shape) {
  std::erase(shape, 1);
  return shape;
}

Tensor Transposed(const Tensor& tensor, const std::vector<size_t>& axes) {
  const Shape& from = tensor.type().shape;
  const Shape strides = RowMajorStrides(from);
  Shape to;
  for (const size_t axis : axes) to.push_back(from[axis]);
  const TensorType type = {to, tensor.type().dtype};
  const auto element_bytes = static_cast<size_t>(type.dtype.bytes());
  const Shape to_strides = RowMajorStrides(to);
  std::string bytes;
  bytes.reserve(tensor.bytes().size());
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    int64_t at = 0;
    for (size_t k = 0; k < axes.size(); ++k) at += i / to_strides[k] % to[k] * strides[axes[k]];
    bytes.append(tensor.bytes(), static_cast<size_t>(at) * element_bytes, element_bytes);
  }
  return Tensor(type, std::move(bytes));
}

// Returns axes that move the channels from the last place to the second, or back.
std::vector<size_t> MoveChannels(size_t rank, bool to_front) {
  std::vector<size_t> axes = {0};
  if (to_front) axes.push_back(rank - 1);
  for (size_t i = to_front ? 1 : 2; i < (to_front ? rank - 1 : rank); ++i) axes.push_back(i);
  if (!to_front) axes.push_back(1);
  return axes;
}

std::string LayoutName(size_t rank, bool channels_last) {
  const std::string space = std::string("DHW").substr(kMostLayoutRank - rank);
  return channels_last ? "N" + space + "C" : "NC" + space;
}

// Transposes or reshapes the reference to the shape of the tensor. False if that is not possible.
bool MatchLayout(const Shape& wanted, Tensor& reference, std::string& layout) {
  const Shape& shape = reference.type().shape;
  if (shape == wanted || WithoutOnes(shape) == WithoutOnes(wanted)) return true;
  const size_t rank = shape.size();
  if (rank != wanted.size() || rank < kLeastLayoutRank || rank > kMostLayoutRank) return false;
  for (const bool to_front : {true, false}) {
    const std::vector<size_t> axes = MoveChannels(rank, to_front);
    const bool fits =
        std::equal(axes.begin(), axes.end(), wanted.begin(),
                   [&](size_t axis, int64_t extent) { return shape[axis] == extent; });
    if (!fits) continue;
    reference = Transposed(reference, axes);
    layout = LayoutName(rank, to_front) + " to " + LayoutName(rank, !to_front);
    return true;
  }
  return false;
}

ComparedTensor CompareOne(const NamedTensor& tensor, const NamedTensor& reference,
                          const ErrorTolerance& tolerance) {
  ComparedTensor compared{.name = tensor.name,
                          .layer = tensor.layer,
                          .type = tensor.tensor.type(),
                          .reference_type = reference.tensor.type()};
  if (reference.name != tensor.name) compared.reference_name = reference.name;
  Tensor found = tensor.tensor, wanted = reference.tensor;
  if (!MatchLayout(found.type().shape, wanted, compared.layout)) {
    compared.off = true;
    return compared;
  }
  if (tensor.scale.has_value()) found = Dequantize(found, *tensor.scale);
  if (reference.scale.has_value()) wanted = Dequantize(wanted, *reference.scale);
  const std::optional<TensorScale>& scale =
      tensor.scale.has_value() ? tensor.scale : reference.scale;
  compared.error = MeasureError(found, wanted, scale ? std::optional(scale->scale) : std::nullopt);
  compared.off = IsOff(*compared.error, tolerance);
  return compared;
}

// The tensors of a reference, keyed by their names and by the names of the real tensors that they
// represent.
class Index {
 public:
  explicit Index(const std::vector<NamedTensor>& tensors) {
    for (const NamedTensor& tensor : tensors) by_name_.emplace(tensor.name, &tensor);
    for (const NamedTensor& tensor : tensors) {
      if (tensor.scale.has_value() && !tensor.scale->real_name.empty()) {
        by_name_.emplace(tensor.scale->real_name, &tensor);
      }
    }
  }

  const NamedTensor* Find(const NamedTensor& tensor) const {
    auto it = by_name_.find(tensor.name);
    if (it == by_name_.end() && tensor.scale.has_value()) {
      it = by_name_.find(tensor.scale->real_name);
    }
    return it == by_name_.end() ? nullptr : it->second;
  }

 private:
  std::map<std::string, const NamedTensor*> by_name_;
};

}  // namespace

TensorError MeasureError(const Tensor& found, const Tensor& wanted, std::optional<double> scale) {
  TensorError error;
  error.Add(found, wanted, {});
  const DType dtype = found.type().dtype;
  if (scale.has_value()) {
    error.quanta = error.largest / *scale;
  } else if (dtype.is_float() && dtype == wanted.type().dtype) {
    error.ulp = static_cast<int64_t>(std::min(error.finite_steps, kMostUlp));
  }
  return error;
}

bool IsOff(const TensorError& error, const ErrorTolerance& tolerance) {
  if (error.not_finite > 0) return true;
  if (tolerance.cosine.has_value()) return error.Cosine() < *tolerance.cosine;
  if (error.quanta.has_value()) return *error.quanta > tolerance.quanta + kQuantaRounding;
  return error.largest > tolerance.absolute + tolerance.relative * error.largest_wanted;
}

const ComparedTensor* TensorComparison::first_off() const {
  const auto it = std::find_if(tensors.begin(), tensors.end(),
                               [](const ComparedTensor& tensor) { return tensor.off; });
  return it == tensors.end() ? nullptr : &*it;
}

TensorComparison CompareTensors(const std::vector<NamedTensor>& tensors,
                                const std::vector<NamedTensor>& reference,
                                const ErrorTolerance& tolerance) {
  const Index index(reference);
  TensorComparison comparison{.tolerance = tolerance};
  for (const NamedTensor& tensor : tensors) {
    const NamedTensor* const other = index.Find(tensor);
    if (other == nullptr) {
      comparison.missing.push_back(tensor.name);
    } else {
      comparison.tensors.push_back(CompareOne(tensor, *other, tolerance));
    }
  }
  return comparison;
}

}  // namespace kiln::tools
