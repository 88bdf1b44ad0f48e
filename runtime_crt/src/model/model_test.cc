// SPDX-License-Identifier: Apache-2.0
#include "kiln/model.h"

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tvm/runtime/c_runtime_api.h"
#include "tvm/runtime/crt/error_codes.h"

namespace {

// Arguments of the last call of the model below.
struct Seen {
  int runs = 0;
  void* workspaces[2] = {};
  void* const* devices = nullptr;
};
Seen seen;

// output = input + 1.
int32_t AddOne(void* const* inputs, void* const* outputs, void* const* workspaces,
               void* const* devices) {
  ++seen.runs;
  seen.workspaces[0] = workspaces == nullptr ? nullptr : workspaces[0];
  seen.workspaces[1] = workspaces == nullptr ? nullptr : workspaces[1];
  seen.devices = devices;
  *static_cast<int32_t*>(outputs[0]) = *static_cast<const int32_t*>(inputs[0]) + 1;
  return 0;
}

int32_t Fails(void* const*, void* const*, void* const*, void* const*) { return 42; }

int32_t FailsWithText(void* const*, void* const*, void* const*, void* const*) {
  TVMAPISetLastError("the sensor is off");
  return 43;
}

constexpr TVMModelMemory kInputs[] = {{"x", 4, 4}, {"nothing", 0, 4}};
constexpr TVMModelMemory kOutputs[] = {{"y", 4, 4}};
constexpr TVMModelMemory kWorkspaces[] = {{"sram", 32, 16}, {"dram", 8, 16}};

TVMModel Model() {
  return {KILN_MODEL_VERSION, "model", kInputs, 2, kOutputs, 1, kWorkspaces, 2, 0, AddOne, nullptr};
}

class ModelTest : public testing::Test {
 protected:
  void SetUp() override { seen = Seen(); }

  int32_t Execute() { return TVMExecute(&model_, inputs_, outputs_, &context_); }
  // The call must fail with this error, and neither run the model nor write an output.
  void ExpectError(int32_t code, const std::string& text) {
    EXPECT_EQ(Execute(), code);
    EXPECT_EQ(TVMGetLastError(), text);
    EXPECT_EQ(seen.runs, 0);
    EXPECT_EQ(y_, 0);
  }

  TVMModel model_ = Model();
  int32_t x_ = 5, y_ = 0;
  void* inputs_[2] = {&x_, nullptr};
  void* outputs_[1] = {&y_};
  alignas(16) uint8_t sram_[48] = {};
  alignas(16) uint8_t dram_[16] = {};
  TVMWorkspace workspaces_[2] = {{sram_, 32}, {dram_, 16}};
  TVMContext context_ = {{workspaces_, 2}, nullptr, 0};
};

TEST_F(ModelTest, RunsInTheWorkspacesOfTheContext) {
  EXPECT_EQ(Execute(), 0);
  EXPECT_EQ(y_, 6);
  EXPECT_EQ(seen.workspaces[0], sram_);
  EXPECT_EQ(seen.workspaces[1], dram_);
}

TEST_F(ModelTest, StaticMemoryTakesThePlaceOfNone) {
  model_.run = Fails;
  model_.run_static = AddOne;
  EXPECT_EQ(TVMExecute(&model_, inputs_, outputs_, nullptr), 0);
  EXPECT_EQ(y_, 6);
  EXPECT_EQ(seen.workspaces[0], nullptr);
  context_ = {};
  EXPECT_EQ(Execute(), 0);
  EXPECT_EQ(seen.runs, 2);
}

TEST_F(ModelTest, NeedsNoContextWithoutWorkspaces) {
  model_.num_workspaces = 0;
  EXPECT_EQ(TVMExecute(&model_, inputs_, outputs_, nullptr), 0);
  EXPECT_EQ(y_, 6);
}

TEST_F(ModelTest, ReturnsWhatTheModelReturns) {
  model_.run = Fails;
  EXPECT_EQ(Execute(), 42);
}

TEST_F(ModelTest, KeepsTheTextOfTheModel) {
  model_.run = FailsWithText;
  EXPECT_EQ(Execute(), 43);
  EXPECT_STREQ(TVMGetLastError(), "the sensor is off");
}

TEST_F(ModelTest, NullPointers) {
  EXPECT_EQ(TVMExecute(nullptr, inputs_, outputs_, &context_), kTvmErrorFunctionCallInvalidArg);
  EXPECT_STREQ(TVMGetLastError(), "the model is null");
  EXPECT_EQ(TVMExecute(&model_, nullptr, outputs_, &context_), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMExecute(&model_, inputs_, nullptr, &context_), kTvmErrorFunctionCallInvalidArg);
  inputs_[0] = nullptr;
  ExpectError(kTvmErrorFunctionCallInvalidArg, "x: the tensor is null");
  inputs_[0] = &x_;
  outputs_[0] = nullptr;
  ExpectError(kTvmErrorFunctionCallInvalidArg, "y: the tensor is null");
  outputs_[0] = &y_;
  workspaces_[1].data = nullptr;
  ExpectError(kTvmErrorFunctionCallInvalidArg, "dram: the workspace is null");
  context_.memory_layout.workspaces = nullptr;
  ExpectError(kTvmErrorFunctionCallInvalidArg, "the context's workspaces are null");
  context_.memory_layout.workspaces = workspaces_;
  model_.num_devices = context_.num_devices = 1;
  ExpectError(kTvmErrorFunctionCallInvalidArg, "the context's devices are null");
}

TEST_F(ModelTest, Alignment) {
  char bytes[8] = {};
  inputs_[0] = bytes + ((reinterpret_cast<uintptr_t>(bytes) & 1) == 0 ? 1 : 0);
  ExpectError(kTvmErrorFunctionCallInvalidArg, "x: the tensor is not aligned as its type");
  inputs_[0] = &x_;
  workspaces_[0].data = sram_ + 8;
  ExpectError(kTvmErrorFunctionCallInvalidArg,
              "sram: the workspace is not aligned to the header's alignment");
}

TEST_F(ModelTest, LongNamesAreCutInTexts) {
  const std::string name(200, 'n');
  const TVMModelMemory inputs[] = {{name.c_str(), 4, 4}, {"nothing", 0, 4}};
  model_.inputs = inputs;
  inputs_[0] = nullptr;
  EXPECT_EQ(Execute(), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMGetLastError(), absl::StrCat(std::string(75, 'n'), ": the tensor is null"));
}

TEST_F(ModelTest, NoWorkspacesAreStaticMemory) {
  model_.run = Fails;
  model_.run_static = AddOne;
  EXPECT_EQ(TVMSetWorkspaces(&context_, workspaces_, 0), 0);
  EXPECT_EQ(Execute(), 0);
  EXPECT_EQ(y_, 6);
}

TEST_F(ModelTest, CountsAndSizes) {
  context_.memory_layout.num_workspaces = 1;
  ExpectError(kTvmErrorFunctionCallNumArguments,
              "the context has another number of workspaces than the model");
  context_.memory_layout.num_workspaces = 2;
  context_.num_devices = 1;
  ExpectError(kTvmErrorFunctionCallNumArguments,
              "the context has another number of devices than the model");
  context_.num_devices = 0;
  workspaces_[0].size_bytes = 31;
  ExpectError(kTvmErrorPlatformNoMemory, "sram: the workspace is smaller than the header's size");
  context_ = {};
  ExpectError(kTvmErrorPlatformNoMemory, "the model needs workspaces: TVMSetWorkspaces");
}

TEST_F(ModelTest, MoreWorkspacesThanAnyModelHas) {
  model_.num_workspaces = context_.memory_layout.num_workspaces = TVM_MAX_WORKSPACES + 1;
  ExpectError(kTvmErrorFunctionCallNumArguments,
              "the context has another number of workspaces than the model");
}

TEST_F(ModelTest, AWorkspaceOfNoBytesMayBeNull) {
  const TVMModelMemory wanted[] = {{"sram", 0, 16}, {"dram", 8, 16}};
  model_.workspaces = wanted;
  workspaces_[0] = {nullptr, 0};
  EXPECT_EQ(Execute(), 0);
  EXPECT_EQ(seen.workspaces[0], nullptr);
  EXPECT_EQ(seen.workspaces[1], dram_);
}

TEST_F(ModelTest, DevicesReachTheModel) {
  int device = 0;
  void* const devices[] = {&device};
  model_.num_devices = context_.num_devices = 1;
  context_.devices = devices;
  EXPECT_EQ(Execute(), 0);
  EXPECT_EQ(seen.devices, devices);
}

TEST_F(ModelTest, AnotherVersion) {
  model_.version = KILN_MODEL_VERSION + 1;
  ExpectError(kTvmErrorFunctionCallInvalidArg, "the model is of another version");
}

TEST_F(ModelTest, SetWorkspacesChecksWhatItIsGiven) {
  TVMContext context = {};
  EXPECT_EQ(TVMSetWorkspaces(&context, workspaces_, 2), 0);
  EXPECT_EQ(context.memory_layout.workspaces, workspaces_);
  EXPECT_EQ(context.memory_layout.num_workspaces, 2);
  EXPECT_EQ(TVMSetWorkspaces(nullptr, workspaces_, 2), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMSetWorkspaces(&context, nullptr, 1), kTvmErrorFunctionCallInvalidArg);
  EXPECT_EQ(TVMSetWorkspaces(&context, workspaces_, -1), kTvmErrorFunctionCallNumArguments);
  EXPECT_EQ(TVMSetWorkspaces(&context, workspaces_, TVM_MAX_WORKSPACES + 1),
            kTvmErrorFunctionCallNumArguments);
  EXPECT_EQ(context.memory_layout.num_workspaces, 2);
  EXPECT_EQ(TVMSetWorkspaces(&context, nullptr, 0), 0);
  EXPECT_EQ(context.memory_layout.num_workspaces, 0);
}

}  // namespace
