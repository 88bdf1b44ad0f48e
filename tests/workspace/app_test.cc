// SPDX-License-Identifier: Apache-2.0
// A program of the C++ runtime in a separate workspace.
#include <cstdio>

#include "double.h"
#include "runtime_cpp/model.h"

int main() {
  using kiln::runtime::Model;
  using kiln::runtime::Module;
  using kiln::runtime::NDArray;
  absl::StatusOr<Module> factory = Module::SystemLib("double");
  if (!factory.ok()) {
    std::puts(factory.status().ToString().c_str());
    return 1;
  }
  absl::StatusOr<Model> model = Model::FromModule(*factory);
  absl::StatusOr<NDArray> x = NDArray::Empty({3}, {kDLFloat, 32, 1}, {kDLCPU, 0});
  if (!model.ok() || !x.ok()) return 1;
  float* const values = static_cast<float*>(x->data());
  for (int i = 0; i < 3; ++i) values[i] = static_cast<float>(i);
  const absl::StatusOr<std::vector<NDArray>> outputs = model->Run({*x});
  if (!outputs.ok() || outputs->size() != TVMGEN_DOUBLE_NUM_OUTPUTS) return 1;
  return static_cast<const float*>((*outputs)[0].data())[2] == 4 ? 0 : 1;
}
