// SPDX-License-Identifier: Apache-2.0
// In a program with one model, the model is found without its name.
#include "gtest/gtest.h"
#include "runtime_cpp/executor_factory.h"

namespace kiln::runtime {
namespace {

TEST(OneModel, IsFoundWithAndWithoutItsName) {
  for (const char* const name : {"", "second"}) {
    const absl::StatusOr<Module> module = Module::SystemLib(name);
    ASSERT_TRUE(module.ok()) << module.status();
    EXPECT_EQ(ExecutorFactory::From(*module)->module_names().front(), "second");
  }
  EXPECT_EQ(Module::SystemLib("third").status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace kiln::runtime
