// SPDX-License-Identifier: Apache-2.0
#include "compiler/frontend/tflite/refusal.h"

#include "compiler/evaluate/evaluate.h"

namespace kiln::tflite_frontend {

std::string NameOf(const testing::TestParamInfo<Refusal>& info) { return info.param.name; }

std::string ErrorOf(const std::string& bytes, const ImportOptions& options) {
  return std::string(
      ImportTflite(bytes, "m.tflite", options, EvaluateConstants).status().message());
}

std::string ErrorOf(const Refusal& refusal) {
  ModelBuilder b;
  refusal.build(b);
  return ErrorOf(b.Bytes());
}

}  // namespace kiln::tflite_frontend
