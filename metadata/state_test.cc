// SPDX-License-Identifier: Apache-2.0
// State in the metadata, the generated header and the model source.
#include <string>

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "google/protobuf/text_format.h"
#include "gtest/gtest.h"
#include "metadata/header.h"
#include "metadata/json.h"
#include "metadata/model_source.h"
#include "metadata/version.h"

namespace kiln {
namespace {

proto::Metadata MakeStreaming(bool external) {
  proto::Metadata metadata;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(
      R"pb(
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
          parameters { relay_name_hint: "x" shape: 6 dtype: "int8" size_bytes: 6 }
          parameters { relay_name_hint: "y" dtype: "float32" size_bytes: 4 }
        }
        pools { name: "workspace" kind: WORKSPACE size_bytes: 128 alignment_bytes: 64 }
        pools { name: "state" kind: STATE size_bytes: 32 alignment_bytes: 16 }
        states {
          tensor {
            relay_name_hint: "conv/states"
            shape: [ 1, 4 ]
            dtype: "int8"
            size_bytes: 4
            quantization { scales: 0.5 zero_points: -128 }
            place { pool: 1 offset_bytes: 16 }
          }
          initial_value: -128
        }
      )pb",
      &metadata));
  for (proto::Pool& pool : *metadata.mutable_pools()) pool.set_external(external);
  return metadata;
}

TEST(Header, OfAModelThatKeepsState) {
  const std::string header = *ModelHeader(MakeStreaming(/*external=*/false));
  for (const char* line : {
           "static inline int32_t tvmgen_My_mod_run_model(const void* in0, void* out0, uint8_t* "
           "state) {",
           "static inline int32_t tvmgen_My_mod_run_with_workspace(const void* in0, void* out0, "
           "uint8_t* workspace, uint8_t* state) {",
           "  KILN_CHECK(state == tvmgen_My_mod_state || kiln_is_marked(KILN_CAST(uint8_t*, state) "
           "+ 32), \"My_mod: the state has not been initialized\");",
           "  if (!(state == tvmgen_My_mod_state)) kiln_mark_state(KILN_CAST(uint8_t*, state) + "
           "32);",
           "extern uint8_t tvmgen_My_mod_state[32];",
           "static inline int32_t tvmgen_My_mod_initialize_state(void* state) {",
           "static inline void tvmgen_My_mod_reset_state(void) {",
           "  return tvmgen_My_mod_run_model(inputs->x, outputs->y, tvmgen_My_mod_state);",
           "  return tvmgen_My_mod_run_model(inputs->x, outputs->y, KILN_CAST(uint8_t*, state));",
           "#define TVMGEN_MY_MOD_STATE_SIZE_BYTES 36",
           "#define TVMGEN_MY_MOD_STATE_SIZE_BYTES 32",
           "#define TVMGEN_MY_MOD_STATE_ALIGNMENT_BYTES 16",
           "#define TVMGEN_MY_MOD_NUM_STATES 1",
           "#define TVMGEN_MY_MOD_STATE_CONV_STATES_OFFSET_BYTES 16",
           "#define TVMGEN_MY_MOD_STATE_CONV_STATES_INITIAL_VALUE -128",
           "#define TVMGEN_MY_MOD_STATE_CONV_STATES_SHAPE {1, 4}",
           "#define TVMGEN_MY_MOD_STATE_CONV_STATES_ZERO_POINT -128",
           "struct alignas(16) State {",
       }) {
    EXPECT_TRUE(absl::StrContains(header, absl::StrCat("\n", line, "\n"))) << line << header;
  }
}

TEST(Header, StateInMemoryOfTheApplications) {
  const std::string header = *ModelHeader(MakeStreaming(/*external=*/true));
  EXPECT_TRUE(absl::StrContains(header, "  void* workspace;\n  void* state;\n};")) << header;
  EXPECT_TRUE(absl::StrContains(header, "int32_t tvmgen_My_mod_initialize_state(void* state) {"));
  EXPECT_TRUE(absl::StrContains(header, "  KILN_CHECK(kiln_is_marked("));
  for (const char* absent : {"reset_state", "run_with_state", "tvmgen_My_mod_state["}) {
    EXPECT_FALSE(absl::StrContains(header, absent)) << absent;
  }
}

TEST(Header, StatesWithOneNameInMacrosAreRefused) {
  proto::Metadata metadata = MakeStreaming(/*external=*/false);
  *metadata.add_states() = metadata.states(0);
  metadata.mutable_states(1)->mutable_tensor()->set_relay_name_hint("Conv-states");
  const absl::Status status = ModelHeader(metadata).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(absl::StrContains(status.message(), "'conv/states' and 'Conv-states'")) << status;
}

TEST(ModelSource, TheStateIsTheLastWorkspace) {
  const std::string source = ModelSource(MakeStreaming(/*external=*/false));
  EXPECT_TRUE(
      absl::StrContains(source, "    {\"workspace\", 128, 64},\n    {\"state\", 32, 16},\n"))
      << source;
  EXPECT_TRUE(absl::StrContains(source, ".num_workspaces = 2,"));
  EXPECT_TRUE(absl::StrContains(source,
                                "tvmgen_My_mod_run_with_workspace(inputs[0], outputs[0], "
                                "(uint8_t*)workspaces[0], (uint8_t*)workspaces[1]);"));
  EXPECT_TRUE(absl::StrContains(
      source, "tvmgen_My_mod_run_model(inputs[0], outputs[0], tvmgen_My_mod_state);"));
}

TEST(Json, StatesAreReadBackAndLieInTheirPool) {
  proto::Metadata metadata = MakeStreaming(/*external=*/false);
  metadata.set_version(kMetadataVersion);
  const auto read = ParseMetadataJson(MetadataJson(metadata), "");
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->states_size(), 1);
  EXPECT_EQ(read->states(0).initial_value(), -128);
  EXPECT_EQ(read->states(0).tensor().place().offset_bytes(), 16);
  const auto refusal = [](proto::Metadata wrong) {
    return std::string(ParseMetadataJson(MetadataJson(wrong), "").status().message());
  };
  proto::Metadata outside = metadata;
  outside.mutable_states(0)->mutable_tensor()->mutable_place()->set_offset_bytes(30);
  EXPECT_TRUE(absl::StrContains(refusal(outside), "lies outside of the state 'state' of 32 bytes"));
  proto::Metadata elsewhere = metadata;
  elsewhere.mutable_states(0)->mutable_tensor()->mutable_place()->set_pool(0);
  EXPECT_TRUE(absl::StrContains(refusal(elsewhere), "state 'conv/states' lies outside"));
  proto::Metadata nowhere = metadata;
  nowhere.mutable_states(0)->mutable_tensor()->clear_place();
  EXPECT_TRUE(absl::StrContains(refusal(nowhere), "state 'conv/states' is no input, or"));
  proto::Metadata unknown = metadata;
  unknown.mutable_states(0)->mutable_tensor()->mutable_place()->set_pool(7);
  EXPECT_TRUE(absl::StrContains(refusal(unknown), "lies in pool 7 of 2"));
}

}  // namespace
}  // namespace kiln
