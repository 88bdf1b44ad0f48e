// SPDX-License-Identifier: Apache-2.0
//
// The C++ interface of generated headers: two models that share one workspace, a model with pools
// of the application, and tensors that the types refuse.
#include <kiln/model.h>

#include <array>
#include <cstring>
#include <type_traits>

#include "digits.h"
#include "digits_pools.h"
#include "exp.h"
#include "gtest/gtest.h"
#include "kInputs.h"
#include "kiln.h"
#include "memset.h"
#include "names.h"
#include "names_pools.h"
#include "scalar.h"
#include "std.h"

namespace {

using Image = tvmgen_digits::input::image;
using Probabilities = tvmgen_digits::output::probabilities;

static_assert(Image::kSize == 64 && Image::Info::kRank == 4 && Image::Info::kShape[3] == 8);
static_assert(tvmgen_digits::Workspace::kSizeBytes == TVMGEN_DIGITS_WORKSPACE_SIZE_BYTES);
static_assert(alignof(tvmgen_digits::Workspace) == TVMGEN_DIGITS_WORKSPACE_ALIGNMENT_BYTES);

// Checks of the element type, the number of elements, and constness.
static_assert(std::is_constructible_v<Image, float (&)[64]>);
static_assert(std::is_constructible_v<Image, const float (&)[64]>);
static_assert(std::is_constructible_v<Image, float (&)[1][8][8]>);
static_assert(std::is_constructible_v<Image, const std::array<float, 64>&>);
static_assert(!std::is_constructible_v<Image, float (&)[63]>);
static_assert(!std::is_constructible_v<Image, double (&)[64]>);
static_assert(!std::is_constructible_v<Image, int (&)[64]>);
static_assert(!std::is_constructible_v<Image, float*>);
static_assert(!std::is_constructible_v<Probabilities, const float (&)[10]>);
static_assert(!std::is_constructible_v<Probabilities, const std::array<float, 10>&>);
static_assert(!std::is_convertible_v<float (&)[64], Image>);
// Tensors of the same type with different names.
static_assert(!std::is_constructible_v<tvmgen_scalar::input::x, tvmgen_scalar::input::short_>);

std::array<float, 64> Picture() {
  std::array<float, 64> image = {};
  for (size_t i = 0; i < image.size(); ++i) image[i] = static_cast<float>(i % 16) / 16;
  return image;
}

std::array<float, 10> Classify(const std::array<float, 64>& image,
                               tvmgen_digits::Workspace& workspace) {
  std::array<float, 10> probabilities = {};
  EXPECT_EQ(tvmgen_digits::run({Image(image)}, {Probabilities(probabilities)}, workspace), 0);
  return probabilities;
}

TEST(CppInterface, RunsInAWorkspaceOfTheCallers) {
  const std::array<float, 64> image = Picture();
  tvmgen_digits::Workspace workspace;
  const std::array<float, 10> probabilities = Classify(image, workspace);
  std::array<float, 64> copy = image;
  std::array<float, 10> expected = {};
  ASSERT_EQ(tvmgen_digits_run_model(copy.data(), expected.data()), 0);
  EXPECT_EQ(probabilities, expected);
  float sum = 0;
  for (float p : probabilities) sum += p;
  EXPECT_NEAR(sum, 1, 1e-5);
}

TEST(CppInterface, NoexceptFromTypes) {
  float x = 0, y = 0, out = 0;
  static_assert(noexcept(tvmgen_scalar::run(
      {tvmgen_scalar::input::x::FromPointer(&x), tvmgen_scalar::input::short_::FromPointer(&y)},
      {tvmgen_scalar::output::return_::FromPointer(&out)})));
  x = 2;
  y = 3;
  ASSERT_EQ(tvmgen_scalar::run({tvmgen_scalar::input::x::FromPointer(&x),
                                tvmgen_scalar::input::short_::FromPointer(&y)},
                               {tvmgen_scalar::output::return_::FromPointer(&out)}),
            0);
  EXPECT_EQ(out, 5);
}

TEST(CppInterface, NamesThatItUsesItself) {
  namespace in = tvmgen_names::input;
  namespace out = tvmgen_names::output;
  static_assert(in::x_info::Info::kIndex == 1 && in::kIndex::Info::kIndex == 6);
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[5] = {};
  ASSERT_EQ(tvmgen_names::run({in::x::FromPointer(x), in::x_info::FromPointer(x + 1),
                               in::std::FromPointer(x + 2), in::kiln::FromPointer(x + 3),
                               in::input::FromPointer(x + 4), in::Inputs::FromPointer(x + 5),
                               in::kIndex::FromPointer(x + 6), in::size_t::FromPointer(x + 7)},
                              {out::run::FromPointer(y), out::Outputs::FromPointer(y + 1),
                               out::output::FromPointer(y + 2), out::inputs::FromPointer(y + 3),
                               out::std::FromPointer(y + 4)}),
            0);
  EXPECT_EQ((std::array<float, 5>{y[0], y[1], y[2], y[3], y[4]}),
            (std::array<float, 5>{3, 7, 11, 15, 10}));
}

TEST(CppInterface, NamesThatAreTaken) {
  float x = 1.5F, y = 0.25F;
  const tvmgen_std_inputs inputs = {&x, &y};
  for (const TVMModel* model : {&exp_, &kInputs, &kiln_, &memset_, &std_}) {
    float out = 0;
    const tvmgen_std_outputs outputs = {&out};
    EXPECT_EQ(TVMExecute(model, &inputs, &outputs, nullptr), 0) << model->name;
    EXPECT_EQ(out, 1.75F) << model->name;
  }
}

TEST(CppInterface, NamesOfPoolsAndDevicesThatItUsesItself) {
  namespace in = tvmgen_names_pools::input;
  namespace out = tvmgen_names_pools::output;
  namespace pool = tvmgen_names_pools::pool;
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8}, y[5] = {};
  pool::in0 in0;
  pool::out0 out0;
  pool::inputs inputs;
  pool::pool named_pool;
  pool::workspace workspace;
  pool::bytes bytes;
  pool::std named_std;
  pool::device_context_inputs context;
  int opened = 0;
  ASSERT_EQ(tvmgen_names_pools::run(
                {in::x::FromPointer(x), in::x_info::FromPointer(x + 1), in::std::FromPointer(x + 2),
                 in::kiln::FromPointer(x + 3), in::input::FromPointer(x + 4),
                 in::Inputs::FromPointer(x + 5), in::kIndex::FromPointer(x + 6),
                 in::size_t::FromPointer(x + 7)},
                {out::run::FromPointer(y), out::Outputs::FromPointer(y + 1),
                 out::output::FromPointer(y + 2), out::inputs::FromPointer(y + 3),
                 out::std::FromPointer(y + 4)},
                {in0, out0, inputs, named_pool, workspace, bytes, named_std, context}, &opened),
            0);
  EXPECT_EQ(y[4], 10);
  EXPECT_GT(opened, 0);
}

// Models that do not run at the same time can share memory. The larger workspace is enough.
TEST(CppInterface, TwoModelsShareOneWorkspace) {
  const std::array<float, 64> image = Picture();
  tvmgen_digits::Workspace own;
  const std::array<float, 10> expected = Classify(image, own);
  tvmgen_digits_pools::pool::fast fast;
  alignas(64) static uint8_t shared[TVMGEN_DIGITS_WORKSPACE_SIZE_BYTES +
                                    TVMGEN_DIGITS_POOLS_LARGE_WORKSPACE_POOL_SIZE_BYTES];
  auto& workspace = *reinterpret_cast<tvmgen_digits::Workspace*>(shared);
  auto& large = *reinterpret_cast<tvmgen_digits_pools::pool::large*>(shared);
  for (int round = 0; round < 3; ++round) {
    std::memset(shared, round, sizeof(shared));
    EXPECT_EQ(Classify(image, workspace), expected);
    std::array<float, 10> probabilities = {};
    ASSERT_EQ(tvmgen_digits_pools::run({tvmgen_digits_pools::input::image(image)},
                                       {tvmgen_digits_pools::output::probabilities(probabilities)},
                                       {fast, large}),
              0);
    EXPECT_EQ(probabilities, expected);
  }
}

TEST(CInterface, PoolsByTvmExecute) {
  std::array<float, 64> image = Picture();
  tvmgen_digits::Workspace own;
  const std::array<float, 10> expected = Classify(image, own);
  std::array<float, 10> probabilities = {};
  tvmgen_digits_pools::pool::fast fast;
  tvmgen_digits_pools::pool::large large;
  const TVMWorkspace workspaces[] = {{fast.bytes, sizeof(fast.bytes)},
                                     {large.bytes, sizeof(large.bytes)}};
  const tvmgen_digits_pools_inputs inputs = {image.data()};
  const tvmgen_digits_pools_outputs outputs = {probabilities.data()};
  TVMContext context = {};
  EXPECT_NE(TVMExecute(&digits_pools, &inputs, &outputs, &context), 0);
  EXPECT_STREQ(TVMGetLastError(), "the model needs workspaces: TVMSetWorkspaces");
  ASSERT_EQ(TVMSetWorkspaces(&context, workspaces, 2), 0);
  ASSERT_EQ(TVMExecute(&digits_pools, &inputs, &outputs, &context), 0) << TVMGetLastError();
  EXPECT_EQ(probabilities, expected);
  EXPECT_LE(TVMGEN_DIGITS_POOLS_FAST_WORKSPACE_POOL_SIZE_BYTES, 2048);
}

}  // namespace

extern "C" {
int32_t TVMDeviceInputsActivate(void*) { return 0; }
int32_t TVMDeviceInputsOpen(void* context) {
  ++*static_cast<int*>(context);
  return 0;
}
int32_t TVMDeviceInputsClose(void*) { return 0; }
int32_t TVMDeviceInputsDeactivate(void*) { return 0; }
}
