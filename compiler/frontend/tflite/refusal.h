// SPDX-License-Identifier: Apache-2.0
// Models that are refused, and their errors, for tests.
#ifndef KILN_COMPILER_FRONTEND_TFLITE_REFUSAL_H_
#define KILN_COMPILER_FRONTEND_TFLITE_REFUSAL_H_

#include <gtest/gtest.h>

#include <string>

#include "compiler/frontend/tflite/import.h"
#include "compiler/frontend/tflite/model_builder.h"

namespace kiln::tflite_frontend {

// A model with one error, as the parameter of a test.
struct Refusal {
  const char* name;                // name of the test case
  void (*build)(ModelBuilder& b);  // builds the model
  const char* text;                // the error, or the part of it that the test compares
};
std::string NameOf(const testing::TestParamInfo<Refusal>& info);

// Return the error of importing "m.tflite", or "" if there is none.
std::string ErrorOf(const std::string& bytes, const ImportOptions& options = {});
std::string ErrorOf(const Refusal& refusal);

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_REFUSAL_H_
