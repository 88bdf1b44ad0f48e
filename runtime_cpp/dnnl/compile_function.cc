// SPDX-License-Identifier: Apache-2.0
// CompiledFunction::Create: computes the shape of every result, then makes a primitive for every
// layer. It adds reorders if oneDNN prefers another layout than the tensor has.
#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "runtime_cpp/dnnl/compiled_function.h"
#include "runtime_cpp/dnnl/engine.h"
#include "runtime_cpp/status/macros.h"

namespace kiln::runtime {
namespace {

using Dims = ::dnnl::memory::dims;
using Desc = ::dnnl::memory::desc;
using Format = ::dnnl::memory::format_tag;

constexpr auto kFloat = ::dnnl::memory::data_type::f32;
constexpr int64_t kMaxExtent = std::numeric_limits<int32_t>::max();
constexpr int64_t kMaxElements = int64_t{1} << 34;
constexpr size_t kAlignment = 64;

absl::Status Damaged(absl::string_view what) {
  return absl::DataLossError(absl::StrCat("the dnnl module is damaged: ", what));
}

// Checks the extents of a tensor, in the order of its layout, before they are used in computations.
absl::Status CheckShape(const Dims& shape) {
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent < 1 || extent > kMaxExtent || elements > kMaxElements / extent) {
      return Damaged(absl::StrCat("a tensor has an extent of ", extent));
    }
    elements *= extent;
  }
  return absl::OkStatus();
}

// Returns the position in `layout` of each letter of `order`.
absl::StatusOr<std::array<size_t, 4>> Positions(absl::string_view layout, absl::string_view order) {
  std::array<size_t, 4> positions = {};
  if (layout.size() != 4) return Damaged(absl::StrCat("layout '", layout, "'"));
  for (size_t i = 0; i < 4; ++i) {
    positions[i] = layout.find(order[i]);
    if (positions[i] == absl::string_view::npos) {
      return Damaged(absl::StrCat("layout '", layout, "'"));
    }
  }
  return positions;
}

Dims Strides(const Dims& shape) {
  Dims strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

// Extents and strides of a compact tensor, in oneDNN's order.
struct View {
  Dims dims, strides;

  Desc desc() const { return Desc(dims, kFloat, strides); }
};

View Permuted(const Dims& shape, const std::array<size_t, 4>& positions) {
  const Dims strides = Strides(shape);
  View view;
  for (size_t position : positions) {
    view.dims.push_back(shape[position]);
    view.strides.push_back(strides[position]);
  }
  return view;
}

// Returns a tensor (…, k) as a matrix.
View Matrix(const Dims& shape) {
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  return {.dims = {rows, shape.back()}, .strides = {shape.back(), 1}};
}

// Returns the extent of the result along one axis, or an error.
absl::StatusOr<int64_t> Slid(int64_t extent, int64_t before, int64_t behind, int64_t kernel,
                             int64_t dilation, int64_t stride) {
  for (int64_t value : {before, behind}) {
    if (value < 0 || value > kMaxExtent) return Damaged(absl::StrCat("padding ", value));
  }
  for (int64_t value : {dilation, stride}) {
    if (value < 1 || value > kMaxExtent) return Damaged(absl::StrCat("step ", value));
  }
  const int64_t room = extent + before + behind - (kernel - 1) * dilation - 1;
  if (room < 0) return Damaged("a window is larger than its data");
  return room / stride + 1;
}

}  // namespace

class FunctionCompiler {
 public:
  FunctionCompiler(const dnnl::proto::Function& function, const std::vector<TensorInfo>& inputs,
                   const std::vector<TensorInfo>& outputs, absl::Span<const NDArray> constants)
      : function_(function),
        inputs_(inputs),
        outputs_(outputs),
        constants_(constants),
        result_(new CompiledFunction) {}

  absl::StatusOr<std::unique_ptr<CompiledFunction>> Run() && {
    for (const auto* infos : {&inputs_, &outputs_}) {
      for (const TensorInfo& info : *infos)
        KILN_RETURN_IF_ERROR(CheckTensor(info.dtype, info.shape));
    }
    for (const NDArray& constant : constants_) {
      KILN_RETURN_IF_ERROR(CheckTensor(constant.dtype(), constant.shape()));
    }
    for (const dnnl::proto::Layer& layer : function_.layers()) {
      KILN_RETURN_IF_ERROR(AddLayer(layer));
    }
    KILN_RETURN_IF_ERROR(AddOutputs());
    return std::move(result_);
  }

 private:
  using Place = CompiledFunction::Place;

  // The result of a layer: its shape in the model's layout, the view of that layout for oneDNN, and
  // the buffer, whose layout oneDNN has chosen.
  struct Result {
    Dims shape;
    View view;
    size_t buffer = 0;
  };

  static absl::Status CheckTensor(DLDataType dtype, absl::Span<const int64_t> shape) {
    if (dtype.code != kDLFloat || dtype.bits != 32 || dtype.lanes != 1) {
      return Damaged("a tensor is not of float32");
    }
    return CheckShape(Dims(shape.begin(), shape.end()));
  }

  size_t AddBuffer(const Desc& desc, Place place, size_t index) {
    result_->buffers_.push_back({desc, place, index});
    return result_->buffers_.size() - 1;
  }

  size_t AddWorkspace(const Desc& desc) {
    const size_t offset = result_->workspace_bytes_;
    result_->workspace_bytes_ += (desc.get_size() + kAlignment - 1) / kAlignment * kAlignment;
    return AddBuffer(desc, Place::kWorkspace, offset);
  }

  absl::StatusOr<Dims> ShapeOf(const dnnl::proto::Value& value) const {
    switch (value.origin_case()) {
      case dnnl::proto::Value::kInput:
        if (value.input() < 0 || static_cast<size_t>(value.input()) >= inputs_.size()) break;
        return Dims(inputs_[static_cast<size_t>(value.input())].shape);
      case dnnl::proto::Value::kConstant: {
        if (value.constant() < 0 || static_cast<size_t>(value.constant()) >= constants_.size()) {
          break;
        }
        const auto shape = constants_[static_cast<size_t>(value.constant())].shape();
        return Dims(shape.begin(), shape.end());
      }
      case dnnl::proto::Value::kLayer:
        if (value.layer() < 0 || static_cast<size_t>(value.layer()) >= results_.size()) break;
        return results_[static_cast<size_t>(value.layer())].shape;
      case dnnl::proto::Value::ORIGIN_NOT_SET:
        break;
    }
    return Damaged("a layer reads a value that is not there");
  }

  // Returns a buffer with the contents of a value that has the given view, in any layout.
  size_t Source(const dnnl::proto::Value& value, const View& view) {
    if (value.origin_case() == dnnl::proto::Value::kInput) {
      return AddBuffer(view.desc(), Place::kInput, static_cast<size_t>(value.input()));
    }
    const Result& from = results_[static_cast<size_t>(value.layer())];
    if (from.view.dims == view.dims && from.view.strides == view.strides) return from.buffer;
    // A dense layer that follows a convolution has another view of the result. It reads the result
    // in the model's own layout.
    const CompiledFunction::Buffer plain =
        result_->buffers_[Reordered(from.buffer, from.view.desc())];
    return AddBuffer(view.desc(), plain.place, plain.index);
  }

  // Returns a buffer with the contents of a value in the layout `wanted`.
  size_t Read(const dnnl::proto::Value& value, const View& view, const Desc& wanted) {
    return value.origin_case() == dnnl::proto::Value::kConstant
               ? ReadConstant(static_cast<size_t>(value.constant()), view, wanted)
               : Reordered(Source(value, view), wanted);
  }

  // Returns `buffer` if it has the layout, else a copy in the workspace.
  size_t Reordered(size_t buffer, const Desc& wanted) {
    if (result_->buffers_[buffer].desc == wanted) return buffer;
    const size_t copy = AddWorkspace(wanted);
    Reorder(buffer, copy);
    return copy;
  }

  void Reorder(size_t from, size_t to) {
    const ::dnnl::reorder::primitive_desc desc(DnnlEngine(), result_->buffers_[from].desc,
                                               DnnlEngine(), result_->buffers_[to].desc);
    result_->steps_.push_back({::dnnl::reorder(desc), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}});
  }

  size_t ReadConstant(size_t index, const View& view, const Desc& wanted) {
    ::dnnl::memory source(view.desc(), DnnlEngine(), constants_[index].data());
    ::dnnl::memory target(wanted, DnnlEngine());
    ::dnnl::stream stream(DnnlEngine());
    ::dnnl::reorder(source, target).execute(stream, source, target);
    stream.wait();
    result_->constants_.push_back(target);
    return AddBuffer(wanted, Place::kConstant, result_->constants_.size() - 1);
  }

  absl::Status AddLayer(const dnnl::proto::Layer& layer) {
    if (layer.weight().origin_case() != dnnl::proto::Value::kConstant ||
        (layer.has_bias() && layer.bias().origin_case() != dnnl::proto::Value::kConstant)) {
      return Damaged("weights are not constant");
    }
    if (layer.residual().origin_case() == dnnl::proto::Value::kConstant) {
      return Damaged("a residual is constant");
    }
    switch (layer.kind_case()) {
      case dnnl::proto::Layer::kConvolution:
        return AddConvolution(layer);
      case dnnl::proto::Layer::kDense:
        return AddDense(layer);
      case dnnl::proto::Layer::KIND_NOT_SET:
        break;
    }
    return Damaged("a layer of a kind that this version does not know");
  }

  absl::Status AddConvolution(const dnnl::proto::Layer& layer) {
    const dnnl::proto::Convolution& conv = layer.convolution();
    KILN_ASSIGN_OR_RETURN(const auto data_order, Positions(conv.data_layout(), "NCHW"));
    KILN_ASSIGN_OR_RETURN(const auto kernel_order, Positions(conv.kernel_layout(), "OIHW"));
    KILN_ASSIGN_OR_RETURN(const Dims data_shape, ShapeOf(layer.data()));
    KILN_ASSIGN_OR_RETURN(const Dims weight_shape, ShapeOf(layer.weight()));
    if (data_shape.size() != 4 || weight_shape.size() != 4 || conv.strides_size() != 2 ||
        conv.padding_size() != 4 || conv.dilation_size() != 2) {
      return Damaged("a convolution is not of two dimensions");
    }
    const View data = Permuted(data_shape, data_order);
    View weight = Permuted(weight_shape, kernel_order);
    const int64_t groups = conv.groups(), channels = weight.dims[0];
    if (groups < 1 || channels % groups != 0 || data.dims[1] % groups != 0 ||
        data.dims[1] / groups != weight.dims[1]) {
      return Damaged("the channels of a convolution do not fit");
    }
    Dims dims = {data.dims[0], channels, 0, 0}, shape(4);
    for (int axis = 0; axis < 2; ++axis) {
      const size_t at = static_cast<size_t>(axis) + 2;
      KILN_ASSIGN_OR_RETURN(
          dims[at], Slid(data.dims[at], conv.padding(axis), conv.padding(axis + 2), weight.dims[at],
                         conv.dilation(axis), conv.strides(axis)));
    }
    for (size_t i = 0; i < 4; ++i) shape[data_order[i]] = dims[i];
    KILN_RETURN_IF_ERROR(CheckShape(shape));
    if (groups > 1) {
      weight.dims[0] /= groups;
      weight.dims.insert(weight.dims.begin(), groups);
      weight.strides.insert(weight.strides.begin(), weight.strides[0] * weight.dims[1]);
    }
    const Result result{.shape = shape, .view = Permuted(shape, data_order)};
    const ::dnnl::convolution_forward::desc desc(
        ::dnnl::prop_kind::forward_inference, ::dnnl::algorithm::convolution_auto,
        Desc(data.dims, kFloat, Format::any), Desc(weight.dims, kFloat, Format::any),
        layer.has_bias() ? Desc({channels}, kFloat, Format::a) : Desc(),
        Desc(dims, kFloat, Format::any), {conv.strides(0), conv.strides(1)},
        {conv.dilation(0) - 1, conv.dilation(1) - 1}, {conv.padding(0), conv.padding(1)},
        {conv.padding(2), conv.padding(3)});
    const ::dnnl::convolution_forward::primitive_desc chosen(desc, Attributes(layer), DnnlEngine());
    return Add(layer, data, weight, result, chosen, ::dnnl::convolution_forward(chosen));
  }

  absl::Status AddDense(const dnnl::proto::Layer& layer) {
    KILN_ASSIGN_OR_RETURN(const Dims data_shape, ShapeOf(layer.data()));
    KILN_ASSIGN_OR_RETURN(const Dims weight_shape, ShapeOf(layer.weight()));
    if (data_shape.empty() || weight_shape.size() != 2 || data_shape.back() != weight_shape[1]) {
      return Damaged("the shapes of a dense layer do not fit");
    }
    Dims shape = data_shape;
    shape.back() = weight_shape[0];
    KILN_RETURN_IF_ERROR(CheckShape(shape));
    const View data = Matrix(data_shape), weight = Matrix(weight_shape);
    const Result result{.shape = shape, .view = Matrix(shape)};
    const ::dnnl::inner_product_forward::desc desc(
        ::dnnl::prop_kind::forward_inference, Desc(data.dims, kFloat, Format::any),
        Desc(weight.dims, kFloat, Format::any),
        layer.has_bias() ? Desc({weight_shape[0]}, kFloat, Format::a) : Desc(),
        Desc(result.view.dims, kFloat, Format::any));
    const ::dnnl::inner_product_forward::primitive_desc chosen(desc, Attributes(layer),
                                                               DnnlEngine());
    return Add(layer, data, weight, result, chosen, ::dnnl::inner_product_forward(chosen));
  }

  // The sum adds to the memory of the result, so the residual is copied there first.
  static ::dnnl::primitive_attr Attributes(const dnnl::proto::Layer& layer) {
    ::dnnl::post_ops behind;
    if (layer.has_residual()) behind.append_sum(1);
    if (layer.relu()) behind.append_eltwise(1, ::dnnl::algorithm::eltwise_relu, 0, 0);
    ::dnnl::primitive_attr attributes;
    attributes.set_post_ops(behind);
    attributes.set_scratchpad_mode(::dnnl::scratchpad_mode::user);
    return attributes;
  }

  template <typename PrimitiveDesc>
  absl::Status Add(const dnnl::proto::Layer& layer, const View& data, const View& weight,
                   Result result, const PrimitiveDesc& chosen, ::dnnl::primitive primitive) {
    CompiledFunction::Step step{std::move(primitive), {}};
    step.arguments = {{DNNL_ARG_SRC, Read(layer.data(), data, chosen.src_desc())},
                      {DNNL_ARG_WEIGHTS, Read(layer.weight(), weight, chosen.weights_desc())}};
    if (layer.has_bias()) {
      KILN_ASSIGN_OR_RETURN(const Dims shape, ShapeOf(layer.bias()));
      const int64_t channels = result.view.dims[1];
      const bool fits = absl::c_count(shape, 1) + (channels > 1 ? 1 : 0) ==
                            static_cast<std::ptrdiff_t>(shape.size()) &&
                        (channels == 1 || absl::c_linear_search(shape, channels));
      if (!fits) return Damaged("a bias does not have one value per channel");
      const View bias{.dims = {channels}, .strides = {1}};
      step.arguments.emplace_back(DNNL_ARG_BIAS, Read(layer.bias(), bias, bias.desc()));
    }
    result.buffer = AddResult(result, chosen.dst_desc());
    if (layer.has_residual()) {
      KILN_ASSIGN_OR_RETURN(const Dims shape, ShapeOf(layer.residual()));
      if (shape != result.shape) return Damaged("a residual has another shape than the result");
      Reorder(Source(layer.residual(), result.view), result.buffer);
    }
    step.arguments.emplace_back(DNNL_ARG_DST, result.buffer);
    if (const Desc scratch = chosen.scratchpad_desc(); scratch.get_size() > 0) {
      result_->scratch_bytes_ = std::max(result_->scratch_bytes_, scratch.get_size());
      step.arguments.emplace_back(DNNL_ARG_SCRATCHPAD, AddBuffer(scratch, Place::kScratch, 0));
    }
    result_->steps_.push_back(std::move(step));
    results_.push_back(std::move(result));
    return absl::OkStatus();
  }

  // Adds the buffer for the result of the next layer. If the layout allows it, the buffer is that
  // of an output.
  size_t AddResult(const Result& result, const Desc& desc) {
    const auto& outputs = function_.outputs();
    const auto output = absl::c_find(outputs, static_cast<int32_t>(results_.size()));
    if (output == outputs.end() || desc != result.view.desc()) return AddWorkspace(desc);
    return AddBuffer(desc, Place::kOutput, static_cast<size_t>(output - outputs.begin()));
  }

  absl::Status AddOutputs() {
    if (static_cast<size_t>(function_.outputs_size()) != outputs_.size()) {
      return Damaged(absl::StrCat("it has ", function_.outputs_size(),
                                  " outputs, the metadata says ", outputs_.size()));
    }
    for (int i = 0; i < function_.outputs_size(); ++i) {
      dnnl::proto::Value value;
      value.set_layer(function_.outputs(i));
      KILN_ASSIGN_OR_RETURN(const Dims shape, ShapeOf(value));
      if (shape != Dims(outputs_[static_cast<size_t>(i)].shape)) {
        return Damaged(absl::StrCat("output ", i, " has another shape in the metadata"));
      }
      const Result& result = results_[static_cast<size_t>(function_.outputs(i))];
      const CompiledFunction::Buffer& buffer = result_->buffers_[result.buffer];
      if (buffer.place == Place::kOutput && buffer.index == static_cast<size_t>(i)) continue;
      Reorder(result.buffer, AddBuffer(result.view.desc(), Place::kOutput, static_cast<size_t>(i)));
    }
    return absl::OkStatus();
  }

  const dnnl::proto::Function& function_;
  const std::vector<TensorInfo>& inputs_;
  const std::vector<TensorInfo>& outputs_;
  const absl::Span<const NDArray> constants_;
  std::unique_ptr<CompiledFunction> result_;
  std::vector<Result> results_;  // By layer.
};

absl::StatusOr<std::unique_ptr<CompiledFunction>> CompiledFunction::Create(
    const dnnl::proto::Function& function, const std::vector<TensorInfo>& inputs,
    const std::vector<TensorInfo>& outputs, absl::Span<const NDArray> constants) {
  absl::StatusOr<std::unique_ptr<CompiledFunction>> result = absl::UnknownError("");
  const absl::Status status = CatchDnnl([&] {
    result = FunctionCompiler(function, inputs, outputs, constants).Run();
    return result.status();
  });
  if (!status.ok()) return status;
  return result;
}

}  // namespace kiln::runtime
