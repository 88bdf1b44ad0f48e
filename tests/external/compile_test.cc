// SPDX-License-Identifier: Apache-2.0
// The results of a compilation with external code generators: files, functions, metadata.

#include "compiler/pipeline/compile.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/external/external_codegen.h"
#include "compiler/external/generate.h"
#include "compiler/graph/relay_text.h"
#include "compiler/ops/op_def.h"
#include "compiler/options/options.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kModel[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(2,), float32]) {
  exp(add(negative(abs(exp(%x))), 1f))
})";

// Takes `abs`, for an accelerator that runs its own program.
absl::StatusOr<std::vector<ExternalModule>> GenerateBytes(const ExternalRequest& request) {
  std::vector<ExternalModule> modules;
  for (const ExternalSubgraph& subgraph : request.subgraphs) {
    modules.push_back({.codegen = "bytes",
                       .type_key = "npu",
                       .payload = "12345678",
                       .functions = {{.name = subgraph.symbol,
                                      .constants = {{"k", Tensor::Scalar(DType::Float(32), 1)}}}},
                       .device_key = {.device_type = 12, .program = "first"}});
  }
  return modules;
}

const ExternalCodegen kBytes = {.name = "bytes",
                                .doc = "for tests",
                                .linkable = false,
                                .ops = {{"abs"}},
                                .generate = GenerateBytes};
KILN_REGISTER_EXTERNAL_CODEGEN(kBytes);

CompileOptions Options(Runtime runtime, Interface interface, Executor executor,
                       const std::vector<std::string>& externals) {
  CompileOptions options;
  options.module_name = "m";
  options.runtime = runtime;
  options.interface = interface;
  options.executor = executor;
  options.codegen = Codegen::kC;
  options.target = Target::Parse("x86-64").value();
  options.externals = ParseExternals(externals).value();
  options.calling_convention = DefaultCallingConvention(runtime, interface, options.externals);
  return options;
}

absl::StatusOr<Compiled> CompileModel(const CompileOptions& options) {
  return Compile(ParseRelay(kModel, "model.relay", FindOpSchema).value(), options);
}

const proto::Function& FunctionOf(const proto::Metadata& metadata, const std::string& name) {
  for (const proto::Function& function : metadata.functions()) {
    if (function.name() == name) return function;
  }
  ADD_FAILURE() << "no function " << name;
  return metadata.functions(0);
}

TEST(Compile, MetadataDescribesFunctionsOfExternalModules) {
  const absl::StatusOr<Compiled> compiled = CompileModel(
      Options(Runtime::kCpp, Interface::kPacked, Executor::kAot, {"csource", "bytes"}));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const proto::Metadata& metadata = compiled->compilation.metadata;
  EXPECT_EQ(metadata.calling_convention(), "packed");
  const proto::Function& bytes = FunctionOf(metadata, "tvmgen_m_bytes_main_0");
  EXPECT_EQ(bytes.module_type(), "npu");
  EXPECT_EQ(bytes.op_names(), "abs");
  EXPECT_EQ(bytes.schedule(), "bytes");
  EXPECT_EQ(bytes.constant_size_bytes(), 4);
  EXPECT_EQ(bytes.num_inputs(), 1);
  EXPECT_EQ(bytes.num_outputs(), 1);
  EXPECT_EQ(bytes.device().device_type(), 12);
  EXPECT_EQ(bytes.device().program(), "first");
  ASSERT_EQ(metadata.devices_size(), 2);
  EXPECT_EQ(metadata.devices(1).program(), "first");
  EXPECT_EQ(FunctionOf(metadata, "tvmgen_m_csource_main_0").module_type(), "c");
}

TEST(Compile, ConstantsOfExternalModulesCount) {
  const std::vector<float> values = {1, 2, 3};
  Graph graph;
  const ValueId x = graph.AddInput("x", {{3}, DType::Float(32)});
  const ValueId k = graph.AddConstant(Tensor::From<float>({3}, DType::Float(32), values));
  const Node add{.op = FindOpSchema("add"), .inputs = {x, k}};
  graph.outputs = graph.node(graph.AddNode(add, {{{3}, DType::Float(32)}})).outputs;
  const absl::StatusOr<Compiled> compiled =
      Compile(graph, Options(Runtime::kCrt, Interface::kC, Executor::kAot, {"csource"}));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  const proto::Metadata& metadata = compiled->compilation.metadata;
  EXPECT_EQ(FunctionOf(metadata, "tvmgen_m_csource_main_0").constant_size_bytes(), 12);
  EXPECT_EQ(metadata.functions(0).constant_size_bytes(), 12);
  EXPECT_THAT(compiled->artifacts.at("m.h"), HasSubstr("TVMGEN_M_CONSTANT_SIZE_BYTES 12"));
}

TEST(Compile, FilesAreNamedAfterTheGenerators) {
  const absl::StatusOr<Compiled> compiled = CompileModel(
      Options(Runtime::kCpp, Interface::kPacked, Executor::kGraph, {"csource", "bytes"}));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_THAT(compiled->artifacts.at("m_csource.c"), HasSubstr("int tvmgen_m_csource_main_0(TVM"));
  EXPECT_THAT(compiled->artifacts.at("m_bytes.c"), HasSubstr("makes no C"));
  EXPECT_THAT(compiled->artifacts.at("m.c"), HasSubstr("__tvm_dev_mblob"));
}

TEST(Compile, TheRegistryOfTheCRuntimeHasExternalFunctions) {
  for (const Executor executor : {Executor::kAot, Executor::kGraph}) {
    const absl::StatusOr<Compiled> compiled =
        CompileModel(Options(Runtime::kCrt, Interface::kPacked, executor, {"csource"}));
    ASSERT_TRUE(compiled.ok()) << compiled.status();
    const auto& data = compiled->compilation.program.data;
    const auto names = std::find_if(data.begin(), data.end(), [](const loop::DataDef& def) {
      return def.name == "tvmgen_m_function_names";
    });
    ASSERT_NE(names, data.end());
    const std::string source = compiled->artifacts.at("m.c");
    const size_t begin = source.find("tvmgen_m_functions[");
    ASSERT_NE(begin, std::string::npos);
    const std::string table = source.substr(begin, source.find("};", begin) - begin);
    const size_t first = table.find("tvmgen_m_csource_main_0");
    EXPECT_NE(first, std::string::npos) << table;
    EXPECT_EQ(table.find("tvmgen_m_csource_main_0", first + 1), std::string::npos) << table;
  }
}

// Without the pass that names subgraphs, the names in the model must be valid.
TEST(Compile, SubgraphsOfTheModelAreCheckedBeforeTheyArePlanned) {
  CompileOptions options = Options(Runtime::kCpp, Interface::kPacked, Executor::kAot, {});
  options.passes.disabled = {"partition"};
  const auto compile = [&](const std::string& symbol) {
    const std::string model = absl::StrCat(
        R"(#[version = "0.0.5"]
        def @main(%x: Tensor[(2,), float32]) {
          %0 = fn (%a: Tensor[(2,), float32], Compiler="csource")",
        symbol, ") { add(%a, %a) };\n  %0(%x)\n}");
    return Compile(ParseRelay(model, "model.relay", FindOpSchema).value(), options).status();
  };
  EXPECT_EQ(compile(", global_symbol=\"tvmgen_m_csource_twice\""), absl::OkStatus());
  for (const char* const symbol : {"", ", global_symbol=\"main\""}) {
    const absl::Status status = compile(symbol);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("is no C identifier that begins with tvmgen_m_csource_"));
  }
}

TEST(Compile, UnpackedFunctionsAreCalledByTheirSymbols) {
  const absl::StatusOr<Compiled> compiled =
      CompileModel(Options(Runtime::kCrt, Interface::kC, Executor::kAot, {"csource"}));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  EXPECT_THAT(compiled->artifacts.at("m_csource.c"),
              HasSubstr("int32_t tvmgen_m_csource_main_0(void* in0, void* out0) {"));
  EXPECT_THAT(compiled->artifacts.at("m_csource.c"), Not(HasSubstr("TVM")));
  EXPECT_THAT(compiled->artifacts.at("m.c"), HasSubstr("tvmgen_m_csource_main_0("));
}

TEST(Compile, OnlyFunctionsOfBytesAreLookedUpByName) {
  const absl::StatusOr<Compiled> compiled = CompileModel(
      Options(Runtime::kCpp, Interface::kPacked, Executor::kAot, {"csource", "bytes"}));
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  for (const loop::Func& func : compiled->compilation.program.funcs) {
    EXPECT_EQ(func.by_name, func.name == "tvmgen_m_bytes_main_0") << func.name;
  }
}

TEST(Compile, RefusesWhatDoesNotGoTogether) {
  CompileOptions options = Options(Runtime::kCrt, Interface::kC, Executor::kAot, {"bytes"});
  EXPECT_THAT(std::string(CompileModel(options).status().message()),
              HasSubstr("module 'tvmgen_m_bytes_main_0' (npu) cannot be taken by the C runtime"));
  options = Options(Runtime::kCpp, Interface::kPacked, Executor::kAot, {"bytes"});
  options.calling_convention = CallingConvention::kCPacked;
  EXPECT_THAT(std::string(CompileModel(options).status().message()),
              HasSubstr("module 'tvmgen_m_bytes_main_0' (npu) and --calling-convention cpacked do "
                        "not go together"));
}

}  // namespace
}  // namespace kiln
