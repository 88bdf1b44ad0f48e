// SPDX-License-Identifier: Apache-2.0
//
// Threads that load one path and run its model while the file is replaced repeatedly:
//   reload --first v1.so --second v2.so --threads 16 --reloads 1000
// The file is replaced by rename, by removal and copy, and by exchange of a symbolic link. Threads
// do not load during a replacement, so each knows which version it must get. Each also runs the
// model that it loaded before. After the last model is dropped and idle workspaces are trimmed, the
// process must hold the same resources as at the start: memory (up to --max-growth-mib), mappings
// of files and file descriptors. Exit status: 0, or 1 with the reasons.
#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/workspaces.h"

namespace kiln::runtime {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string first, second;  // libraries with the same interface and different results
  int threads = 16;
  int reloads = 1000;  // number of replacements in each way
  double max_growth_mib = 2;
};

// Memory and files of the process.
struct Held {
  int64_t resident_bytes = 0;
  int64_t mappings = 0;
  int64_t descriptors = 0;
};

Held HeldNow() {
  Held held;
  int64_t pages = 0, resident_pages = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident_pages;
  held.resident_bytes = resident_pages * sysconf(_SC_PAGESIZE);
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) held.mappings += line.find('/') != line.npos;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    held.descriptors += !entry.path().empty();
  }
  return held;
}

absl::StatusOr<float> Result(const Model& model) {
  std::vector<NDArray> inputs;
  for (const TensorInfo& info : model.inputs()) {
    absl::StatusOr<NDArray> input = NDArray::Empty(info.shape, info.dtype, info.device);
    if (!input.ok()) return input.status();
    std::ranges::fill(input->values<float>(), static_cast<float>(inputs.size() + 1));
    inputs.push_back(*std::move(input));
  }
  const absl::StatusOr<std::vector<NDArray>> outputs = model.Run(inputs);
  if (!outputs.ok()) return outputs.status();
  return outputs->front().values<float>()[0];
}

class Reload {
 public:
  explicit Reload(const Options& options) : options_(options) {
    fs::create_directories(folder_);
    for (int v = 0; v < 2; ++v) fs::copy_file(Library(v), Copy(v), kOverwrite);
  }
  ~Reload() { fs::remove_all(folder_); }

  absl::Status LearnResults() {
    for (size_t v = 0; v < 2; ++v) {
      const absl::StatusOr<Model> model = Model::Load(Library(static_cast<int>(v)));
      if (!model.ok()) return model.status();
      const absl::StatusOr<float> result = Result(*model);
      if (!result.ok()) return result.status();
      results_[v] = *result;
    }
    if (results_[0] != results_[1]) return absl::OkStatus();
    return absl::InvalidArgumentError("both libraries give the same result");
  }

  // Replaces the file in each way, and lets threads load it in between. Returns the number of
  // results that did not match the current version.
  int64_t Run() {
    int64_t wrong = 0;
    for (const auto way : {&Reload::Rename, &Reload::RemoveAndCopy, &Reload::ExchangeLink}) {
      wrong += RunWay([this, way](int version) { (this->*way)(version); });
    }
    return wrong;
  }

 private:
  static constexpr auto kOverwrite = fs::copy_options::overwrite_existing;

  const std::string& Library(int version) const {
    return version == 0 ? options_.first : options_.second;
  }
  fs::path Copy(int version) const { return folder_ / ("v" + std::to_string(version) + ".so"); }

  void Rename(int version) const {
    fs::copy_file(Library(version), folder_ / "next.so", kOverwrite);
    fs::rename(folder_ / "next.so", path_);
  }
  void RemoveAndCopy(int version) const {
    fs::remove(path_);
    fs::copy_file(Library(version), path_);
  }
  void ExchangeLink(int version) const {
    fs::create_symlink(Copy(version), folder_ / "link.so");
    fs::rename(folder_ / "link.so", path_);
  }

  int64_t RunWay(const std::function<void(int version)>& replace) const {
    std::shared_mutex file_mutex;  // protects `version` and the file
    int version = 0;
    replace(version);
    std::atomic<int64_t> wrong = 0;
    std::atomic<int> loads = 0;
    std::atomic<bool> end = false, replacing = false;  // keeps readers from starving the writer
    std::vector<std::thread> threads;
    for (int t = 0; t < options_.threads; ++t) {
      threads.emplace_back([&] {
        std::optional<std::pair<Model, float>> earlier;
        while (!end) {
          while (replacing) std::this_thread::yield();
          std::shared_lock lock(file_mutex);
          absl::StatusOr<Model> model = Model::Load(path_);
          const float wanted = results_[static_cast<size_t>(version)];
          lock.unlock();
          wrong += !model.ok() || Result(*model).value_or(wanted + 1) != wanted;
          if (earlier) wrong += Result(earlier->first).value_or(-1) != earlier->second;
          if (model.ok()) earlier.emplace(*std::move(model), wanted);
          loads.fetch_add(1);
          std::this_thread::yield();
        }
      });
    }
    for (int i = 1; i <= options_.reloads; ++i) {
      const int before = loads;
      while (loads == before) std::this_thread::yield();
      replacing = true;
      const std::unique_lock lock(file_mutex);
      version = i % 2;
      replace(version);
      replacing = false;
    }
    end = true;
    for (std::thread& thread : threads) thread.join();
    printf("%d replacements, %d loads, %lld wrong\n", options_.reloads, loads.load(),
           static_cast<long long>(wrong.load()));
    return wrong;
  }

  const Options options_;
  const fs::path folder_ = fs::temp_directory_path() / ("kiln_reload_" + std::to_string(getpid()));
  const fs::path path_ = folder_ / "model.so";
  float results_[2] = {};
};

Held TrimAndHold() {
  TrimWorkspaces();
  malloc_trim(0);
  return HeldNow();
}

int Main(const Options& options) {
  Reload reload(options);
  if (const absl::Status status = reload.LearnResults(); !status.ok()) {
    fprintf(stderr, "%s\n", status.ToString().c_str());
    return 1;
  }
  int status = 0;
  const auto expect = [&status](const char* what, double found, double at_most) {
    printf("%s: %g, at most %g wanted\n", what, found, at_most);
    if (found > at_most) status = 1;
  };
  const Held before = TrimAndHold();
  expect("wrong results", static_cast<double>(reload.Run()), 0);
  const Held after = TrimAndHold();
  expect("growth of memory in MiB",
         static_cast<double>(after.resident_bytes - before.resident_bytes) / (1 << 20),
         options.max_growth_mib);
  expect("more mappings of files", static_cast<double>(after.mappings - before.mappings), 0);
  expect("more file descriptors", static_cast<double>(after.descriptors - before.descriptors), 0);
  return status;
}

}  // namespace
}  // namespace kiln::runtime

int main(int argc, char** argv) {
  kiln::runtime::Options options;
  CLI::App app("Threads that load a model whose file is replaced again and again.");
  // A test has its own arguments, and --test_arg overrides them.
  app.option_defaults()->take_last();
  app.add_option("--first", options.first)->required();
  app.add_option("--second", options.second)->required();
  app.add_option("--threads", options.threads)->check(CLI::Range(1, 1024));
  app.add_option("--reloads", options.reloads)->check(CLI::PositiveNumber);
  app.add_option("--max-growth-mib", options.max_growth_mib);
  CLI11_PARSE(app, argc, argv);
  return kiln::runtime::Main(options);
}
