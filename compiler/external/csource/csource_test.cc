// SPDX-License-Identifier: Apache-2.0
// Compiles the C of csource, runs it, and compares it with the interpreter.
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/c/c_compiler.h"
#include "compiler/external/generate.h"
#include "compiler/external/partition.h"
#include "compiler/graph/external_node.h"
#include "compiler/ops/op_def.h"
#include "compiler/ops/testing/run_op.h"
#include "compiler/passes/testing/run_pass.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tvm/runtime/c_backend_api.h"

std::string& LastError() {
  static auto& error = *new std::string;
  return error;
}

extern "C" void TVMAPISetLastError(const char* message) { LastError() = message; }

namespace kiln {
namespace {

using ::testing::HasSubstr;

const std::vector<std::string>& Command() {
  static const auto& command =
      *new std::vector<std::string>{"gcc", "-O1", "-ffp-contract=off", "-Iruntime_crt/include"};
  return command;
}

struct Made {
  Graph graph;  // one subgraph
  ExternalModule module;
};

Made Make(absl::string_view model, const GenerateOptions& options) {
  const ExternalChoice choice = ParseExternalChoice("csource").value();
  Made made;
  made.graph = Partition(ParseModel(model), "m", {choice.codegen}).value();
  made.module = GenerateExternalModules(made.graph, {choice}, options).value().at(0);
  return made;
}

// The node of the only subgraph.
const Node& Subgraph(const Graph& graph) {
  EXPECT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(ExternalCompiler(graph.nodes[0]), "csource");
  return graph.nodes[0];
}

// Calls the plain C function with the inputs of RunGraph. Returns its results in the order of the
// graph's outputs.
std::vector<std::string> Call(const Made& made) {
  auto library = codegen::LoadedC::Compile(made.module.c_source, Command());
  EXPECT_TRUE(library.ok()) << library.status() << made.module.c_source;
  if (!library.ok()) return {};
  const Graph& graph = made.graph;
  const Node& node = Subgraph(graph);
  std::map<ValueId, std::string> memory;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    memory[graph.inputs[i]] = RandomTensor(graph.type(graph.inputs[i]), i + 1).bytes();
  }
  std::vector<void*> p;
  for (ValueId id : node.inputs) p.push_back(memory.at(id).data());
  for (ValueId id : node.outputs) {
    memory[id] = std::string(static_cast<size_t>(graph.type(id).num_bytes()), '\x7f');
    p.push_back(memory[id].data());
  }
  p.resize(6);
  // Extra arguments do no harm in the calling conventions of these machines.
  auto* f = (*library)->Function<int32_t(void*, void*, void*, void*, void*, void*)>(
      std::string(ExternalSymbol(node)));
  EXPECT_EQ(f(p[0], p[1], p[2], p[3], p[4], p[5]), 0);
  std::vector<std::string> outputs;
  for (ValueId id : graph.outputs) outputs.push_back(memory.at(id));
  return outputs;
}

// Expects the same bits as from the interpreter.
void ExpectSameBits(absl::string_view model) {
  const Made made = Make(model, {.module_name = "m", .packed = false});
  const std::vector<Tensor> wanted = RunGraph(made.graph).value();
  const std::vector<std::string> found = Call(made);
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i], wanted[i].bytes()) << made.module.c_source;
  }
}

TEST(Csource, ElementwiseInOneLoop) {
  constexpr char kModel[] = R"(
  def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]) {
    nn.relu(subtract(multiply(%x, %y), 0.5f))
  })";
  ExpectSameBits(kModel);
  EXPECT_THAT(Make(kModel, {.module_name = "m", .packed = false}).module.c_source,
              HasSubstr("int32_t tvmgen_m_csource_main_0(void* in0, void* in1, void* out0) {\n"
                        "  const float* const p0 = (const float*)in0;\n"
                        "  const float* const p1 = (const float*)in1;\n"
                        "  float* const o0 = (float*)out0;\n"
                        "  for (int32_t i = 0; i < 6; ++i) {\n"
                        "    const float v0 = p0[i] * p1[i];\n"
                        "    const float v1 = v0 - 0x1p-1f;\n"
                        "    const float v2 = 0 > v1 ? 0 : v1;\n"
                        "    o0[i] = v2;\n"
                        "  }\n"
                        "  return 0;\n"
                        "}\n"));
}

TEST(Csource, BroadcastingAndIntegers) {
  ExpectSameBits(R"(
  def @main(%x: Tensor[(2, 1, 3), int32], %y: Tensor[(4, 1), int32], %z: Tensor[(), int32]) {
    maximum(minimum(multiply(add(%x, %y), 1000000007), %x), subtract(%z, -2147483648))
  })");
}

TEST(Csource, ABroadcastValueOfTheSubgraph) {
  ExpectSameBits(R"(
  def @main(%x: Tensor[(3,), float32], %y: Tensor[(2, 3), float32]) {
    %0 = add(%x, %x);
    (multiply(%y, %0), %0)
  })");
}

TEST(Csource, BiasAlongAnyAxis) {
  ExpectSameBits(R"(
  def @main(%x: Tensor[(2, 3, 4), float32], %constant: Tensor[(3,), float32], %constant_last: Tensor[(4,), float32]) {
    nn.bias_add(nn.bias_add(%x, %constant), %constant_last, axis=-1)
  })");
}

TEST(Csource, DenseOfIntegersInAChain) {
  ExpectSameBits(R"(
  def @main(%x: Tensor[(2, 3), int32], %constant: Tensor[(5, 3), int32], %constant_next: Tensor[(4, 5), int32]) {
    %0 = nn.relu(nn.dense(add(%x, 1), %constant, units=5));
    (nn.dense(subtract(%0, 7), %constant_next, units=4), %0)
  })");
}

TEST(Csource, DenseOfFloats) {
  const Made made = Make(R"(
  def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(5, 3), float32], %constant: Tensor[(5,), float32]) {
    nn.relu(nn.bias_add(nn.dense(%x, multiply(%w, 2f), units=5), %constant, axis=-1))
  })",
                         {.module_name = "m", .packed = false});
  const std::vector<Tensor> wanted = RunGraph(made.graph).value();
  const std::vector<std::string> found = Call(made);
  ASSERT_EQ(found.size(), 1u);
  for (int64_t i = 0; i < wanted[0].type().num_elements(); ++i) {
    float value = 0;
    std::memcpy(&value, found[0].data() + 4 * i, 4);
    EXPECT_NEAR(value, wanted[0].AsDouble(i), 1e-5);
  }
}

// A chain of dense layers of 4 integers. The inputs of the layers in `kept` are outputs of the
// model.
std::string DenseChain(int layers, const std::vector<int>& kept) {
  std::string body, outputs;
  for (int i = 0; i < layers; ++i) {
    absl::StrAppend(&body, "%", 2 * i + 1, " = nn.dense(", i == 0 ? "%x" : absl::StrCat("%", 2 * i),
                    ", %constant);\n  %", 2 * i + 2, " = nn.relu(%", 2 * i + 1, ");\n  ");
  }
  for (int i : kept) absl::StrAppend(&outputs, "%", 2 * i, ", ");
  return absl::StrCat(
      "def @main(%x: Tensor[(2, 4), int32], %constant: Tensor[(4, 4), int32]) {\n  ", body, "(",
      outputs, "%", 2 * layers, ")\n}");
}

TEST(Csource, ResultsOfDenseLayersShareTheStack) {
  const std::string model = DenseChain(200, {3, 100});
  ExpectSameBits(model);
  const std::string source = Make(model, {.module_name = "m", .packed = false}).module.c_source;
  EXPECT_THAT(source, HasSubstr("  int32_t d0[8];\n  int32_t d1[8];\n"));
  EXPECT_THAT(source, testing::Not(HasSubstr(" d2[")));
}

TEST(Csource, TooMuchStackIsAnError) {
  std::string body, sum = "%0";
  for (int i = 0; i < 5; ++i) {
    absl::StrAppend(&body, "%", i, " = nn.dense(add(%x, ", i, "f), %constant);\n  ");
    if (i > 0) sum = absl::StrCat("add(", sum, ", %", i, ")");
  }
  const Graph graph = ParseModel(absl::StrCat(
      "def @main(%x: Tensor[(1, 4), float32], %constant: Tensor[(256, 4), float32]) {\n  ", body,
      sum, "\n}"));
  const ExternalChoice choice = ParseExternalChoice("csource").value();
  EXPECT_EQ(
      GenerateExternalModules(Partition(graph, "m", {choice.codegen}).value(), {choice},
                              {.module_name = "m", .packed = false})
          .status(),
      absl::UnimplementedError(
          "csource: tvmgen_m_csource_main_0: found 5120 bytes of results of dense layers that are "
          "needed at the same time, wanted at most 4096, because they lie on the stack; leave "
          "csource out of --external"));
}

TEST(Csource, ConstantsOfEveryKind) {
  const float values[] = {0.1f, -0.0f, 1e-45f, 3e38f, INFINITY, -INFINITY, NAN, -2.5f, 7};
  Graph graph;
  const ValueId x = graph.AddInput("x", {{9}, DType::Float(32)});
  const ValueId k = graph.AddConstant(Tensor::From<float>({9}, DType::Float(32), values));
  const Node node{.op = FindOpSchema("maximum"), .inputs = {k, x}};
  graph.outputs = graph.node(graph.AddNode(node, {{{9}, DType::Float(32)}})).outputs;
  const ExternalChoice choice = ParseExternalChoice("csource").value();
  Made made;
  made.graph = Partition(graph, "m", {choice.codegen}).value();
  made.module = GenerateExternalModules(made.graph, {choice}, {.module_name = "m", .packed = false})
                    .value()
                    .at(0);
  const std::vector<Tensor> wanted = RunGraph(made.graph).value();
  const std::vector<std::string> found = Call(made);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0], wanted[0].bytes());
}

TEST(Csource, WhatItDoesNotTake) {
  for (const char* body : {"add(cast(%x, dtype=\"float64\"), 1f64)", "nn.softmax(%x)",
                           "nn.dense(%x, %w, units=300)"}) {
    const Graph graph = ParseModel(absl::StrCat(
        "def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(300, 3), float32]) { ", body, " }"));
    const Graph same = Partition(graph, "m", {FindExternalCodegen("csource")}).value();
    EXPECT_TRUE(graph == same) << body << BodyText(same);
  }
}

TEST(Csource, WithoutSubgraphsAFileThatCompiles) {
  for (bool packed : {false, true}) {
    const auto modules = GenerateExternalModules(Graph(), {ParseExternalChoice("csource").value()},
                                                 {.module_name = "m", .packed = packed});
    ASSERT_TRUE(modules.ok()) << modules.status();
    EXPECT_TRUE((*modules)[0].functions.empty());
    EXPECT_EQ(codegen::CheckC((*modules)[0].c_source, Command()), absl::OkStatus());
  }
}

// The packed function of x + x for four floats, and its arguments.
class PackedTest : public testing::Test {
 protected:
  PackedTest() {
    const Made made = Make("def @main(%x: Tensor[(4,), float32]) { add(%x, %x) }",
                           {.module_name = "m", .packed = true});
    library_ = codegen::LoadedC::Compile(made.module.c_source, Command()).value();
    for (int i = 0; i < 2; ++i) {
      tensors_[i] = {.data = i == 0 ? x_ : y_,
                     .device = {kDLCPU, 0},
                     .ndim = 1,
                     .dtype = {kDLFloat, 32, 1},
                     .shape = &shape_,
                     .strides = nullptr,
                     .byte_offset = 0};
      values_[i].v_handle = &tensors_[i];
    }
  }

  int Run(int num_args = 2) {
    LastError().clear();
    TVMValue result;
    int result_code = kTVMNullptr;
    auto* f = library_->Function<int(TVMValue*, int*, int, TVMValue*, int*, void*)>(
        "tvmgen_m_csource_main_0");
    return f(values_, codes_, num_args, &result, &result_code, nullptr);
  }

  std::unique_ptr<codegen::LoadedC> library_;
  float x_[4] = {1, 2, 3, 4}, y_[4] = {};
  int64_t shape_ = 4;
  DLTensor tensors_[2];
  TVMValue values_[2];
  int codes_[2] = {kTVMDLTensorHandle, kTVMNDArrayHandle};
};

TEST_F(PackedTest, Computes) {
  ASSERT_EQ(Run(), 0) << LastError();
  EXPECT_THAT(y_, testing::ElementsAre(2, 4, 6, 8));
}

TEST_F(PackedTest, TakesAnOffset) {
  tensors_[0].data = x_ - 1;
  tensors_[0].byte_offset = sizeof(float);
  ASSERT_EQ(Run(), 0) << LastError();
  EXPECT_THAT(y_, testing::ElementsAre(2, 4, 6, 8));
}

TEST_F(PackedTest, RefusesWrongArguments) {
  EXPECT_EQ(Run(1), -1);
  EXPECT_EQ(LastError(), "tvmgen_m_csource_main_0: wanted 2 arguments");
  codes_[1] = kTVMArgInt;
  EXPECT_EQ(Run(), -1);
  EXPECT_EQ(LastError(),
            "tvmgen_m_csource_main_0: argument 1: wanted a compact float32 tensor of shape (4,) on "
            "the CPU");
  codes_[1] = kTVMDLTensorHandle;
  shape_ = 3;
  EXPECT_EQ(Run(), -1);
  shape_ = 4;
  tensors_[0].dtype.code = kDLInt;
  EXPECT_EQ(Run(), -1);
  tensors_[0].dtype.code = kDLFloat;
  int64_t stride = 2;
  tensors_[0].strides = &stride;
  EXPECT_EQ(Run(), -1);
  EXPECT_THAT(y_, testing::Each(0));
}

}  // namespace
}  // namespace kiln
