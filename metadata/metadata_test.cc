// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "metadata/form.h"
#include "metadata/header.h"
#include "metadata/json.h"
#include "metadata/member_name.h"
#include "metadata/model_names.h"
#include "metadata/model_source.h"
#include "metadata/version.h"

namespace kiln {
namespace {

proto::Metadata Make() {
  proto::Metadata metadata;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
        version: 1
        module_name: "My_mod"
        executor: "aot"
        runtime: "crt"
        interface_api: "c"
        calling_convention: "unpacked"
        target: "host"
        functions {
          name: "tvmgen_My_mod_run_model"
          num_inputs: 1
          num_outputs: 1
          workspace_size_bytes: 128
          io_size_bytes: 10
          parameters {
            relay_name_hint: "input-x::2"
            tir_name_hint: "input_x__2"
            shape: 1
            shape: 6
            dtype: "int8"
            size_bytes: 6
            quantization { scales: 1 zero_points: -3 }
          }
          parameters {
            relay_name_hint: "0"
            tir_name_hint: "output_0"
            dtype: "float32"
            size_bytes: 4
          }
        }
        pools { name: "workspace" kind: WORKSPACE size_bytes: 128 alignment_bytes: 64 }
      )pb",
      &metadata));
  return metadata;
}

TEST(MemberName, IsAnIdentifier) {
  EXPECT_EQ(MemberName("input-x::2"), "input_x__2");
  EXPECT_EQ(MemberName("0"), "_0");
  EXPECT_EQ(MemberName("int"), "int_");
  EXPECT_EQ(MemberName("Int"), "Int");
  EXPECT_EQ(MemberName("_Bool"), "x_Bool");
  EXPECT_EQ(MemberName("__x"), "x__x");
  EXPECT_EQ(MemberName("_x"), "_x");
  EXPECT_EQ(MemberName("\u00dcnicode"), "_nicode");
  EXPECT_EQ(MemberName("\u00dcNICODE"), "x_NICODE");
  EXPECT_EQ(MemberName("linux"), "linux_");
  EXPECT_EQ(MemberName("NULL"), "NULL_");
  for (const char* macro :
       {"errno",       "stdin",      "stdout",       "stderr",          "EOF",
        "I",           "complex",    "BUFSIZ",       "RAND_MAX",        "signgam",
        "M_PI",        "M_PIl",      "assert",       "INT_MAX",         "UINT_LEAST8_MAX",
        "FLT_EPSILON", "PRIxFAST16", "SIGINT",       "EINVAL",          "LC_ALL",
        "FE_INEXACT",  "SEEK_SET",   "EXIT_SUCCESS", "math_errhandling"}) {
    EXPECT_EQ(MemberName(macro), std::string(macro) + "_");
  }
  for (const char* name : {"Errno", "errno1", "M_X", "T_MAX", "FLT_X", "PRId", "isnan", "E1"}) {
    EXPECT_EQ(MemberName(name), name);
  }
  EXPECT_EQ(MemberName("index"), "index");
}

TEST(Form, NamesCallersAndOptions) {
  proto::Metadata metadata = Make();
  EXPECT_EQ(CallersOf(metadata), "C and C++");
  EXPECT_EQ(FormOf(metadata), "executor aot, runtime crt, interface c");
  metadata.set_interface_api("packed");
  EXPECT_EQ(CallersOf(metadata), "C, by name");
  metadata.set_runtime("cpp");
  metadata.set_executor("graph");
  EXPECT_EQ(CallersOf(metadata), "C, C++ and Python");
  EXPECT_EQ(FormOf(metadata), "executor graph, runtime cpp, interface packed");
}

TEST(Json, KeysAreTheSchemasInItsOrder) {
  const std::string text = MetadataJson(Make());
  const auto json = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(json.begin().key(), "version");
  EXPECT_EQ(json["module_name"], "My_mod");
  EXPECT_EQ(json["functions"][0]["parameters"][0]["shape"], (std::vector<int>{1, 6}));
  EXPECT_EQ(json["functions"][0]["parameters"][0]["quantization"]["zero_points"][0], -3);
  EXPECT_FALSE(json["functions"][0]["parameters"][1].contains("quantization"));
  EXPECT_EQ(json["functions"][0]["constant_size_bytes"], 0);
  EXPECT_EQ(json["pools"][0]["kind"], "WORKSPACE");
  EXPECT_EQ(text, MetadataJson(Make()));
}

TEST(Json, CostsAreReadBackAndNeverNegative) {
  proto::Metadata metadata = Make();
  metadata.set_version(kMetadataVersion);
  proto::Cost& cost = *metadata.mutable_functions(0)->mutable_cost();
  cost.set_operations(int64_t{1} << 40);
  cost.set_accessed_bytes(7);
  const auto read = ParseMetadataJson(MetadataJson(metadata), "m.json");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->functions(0).cost().operations(), int64_t{1} << 40);
  EXPECT_EQ(read->functions(0).cost().accessed_bytes(), 7);
  cost.set_operations(-1);
  EXPECT_TRUE(absl::StrContains(
      ParseMetadataJson(MetadataJson(metadata), "m.json").status().message(), "negative cost"));
}

TEST(Header, OfTheCInterface) {
  const auto header = ModelHeader(Make());
  ASSERT_TRUE(header.ok()) << header.status();
  for (const char* line : {
           "#ifndef TVMGEN_My_mod_H_\n",
           "struct tvmgen_My_mod_inputs {\n  const int8_t* input_x__2;\n};\n",
           "struct tvmgen_My_mod_outputs {\n  float* _0;\n};\n",
           "static inline int32_t tvmgen_My_mod_run_model(const void* in0, void* out0) {\n",
           "int32_t tvmgen_My_mod_run_with_workspace(const void* in0, void* out0, uint8_t* "
           "workspace) {\n",
           "  return tvmgen_My_mod_run_model(inputs->input_x__2, outputs->_0);\n",
           "#ifdef KILN_MODEL_VERSION\nextern const struct TVMModel My_mod;\n#endif\n",
           "#define TVMGEN_MY_MOD_WORKSPACE_SIZE_BYTES 128\n",
           "#define TVMGEN_MY_MOD_WORKSPACE_SIZE TVMGEN_MY_MOD_WORKSPACE_SIZE_BYTES\n",
           "#define TVMGEN_MY_MOD_WORKSPACE_ALIGNMENT_BYTES 64\n",
           "#define TVMGEN_MY_MOD_INPUT_INPUT_X__2_INDEX 0\n",
           "#define TVMGEN_MY_MOD_INPUT_INPUT_X__2_SIZE_BYTES 6\n",
           "#define TVMGEN_MY_MOD_INPUT_INPUT_X__2_SHAPE {1, 6}\n",
           "#define TVMGEN_MY_MOD_INPUT_INPUT_X__2_DTYPE \"int8\"\n",
           "#define TVMGEN_MY_MOD_INPUT_INPUT_X__2_SCALE 1.0f\n",
           "#define TVMGEN_MY_MOD_INPUT_INPUT_X__2_ZERO_POINT -3\n",
           "#define TVMGEN_MY_MOD_OUTPUT__0_NDIM 0\n",
       }) {
    EXPECT_TRUE(absl::StrContains(*header, line)) << line << "is not in\n" << *header;
  }
  EXPECT_FALSE(absl::StrContains(*header, "OUTPUT__0_SHAPE"));
}

TEST(Header, FunctionsHaveItsVersion) {
  const std::string version = *InterfaceVersion(Make()), header = *ModelHeader(Make());
  EXPECT_EQ(version.size(), 8u);
  EXPECT_EQ(VersionedName("f", version), "f_" + version);
  const std::vector<std::string> functions = InterfaceFunctions(Make());
  EXPECT_EQ(functions, (std::vector<std::string>{"tvmgen_My_mod_run_model",
                                                 "tvmgen_My_mod_run_with_workspace"}));
  for (const std::string& name : functions) {
    const std::string versioned = VersionedName(name, version);
    EXPECT_TRUE(absl::StrContains(header, "\nint32_t " + versioned + "(const void* in0")) << header;
    EXPECT_TRUE(absl::StrContains(header, absl::StrCat("\n#define ", name, " ", versioned, "\n")));
  }
}

// The version is a hash of everything that a program takes from the header, and of nothing else.
TEST(Header, TheVersionIsOfWhatTheHeaderSays) {
  const std::string version = *InterfaceVersion(Make());
  EXPECT_EQ(*InterfaceVersion(Make()), version);
  proto::Metadata same = Make();
  same.set_target("cortex-m4f");
  EXPECT_EQ(*InterfaceVersion(same), version);
  const auto with = [](const std::function<void(proto::Metadata&)>& change) {
    proto::Metadata metadata = Make();
    change(metadata);
    return *InterfaceVersion(metadata);
  };
  std::set<std::string> versions = {version};
  versions.insert(with([](auto& m) { m.set_module_name("Other"); }));
  versions.insert(with([](auto& m) { m.mutable_functions(0)->set_workspace_size_bytes(64); }));
  versions.insert(with([](auto& m) { m.mutable_pools(0)->set_alignment_bytes(16); }));
  versions.insert(with([](auto& m) { m.mutable_pools(0)->set_external(true); }));
  versions.insert(
      with([](auto& m) { m.mutable_functions(0)->mutable_parameters(1)->set_dtype("int32"); }));
  versions.insert(with([](auto& m) {
    auto& quantization = *m.mutable_functions(0)->mutable_parameters(0)->mutable_quantization();
    quantization.set_zero_points(0, 5);
  }));
  EXPECT_EQ(versions.size(), 7u);
}

// With KILN_CHECKS, messages of failed checks name the wrong argument.
TEST(Header, FunctionsCheckTheirArguments) {
  const std::string header = *ModelHeader(Make());
  for (const char* line : {
           "  KILN_CHECK(kiln_is_aligned(out0, 4), \"My_mod: output _0 is NULL or not aligned to 4 "
           "bytes\");\n",
           "  KILN_CHECK(kiln_is_aligned(workspace, 64), \"My_mod: workspace is NULL or not "
           "aligned "
           "to 64 bytes\");\n",
           "  KILN_CHECK(inputs, \"My_mod: inputs is NULL\");\n",
       }) {
    EXPECT_TRUE(absl::StrContains(header, line)) << line << "is not in\n" << header;
  }
}

TEST(Header, OfThePackedInterface) {
  proto::Metadata metadata = Make();
  metadata.set_interface_api("packed");
  EXPECT_TRUE(
      absl::StrContains(*ModelHeader(metadata), "extern const TVMModule tvmgen_My_mod_module;\n"));
  metadata.set_executor("graph");
  EXPECT_TRUE(absl::StrContains(*ModelHeader(metadata),
                                "extern const struct GraphTable tvmgen_My_mod_graph;\n"));
  metadata.set_runtime("cpp");
  EXPECT_FALSE(absl::StrContains(*ModelHeader(metadata), "extern const"));
}

TEST(Header, ClashesAreErrors) {
  proto::Metadata metadata = Make();
  auto* main = metadata.mutable_functions(0);
  main->set_num_inputs(2);
  main->mutable_parameters(1)->set_relay_name_hint("input:x--2");
  EXPECT_EQ(ModelHeader(metadata).status().message(),
            "inputs 'input-x::2' and 'input:x--2' have the same name 'input_x__2' in C, apart from "
            "capitals; rename one in the model, or use --interface packed, whose callers write no "
            "names of C");
  main->mutable_parameters(0)->set_relay_name_hint("int");
  main->mutable_parameters(1)->set_relay_name_hint("int_");
  EXPECT_TRUE(absl::StartsWith(ModelHeader(metadata).status().message(),
                               "inputs 'int' and 'int_' have the same name 'int_' in C, "));
  main->mutable_parameters(1)->clear_relay_name_hint();
  EXPECT_EQ(ModelHeader(metadata).status().message(), "an input of the model has no name");
}

// The packed interface has no names that callers write in C. Macros that would clash are numbered.
TEST(Header, ClashesAreNumberedForThePackedInterface) {
  proto::Metadata metadata = Make();
  metadata.set_interface_api("packed");
  auto* main = metadata.mutable_functions(0);
  main->set_num_inputs(0);
  main->set_num_outputs(4);
  for (int i = main->parameters_size(); i < 4; ++i) *main->add_parameters() = main->parameters(0);
  const char* const names[] = {"y.1", "y_1", "Y_1", "y_1_2"};
  for (int i = 0; i < 4; ++i) main->mutable_parameters(i)->set_relay_name_hint(names[i]);
  const ModelNames model(metadata);
  EXPECT_EQ(model.member(0), "y_1");
  EXPECT_EQ(model.member(1), "y_1_3");
  EXPECT_EQ(model.member(2), "Y_1_4");
  EXPECT_EQ(model.member(3), "y_1_2");
  const absl::StatusOr<std::string> header = ModelHeader(metadata);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_TRUE(absl::StrContains(*header, "_OUTPUT_Y_1_3_INDEX 1\n"));
}

TEST(Header, ModelWithoutInputs) {
  proto::Metadata metadata = Make();
  metadata.mutable_functions(0)->set_num_inputs(0);
  metadata.mutable_functions(0)->set_num_outputs(2);
  const auto header = ModelHeader(metadata);
  ASSERT_TRUE(header.ok());
  EXPECT_TRUE(
      absl::StrContains(*header,
                        "// The model has no inputs; tvmgen_My_mod_run takes NULL for them.\n"
                        "struct tvmgen_My_mod_inputs {\n  char unused;\n};\n"));
  EXPECT_TRUE(absl::StrContains(*header, "  (void)inputs;\n"));
}

TEST(Header, ModelWithoutWorkspace) {
  proto::Metadata metadata = Make();
  metadata.mutable_functions(0)->set_workspace_size_bytes(0);
  metadata.clear_pools();
  const auto header = ModelHeader(metadata);
  ASSERT_TRUE(header.ok());
  EXPECT_TRUE(absl::StrContains(*header, "_run_model(const void* in0, void* out0) {\n"));
  EXPECT_FALSE(absl::StrContains(*header, "_run_with_workspace"));
  EXPECT_TRUE(absl::StrContains(*header, "WORKSPACE_SIZE_BYTES 0\n"));
  EXPECT_FALSE(absl::StrContains(*header, "WORKSPACE_ALIGNMENT_BYTES"));
}

TEST(Header, PoolsOfTheApplication) {
  proto::Metadata metadata = Make();
  proto::Pool& pool = *metadata.mutable_pools(0);
  pool.set_external(true);
  pool.set_name("sram");
  const auto header = ModelHeader(metadata);
  ASSERT_TRUE(header.ok()) << header.status();
  for (const char* line : {
           "struct tvmgen_My_mod_workspace_pools {\n  void* sram;\n};\n",
           "tvmgen_My_mod_run_model(const void* in0, void* out0, uint8_t* pool_sram) {\n",
           "const struct tvmgen_My_mod_workspace_pools* workspace_pools) {\n",
           "(inputs->input_x__2, outputs->_0, KILN_CAST(uint8_t*, workspace_pools->sram));\n",
           "#define TVMGEN_MY_MOD_SRAM_WORKSPACE_POOL_SIZE_BYTES 128\n",
           "#define TVMGEN_MY_MOD_SRAM_WORKSPACE_POOL_SIZE "
           "TVMGEN_MY_MOD_SRAM_WORKSPACE_POOL_SIZE_BYTES\n",
           "#define TVMGEN_MY_MOD_SRAM_WORKSPACE_POOL_ALIGNMENT_BYTES 64\n",
       }) {
    EXPECT_TRUE(absl::StrContains(*header, line)) << line << "is not in\n" << *header;
  }
  EXPECT_FALSE(absl::StrContains(*header, "_run_with_workspace"));
}

// Returns Make() with its tensors in a pool that the application provides.
proto::Metadata MakeWithPlaces() {
  proto::Metadata metadata = Make();
  metadata.set_version(kMetadataVersion);
  proto::Pool& pool = *metadata.mutable_pools(0);
  pool.set_external(true);
  pool.set_name("sram");
  metadata.mutable_functions(0)->mutable_parameters(0)->mutable_place()->set_offset_bytes(64);
  metadata.mutable_functions(0)->mutable_parameters(1)->mutable_place()->set_offset_bytes(0);
  return metadata;
}

TEST(Header, InputsAndOutputsInTheWorkspace) {
  const auto header = ModelHeader(MakeWithPlaces());
  ASSERT_TRUE(header.ok()) << header.status();
  for (const char* line : {
           "int32_t tvmgen_My_mod_run_model(uint8_t* pool_sram) {\n",
           "struct tvmgen_My_mod_inputs tvmgen_My_mod_map_inputs(const struct "
           "tvmgen_My_mod_workspace_pools* workspace_pools) {\n",
           "  inputs.input_x__2 = KILN_CAST(int8_t*, KILN_CAST(void*, KILN_CAST(uint8_t*, "
           "workspace_pools->sram) + 64));\n",
           "  outputs._0 = KILN_CAST(float*, KILN_CAST(void*, KILN_CAST(uint8_t*, "
           "workspace_pools->sram)));\n",
           "int32_t tvmgen_My_mod_run(const struct tvmgen_My_mod_workspace_pools* "
           "workspace_pools) {\n",
           "  return tvmgen_My_mod_run_model(KILN_CAST(uint8_t*, workspace_pools->sram));\n",
           "inline ::std::int32_t run(const WorkspacePools& pools) noexcept {\n",
       }) {
    EXPECT_TRUE(absl::StrContains(*header, line)) << line << "is not in\n" << *header;
  }
  // The element type is not const: the inputs can be written to.
  EXPECT_TRUE(absl::StrContains(*header, "input_x__2_info, ::std::int8_t, 6>;\n")) << *header;
}

TEST(ModelSource, CopiesToAndFromTheWorkspace) {
  const std::string source = ModelSource(MakeWithPlaces());
  for (const char* line : {
           "  if (inputs[0] != (void*)((uint8_t*)workspaces[0] + 64)) {\n"
           "    memcpy((uint8_t*)workspaces[0] + 64, inputs[0], 6);\n",
           "  error = tvmgen_My_mod_run_model((uint8_t*)workspaces[0]);\n"
           "  if (error != 0) return error;\n",
           "    memcpy(outputs[0], (uint8_t*)workspaces[0], 4);\n",
           "    .run_static = NULL,\n",
       }) {
    EXPECT_TRUE(absl::StrContains(source, line)) << line << "is not in\n" << source;
  }
}

TEST(Json, PlacesAreReadBackAndLieInAPoolOfTheApplications) {
  const proto::Metadata metadata = MakeWithPlaces();
  const auto read = ParseMetadataJson(MetadataJson(metadata), "m.json");
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->functions(0).parameters(0).place().offset_bytes(), 64);
  const auto error = [&](int32_t pool, int64_t offset, bool external) {
    proto::Metadata wrong = metadata;
    wrong.mutable_pools(0)->set_external(external);
    proto::PoolPlace& place = *wrong.mutable_functions(0)->mutable_parameters(0)->mutable_place();
    place.set_pool(pool);
    place.set_offset_bytes(offset);
    return std::string(ParseMetadataJson(MetadataJson(wrong), "m.json").status().message());
  };
  EXPECT_EQ(error(0, 122, true), "");
  const std::string parameter = "m.json: parameter 'input-x::2' lies ";
  EXPECT_EQ(error(0, 123, true), parameter + "outside of pool 'sram' of 128 bytes");
  EXPECT_EQ(error(0, -1, true), parameter + "outside of pool 'sram' of 128 bytes");
  EXPECT_EQ(error(0, 0, false), parameter + "in pool 'sram', which the application does not give");
  EXPECT_EQ(error(7, 0, true), parameter + "in pool 7 of 1");
  EXPECT_EQ(error(-1, 0, true), parameter + "in pool -1 of 1");
  proto::Metadata half = metadata;
  half.mutable_functions(0)->mutable_parameters(1)->clear_place();
  EXPECT_EQ(ParseMetadataJson(MetadataJson(half), "m.json").status().message(),
            "m.json: parameters 'input-x::2' and '0': one has a place in a pool, the other has "
            "none");
}

TEST(ModelSource, DescribesTheModel) {
  const std::string source = ModelSource(Make());
  for (const char* line : {
           "  return tvmgen_My_mod_run_with_workspace(inputs[0], outputs[0], "
           "(uint8_t*)workspaces[0]);\n",
           "  return tvmgen_My_mod_run_model(inputs[0], outputs[0]);\n",
           "static const TVMModelMemory tvmgen_My_mod_model_inputs[] = {\n    {\"input_x__2\", 6, "
           "1},\n};\n",
           "    {\"workspace\", 128, 64},\n",
           "const TVMModel My_mod = {\n",
           "    .run_static = tvmgen_My_mod_model_run_static,\n",
       }) {
    EXPECT_TRUE(absl::StrContains(source, line)) << line << "is not in\n" << source;
  }
}

TEST(ModelSource, NamesThatAreTaken) {
  proto::Metadata metadata = Make();
  for (const char* name :
       {"default", "co_await", "main", "linux", "kiln", "std", "exit", "time", "expf", "stdout",
        "_write", "TVMModel", "tvmgen_a_run", "size_t", "inputs"}) {
    metadata.set_module_name(name);
    EXPECT_TRUE(
        absl::StrContains(ModelSource(metadata), absl::StrCat("const TVMModel ", name, "_ = {\n")))
        << name;
  }
  for (const char* name : {"kilns", "Run", "kInputs", "digits", "leaf", "model", "_m"}) {
    metadata.set_module_name(name);
    EXPECT_TRUE(
        absl::StrContains(ModelSource(metadata), absl::StrCat("const TVMModel ", name, " = {\n")))
        << name;
  }
}

}  // namespace
}  // namespace kiln
