// SPDX-License-Identifier: Apache-2.0
// A model that oneDNN partly computes, linked into a program.
#include <gtest/gtest.h>

#include <cmath>

#include "runtime_cpp/model.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/ndarray.h"

namespace kiln::runtime {
namespace {

constexpr int64_t kPixels = 64;

std::vector<float> Probabilities(const std::string& name, const NDArray& image) {
  const absl::StatusOr<Module> factory = Module::SystemLib(name);
  if (!factory.ok()) {
    ADD_FAILURE() << factory.status();
    return {};
  }
  const absl::StatusOr<Model> model = Model::FromModule(*factory);
  if (!model.ok()) {
    ADD_FAILURE() << model.status();
    return {};
  }
  const absl::StatusOr<std::vector<NDArray>> outputs = model->Run({image});
  if (!outputs.ok()) {
    ADD_FAILURE() << outputs.status();
    return {};
  }
  const absl::Span<const float> values = outputs->at(0).values<float>();
  return {values.begin(), values.end()};
}

TEST(SystemLib, ModulesOfDnnlAreLoaded) {
  const NDArray image = NDArray::Empty({1, 1, 8, 8}, DLDataType{kDLFloat, 32, 1}).value();
  for (int64_t i = 0; i < kPixels; ++i) {
    image.values<float>()[static_cast<size_t>(i)] = static_cast<float>(i % 7) / 7;
  }
  const std::vector<float> plain = Probabilities("digits_plain", image);
  ASSERT_EQ(plain.size(), 10u);
  for (const char* name : {"digits_dnnl", "digits_both"}) {
    const std::vector<float> found = Probabilities(name, image);
    ASSERT_EQ(found.size(), 10u) << name;
    for (size_t i = 0; i < 10; ++i) EXPECT_NEAR(found[i], plain[i], 1e-5) << name;
  }
}

}  // namespace
}  // namespace kiln::runtime
