// SPDX-License-Identifier: Apache-2.0
// Models that are refused, and what the error says; for tests.
#ifndef KILN_COMPILER_FRONTEND_TFLITE_REFUSAL_H_
#define KILN_COMPILER_FRONTEND_TFLITE_REFUSAL_H_

#include <gtest/gtest.h>

#include <string>

#include "compiler/frontend/tflite/import.h"
#include "compiler/frontend/tflite/model_builder.h"

namespace kiln::tflite_frontend {

// A model with one thing wrong, as the parameter of a test.
struct Refusal {
  const char* name;                // of the case
  void (*build)(ModelBuilder& b);  // makes the model
  const char* text;                // what the error says, or the part of it that the test compares
};
std::string NameOf(const testing::TestParamInfo<Refusal>& info);

// The error of an import as "m.tflite"; "" if there is none.
std::string ErrorOf(const std::string& bytes, const ImportOptions& options = {});
std::string ErrorOf(const Refusal& refusal);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_REFUSAL_H_
