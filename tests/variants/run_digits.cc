// SPDX-License-Identifier: Apache-2.0
#include "tests/variants/run_digits.h"

#include <cstdint>

#include "absl/status/status.h"
#include "plain_c.h"
#include "plain_default.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/ndarray.h"

namespace kiln::runtime {
namespace {

// Returns floats that differ from each other and are not integers.
std::vector<float> Input(size_t count) {
  std::vector<float> values(count);
  uint32_t state = 1;
  for (float& value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / 16777216.0f;
  }
  return values;
}

}  // namespace

absl::StatusOr<std::vector<float>> RunModule(const std::string& name) {
  const absl::StatusOr<Module> module = Module::SystemLib(name);
  if (!module.ok()) return module.status();
  const absl::StatusOr<Model> model = Model::FromModule(*module);
  if (!model.ok()) return model.status();
  const TensorInfo& info = model->inputs()[0];
  absl::StatusOr<NDArray> input = NDArray::Empty(info.shape, info.dtype);
  if (!input.ok()) return input.status();
  const std::vector<float> values = Input(static_cast<size_t>(info.size_bytes) / sizeof(float));
  std::copy(values.begin(), values.end(), input->values<float>().begin());
  const auto outputs = model->Run({*input});
  if (!outputs.ok()) return outputs.status();
  const auto result = (*outputs)[0].values<float>();
  return std::vector<float>(result.begin(), result.end());
}

// The structs of both modules have the same members.
#define KILN_RUN_PLAIN(module, macro)                                                   \
  [] {                                                                                  \
    std::vector<float> input = Input(macro##_INPUT_IMAGE_SIZE_BYTES / sizeof(float));   \
    std::vector<float> output(macro##_OUTPUT_PROBABILITIES_SIZE_BYTES / sizeof(float)); \
    const tvmgen_##module##_inputs inputs = {input.data()};                             \
    const tvmgen_##module##_outputs outputs = {output.data()};                          \
    if (tvmgen_##module##_run(&inputs, &outputs) != 0) output.clear();                  \
    return output;                                                                      \
  }()

absl::StatusOr<std::vector<float>> RunPlain(const std::string& name) {
  std::vector<float> output = name == "plain_c"
                                  ? KILN_RUN_PLAIN(plain_c, TVMGEN_PLAIN_C)
                                  : KILN_RUN_PLAIN(plain_default, TVMGEN_PLAIN_DEFAULT);
  if (output.empty()) return absl::FailedPreconditionError(name + " has failed");
  return output;
}

std::string PlainVariant(const std::string& name) {
  const char* const variant =
      name == "plain_c" ? tvmgen_plain_c_cpu_variant() : tvmgen_plain_default_cpu_variant();
  return variant == nullptr ? "none" : variant;
}

bool SetPlainVariant(const std::string& name, const char* variant) {
  return (name == "plain_c" ? tvmgen_plain_c_set_cpu_variant(variant)
                            : tvmgen_plain_default_set_cpu_variant(variant)) == 0;
}

}  // namespace kiln::runtime
