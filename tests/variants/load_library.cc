// SPDX-License-Identifier: Apache-2.0
// Loads a library and prints its name, or the error.
#include <cstdio>
#include <string>

#include "absl/status/statusor.h"
#include "runtime_cpp/model.h"

int main(int argc, char** argv) {
  using kiln::runtime::Model;
  if (argc != 2) return 2;
  const absl::StatusOr<Model> model = Model::Load(argv[1]);
  std::printf("%s\n", model.ok() ? model->name().c_str() : model.status().ToString().c_str());
  return model.ok() ? 0 : 1;
}
