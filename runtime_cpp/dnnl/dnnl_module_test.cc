// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/dnnl/dnnl_module.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/ndarray.h"

namespace kiln::runtime {
namespace {

using ::testing::HasSubstr;
using Shape = std::vector<int64_t>;

constexpr char kName[] = "tvmgen_m_dnnl_main_0";
constexpr DLDataType kFloat32 = {kDLFloat, 32, 1};

int64_t Count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

// Pseudorandom values between -1 and 1.
NDArray Random(const Shape& shape, uint32_t seed) {
  const NDArray array = NDArray::Empty(shape, kFloat32).value();
  for (float& value : array.values<float>()) {
    seed = seed * 1664525u + 1013904223u;
    value = static_cast<float>(seed >> 8) / (1 << 23) - 1;
  }
  return array;
}

// The metadata of a model with one function in addition to its entry.
class MetadataSource final : public ModuleNode {
 public:
  MetadataSource(const std::vector<Shape>& inputs, const std::vector<Shape>& outputs)
      : shapes_(inputs) {
    shapes_.insert(shapes_.end(), outputs.begin(), outputs.end());
    for (const Shape& shape : shapes_) {
      params_.push_back({.relay_name_hint = "t",
                         .tir_name_hint = "t",
                         .shape = shape.data(),
                         .ndim = static_cast<int32_t>(shape.size()),
                         .dtype = kFloat32,
                         .target_device = {kDLCPU, 0},
                         .size_bytes = Count(shape) * 4});
    }
    for (::FunctionInfo& function : functions_) {
      function.function_name = kName;
      function.params = params_.data();
      function.num_params = static_cast<int32_t>(params_.size());
      function.num_inputs = static_cast<int32_t>(inputs.size());
      function.num_outputs = static_cast<int32_t>(outputs.size());
      function.device = {kDLCPU, 0};
    }
    functions_[0].function_name = "tvmgen_m___tvm_main__";
    metadata_.version = KILN_METADATA_VERSION;
    metadata_.module_name = "m";
    metadata_.executor = "aot";
    metadata_.runtime = "cpp";
    metadata_.interface_api = "packed";
    metadata_.calling_convention = "cpacked";
    metadata_.target = "host";
    metadata_.functions = functions_;
    metadata_.num_functions = 2;
  }

  absl::string_view type_key() const override { return "source"; }
  std::vector<std::string> FunctionNames() const override { return {}; }
  PackedFunc FindFunction(const std::string& name) override {
    if (name != "get_model_metadata") return PackedFunc();
    return PackedFunc(
        [this](const Args&) -> absl::StatusOr<Value> { return Value::Opaque(&metadata_); });
  }

 private:
  std::vector<Shape> shapes_;
  std::vector<::ParameterInfo> params_;
  ::FunctionInfo functions_[2] = {};
  ::Metadata metadata_ = {};
};

ModelMetadata MetadataOf(const std::vector<Shape>& inputs, const std::vector<Shape>& outputs) {
  return ModelMetadata::Find(Module(std::make_shared<MetadataSource>(inputs, outputs))).value();
}

dnnl::proto::Program ProgramWith(std::vector<dnnl::proto::Layer> layers, int32_t output) {
  dnnl::proto::Program program;
  program.set_version(1);
  dnnl::proto::Function& function = *program.add_functions();
  function.set_name(kName);
  for (dnnl::proto::Layer& layer : layers) *function.add_layers() = layer;
  function.add_outputs(output);
  return program;
}

std::string PayloadOf(const dnnl::proto::Program& program) {
  ByteWriter writer;
  writer.String(program.SerializeAsString());
  return writer.bytes();
}

absl::StatusOr<ModulePtr> Load(absl::string_view bytes) {
  ByteReader reader(bytes, "blob");
  return LoadDnnlModule(reader);
}

absl::Status Call(const PackedFunc& function, const std::vector<NDArray>& arrays) {
  std::vector<TVMValue> values(arrays.size());
  const std::vector<int> codes(arrays.size(), kTVMDLTensorHandle);
  for (size_t i = 0; i < arrays.size(); ++i) values[i].v_handle = arrays[i].tensor();
  return function.Call(Args(values.data(), codes.data(), static_cast<int>(arrays.size()))).status();
}

// Loads the program, passes its constants and runs it.
absl::StatusOr<NDArray> RunProgram(const dnnl::proto::Program& program,
                                   const std::vector<NDArray>& inputs,
                                   const std::vector<NDArray>& constants, const Shape& output) {
  absl::StatusOr<ModulePtr> module = Load(PayloadOf(program));
  if (!module.ok()) return module.status();
  std::vector<Shape> shapes;
  for (const NDArray& input : inputs)
    shapes.emplace_back(input.shape().begin(), input.shape().end());
  auto& external = dynamic_cast<ExternalModuleNode&>(**module);
  absl::Status status = external.TakeMetadata(MetadataOf(shapes, {output}));
  if (!status.ok()) return status;
  status = Call(external.FindFunction(absl::StrCat("__init_", kName)), constants);
  if (!status.ok()) return status;
  NDArray result = NDArray::Empty(output, kFloat32).value();
  std::vector<NDArray> arrays = inputs;
  arrays.push_back(result);
  status = Call(external.FindFunction(kName), arrays);
  if (!status.ok()) return status;
  return result;
}

void ExpectNear(const NDArray& found, const std::vector<float>& wanted) {
  ASSERT_EQ(found.values<float>().size(), wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_NEAR(found.values<float>()[i], wanted[i], 1e-4) << "element " << i;
  }
}

struct ConvCase {
  std::string name;
  std::string data_layout, kernel_layout;
  int64_t batch, channels, size, outputs, kernel, stride, padding, dilation, groups;
  bool bias, residual, relu;
};

// A tensor whose dimensions are named by the letters of its layout.
struct Lettered {
  std::string layout;
  std::map<char, int64_t> extents;

  Shape shape() const {
    Shape shape;
    for (char c : layout) shape.push_back(extents.at(c));
    return shape;
  }
  size_t At(std::map<char, int64_t> index) const {
    int64_t offset = 0;
    for (char c : layout) offset = offset * extents.at(c) + index.at(c);
    return static_cast<size_t>(offset);
  }
};

class ConvolutionTest : public testing::TestWithParam<ConvCase> {};

TEST_P(ConvolutionTest, ComputesWhatTheDefinitionSays) {
  const ConvCase& c = GetParam();
  const int64_t out = (c.size + 2 * c.padding - (c.kernel - 1) * c.dilation - 1) / c.stride + 1;
  const int64_t per_group = c.channels / c.groups;
  const Lettered x{c.data_layout,
                   {{'N', c.batch}, {'C', c.channels}, {'H', c.size}, {'W', c.size + 1}}};
  const Lettered w{c.kernel_layout,
                   {{'O', c.outputs}, {'I', per_group}, {'H', c.kernel}, {'W', c.kernel}}};
  const int64_t out_w =
      (c.size + 1 + 2 * c.padding - (c.kernel - 1) * c.dilation - 1) / c.stride + 1;
  const Lettered y{c.data_layout, {{'N', c.batch}, {'C', c.outputs}, {'H', out}, {'W', out_w}}};

  dnnl::proto::Layer layer;
  dnnl::proto::Convolution& conv = *layer.mutable_convolution();
  for (int i = 0; i < 2; ++i) {
    conv.add_strides(c.stride);
    conv.add_dilation(c.dilation);
  }
  for (int i = 0; i < 4; ++i) conv.add_padding(c.padding);
  conv.set_groups(c.groups);
  conv.set_data_layout(c.data_layout);
  conv.set_kernel_layout(c.kernel_layout);
  layer.mutable_data()->set_input(0);
  layer.mutable_weight()->set_constant(0);
  if (c.bias) layer.mutable_bias()->set_constant(1);
  if (c.residual) layer.mutable_residual()->set_input(1);
  layer.set_relu(c.relu);

  const NDArray data = Random(x.shape(), 1), weight = Random(w.shape(), 2),
                bias = Random({c.outputs}, 3), residual = Random(y.shape(), 4);
  std::vector<NDArray> inputs = {data}, constants = {weight};
  if (c.residual) inputs.push_back(residual);
  if (c.bias) constants.push_back(bias);
  const absl::StatusOr<NDArray> found =
      RunProgram(ProgramWith({layer}, 0), inputs, constants, y.shape());
  ASSERT_TRUE(found.ok()) << found.status();

  std::vector<float> wanted(static_cast<size_t>(Count(y.shape())));
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t o = 0; o < c.outputs; ++o)
      for (int64_t h = 0; h < out; ++h)
        for (int64_t v = 0; v < out_w; ++v) {
          const size_t at = y.At({{'N', n}, {'C', o}, {'H', h}, {'W', v}});
          double sum = c.bias ? bias.values<float>()[static_cast<size_t>(o)] : 0;
          for (int64_t i = 0; i < per_group; ++i)
            for (int64_t kh = 0; kh < c.kernel; ++kh)
              for (int64_t kw = 0; kw < c.kernel; ++kw) {
                const int64_t row = h * c.stride + kh * c.dilation - c.padding,
                              column = v * c.stride + kw * c.dilation - c.padding;
                if (row < 0 || row >= c.size || column < 0 || column > c.size) continue;
                const int64_t channel = o / (c.outputs / c.groups) * per_group + i;
                sum += static_cast<double>(data.values<float>()[x.At(
                           {{'N', n}, {'C', channel}, {'H', row}, {'W', column}})]) *
                       weight.values<float>()[w.At({{'O', o}, {'I', i}, {'H', kh}, {'W', kw}})];
              }
          if (c.residual) sum += residual.values<float>()[at];
          wanted[at] = static_cast<float>(c.relu ? std::max(sum, 0.0) : sum);
        }
  ExpectNear(*found, wanted);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, ConvolutionTest,
    testing::Values(
        ConvCase{"Plain", "NCHW", "OIHW", 1, 3, 6, 4, 3, 1, 0, 1, 1, false, false, false},
        ConvCase{"BiasRelu", "NCHW", "OIHW", 2, 16, 7, 32, 3, 1, 1, 1, 1, true, false, true},
        ConvCase{"Residual", "NCHW", "OIHW", 1, 16, 5, 16, 3, 1, 1, 1, 1, true, true, true},
        ConvCase{"Strided", "NCHW", "OIHW", 1, 5, 9, 7, 3, 2, 1, 1, 1, true, false, false},
        ConvCase{"Dilated", "NCHW", "OIHW", 1, 4, 9, 4, 3, 1, 2, 2, 1, false, true, false},
        ConvCase{"Depthwise", "NCHW", "OIHW", 1, 8, 6, 8, 3, 1, 1, 1, 8, true, false, true},
        ConvCase{"Grouped", "NCHW", "OIHW", 1, 6, 6, 4, 1, 1, 0, 1, 2, true, true, true},
        ConvCase{"ChannelsLast", "NHWC", "HWIO", 2, 8, 6, 16, 3, 1, 1, 1, 1, true, true, true},
        ConvCase{"GroupedLast", "NHWC", "OHWI", 1, 6, 6, 9, 3, 1, 1, 1, 3, true, false, true},
        ConvCase{"GroupedHwio", "NHWC", "HWIO", 1, 6, 6, 9, 3, 1, 1, 1, 3, true, false, true}),
    [](const auto& info) { return info.param.name; });

// dense(relu(dense(x) + b) with a residual, all of rank 3.
dnnl::proto::Program TwoDenseLayers() {
  dnnl::proto::Layer first, second;
  first.mutable_dense();
  first.mutable_data()->set_input(0);
  first.mutable_weight()->set_constant(0);
  first.mutable_bias()->set_constant(1);
  first.set_relu(true);
  second.mutable_dense();
  second.mutable_data()->set_layer(0);
  second.mutable_weight()->set_constant(2);
  second.mutable_residual()->set_input(0);
  return ProgramWith({first, second}, 1);
}

struct DenseData {
  NDArray x = Random({2, 3, 4}, 1), w0 = Random({5, 4}, 2), b = Random({5}, 3),
          w1 = Random({4, 5}, 4);

  std::vector<float> Wanted() const {
    std::vector<float> wanted;
    for (size_t row = 0; row < 6; ++row) {
      std::vector<double> hidden;
      for (size_t o = 0; o < 5; ++o) {
        double sum = b.values<float>()[o];
        for (size_t k = 0; k < 4; ++k) {
          sum +=
              static_cast<double>(x.values<float>()[row * 4 + k]) * w0.values<float>()[o * 4 + k];
        }
        hidden.push_back(std::max(sum, 0.0));
      }
      for (size_t o = 0; o < 4; ++o) {
        double sum = x.values<float>()[row * 4 + o];
        for (size_t k = 0; k < 5; ++k) sum += hidden[k] * w1.values<float>()[o * 5 + k];
        wanted.push_back(static_cast<float>(sum));
      }
    }
    return wanted;
  }
};

TEST(DnnlModule, DenseLayersInARow) {
  const DenseData data;
  const absl::StatusOr<NDArray> found =
      RunProgram(TwoDenseLayers(), {data.x}, {data.w0, data.b, data.w1}, {2, 3, 4});
  ASSERT_TRUE(found.ok()) << found.status();
  ExpectNear(*found, data.Wanted());
}

// A dense layer cannot read the blocked layout of a convolution's result.
TEST(DnnlModule, ADenseLayerReadsAConvolution) {
  dnnl::proto::Layer conv, dense;
  for (int i = 0; i < 2; ++i) {
    conv.mutable_convolution()->add_strides(1);
    conv.mutable_convolution()->add_dilation(1);
  }
  for (int i = 0; i < 4; ++i) conv.mutable_convolution()->add_padding(0);
  conv.mutable_convolution()->set_groups(1);
  conv.mutable_convolution()->set_data_layout("NCHW");
  conv.mutable_convolution()->set_kernel_layout("OIHW");
  conv.mutable_data()->set_input(0);
  conv.mutable_weight()->set_constant(0);
  dense.mutable_dense();
  dense.mutable_data()->set_layer(0);
  dense.mutable_weight()->set_constant(1);
  // The convolution has 16 times as many output channels as input channels.
  NDArray x = Random({1, 1, 2, 3}, 1), w = Random({16, 1, 1, 1}, 2), u = Random({2, 3}, 3);
  const absl::StatusOr<NDArray> found =
      RunProgram(ProgramWith({conv, dense}, 1), {x}, {w, u}, {1, 16, 2, 2});
  ASSERT_TRUE(found.ok()) << found.status();
  std::vector<float> wanted;
  for (size_t o = 0; o < 16; ++o) {
    for (size_t h = 0; h < 2; ++h) {
      for (size_t unit = 0; unit < 2; ++unit) {
        float sum = 0;
        for (size_t k = 0; k < 3; ++k) {
          sum +=
              x.values<float>()[h * 3 + k] * w.values<float>()[o] * u.values<float>()[unit * 3 + k];
        }
        wanted.push_back(sum);
      }
    }
  }
  ExpectNear(*found, wanted);
}

TEST(DnnlModule, ManyThreadsRunOneFunction) {
  const DenseData data;
  const ModulePtr module = Load(PayloadOf(TwoDenseLayers())).value();
  auto& external = dynamic_cast<ExternalModuleNode&>(*module);
  ASSERT_TRUE(external.TakeMetadata(MetadataOf({{2, 3, 4}}, {{2, 3, 4}})).ok());
  ASSERT_TRUE(
      Call(external.FindFunction(absl::StrCat("__init_", kName)), {data.w0, data.b, data.w1}).ok());
  const PackedFunc function = external.FindFunction(kName);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i) {
        const NDArray y = NDArray::Empty({2, 3, 4}, kFloat32).value();
        ASSERT_TRUE(Call(function, {data.x, y}).ok());
        ExpectNear(y, data.Wanted());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(DnnlModule, WrongArgumentsAreErrors) {
  const DenseData data;
  const ModulePtr module = Load(PayloadOf(TwoDenseLayers())).value();
  auto& external = dynamic_cast<ExternalModuleNode&>(*module);
  EXPECT_THAT(external.FunctionNames(), testing::ElementsAre(kName));
  EXPECT_FALSE(external.FindFunction("other").defined());
  ASSERT_TRUE(external.TakeMetadata(MetadataOf({{2, 3, 4}}, {{2, 3, 4}})).ok());
  EXPECT_THAT(std::string(Call(external.FindFunction(kName), {}).message()),
              HasSubstr("has not been given its constants by '__init_tvmgen_m_dnnl_main_0'"));
  ASSERT_TRUE(
      Call(external.FindFunction(absl::StrCat("__init_", kName)), {data.w0, data.b, data.w1}).ok());
  const PackedFunc function = external.FindFunction(kName);
  EXPECT_FALSE(Call(function, {data.x}).ok());
  EXPECT_THAT(std::string(Call(function, {data.x, data.w0}).message()),
              HasSubstr("argument 1: wanted a compact tensor"));
}

TEST(DnnlModule, MetadataMustHaveTheFunction) {
  dnnl::proto::Program program = TwoDenseLayers();
  program.mutable_functions(0)->set_name("g");
  const ModulePtr module = Load(PayloadOf(program)).value();
  EXPECT_EQ(std::string(dynamic_cast<ExternalModuleNode&>(*module)
                            .TakeMetadata(MetadataOf({{4}}, {{4}}))
                            .message()),
            "the metadata has no function 'g', which a dnnl module has");
}

TEST(DnnlModule, AnotherVersionIsRefused) {
  dnnl::proto::Program program = TwoDenseLayers();
  program.set_version(2);
  EXPECT_EQ(std::string(Load(PayloadOf(program)).status().message()),
            "a dnnl module of version 2; this runtime reads version 1");
}

TEST(DnnlModule, TheLoaderIsRegistered) {
  EXPECT_EQ(RegisterModuleLoader("dnnl", LoadDnnlModule).code(), absl::StatusCode::kAlreadyExists);
}

TEST(DnnlModule, AConstantResidualIsDamage) {
  const DenseData data;
  dnnl::proto::Layer layer;
  layer.mutable_dense();
  layer.mutable_data()->set_input(0);
  layer.mutable_weight()->set_constant(0);
  layer.mutable_residual()->set_constant(1);
  const NDArray residual = Random({2, 3, 5}, 5);
  EXPECT_EQ(RunProgram(ProgramWith({layer}, 0), {data.x}, {data.w0, residual}, {2, 3, 5}).status(),
            absl::DataLossError(
                "tvmgen_m_dnnl_main_0: the dnnl module is damaged: a residual is constant"));
}

// Every truncated program is an error. A program with a flipped bit is an error or well-formed.
TEST(DnnlModule, DamagedProgramsAreErrorsOrPrograms) {
  const std::string bytes = PayloadOf(TwoDenseLayers());
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(Load(absl::string_view(bytes).substr(0, size)).ok()) << size;
  }
  const DenseData data;
  int ran = 0;
  for (size_t bit = 64; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes.substr(8);
    damaged[bit / 8 - 8] = static_cast<char>(damaged[bit / 8 - 8] ^ (1 << bit % 8));
    dnnl::proto::Program program;
    if (!program.ParseFromString(damaged)) continue;
    ran += RunProgram(program, {data.x}, {data.w0, data.b, data.w1}, {2, 3, 4}).ok() ? 1 : 0;
  }
  EXPECT_GT(ran, 0);
}

}  // namespace
}  // namespace kiln::runtime
