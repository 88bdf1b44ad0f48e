// SPDX-License-Identifier: Apache-2.0
// Runs a model like firmware, on the interpreter, in one workspace that contains the inputs and
// outputs, too.
#ifndef KILN_TESTS_EQUALITY_RUN_FIRMWARE_H_
#define KILN_TESTS_EQUALITY_RUN_FIRMWARE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/target/target.h"
#include "tests/equality/engines.h"

namespace kiln::equality {

struct FirmwareOptions {
  bool overlap = true;
  bool split = false;
  int64_t max_bytes = -1;  // limit of the workspace; -1: none
};

struct FirmwareRun {
  size_t overlaps;
  size_t calls;
  int64_t workspace_bytes;
  int64_t split_saves_bytes;
  std::vector<std::string> outputs;
};

// Fails with InvalidArgument if the model does not fit.
absl::StatusOr<FirmwareRun> RunFirmware(const Case& test, const Target& target,
                                        const FirmwareOptions& firmware);

}  // namespace kiln::equality

#endif  // KILN_TESTS_EQUALITY_RUN_FIRMWARE_H_
