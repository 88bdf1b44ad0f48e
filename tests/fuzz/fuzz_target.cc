// SPDX-License-Identifier: Apache-2.0
// A fuzzer of the reader KILN_READER.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/readers.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const absl::Status status = kiln::fuzz::KILN_READER({reinterpret_cast<const char*>(data), size});
  if (!kiln::fuzz::IsHarmless(status)) {
    std::fprintf(stderr, "%s\n", status.ToString().c_str());
    std::abort();
  }
  return 0;
}
