// SPDX-License-Identifier: Apache-2.0
// C functions for Python's ctypes, for benchmarks only: they run a compiled library, and measure
// this machine's peak.
//
// Every function that can fail returns 0 on success, or -1 with a text for kiln_error. The
// functions must not be called by several threads at once.
// threads at once.
#include <algorithm>
#include <memory>
#include <string>

#include "compiler/base/status.h"
#include "compiler/target/target.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/thread_pool.h"
#include "tests/benchmark/roofs.h"

namespace {

using kiln::Target;
using kiln::benchmark::Clock;
using kiln::benchmark::Roofs;
using kiln::runtime::Executor;
using CompiledModel = std::shared_ptr<Executor>;

std::string& Error() {
  static auto& error = *new std::string;
  return error;
}

int Failed(const absl::Status& status) {
  Error() = std::string(status.message());
  return status.ok() ? 0 : -1;
}

absl::StatusOr<CompiledModel> Load(const char* path) {
  KILN_ASSIGN_OR_RETURN(const kiln::runtime::Module module,
                        kiln::runtime::Module::LoadFromFile(path));
  KILN_ASSIGN_OR_RETURN(CompiledModel executor, Executor::Create(module, kiln::runtime::kCpu));
  // Each run takes its states from the previous run, as in a program that processes a stream.
  if (!executor->states().empty()) KILN_RETURN_IF_ERROR(executor->keep_state(true));
  return executor;
}

absl::Status Fill(Executor& model, int input, const char* bytes, size_t size) {
  KILN_ASSIGN_OR_RETURN(const kiln::runtime::NDArray array, model.GetInput(input));
  return array.CopyFromBytes({bytes, size});
}

// The roofs are created at the first call.
absl::StatusOr<double> PeakFlops(Clock clock) {
  static absl::StatusOr<Roofs>& roofs =
      *new absl::StatusOr<Roofs>(Roofs::Create(Target::Host(), clock));
  KILN_RETURN_IF_ERROR(roofs.status());
  return roofs->Flops();
}

absl::Status Read(Executor& model, int output, char* bytes, size_t size) {
  KILN_ASSIGN_OR_RETURN(const kiln::runtime::NDArray array, model.GetOutput(output));
  const absl::Span<char> values = array.values<char>();
  if (values.size() != size) {
    return absl::InvalidArgumentError("output " + std::to_string(output) + ": found " +
                                      std::to_string(values.size()) + " bytes, wanted " +
                                      std::to_string(size));
  }
  std::copy(values.begin(), values.end(), bytes);
  return absl::OkStatus();
}

}  // namespace

extern "C" {

// Error of the last call that failed.
const char* kiln_error() { return Error().c_str(); }

// The caller owns the model and releases it by kiln_free. Returns null if it cannot be loaded.
CompiledModel* kiln_load(const char* path) {
  absl::StatusOr<CompiledModel> model = Load(path);
  return Failed(model.status()) != 0 ? nullptr : new CompiledModel(*std::move(model));
}

void kiln_free(CompiledModel* model) { delete model; }

int kiln_set_threads(int threads) {
  return Failed(kiln::runtime::ThreadPool::Global().SetNumThreads(threads));
}

int kiln_set_input(CompiledModel* model, int input, const char* bytes, size_t size) {
  return Failed(Fill(**model, input, bytes, size));
}

int kiln_run(CompiledModel* model) { return Failed((*model)->Run()); }

// Returns the operations per second of all threads that multiply and add in registers, or -1 on
// failure. The first call chooses the clock for all calls: processor time or wall time.
double kiln_peak_flops(int processor_time) {
  const absl::StatusOr<double> rate =
      PeakFlops(processor_time != 0 ? Clock::kProcessor : Clock::kWall);
  return Failed(rate.status()) != 0 ? -1 : *rate;
}

int kiln_get_output(CompiledModel* model, int output, char* bytes, size_t size) {
  return Failed(Read(**model, output, bytes, size));
}

}  // extern "C"
