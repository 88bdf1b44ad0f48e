// SPDX-License-Identifier: Apache-2.0
// Random graphs by seed in which oneDNN computes convolutions and dense layers, as shared objects
// on both executors. Kiln's own code must give the same result, up to rounding.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/external/generate.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/ndarray.h"
#include "tests/equality/engines.h"
#include "tests/equality/random_graph.h"

namespace kiln {
namespace {

constexpr uint32_t kGraphs = 700;
constexpr int kMinSubgraphs = 40;
constexpr double kTolerance = 2e-3;

CompileOptions Options(Executor executor, std::vector<ExternalChoice> externals) {
  CompileOptions options;
  options.module_name = "random";
  options.executor = executor;
  options.target = Target::Host();
  options.externals = std::move(externals);
  options.calling_convention =
      DefaultCallingConvention(options.runtime, options.interface, options.externals);
  return options;
}

// Loads and runs the model. Only one model of this name may be loaded at a time.
absl::StatusOr<equality::Outputs> RunCompiled(const Compiled& compiled, const equality::Case& test,
                                              const std::string& name) {
  const std::string path = absl::StrCat(std::getenv("TEST_TMPDIR"), "/", name, ".so");
  std::ofstream(path, std::ios::binary) << compiled.artifacts.at("random.so");
  const absl::StatusOr<runtime::Model> model = runtime::Model::Load(path);
  if (!model.ok()) return model.status();
  std::vector<runtime::NDArray> inputs;
  for (const Tensor& input : test.inputs) {
    const bool is_half = input.type().dtype == DType::Float(16);
    const DLDataType dtype = {kDLFloat, static_cast<uint8_t>(is_half ? 16 : 32), 1};
    inputs.push_back(runtime::NDArray::Empty(input.type().shape, dtype).value());
    const absl::Status status = inputs.back().CopyFromBytes(input.bytes());
    if (!status.ok()) return status;
  }
  const absl::StatusOr<std::vector<runtime::NDArray>> found = model->Run(inputs);
  if (!found.ok()) return found.status();
  equality::Outputs outputs;
  for (size_t i = 0; i < found->size(); ++i) {
    const absl::Span<char> bytes = (*found)[i].values<char>();
    outputs.emplace_back(test.graph.type(test.graph.outputs[i]),
                         std::string(bytes.data(), bytes.size()));
  }
  return outputs;
}

bool HasLayers(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const bool is_layer = node.op_name() == "nn.conv2d" || node.op_name() == "nn.dense";
    if (is_layer && graph.type(node.outputs[0]).dtype == DType::Float(32)) return true;
  }
  return false;
}

TEST(Dnnl, RandomGraphsGiveTheSameResults) {
  const std::vector<ExternalChoice> dnnl = {ParseExternalChoice("dnnl").value()};
  size_t subgraphs = 0;
  for (uint32_t seed = 0; seed < kGraphs; ++seed) {
    const equality::Case test = equality::RandomCase(seed);
    if (test.graph.outputs.empty() || !HasLayers(test.graph)) continue;
    SCOPED_TRACE(test.name);
    const Executor executor = seed % 2 == 0 ? Executor::kAot : Executor::kGraph;
    const absl::StatusOr<Compiled> plain = Compile(test.graph, Options(executor, {}));
    const absl::StatusOr<Compiled> external = Compile(test.graph, Options(executor, dnnl));
    ASSERT_TRUE(plain.ok() && external.ok()) << plain.status() << external.status();
    subgraphs += external->compilation.externals.size();
    const auto wanted = RunCompiled(*plain, test, absl::StrCat("plain", seed));
    const auto found = RunCompiled(*external, test, absl::StrCat("dnnl", seed));
    ASSERT_TRUE(wanted.ok() && found.ok()) << wanted.status() << found.status();
    EXPECT_EQ(equality::Difference(*found, *wanted, kTolerance), "");
  }
  EXPECT_GE(subgraphs, static_cast<size_t>(kMinSubgraphs));
}

}  // namespace
}  // namespace kiln
