// SPDX-License-Identifier: Apache-2.0
// Tests of the AOT executor's function, the graph executor's tables, and the metadata's data.
#include <nlohmann/json.hpp>

#include "absl/strings/match.h"
#include "compiler/executor/aot.h"
#include "compiler/executor/crt.h"
#include "compiler/executor/describe.h"
#include "compiler/executor/graph.h"
#include "compiler/executor/system_lib.h"
#include "compiler/executor/testing/sample.h"
#include "compiler/loop/passes.h"
#include "gtest/gtest.h"
#include "kiln/graph_table.h"
#include "kiln/metadata.h"
#include "tvm/runtime/metadata_types.h"

namespace kiln {
namespace {

using loop::Convention;
using loop::DataDef;
using loop::DataValue;

TEST(Aot, CallsTheOperatorsInTheOrderOfThePlan) {
  loop::LoopProgram program = SampleProgram(Convention::kUnpacked);
  const absl::StatusOr<loop::Func> main = RunModel(SamplePlan(), program, "tvmgen_mod_run_model");
  ASSERT_TRUE(main.ok()) << main.status();
  EXPECT_EQ(loop::ToString(*main),
            "main tvmgen_mod_run_model(x: float32[4], input_0: int8[2, 3]) -> "
            "(output0: float32[4], output1: float32[]) pools workspace: uint8[192] align 64 {\n"
            "  call tvmgen_mod_f(x, workspace + 128, workspace)\n"
            "  call tvmgen_mod_g(workspace + 128, input_0, output0)\n"
            "  call tvmgen_mod_g_1(workspace + 128, output1)\n"
            "}\n");
}

TEST(Aot, WithoutWorkspaceHasNoParameterForIt) {
  Plan plan = SamplePlan();
  plan.calls = {{{.function = "tvmgen_mod_g", .inputs = {0, 1}, .outputs = {5}}, {0, 1, 5}, -1}};
  plan.pools[0].size_bytes = 0;
  const absl::StatusOr<loop::Func> main =
      RunModel(plan, SampleProgram(Convention::kPacked), "main");
  ASSERT_TRUE(main.ok()) << main.status();
  EXPECT_EQ(main->num_pools, 0);
  EXPECT_EQ(main->params.size(), 4u);
  EXPECT_EQ(main->num_inputs, 2);
}

TEST(Aot, PoolsOfTheApplicationAreParametersThoughEmpty) {
  Plan plan = SamplePlan();
  plan.pools.push_back({.name = "dram", .external = true});
  const absl::StatusOr<loop::Func> main =
      RunModel(plan, SampleProgram(Convention::kUnpacked), "main");
  ASSERT_TRUE(main.ok()) << main.status();
  EXPECT_EQ(main->num_pools, 2);
  EXPECT_EQ(main->params.back()->name, "dram");
}

TEST(Aot, EntriesCallTheModel) {
  const loop::LoopProgram program = SampleProgram(Convention::kUnpacked);
  const absl::StatusOr<loop::Func> model = RunModel(SamplePlan(), program, "model");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(loop::ToString(ModelEntry(*model, "packed", Convention::kPacked)),
            "packed main packed(x: float32[4], input_0: int8[2, 3]) -> "
            "(output0: float32[4], output1: float32[]) pools workspace: uint8[192] align 64 {\n"
            "  call model(x, input_0, output0, output1, workspace)\n"
            "}\n");
  EXPECT_EQ(loop::ToString(ModelEntry(*model, "own", Convention::kUnpacked, 1)),
            "main own(x: float32[4], input_0: int8[2, 3]) -> "
            "(output0: float32[4], output1: float32[]) {\n"
            "  allocate workspace: uint8[192] align 64 static {\n"
            "    call model(x, input_0, output0, output1, workspace)\n"
            "  }\n"
            "}\n");
}

TEST(Aot, RefusesFunctionsThatAreNotThere) {
  const absl::StatusOr<loop::Func> main = RunModel(SamplePlan(), {}, "main");
  EXPECT_EQ(main.status().code(), absl::StatusCode::kInternal);
  EXPECT_TRUE(absl::StrContains(main.status().message(), "tvmgen_mod_f")) << main.status();
}

TEST(GraphJson, IsTheTableOfThePlan) {
  const auto graph = nlohmann::json::parse(GraphJson(SamplePlan()));
  // Two inputs and four calls with one output each, so entry numbers equal node numbers.
  EXPECT_EQ(graph["arg_nodes"], nlohmann::json({0, 1}));
  EXPECT_EQ(graph["node_row_ptr"], nlohmann::json({0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(graph["heads"], nlohmann::json::parse("[[4, 0, 0], [5, 0, 0]]"));
  ASSERT_EQ(graph["nodes"].size(), 6u);
  EXPECT_EQ(graph["nodes"][0],
            nlohmann::json::parse(R"({"op": "null", "name": "x", "inputs": []})"));
  EXPECT_EQ(graph["nodes"][1]["name"], "0");
  EXPECT_EQ(graph["nodes"][2], nlohmann::json::parse(R"({
    "op": "tvm_op", "name": "tvmgen_mod_f", "inputs": [[0, 0, 0]],
    "attrs": {"func_name": "tvmgen_mod_f", "num_inputs": "1", "num_outputs": "1", "flatten_data": "0"}
  })"));
  EXPECT_EQ(graph["nodes"][3]["attrs"]["func_name"], "__nop");
  EXPECT_EQ(graph["nodes"][4]["inputs"], nlohmann::json::parse("[[3, 0, 0], [1, 0, 0]]"));
  const auto& attrs = graph["attrs"];
  EXPECT_EQ(attrs["dltype"], nlohmann::json::parse(R"(["list_str",
      ["float32", "int8", "float32", "float32", "float32", "float32"]])"));
  EXPECT_EQ(attrs["shape"],
            nlohmann::json::parse("[\"list_shape\", [[4], [2, 3], [2, 2], [4], [4], []]]"));
  EXPECT_EQ(attrs["storage_id"], nlohmann::json::parse("[\"list_int\", [0, 1, 2, 2, 3, 4]]"));
  EXPECT_EQ(attrs["device_index"], nlohmann::json::parse("[\"list_int\", [1, 1, 1, 1, 1, 1]]"));
}

proto::Metadata Sample() {
  return Describe(SamplePlan(), SampleProgram(Convention::kUnpacked), SampleInfo());
}

const DataDef* Find(const loop::LoopProgram& program, absl::string_view name) {
  for (const DataDef& def : program.data) {
    if (def.name == name) return &def;
  }
  ADD_FAILURE() << "no " << name;
  return nullptr;
}

const std::vector<DataValue>& Fields(const DataValue& value) {
  return std::get<DataValue::Aggregate>(value.value).fields;
}

// Size and alignment in bytes of a struct of these fields, by the rules of C on a 64-bit machine.
std::pair<size_t, size_t> SizeAndAlignment(const DataValue& value) {
  if (const auto* i = std::get_if<DataValue::Integer>(&value.value)) {
    const auto bytes = static_cast<size_t>(i->bits / 8);
    return {bytes, bytes};
  }
  if (const auto* f = std::get_if<DataValue::Float>(&value.value)) {
    const auto bytes = static_cast<size_t>(f->bits / 8);
    return {bytes, bytes};
  }
  const auto* aggregate = std::get_if<DataValue::Aggregate>(&value.value);
  if (aggregate == nullptr) return {sizeof(void*), sizeof(void*)};
  size_t size = 0, alignment = 1;
  for (const DataValue& field : aggregate->fields) {
    const auto [bytes, align] = SizeAndAlignment(field);
    size = (size + align - 1) / align * align + bytes;
    alignment = std::max(alignment, align);
  }
  return {(size + alignment - 1) / alignment * alignment, alignment};
}

// Expects that the struct that `def` defines, or an element of its array, has the size of T.
template <typename T>
void ExpectSizeOf(const DataDef* def) {
  ASSERT_NE(def, nullptr);
  const auto& aggregate = std::get<DataValue::Aggregate>(def->value.value);
  const DataValue& element = aggregate.array ? aggregate.fields.at(0) : def->value;
  EXPECT_EQ(SizeAndAlignment(element).first, sizeof(T)) << def->name << ": " << def->c_type;
}

TEST(ModelMetadata, FieldsAreThoseOfTheStructs) {
  proto::Metadata metadata = Sample();
  auto* quantization = metadata.mutable_functions(0)->mutable_parameters(1)->mutable_quantization();
  quantization->add_scales(0.5f);
  quantization->add_zero_points(-3);
  loop::LoopProgram program;
  AddModelMetadata(metadata, "get_model_metadata", /*packed=*/true, program);
  ExpectSizeOf<::Metadata>(Find(program, "tvmgen_mod_metadata_root"));
  ExpectSizeOf<::FunctionInfo>(Find(program, "tvmgen_mod_metadata_functions"));
  ExpectSizeOf<::ParameterInfo>(Find(program, "tvmgen_mod_metadata_function0_params"));
  ExpectSizeOf<::QuantizationInfo>(
      Find(program, "tvmgen_mod_metadata_function0_param1_quantization"));
  ExpectSizeOf<::PoolInfo>(Find(program, "tvmgen_mod_metadata_pools"));
  ExpectSizeOf<::PoolBufferInfo>(Find(program, "tvmgen_mod_metadata_pool0_buffers"));
  ASSERT_EQ(program.getters.size(), 1u);
  EXPECT_EQ(program.getters[0].name, "get_model_metadata");
  EXPECT_EQ(program.getters[0].data_symbol, "tvmgen_mod_metadata_root");
  EXPECT_TRUE(program.getters[0].packed);
  EXPECT_EQ(loop::VerifyProgram(program), absl::OkStatus());
}

TEST(ModelMetadata, WhatProfilesAskForIsLeftOutForTheCRuntime) {
  proto::Metadata metadata = Sample();
  loop::LoopProgram cpp, crt;
  AddModelMetadata(metadata, "get_model_metadata", /*packed=*/true, cpp);
  ExpectSizeOf<::CostInfo>(Find(cpp, "tvmgen_mod_metadata_costs"));
  EXPECT_TRUE(absl::StrContains(
      loop::ToString(cpp), "[{-1i64, -1i64}, {1000i64, 70i64}, {-1i64, -1i64}, {-1i64, -1i64}]"))
      << loop::ToString(cpp);
  EXPECT_TRUE(absl::StrContains(loop::ToString(cpp), "\"contraction\""));
  metadata.set_runtime("crt");
  AddModelMetadata(metadata, "get_model_metadata", /*packed=*/false, crt);
  ExpectSizeOf<::Metadata>(Find(crt, "tvmgen_mod_metadata_root"));
  const std::string text = loop::ToString(crt);
  EXPECT_FALSE(absl::StrContains(text, "metadata_costs")) << text;
  EXPECT_FALSE(absl::StrContains(text, "contraction")) << text;
  EXPECT_TRUE(absl::StrContains(text, "nn.conv2d nn.relu")) << text;
}

TEST(TvmMetadata, NamesOutputsInItsOwnWay) {
  Plan plan = SamplePlan();
  plan.buffers[5].name = "probabilities";
  loop::LoopProgram program;
  AddTvmMetadata(Describe(plan, {}, SampleInfo()), "get_c_metadata", program);
  ExpectSizeOf<::TVMMetadata>(Find(program, "tvmgen_mod_tvm_metadata_root"));
  ExpectSizeOf<::TVMTensorInfo>(Find(program, "tvmgen_mod_tvm_metadata_inputs"));
  const std::string text = loop::ToString(program);
  EXPECT_TRUE(absl::StrContains(text, "= [{\"output0\", ")) << text;
  EXPECT_TRUE(absl::StrContains(text, "{\"output1\", null, 0i64, {2i8, 32i8, 1i16}}]")) << text;
  EXPECT_TRUE(absl::StrContains(text,
                                "[{\"workspace\", &tvmgen_mod_tvm_metadata_pool0_shape, 1i64, "
                                "{1i8, 8i8, 1i16}}]"))
      << text;
  EXPECT_FALSE(absl::StrContains(text, "probabilities"));
}

TEST(TvmMetadata, LeavesEmptyPoolsOut) {
  Plan plan = SamplePlan();
  plan.pools[0].size_bytes = 0;
  loop::LoopProgram program;
  AddTvmMetadata(Describe(plan, {}, SampleInfo()), "get_c_metadata", program);
  const std::vector<DataValue>& root = Fields(Find(program, "tvmgen_mod_tvm_metadata_root")->value);
  EXPECT_EQ(std::get<DataValue::Address>(root.at(5).value).symbol, "");
  EXPECT_EQ(std::get<DataValue::Integer>(root.at(6).value).value, 0);
}

TEST(FunctionRegistry, BytesAreTwoOfCountThenNames) {
  loop::LoopProgram program = SampleProgram(Convention::kPacked);
  program.funcs[1].exported = false;
  program.getters.push_back({.name = "tvmgen_mod_get_c_metadata", .data_symbol = "d"});
  program.getters.push_back({.name = "plain", .data_symbol = "d", .packed = false});
  AddFunctionRegistry("mod", /*system_lib=*/true, {"external_f"}, program);
  constexpr char kBytes[] =
      "\x04\0external_f\0tvmgen_mod_f\0tvmgen_mod_g_1\0tvmgen_mod_get_c_metadata\0";
  EXPECT_EQ(
      std::get<DataValue::Bytes>(Find(program, "tvmgen_mod_function_names")->value.value).bytes,
      std::string(kBytes, sizeof kBytes));
  const std::vector<DataValue>& functions = Fields(Find(program, "tvmgen_mod_functions")->value);
  ASSERT_EQ(functions.size(), 4u);
  EXPECT_EQ(std::get<DataValue::FuncAddress>(functions[0].value).symbol, "external_f");
  EXPECT_TRUE(Find(program, "tvmgen_mod_module")->exported);
  EXPECT_EQ(program.getters.back().name, "TVMSystemLibEntryPoint");
  EXPECT_FALSE(program.getters.back().packed);
}

TEST(FunctionRegistry, WithoutFunctionsOrEntryPoint) {
  loop::LoopProgram program;
  AddFunctionRegistry("mod", /*system_lib=*/false, {}, program);
  EXPECT_EQ(
      std::get<DataValue::Bytes>(Find(program, "tvmgen_mod_function_names")->value.value).bytes,
      std::string(3, '\0'));
  EXPECT_TRUE(program.getters.empty());
}

TEST(GraphTable, IsTheTableOfThePlan) {
  loop::LoopProgram program = SampleProgram(Convention::kPacked);
  ASSERT_EQ(AddGraphTable("mod", SamplePlan(), program), absl::OkStatus());
  ExpectSizeOf<::GraphTable>(Find(program, "tvmgen_mod_graph"));
  ExpectSizeOf<::GraphTensor>(Find(program, "tvmgen_mod_graph_tensors"));
  ExpectSizeOf<::GraphCall>(Find(program, "tvmgen_mod_graph_calls"));
  ExpectSizeOf<::GraphPort>(Find(program, "tvmgen_mod_graph_ports"));
  const auto int_at = [](const DataValue& row, size_t field) {
    return std::get<DataValue::Integer>(Fields(row).at(field).value).value;
  };
  const std::vector<DataValue>& tensors = Fields(Find(program, "tvmgen_mod_graph_tensors")->value);
  ASSERT_EQ(tensors.size(), 7u);
  EXPECT_EQ(int_at(tensors[0], 3), 0);   // input 0
  EXPECT_EQ(int_at(tensors[1], 3), 1);   // input 1
  EXPECT_EQ(int_at(tensors[2], 3), -1);  // memory of the executor, at 128
  EXPECT_EQ(int_at(tensors[2], 4), 128);
  EXPECT_EQ(int_at(tensors[4], 4), 128);  // a view of tensor 2
  EXPECT_EQ(int_at(tensors[5], 3), 2);    // output 0
  EXPECT_EQ(int_at(tensors[6], 3), 3);
  EXPECT_EQ(Fields(Find(program, "tvmgen_mod_graph_calls")->value).size(), 3u);
  const DataValue& table = Find(program, "tvmgen_mod_graph")->value;
  EXPECT_EQ(int_at(table, 0), KILN_GRAPH_TABLE_VERSION);
  EXPECT_EQ(int_at(table, 3), 7);
  EXPECT_EQ(int_at(table, 5), 3);
  EXPECT_EQ(int_at(table, 7), 2);
  EXPECT_EQ(int_at(table, 8), 2);
  EXPECT_EQ(int_at(table, 9), 3);  // g has three arguments
  EXPECT_EQ(int_at(table, 10), 192);
}

TEST(GraphTable, RefusesFunctionsThatAreNotPacked) {
  loop::LoopProgram program = SampleProgram(Convention::kUnpacked);
  EXPECT_EQ(AddGraphTable("mod", SamplePlan(), program).code(), absl::StatusCode::kInternal);
}

TEST(SystemLib, RegistersNamesWithAndWithoutTheModulesPrefix) {
  loop::LoopProgram program = SampleProgram(Convention::kPacked);
  program.funcs[1].exported = false;
  program.getters.push_back({.name = "tvmgen_mod_get_c_metadata", .data_symbol = "d"});
  program.data.push_back({.name = "tvmgen_mod___tvm_dev_mblob",
                          .c_type = "unsigned char",
                          .c_header = "",
                          .value = DataValue::Raw("x"),
                          .exported = true});
  EXPECT_EQ(SystemLibSource(program, "mod"),
            R"(/* Generated by Kiln: registers the model "mod" when the program starts. */
#include <stdint.h>

#include "tvm/runtime/c_backend_api.h"

int32_t tvmgen_mod_f(TVMValue*, int*, int, TVMValue*, int*, void*);
int32_t tvmgen_mod_g_1(TVMValue*, int*, int, TVMValue*, int*, void*);
int32_t tvmgen_mod_get_c_metadata(TVMValue*, int*, int, TVMValue*, int*, void*);
extern const unsigned char tvmgen_mod___tvm_dev_mblob[];

__attribute__((constructor)) static void Register(void) {
  TVMBackendRegisterSystemLibSymbol("tvmgen_mod_f", (void*)(uintptr_t)tvmgen_mod_f);
  TVMBackendRegisterSystemLibSymbol("tvmgen_mod_g_1", (void*)(uintptr_t)tvmgen_mod_g_1);
  TVMBackendRegisterSystemLibSymbol("get_c_metadata", (void*)(uintptr_t)tvmgen_mod_get_c_metadata);
  TVMBackendRegisterSystemLibSymbol("tvmgen_mod_get_c_metadata", (void*)(uintptr_t)tvmgen_mod_get_c_metadata);
  TVMBackendRegisterSystemLibSymbol("__tvm_dev_mblob", (void*)tvmgen_mod___tvm_dev_mblob);
  TVMBackendRegisterSystemLibSymbol("tvmgen_mod___tvm_dev_mblob", (void*)tvmgen_mod___tvm_dev_mblob);
}
)");
}

}  // namespace
}  // namespace kiln
