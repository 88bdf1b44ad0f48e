// SPDX-License-Identifier: Apache-2.0
//
// Runs a model without any other file than its shared object: run_model my_mod.so
//
// Fills every input with ones and prints the first elements of each output.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "runtime_cpp/data_type.h"
#include "runtime_cpp/model.h"

namespace {

using kiln::runtime::Model;
using kiln::runtime::NDArray;
using kiln::runtime::TensorInfo;

void Print(const char* what, const TensorInfo& info) {
  std::printf("%s %s: %s %s\n", what, info.name.c_str(),
              kiln::runtime::DataTypeName(info.dtype).c_str(),
              kiln::runtime::ShapeName(info.shape).c_str());
}

absl::StatusOr<NDArray> Ones(const TensorInfo& info) {
  absl::StatusOr<NDArray> array = NDArray::Empty(info.shape, info.dtype, info.device);
  if (!array.ok()) return array.status();
  if (array->holds<float>()) {
    for (float& value : array->values<float>()) value = 1.0f;
  } else {
    memset(array->data(), 1, static_cast<size_t>(array->size_bytes()));
  }
  return array;
}

absl::Status RunModel(const std::string& path) {
  absl::StatusOr<Model> model = Model::Load(path);
  if (!model.ok()) return model.status();
  std::vector<NDArray> inputs;
  for (const TensorInfo& info : model->inputs()) {
    Print("input", info);
    absl::StatusOr<NDArray> input = Ones(info);
    if (!input.ok()) return input.status();
    inputs.push_back(*input);
  }
  absl::StatusOr<std::vector<NDArray>> outputs = model->Run(inputs);
  if (!outputs.ok()) return outputs.status();
  for (size_t i = 0; i < outputs->size(); ++i) {
    Print("output", model->outputs()[i]);
    if (!outputs->at(i).holds<float>()) continue;
    for (const float value : outputs->at(i).values<float>().subspan(0, 10)) {
      std::printf(" %g", static_cast<double>(value));
    }
    std::printf("\n");
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: run_model <shared object of a model>\n");
    return 2;
  }
  const absl::Status status = RunModel(argv[1]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  return 1;
}
