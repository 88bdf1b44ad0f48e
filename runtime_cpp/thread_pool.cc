// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/thread_pool.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime_cpp/cpus.h"
#include "runtime_cpp/run_scope.h"
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kiln::runtime {
namespace {

constexpr size_t kCacheLineBytes = 64;

// Number of iterations of a spin loop between two readings of the clock.
constexpr int kTurnsPerClockRead = 16;

thread_local bool inside_task = false;

void PauseCpu() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

int NumThreads(const ThreadPoolOptions& options) {
  const int wanted = options.num_threads > 0 ? options.num_threads
                     : !options.cpus.empty() ? static_cast<int>(options.cpus.size())
                                             : ReadCpus().UsefulThreads();
  return std::clamp(wanted, 1, ThreadPool::kMaxThreads);
}

absl::Status Check(const ThreadPoolOptions& options) {
  if (options.num_threads < 0 || options.num_threads > ThreadPool::kMaxThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat(options.num_threads, " threads; 0 to ", ThreadPool::kMaxThreads, " work"));
  }
  for (const int cpu : options.cpus) {
    if (cpu >= 0 && cpu < CPU_SETSIZE) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("found CPU ", cpu, ", wanted 0 to ", CPU_SETSIZE - 1));
  }
  return absl::OkStatus();
}

void KeepThisThreadOn(const std::vector<int>& cpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) CPU_SET(cpu, &set);
  // Failure is ignored: the affinity only affects speed.
  (void)sched_setaffinity(0, sizeof(set), &set);
}

// Spins until `value` differs from `old`, for at most `limit`. Returns true if it changed.
bool SpinWhile(const std::atomic<int>& value, int old, std::chrono::microseconds limit) {
  if (limit.count() == 0) return value.load(std::memory_order_acquire) != old;
  const auto end = std::chrono::steady_clock::now() + limit;
  do {
    for (int i = 0; i < kTurnsPerClockRead; ++i) {
      if (value.load(std::memory_order_acquire) != old) return true;
      PauseCpu();
    }
  } while (std::chrono::steady_clock::now() < end);
  return false;
}

// Barrier of the tasks of one launch.
struct BarrierState {
  ThreadPool* pool = nullptr;
  std::atomic<int> arrived{0};
  std::atomic<int> round{0};
  std::atomic<bool> broken{false};  // Some task will never arrive.
};

absl::Status RunAlone(FTVMParallelLambda task, void* data) {
  TVMParallelGroupEnv env = {.sync_handle = nullptr, .num_task = 1};
  if (task(0, &env, data) == 0) return absl::OkStatus();
  return absl::InternalError(TVMGetLastError());
}

}  // namespace

// A launch in one word: a launch counter, and the division of its tasks.
class ThreadPool::LaunchNumber {
 public:
  explicit LaunchNumber(uint64_t word) : word_(word) {}

  LaunchNumber Next(int num_tasks, int per_thread) const {
    return LaunchNumber(((word_ >> kNumberBit) + 1) << kNumberBit |
                        static_cast<uint64_t>(per_thread) << kPerThreadBit |
                        static_cast<uint64_t>(num_tasks));
  }
  uint64_t word() const { return word_; }
  int num_tasks() const { return static_cast<int>(word_ & ((1U << kPerThreadBit) - 1)); }
  // Task i belongs to thread i / per_thread(). Before the first launch there are no tasks.
  int per_thread() const {
    return std::max(1, static_cast<int>(word_ >> kPerThreadBit & ((1U << kPerThreadBits) - 1)));
  }
  int num_threads() const { return (num_tasks() + per_thread() - 1) / per_thread(); }

 private:
  static constexpr int kPerThreadBit = 16, kPerThreadBits = 8;
  static constexpr int kNumberBit = kPerThreadBit + kPerThreadBits;
  static_assert(kMaxThreads * kTasksPerThread < 1 << kPerThreadBit);
  static_assert(kTasksPerThread < 1 << kPerThreadBits);

  uint64_t word_;
};

// State that a worker waits on. It is polled, so it has its own cache line.
struct alignas(kCacheLineBytes) ThreadPool::Worker {
  enum State { kIdle, kWork, kExit };

  int id = 0;                     // Thread whose tasks it takes first; the caller is thread 0.
  std::atomic<int> state{kIdle};  // Set by the launch, reset by the worker.
  std::thread thread;
};

// The current launch. Every thread first takes its own tasks in order. Then it takes tasks of other
// threads that have not begun, from their end. A launch therefore does not wait for a thread that
// is still asleep or whose CPU is busy with other work. A thread that wakes up late finds no tasks
// of its launch, or takes part in a later launch.
//
// `launch` and `taken` control access to the other members. A thread takes a task by writing its
// launch into `taken`. While a taken task is not finished, no thread changes the other members.
struct alignas(kCacheLineBytes) ThreadPool::Job {
  // For each task i of a thread, the last launch in which it was taken. It has its own cache line.
  struct alignas(kCacheLineBytes) Taken {
    std::array<std::atomic<uint64_t>, kTasksPerThread> launch = {};
  };

  // A LaunchNumber, which only increases.
  std::atomic<uint64_t> launch{0};
  std::array<Taken, kMaxThreads> taken = {};  // By the thread that the tasks belong to.
  FTVMParallelLambda task = nullptr;
  void* data = nullptr;
  TVMParallelGroupEnv env = {};
  BarrierState barrier;
  std::chrono::microseconds spin{0};
  std::mutex mutex;                 // Guards `error` and `extras`.
  absl::Status error;               // Error of the first task that failed.
  std::vector<std::thread> extras;  // Threads that a barrier has started.
  alignas(kCacheLineBytes) std::atomic<int> unfinished{0};
};

// The pools of the process. In the child of a fork, each pool starts anew.
struct ThreadPool::All {
  std::mutex mutex;  // Also held during a fork.
  std::vector<ThreadPool*> pools;
};

// Never destroyed, because pools may be destroyed later.
ThreadPool::All& ThreadPool::AllPools() {
  static auto& all = *new All;
  static const int registered =
      pthread_atfork([] { AllPools().mutex.lock(); }, [] { AllPools().mutex.unlock(); },
                     [] {
                       for (ThreadPool* pool : AllPools().pools) pool->AbandonWorkers();
                       AllPools().mutex.unlock();
                     });
  (void)registered;
  return all;
}

ThreadPool::ThreadPool(const ThreadPoolOptions& options)
    : options_(Check(options).ok() ? options : ThreadPoolOptions()),
      num_threads_(NumThreads(options_)),
      job_(std::make_unique<Job>()) {
  const std::lock_guard<std::mutex> lock(AllPools().mutex);
  AllPools().pools.push_back(this);
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard<std::mutex> lock(AllPools().mutex);
    std::vector<ThreadPool*>& pools = AllPools().pools;
    pools.erase(std::find(pools.begin(), pools.end(), this));
  }
  StopWorkers();
}

absl::StatusOr<std::shared_ptr<ThreadPool>> ThreadPool::Create(const ThreadPoolOptions& options) {
  const absl::Status status = Check(options);
  if (!status.ok()) return status;
  return std::make_shared<ThreadPool>(options);
}

// In contrast to other static objects, this pool has a destructor. A shared object with the runtime
// may be unloaded, and the workers must have ended before their code is unmapped.
ThreadPool& ThreadPool::Global() {
  static ThreadPool pool;
  return pool;
}

// In the child of a fork, only the forking thread exists. The state of the other threads is leaked,
// because its destructors would wait for them.
void ThreadPool::AbandonWorkers() {
  for (auto& worker : workers_) (void)worker.release();
  workers_.clear();
  (void)job_.release();
  job_ = std::make_unique<Job>();
  busy_.clear(std::memory_order_release);
}

absl::Status ThreadPool::Configure(const ThreadPoolOptions& options) {
  return Reconfigure([&options](ThreadPoolOptions& current) { current = options; });
}

absl::Status ThreadPool::SetNumThreads(int num_threads) {
  return Reconfigure(
      [num_threads](ThreadPoolOptions& options) { options.num_threads = num_threads; });
}

absl::Status ThreadPool::Reconfigure(const std::function<void(ThreadPoolOptions&)>& change) {
  if (inside_task) {
    return absl::FailedPreconditionError("a parallel task cannot configure its thread pool");
  }
  while (busy_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  ThreadPoolOptions options = options_;
  change(options);
  const absl::Status status = Check(options);
  if (status.ok()) {
    StopWorkers();
    options_ = options;
    num_threads_.store(NumThreads(options), std::memory_order_relaxed);
  }
  busy_.clear(std::memory_order_release);
  return status;
}

// If the system has no more threads, or no memory for one, the existing threads do all the work. An
// exception must not leave this function, because its callers include C code.
void ThreadPool::StartWorkers() {
  try {
    const Cpus cpus = ReadCpus();
    const int num_threads = num_threads_.load(std::memory_order_relaxed);
    const std::vector<int>& order = options_.cpus.empty() ? cpus.order : options_.cpus;
    const auto num_cpus = static_cast<int>(order.size());
    const bool crowded = num_threads > (cpus.quota > 0 ? std::min(cpus.quota, num_cpus) : num_cpus);
    job_->spin = std::chrono::microseconds(crowded ? 0 : std::max(0, options_.spin_microseconds));
    workers_.reserve(static_cast<size_t>(num_threads));
    for (int id = 1; id < num_threads; ++id) {
      auto worker = std::make_unique<Worker>();
      worker->id = id;
      std::vector<int> own = options_.cpus;
      if (options_.affinity == ThreadPoolOptions::Affinity::kCompact) {
        own = {order[static_cast<size_t>(id % num_cpus)]};
      }
      worker->thread = std::thread([this, own = std::move(own), &worker = *worker] {
        if (!own.empty()) KeepThisThreadOn(own);
        WorkerLoop(worker);
      });
      workers_.push_back(std::move(worker));
    }
  } catch (const std::exception&) {
    num_threads_.store(static_cast<int>(workers_.size()) + 1, std::memory_order_relaxed);
  }
}

void ThreadPool::StopWorkers() {
  for (const auto& worker : workers_) {
    worker->state.store(Worker::kExit, std::memory_order_release);
    worker->state.notify_one();
  }
  for (const auto& worker : workers_) worker->thread.join();
  workers_.clear();
}

void ThreadPool::WorkerLoop(Worker& worker) {
  inside_task = true;
  for (;;) {
    if (!SpinWhile(worker.state, Worker::kIdle, job_->spin)) {
      worker.state.wait(Worker::kIdle, std::memory_order_acquire);
    }
    // Becomes idle before it looks for tasks, so that a later launch wakes it again.
    if (worker.state.exchange(Worker::kIdle, std::memory_order_acq_rel) == Worker::kExit) return;
    RunTasks(worker.id);
  }
}

bool ThreadPool::Take(const LaunchNumber& launch, int id) {
  const auto thread = static_cast<size_t>(id / launch.per_thread());
  const auto own = static_cast<size_t>(id % launch.per_thread());
  std::atomic<uint64_t>& taken = job_->taken[thread].launch[own];
  uint64_t last = taken.load(std::memory_order_relaxed);
  return last < launch.word() &&
         taken.compare_exchange_strong(last, launch.word(), std::memory_order_acq_rel);
}

void ThreadPool::RunTasks(int thread) {
  const LaunchNumber launch(job_->launch.load(std::memory_order_acquire));
  const int threads = launch.num_threads();
  for (int i = 0; i < threads; ++i) {
    const int owner = (thread + i) % threads;
    const int begin = owner * launch.per_thread();
    const int end = std::min(begin + launch.per_thread(), launch.num_tasks());
    for (int k = 0; k < end - begin; ++k) {
      const int id = i == 0 ? begin + k : end - 1 - k;
      if (!Take(launch, id)) continue;
      RunTask(id);
      FinishTask();
    }
  }
}

void ThreadPool::RunTask(int id) {
  if (job_->task(id, &job_->env, job_->data) != 0) Fail(TVMGetLastError());
}

void ThreadPool::Fail(const char* text) {
  const std::lock_guard<std::mutex> lock(job_->mutex);
  if (!job_->error.ok()) return;
  // A status without a text needs no memory.
  job_->error = absl::Status(absl::StatusCode::kInternal, "");
  try {
    job_->error = absl::InternalError(text);
  } catch (const std::bad_alloc&) {
  }
}

// Starts a thread for every task that has not begun: tasks that wait for each other need one each.
void ThreadPool::StartUntakenTasks() {
  const LaunchNumber launch(job_->launch.load(std::memory_order_acquire));
  if (launch.per_thread() == 1) return;  // Each task will get a thread.
  for (int id = 0; id < launch.num_tasks(); ++id) {
    if (Take(launch, id)) StartThread(id);
  }
}

void ThreadPool::StartThread(int id) {
  try {
    const std::lock_guard<std::mutex> lock(job_->mutex);
    job_->extras.emplace_back([this, id] {
      inside_task = true;
      RunTask(id);
      FinishTask();
    });
  } catch (const std::exception&) {
    Fail("the system has no thread for a task that others wait for");
    job_->barrier.broken.store(true, std::memory_order_release);
    job_->barrier.round.fetch_add(1, std::memory_order_acq_rel);
    job_->barrier.round.notify_all();
    FinishTask();
  }
}

void ThreadPool::FinishTask() {
  if (job_->unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) job_->unfinished.notify_one();
}

absl::Status ThreadPool::Launch(FTVMParallelLambda task, void* data, int num_tasks) {
  if (num_threads() == 1 || num_tasks == 1 || inside_task) return RunAlone(task, data);
  if (busy_.test_and_set(std::memory_order_acquire)) {
    if (RunScope* const run = RunScope::Current(); run != nullptr) run->CountWithoutThreads();
    return RunAlone(task, data);
  }
  const struct Release {
    ~Release() { busy.clear(std::memory_order_release); }
    std::atomic_flag& busy;
  } release{busy_};
  return LaunchOnAll(task, data, std::max(num_tasks, 0));
}

absl::Status ThreadPool::LaunchOnAll(FTVMParallelLambda task, void* data, int num_tasks) {
  if (workers_.empty()) StartWorkers();
  const int threads = static_cast<int>(workers_.size()) + 1;
  const int per_thread = num_tasks == 0 ? kTasksPerThread : 1;
  num_tasks = num_tasks == 0 ? threads * kTasksPerThread : std::min(num_tasks, threads);
  Job& job = *job_;
  job.task = task;
  job.data = data;
  job.barrier.pool = this;
  job.barrier.arrived.store(0, std::memory_order_relaxed);
  job.barrier.broken.store(false, std::memory_order_relaxed);
  job.env = {.sync_handle = &job.barrier, .num_task = num_tasks};
  job.error = absl::OkStatus();
  job.unfinished.store(num_tasks, std::memory_order_relaxed);
  const LaunchNumber launch =
      LaunchNumber(job.launch.load(std::memory_order_relaxed)).Next(num_tasks, per_thread);
  job.launch.store(launch.word(), std::memory_order_release);
  for (int id = 1; id < launch.num_threads(); ++id) {
    Worker& worker = *workers_[static_cast<size_t>(id) - 1];
    worker.state.store(Worker::kWork, std::memory_order_release);
    worker.state.notify_one();
  }
  inside_task = true;
  RunTasks(0);
  inside_task = false;
  for (int left; (left = job.unfinished.load(std::memory_order_acquire)) != 0;) {
    if (!SpinWhile(job.unfinished, left, job.spin)) {
      job.unfinished.wait(left, std::memory_order_acquire);
    }
  }
  for (std::thread& extra : job.extras) extra.join();
  job.extras.clear();
  return job.error;
}

bool ThreadPool::Barrier(TVMParallelGroupEnv* env) {
  if (env->num_task <= 1) return true;
  auto& state = *static_cast<BarrierState*>(env->sync_handle);
  state.pool->StartUntakenTasks();
  const int round = state.round.load(std::memory_order_acquire);
  // Read after `round`: if the barrier breaks after this, `round` changes.
  if (state.broken.load(std::memory_order_acquire)) return false;
  if (state.arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == env->num_task) {
    state.arrived.store(0, std::memory_order_relaxed);
    state.round.fetch_add(1, std::memory_order_acq_rel);
    state.round.notify_all();
  } else if (!SpinWhile(state.round, round, std::chrono::microseconds(20))) {
    state.round.wait(round, std::memory_order_acquire);
  }
  return !state.broken.load(std::memory_order_acquire);
}

}  // namespace kiln::runtime
