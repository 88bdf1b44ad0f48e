// SPDX-License-Identifier: Apache-2.0
// A model with open dimensions and an input that its rule fixes.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/model.h"

namespace kiln::runtime {
namespace {

TEST(Open, HasTheSizesAndConstantsOfTheRule) {
  const absl::StatusOr<Module> module = Module::SystemLib("open");
  ASSERT_TRUE(module.ok()) << module.status();
  const absl::StatusOr<Model> model = Model::FromModule(*module);
  ASSERT_TRUE(model.ok()) << model.status();
  ASSERT_EQ(model->inputs().size(), 1u);
  EXPECT_EQ(model->inputs()[0].name, "x");
  EXPECT_THAT(model->inputs()[0].shape, ::testing::ElementsAre(2, 3));
}

}  // namespace
}  // namespace kiln::runtime
