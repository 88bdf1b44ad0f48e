// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/machine_peak.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status.h"
#include "runtime_cpp/thread_pool.h"
#include "tools/kiln/fma_kernels.h"
#include "tvm/runtime/c_backend_api.h"

namespace kiln::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kRounds = 5;
constexpr int64_t kStepsPerTurn = 20000;  // a fraction of a millisecond
constexpr int64_t kMinBufferBytes = int64_t{64} << 20;
constexpr int64_t kMaxBufferBytes = int64_t{512} << 20;
constexpr int kParts = 16;  // of the buffer; one is read at a time
constexpr int kCacheLineBytes = 64;

// Receives results, so that the compiler does not remove loops.
std::atomic<uint64_t> sink;

// Memory from the system. All of its pages are touched.
class Buffer {
 public:
  // The size is four times the last-level cache, so that data read in turn are never in the cache.
  static absl::StatusOr<Buffer> Make() {
    const int64_t cache_bytes = std::max<int64_t>(0, sysconf(_SC_LEVEL3_CACHE_SIZE));
    const auto bytes =
        static_cast<size_t>(std::clamp<int64_t>(4 * cache_bytes, kMinBufferBytes, kMaxBufferBytes));
    void* const memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
      return absl::ResourceExhaustedError(
          absl::StrCat("no ", bytes, " bytes of memory to measure its bandwidth with"));
    }
    // Large pages, if available, because the measurement should not include address translation.
    (void)madvise(memory, bytes, MADV_HUGEPAGE);
    memset(memory, 1, bytes);
    return Buffer(static_cast<char*>(memory), bytes);
  }
  Buffer(Buffer&& other) noexcept : memory_(other.memory_), bytes_(other.bytes_) {
    other.memory_ = nullptr;
  }
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer() {
    if (memory_ != nullptr) munmap(memory_, bytes_);
  }

  size_t bytes() const { return bytes_; }
  size_t part_bytes() const { return bytes_ / kParts / kCacheLineBytes * kCacheLineBytes; }
  char* part(size_t i) const { return memory_ + i % kParts * part_bytes(); }

 private:
  Buffer(char* memory, size_t bytes) : memory_(memory), bytes_(bytes) {}

  char* memory_;
  size_t bytes_;
};

uint64_t SumOf(const char* memory, size_t bytes) {
  typedef uint64_t Vector __attribute__((vector_size(kCacheLineBytes)));
  constexpr size_t kVectors = 2;
  Vector sums[kVectors] = {};
  const auto* vectors = reinterpret_cast<const Vector*>(memory);
  const size_t count = bytes / sizeof(Vector);
  for (size_t i = 0; i + kVectors <= count; i += kVectors) {
    for (size_t k = 0; k < kVectors; ++k) sums[k] += vectors[i + k];
  }
  const Vector sum = sums[0] + sums[1];
  return sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
}

// A function that executes task `task` of `tasks` in a turn. Returns the executed amount in
// operations or bytes.
using Work = std::function<double(int task, int tasks, size_t turn)>;

// Calls `work` on `threads` threads at once. Returns the sum of its results.
absl::StatusOr<double> RunOnThreads(const Work& work, int threads, size_t turn) {
  struct Data {
    const Work& work;
    size_t turn;
    std::atomic<double> amount = 0;
  } data{work, turn};
  const auto task = [](int id, TVMParallelGroupEnv* env, void* pointer) {
    auto* const all = static_cast<Data*>(pointer);
    all->amount += all->work(id, env->num_task, all->turn);
    return 0;
  };
  KILN_RETURN_IF_ERROR(runtime::ThreadPool::Global().Launch(task, &data, threads));
  return data.amount.load();
}

// One figure to measure: repeated work, and the best rate so far.
struct Figure {
  Work work;
  int threads;
  double* best;  // in 10^9 per second

  // `turn` counts the turns of all figures.
  absl::Status Measure(double seconds, size_t& turn) const {
    double amount = 0, elapsed = 0;
    const Clock::time_point begin = Clock::now();
    do {
      KILN_ASSIGN_OR_RETURN(const double more, RunOnThreads(work, threads, turn++));
      amount += more;
      elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
    } while (elapsed < seconds);
    *best = std::max(*best, amount / elapsed * 1e-9);
    return absl::OkStatus();
  }
};

Work MultiplyAdd(const FmaKernel& kernel) {
  return [kernel](int, int, size_t) {
    sink += static_cast<uint64_t>(kernel.run(kStepsPerTurn, 0.999f, 0.001f));
    return static_cast<double>(kernel.operations * kStepsPerTurn);
  };
}

// A thread's slice of a part of the buffer. Each turn uses another part.
struct Slice {
  Slice(const Buffer& buffer, int task, int tasks)
      : bytes(buffer.part_bytes() / static_cast<size_t>(tasks) / kCacheLineBytes * kCacheLineBytes),
        offset(bytes * static_cast<size_t>(task)) {}
  size_t bytes, offset;
};

Work Read(const Buffer& buffer) {
  return [&](int task, int tasks, size_t turn) {
    const Slice slice(buffer, task, tasks);
    sink += SumOf(buffer.part(turn) + slice.offset, slice.bytes);
    return static_cast<double>(slice.bytes);
  };
}

Work Copy(const Buffer& buffer) {
  return [&](int task, int tasks, size_t turn) {
    const Slice slice(buffer, task, tasks);
    memcpy(buffer.part(turn + kParts / 2) + slice.offset, buffer.part(turn) + slice.offset,
           slice.bytes);
    return 2.0 * static_cast<double>(slice.bytes);
  };
}

// Returns the kernel with the highest rate. Wider vectors may lower the clock, so they need not be
// the fastest.
absl::StatusOr<FmaKernel> FastestKernel(const Target& target, double seconds, size_t& turn) {
  const std::vector<FmaKernel> kernels = FmaKernels(target);
  std::vector<double> rates(kernels.size(), 0);
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < kernels.size(); ++i) {
      const Figure figure = {MultiplyAdd(kernels[i]), 1, &rates[i]};
      KILN_RETURN_IF_ERROR(figure.Measure(seconds, turn));
    }
  }
  return kernels[static_cast<size_t>(std::max_element(rates.begin(), rates.end()) - rates.begin())];
}

}  // namespace

absl::StatusOr<MachinePeak> MeasureMachinePeak(const Target& target, double seconds) {
  KILN_ASSIGN_OR_RETURN(const Buffer buffer, Buffer::Make());
  const double turn_seconds = seconds / kRounds;
  size_t turn = 0;
  KILN_ASSIGN_OR_RETURN(const FmaKernel kernel, FastestKernel(target, turn_seconds / 2, turn));
  MachinePeak peak = {.instructions = kernel.instructions,
                      .buffer_bytes = static_cast<int64_t>(buffer.bytes())};
  peak.all_threads.threads = runtime::ThreadPool::Global().num_threads();
  std::vector<PeakRates*> rates = {&peak.one_thread};
  if (peak.all_threads.threads > 1) rates.push_back(&peak.all_threads);
  std::vector<Figure> figures;
  for (PeakRates* rate : rates) {
    figures.push_back({MultiplyAdd(kernel), rate->threads, &rate->gflops});
    figures.push_back({Read(buffer), rate->threads, &rate->read_gigabytes});
    figures.push_back({Copy(buffer), rate->threads, &rate->copy_gigabytes});
  }
  for (int round = 0; round < kRounds; ++round) {
    for (const Figure& figure : figures) KILN_RETURN_IF_ERROR(figure.Measure(turn_seconds, turn));
  }
  // All threads reach at least the rate of one thread, even if other load disturbs the measurement.
  PeakRates& all = peak.all_threads;
  all.gflops = std::max(all.gflops, peak.one_thread.gflops);
  all.read_gigabytes = std::max(all.read_gigabytes, peak.one_thread.read_gigabytes);
  all.copy_gigabytes = std::max(all.copy_gigabytes, peak.one_thread.copy_gigabytes);
  return peak;
}

}  // namespace kiln::tools
