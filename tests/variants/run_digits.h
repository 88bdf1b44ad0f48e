// SPDX-License-Identifier: Apache-2.0
// The digits model in all its linked forms, on one input.
#ifndef KILN_TESTS_VARIANTS_RUN_DIGITS_H_
#define KILN_TESTS_VARIANTS_RUN_DIGITS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace kiln::runtime {

// Returns the result of the model: of a system library by its module name, or of plain C functions.
absl::StatusOr<std::vector<float>> RunModule(const std::string& name);
absl::StatusOr<std::vector<float>> RunPlain(const std::string& name);

// Get and set the variant of "plain_c" or "plain_default".
std::string PlainVariant(const std::string& name);
bool SetPlainVariant(const std::string& name, const char* variant);

}  // namespace kiln::runtime

#endif  // KILN_TESTS_VARIANTS_RUN_DIGITS_H_
