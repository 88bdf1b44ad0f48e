// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/model.h"

#include <atomic>
#include <cstring>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/testdata/floats.h"
#include "runtime_cpp/thread_pool.h"

namespace kiln::runtime {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;

constexpr char kAot[] = "runtime_cpp/testdata/add_aot.so";
constexpr char kGraph[] = "runtime_cpp/testdata/add_graph.so";

TEST(Model, DescribesItself) {
  const Model aot = Model::Load(kAot).value();
  EXPECT_EQ(aot.name(), "add");
  EXPECT_EQ(aot.workspace_bytes(), 64);
  EXPECT_EQ(aot.constant_bytes(), 0);
  EXPECT_EQ(aot.num_threads(), ThreadPool::Global().num_threads());
  EXPECT_EQ(aot.WithThreadPool(std::make_shared<ThreadPool>(ThreadPoolOptions{.num_threads = 3}))
                .num_threads(),
            3);
  EXPECT_EQ(aot.InputIndex("y:0").value(), 1);
  const Model graph = Model::Load(kGraph).value();
  // A parameter that comes with the factory is not an input.
  ASSERT_EQ(graph.inputs().size(), 2u);
  EXPECT_EQ(graph.OutputIndex("output1").value(), 1);
  EXPECT_EQ(graph.workspace_bytes(), 64);
  EXPECT_FALSE(graph.InputIndex("p0").ok());
  EXPECT_THAT(std::string(Model::Load(kAot, {kDLVulkan, 0}).status().message()),
              HasSubstr("vulkan:0 has no back end"));
}

TEST(Model, RunsWithoutState) {
  const NDArray x = Floats({1, 2, 3, 4});
  const NDArray y = Floats({1, 1, 1, 1});
  const std::vector<NDArray> aot = Model::Load(kAot)->Run({x, y}).value();
  EXPECT_THAT(aot[0].values<float>(), ElementsAre(3, 5, 7, 9));
  const std::vector<NDArray> graph = Model::Load(kGraph)->Run({x, y}).value();
  EXPECT_THAT(graph[0].values<float>(), ElementsAre(20, 30, 40, 50));
  EXPECT_THAT(graph[1].values<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_NE(graph[1].data(), x.data());
}

TEST(Model, ReadsInPlaceWhatIsAlignedToElementsAndCopiesTheRest) {
  const NDArray storage = Floats({0, 1, 2, 3, 4});
  int64_t shape = 4;
  DLTensor shifted = {.data = storage.data(),
                      .device = kCpu,
                      .ndim = 1,
                      .dtype = kFloat32,
                      .shape = &shape,
                      .strides = nullptr,
                      .byte_offset = 4};
  const std::vector<const DLTensor*> inputs = {&shifted, &shifted};
  for (const char* const path : {kAot, kGraph}) {
    const Model model = Model::Load(path).value();
    EXPECT_EQ(model.inputs()[0].alignment_bytes, sizeof(float));
    std::vector<NDArray> outputs;
    std::vector<const DLTensor*> tensors;
    for (const TensorInfo& info : model.outputs()) {
      outputs.push_back(NDArray::Empty(info.shape, info.dtype).value());
      tensors.push_back(outputs.back().tensor());
    }
    shifted.byte_offset = 4;
    ASSERT_TRUE(model.Run(inputs, tensors).ok());
    const std::vector<float> expected(outputs[0].values<float>().begin(),
                                      outputs[0].values<float>().end());
    char* const bytes = static_cast<char*>(storage.data());
    std::memmove(bytes + 2, bytes + 4, 4 * sizeof(float));
    shifted.byte_offset = 2;
    EXPECT_EQ(std::string(model.Run(inputs, tensors).message()),
              "input 'x' (index 0): found data aligned to 2 bytes, wanted 4");
    EXPECT_THAT(model.Run(inputs)->at(0).values<float>(), ElementsAreArray(expected));
    std::memmove(bytes + 4, bytes + 2, 4 * sizeof(float));
  }
}

TEST(Model, RunsOnMemoryOfTheCaller) {
  const Model model = Model::Load(kAot).value();
  const NDArray x = Floats({1, 2, 3, 4});
  const NDArray output = Floats({0, 0, 0, 0});
  alignas(Model::kAlignment) char workspace[128];
  const std::vector<const DLTensor*> inputs = {x.tensor(), x.tensor()};
  const std::vector<const DLTensor*> outputs = {output.tensor()};
  ASSERT_TRUE(model.Run(inputs, outputs, absl::MakeSpan(workspace)).ok());
  EXPECT_THAT(output.values<float>(), ElementsAre(3, 6, 9, 12));

  const auto error = [&](auto ins, auto outs, absl::Span<char> memory) {
    return std::string(model.Run(ins, outs, memory).message());
  };
  EXPECT_EQ(error(inputs, outputs, absl::MakeSpan(workspace, 63)),
            "workspace: found 63 bytes, wanted 64");
  EXPECT_EQ(error(inputs, outputs, absl::MakeSpan(workspace + 1, 64)),
            "workspace: not aligned to 64 bytes");
  EXPECT_EQ(error(outputs, outputs, absl::MakeSpan(workspace)),
            "model 'add': found 1 inputs, wanted 2");
  EXPECT_EQ(error(inputs, inputs, absl::MakeSpan(workspace)),
            "model 'add': found 2 outputs, wanted 1");
  const NDArray wrong = Floats({1, 2});
  EXPECT_EQ(error(inputs, std::vector<const DLTensor*>{wrong.tensor()}, absl::MakeSpan(workspace)),
            "output 'output0' (index 0): found float32 (2), wanted float32 (4)");
  EXPECT_EQ(error(inputs, std::vector<const DLTensor*>{nullptr}, absl::MakeSpan(workspace)),
            "output 0 is NULL");
}

TEST(Model, IsSafeFromManyThreads) {
  ASSERT_TRUE(ThreadPool::Global().SetNumThreads(3).ok());
  for (const char* const path : {kAot, kGraph}) {
    const Model model = Model::Load(path).value();
    const NDArray ones = Floats({1, 1, 1, 1});
    const float expected = model.Run({ones, ones})->at(0).values<float>()[0];
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int i = 1; i <= 6; ++i) {
      threads.emplace_back([&model, &wrong, expected, i] {
        const auto value = static_cast<float>(i);
        const NDArray input = Floats({value, value, value, value});
        for (int j = 0; j < 50; ++j) {
          const absl::StatusOr<std::vector<NDArray>> outputs = model.Run({input, input});
          for (int k = 0; k < 4; ++k) {
            if (!outputs.ok() || outputs->at(0).values<float>()[k] != value * expected) ++wrong;
          }
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0) << path;
  }
}

}  // namespace
}  // namespace kiln::runtime
