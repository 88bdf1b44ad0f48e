// SPDX-License-Identifier: Apache-2.0
// Loads a compiled library, runs it once on zeros, prints the milliseconds that both took, and
// exits. tests/benchmark/start.py measures this process.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

#include "compiler/base/status.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/thread_pool.h"

namespace {

absl::Status Run(const char* path) {
  const auto begin = std::chrono::steady_clock::now();
  KILN_RETURN_IF_ERROR(kiln::runtime::ThreadPool::Global().SetNumThreads(1));
  KILN_ASSIGN_OR_RETURN(const kiln::runtime::Module module,
                        kiln::runtime::Module::LoadFromFile(path));
  KILN_ASSIGN_OR_RETURN(const auto executor,
                        kiln::runtime::Executor::Create(module, kiln::runtime::kCpu));
  for (int i = 0; i < executor->num_inputs(); ++i) {
    KILN_ASSIGN_OR_RETURN(const kiln::runtime::NDArray input, executor->GetInput(i));
    const absl::Span<char> bytes = input.values<char>();
    std::fill(bytes.begin(), bytes.end(), 0);
  }
  KILN_RETURN_IF_ERROR(executor->Run());
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  std::printf("%.4f\n", took.count());
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: first_result LIBRARY\n");
    return 2;
  }
  const absl::Status status = Run(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
