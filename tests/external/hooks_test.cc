// SPDX-License-Identifier: Apache-2.0
// A model with two subgraphs on an accelerator: the order of the device's hooks, and their errors.
#include <cstdint>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "kiln/model.h"
#include "mixed_npu.h"

namespace {

struct Npu {
  std::string calls;
  std::string failing;  // the hook that returns 7
};

int32_t Note(void* context, const char* hook) {
  Npu& npu = *static_cast<Npu*>(context);
  npu.calls += npu.calls.empty() ? hook : std::string(" ") + hook;
  return npu.failing == hook ? 7 : 0;
}

}  // namespace

extern "C" {
int32_t TVMDeviceEthosUActivate(void* context) { return Note(context, "Activate"); }
int32_t TVMDeviceEthosUOpen(void* context) { return Note(context, "Open"); }
int32_t TVMDeviceEthosUClose(void* context) { return Note(context, "Close"); }
int32_t TVMDeviceEthosUDeactivate(void* context) { return Note(context, "Deactivate"); }
}

namespace {

using ::testing::ElementsAre;

class HooksTest : public testing::Test {
 protected:
  int32_t Run() { return tvmgen_mixed_npu_run_model(x_, y_, product_, sum_, &npu_); }

  Npu npu_;
  float x_[6] = {1.5f, -2.25f, 0.75f, -0.5f, 3.0f, -1.0f}, y_[3] = {0.5f, 1.0f, -1.25f};
  float product_[6] = {}, sum_[6] = {};
};

constexpr char kAll[] = "Activate Open Close Open Close Deactivate";

TEST_F(HooksTest, AreCalledAroundTheModelAndItsOperators) {
  ASSERT_EQ(Run(), 0);
  EXPECT_EQ(npu_.calls, kAll);
  EXPECT_THAT(sum_, ElementsAre(2, 0, 0, 0, 4, 0));
  EXPECT_THAT(product_, ElementsAre(-3, 0, 0, 0, -12, 0));
}

TEST_F(HooksTest, WhatWasBegunIsEndedAfterAnError) {
  const char* const kCases[][2] = {{"Activate", "Activate"},
                                   {"Open", "Activate Open Deactivate"},
                                   {"Close", "Activate Open Close Deactivate"},
                                   {"Deactivate", kAll}};
  for (const auto& [failing, calls] : kCases) {
    npu_ = {.calls = "", .failing = failing};
    EXPECT_EQ(Run(), 7) << failing;
    EXPECT_EQ(npu_.calls, calls);
  }
}

TEST_F(HooksTest, TheStructsOfTheHeader) {
  const tvmgen_mixed_npu_inputs inputs = {x_, y_};
  const tvmgen_mixed_npu_outputs outputs = {product_, sum_};
  const tvmgen_mixed_npu_devices devices = {&npu_};
  ASSERT_EQ(tvmgen_mixed_npu_run(&inputs, &outputs, &devices), 0);
  EXPECT_EQ(npu_.calls, kAll);
}

TEST_F(HooksTest, AWorkspaceOfTheCallers) {
  alignas(TVMGEN_MIXED_NPU_WORKSPACE_ALIGNMENT_BYTES) static uint8_t
      workspace[TVMGEN_MIXED_NPU_WORKSPACE_SIZE_BYTES];
  ASSERT_EQ(tvmgen_mixed_npu_run_with_workspace(x_, y_, product_, sum_, workspace, &npu_), 0);
  EXPECT_EQ(npu_.calls, kAll);
}

TEST_F(HooksTest, ExecuteHandsContextsOn) {
  const tvmgen_mixed_npu_inputs inputs = {x_, y_};
  const tvmgen_mixed_npu_outputs outputs = {product_, sum_};
  EXPECT_NE(TVMExecute(&mixed_npu, &inputs, &outputs, nullptr), 0);
  EXPECT_EQ(npu_.calls, "");
  void* const devices[] = {&npu_};
  TVMContext context = {};
  context.devices = devices;
  context.num_devices = 1;
  ASSERT_EQ(TVMExecute(&mixed_npu, &inputs, &outputs, &context), 0);
  EXPECT_EQ(npu_.calls, kAll);
}

TEST_F(HooksTest, ExecuteLeavesATextOfThisError) {
  const tvmgen_mixed_npu_inputs inputs = {x_, y_};
  const tvmgen_mixed_npu_outputs outputs = {product_, sum_};
  void* const devices[] = {&npu_};
  TVMContext context = {};
  context.devices = devices;
  context.num_devices = 1;
  for (const char* failing : {"Activate", "Open", "Close", "Deactivate"}) {
    EXPECT_NE(TVMExecute(&mixed_npu, &inputs, &outputs, nullptr), 0);
    const std::string older = TVMGetLastError();
    npu_ = {.calls = "", .failing = failing};
    EXPECT_EQ(TVMExecute(&mixed_npu, &inputs, &outputs, &context), 7) << failing;
    EXPECT_NE(TVMGetLastError(), older);
    EXPECT_STREQ(TVMGetLastError(),
                 "mixed_npu: a hook of a device or a function of the application's failed");
  }
}

}  // namespace
