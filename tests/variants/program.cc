// SPDX-License-Identifier: Apache-2.0
// Prints for every model the variant that runs and a hash of its result, or the error.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime_cpp/cpu_variant.h"
#include "runtime_cpp/module.h"
#include "tests/variants/run_digits.h"

namespace kiln::runtime {
namespace {

// The FNV-1a hash.
uint64_t Hash(const std::vector<float>& values) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const float value : values) {
    unsigned char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    for (const unsigned char byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  }
  return hash;
}

void Print(const std::string& name, const std::string& variant,
           const absl::StatusOr<std::vector<float>>& found) {
  if (found.ok()) {
    std::printf("%s %s %016llx\n", name.c_str(), variant.c_str(),
                static_cast<unsigned long long>(Hash(*found)));
  } else {
    std::printf("%s %s error %s\n", name.c_str(), variant.c_str(),
                std::string(found.status().message()).c_str());
  }
}

int Main(int argc, char** argv) {
  for (const char* const name :
       {"aot_c", "aot_default", "graph_c", "graph_default", "highest_c", "highest_default"}) {
    const Module module = Module::SystemLib(name).value();
    Print(name, CpuVariant(module).value_or("none"), RunModule(name));
  }
  for (const char* const name : {"plain_c", "plain_default"}) {
    Print(name, PlainVariant(name), RunPlain(name));
  }
  // Models of one target are run only if they are named, because this CPU may not support them.
  for (int i = 1; i < argc; ++i) Print(argv[i], "only", RunModule(argv[i]));
  // A variant that the CPU does not support cannot be forced.
  const Module module = Module::SystemLib("aot_default").value();
  for (const char* const variant : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    const absl::Status status = SetCpuVariant(module, variant);
    std::printf("set %s %s\n", variant, status.ok() ? "ok" : std::string(status.message()).c_str());
  }
  return 0;
}

}  // namespace
}  // namespace kiln::runtime

int main(int argc, char** argv) { return kiln::runtime::Main(argc, argv); }
