// SPDX-License-Identifier: Apache-2.0
//
// Threads that load, run and drop models, round after round:
//   soak --threads 64 --rounds 1000 --library digits.so
// A seeded generator selects the action of a round. The thread runs the model that all threads
// share, a model of the system library or one that it loads, or requests a model that does not
// exist. Every result is compared with the result of a single thread. With --minutes the rounds are
// repeated, with new threads and other seeds, until this time has passed. At the end the process
// must hold the same resources as after the first tenth of the rounds: memory (up to
// --max-growth-mib), mappings and file descriptors. Exit status: 0, or 1 with the reasons.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/ndarray.h"

namespace kiln::runtime {
namespace {

struct Options {
  int threads = 8;
  int rounds = 100;    // of each thread
  double minutes = 0;  // time after which no further rounds begin
  double max_growth_mib = 16;
  std::string library;
};

// Resources that the process holds.
struct Held {
  int64_t resident_bytes = 0;
  int64_t mappings = 0;  // mappings of files, such as loaded libraries
  int64_t descriptors = 0;
};

Held HeldNow() {
  Held held;
  int64_t pages = 0, resident_pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident_pages;
  held.resident_bytes = resident_pages * sysconf(_SC_PAGESIZE);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) held.mappings += line.find('/') != line.npos;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    held.descriptors += !entry.path().empty();
  }
  return held;
}

double Mib(int64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

class Soak {
 public:
  Soak(const Options& options, Model shared, std::vector<float> expected)
      : options_(options), shared_(std::move(shared)), expected_(std::move(expected)) {}

  static absl::StatusOr<Soak> Start(const Options& options) {
    absl::StatusOr<Model> model = Model::Load(options.library);
    if (!model.ok()) return model.status();
    absl::StatusOr<std::vector<float>> expected = Run(*model);
    if (!expected.ok()) return expected.status();
    return Soak(options, *std::move(model), *std::move(expected));
  }

  // Runs rounds in all threads, and returns the number of failed rounds.
  int64_t Rounds(int rounds, uint64_t seed) const {
    std::atomic<int64_t> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < options_.threads; ++t) {
      threads.emplace_back([this, rounds, seed, t, &wrong] {
        std::mt19937_64 random(seed + static_cast<uint64_t>(t));
        for (int i = 0; i < rounds; ++i) wrong += !Round(random());
      });
    }
    for (std::thread& thread : threads) thread.join();
    return wrong;
  }

 private:
  // Runs an image with all pixels at 0.5.
  static absl::StatusOr<std::vector<float>> Run(const Model& model) {
    const TensorInfo& info = model.inputs()[0];
    absl::StatusOr<NDArray> input = NDArray::Empty(info.shape, info.dtype, info.device);
    if (!input.ok()) return input.status();
    std::ranges::fill(input->values<float>(), 0.5F);
    absl::StatusOr<std::vector<NDArray>> outputs = model.Run({*input});
    if (!outputs.ok()) return outputs.status();
    const auto values = outputs->front().values<float>();
    return std::vector<float>(values.begin(), values.end());
  }

  bool IsRight(const absl::StatusOr<Model>& model) const {
    if (!model.ok()) return false;
    const absl::StatusOr<std::vector<float>> found = Run(*model);
    return found.ok() && *found == expected_;
  }

  bool Round(uint64_t random) const {
    switch (random % 8) {
      case 0:
        return !Model::Load(options_.library + ".absent").ok();
      case 1:
        return !Module::SystemLib("absent").ok();
      case 2:
      case 3:
        return IsRight(Model::Load(options_.library));
      case 4: {
        const absl::StatusOr<Module> factory =
            Module::SystemLib(random & 8 ? "digits_aot" : "digits_graph");
        return factory.ok() && IsRight(Model::FromModule(*factory));
      }
      default:
        return IsRight(shared_);
    }
  }

  Options options_;
  Model shared_;
  std::vector<float> expected_;
};

int Main(const Options& options) {
  const absl::StatusOr<Soak> soak = Soak::Start(options);
  if (!soak.ok()) {
    fprintf(stderr, "%s\n", soak.status().ToString().c_str());
    return 1;
  }
  int status = 0;
  const auto expect = [&status](bool holds, const char* what, double found, double wanted) {
    printf("%s: %g, at most %g wanted\n", what, found, wanted);
    if (!holds) status = 1;
  };
  const int first_rounds = std::max(1, options.rounds / 10);
  uint64_t seed = 1;
  int64_t wrong = 0, done = 0;
  const auto run = [&](int rounds) {
    wrong += soak->Rounds(rounds, seed);
    seed += static_cast<uint64_t>(options.threads);
    done += int64_t{rounds} * options.threads;
  };
  const auto start = std::chrono::steady_clock::now();
  const auto minutes = [start] {
    return std::chrono::duration<double, std::ratio<60>>(std::chrono::steady_clock::now() - start)
        .count();
  };
  run(first_rounds);
  const Held before = HeldNow();
  Held after;
  double printed = 0;
  do {
    run(std::max(1, options.rounds - first_rounds));
    after = HeldNow();
    if (minutes() < printed + 1) continue;
    printed = minutes();
    printf("%.0f minutes: %lld rounds, %.1f MiB, %lld mappings of files, %lld descriptors\n",
           printed, static_cast<long long>(done), Mib(after.resident_bytes),
           static_cast<long long>(after.mappings), static_cast<long long>(after.descriptors));
    fflush(stdout);
  } while (minutes() < options.minutes);
  const double mib = Mib(after.resident_bytes - before.resident_bytes);
  printf("%d threads, %lld rounds, %.1f MiB\n", options.threads, static_cast<long long>(done),
         Mib(after.resident_bytes));
  expect(wrong == 0, "wrong rounds", static_cast<double>(wrong), 0);
  expect(mib <= options.max_growth_mib, "growth of memory in MiB", mib, options.max_growth_mib);
  expect(after.mappings <= before.mappings, "more mappings of files",
         static_cast<double>(after.mappings - before.mappings), 0);
  expect(after.descriptors <= before.descriptors, "more file descriptors",
         static_cast<double>(after.descriptors - before.descriptors), 0);
  return status;
}

}  // namespace
}  // namespace kiln::runtime

int main(int argc, char** argv) {
  kiln::runtime::Options options;
  CLI::App app("Threads that load, run and drop models.");
  // A test has its own arguments, and --test_arg overrides them.
  app.option_defaults()->take_last();
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 1024));
  app.add_option("--rounds", options.rounds)->check(CLI::PositiveNumber);
  app.add_option("--minutes", options.minutes)->check(CLI::NonNegativeNumber);
  app.add_option("--max-growth-mib", options.max_growth_mib);
  app.add_option("--library", options.library)->required();
  CLI11_PARSE(app, argc, argv);
  return kiln::runtime::Main(options);
}
