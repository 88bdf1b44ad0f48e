// SPDX-License-Identifier: Apache-2.0
// CustomOptions: the options of a custom operator, as named numbers in a FlexBuffer.
//
//   KILN_ASSIGN_OR_RETURN(const CustomOptions options, c.ReadCustomOptions());
//   KILN_ASSIGN_OR_RETURN(const int64_t shift, options.Int("shift"));
#ifndef KILN_COMPILER_FRONTEND_TFLITE_CUSTOM_OPTIONS_H_
#define KILN_COMPILER_FRONTEND_TFLITE_CUSTOM_OPTIONS_H_

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace kiln::tflite_frontend {

class CustomOptions {
 public:
  // `bytes` are untrusted. Empty bytes have no options. InvalidArgument if they are not a map.
  static absl::StatusOr<CustomOptions> Parse(absl::string_view bytes);

  // Returns an integer, or a bool as 0 or 1. InvalidArgument if the name is missing or has another
  // type.
  absl::StatusOr<int64_t> Int(const std::string& name) const;

 private:
  std::map<std::string, int64_t> ints_;
};

}  // namespace kiln::tflite_frontend

#endif  // KILN_COMPILER_FRONTEND_TFLITE_CUSTOM_OPTIONS_H_
