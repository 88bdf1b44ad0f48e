// SPDX-License-Identifier: Apache-2.0
//
// The threads on which generated code runs its parallel loops.
//
// A launch hands out tasks 0 to n-1; every thread, the caller too, has its own and then takes those
// that others have not come to. Workers that wait for the next launch first spin for a short while,
// so that the operators of one model follow each other within microseconds, then sleep. A launch
// from inside a task, or while another thread's launch is under way, does not wait: it runs as one
// single task on the caller. So any number of threads may run models at once. A program may have
// several pools, each with its threads: Model::WithThreadPool.
//
//   ThreadPool::Global().SetNumThreads(4);
//   ThreadPool::Global().Launch(task, &data, 0);
#ifndef KILN_RUNTIME_CPP_THREAD_POOL_H_
#define KILN_RUNTIME_CPP_THREAD_POOL_H_

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tvm/runtime/c_backend_api.h"

namespace kiln::runtime {

struct ThreadPoolOptions {
  // The calling thread included. 0: one per CPU of `cpus`, or one per core that the process may use,
  // within the quota of its control group.
  int num_threads = 0;

  // Which CPUs the workers run on. The calling thread is never moved.
  enum class Affinity {
    kNone,     // The operating system decides.
    kCompact,  // Worker i stays on the i-th CPU of Cpus::order.
  };
  Affinity affinity = Affinity::kNone;

  // The CPUs that the workers may run on; none: those of the process. With kCompact, worker i stays on
  // the i-th one.
  std::vector<int> cpus = {};

  // How long a worker waits awake for the next launch. Workers do not spin where there are more
  // threads than CPUs.
  int spin_microseconds = 200;
};

class ThreadPool {
 public:
  // Most threads that a pool can have.
  static constexpr int kMaxThreads = 1024;
  // Tasks of a launch that leaves their number to the pool, for each thread: with more the work is
  // shared more evenly among CPUs of which some are slower or busy.
  static constexpr int kTasksPerThread = 4;

  // As Configure for options; those that no pool can have are left out.
  explicit ThreadPool(const ThreadPoolOptions& options = {});
  // InvalidArgument for options that no pool can have.
  static absl::StatusOr<std::shared_ptr<ThreadPool>> Create(const ThreadPoolOptions& options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // The pool behind TVMBackendParallelLaunch. Threads start with the first launch. The child of a
  // fork starts threads of its own.
  static ThreadPool& Global();

  // Ends the threads and goes on with new options. Waits for a launch of another thread;
  // FailedPrecondition from inside a task, InvalidArgument for options that no pool can have.
  absl::Status Configure(const ThreadPoolOptions& options);

  // Configure with another number of threads and all other options as they are.
  absl::Status SetNumThreads(int num_threads);

  int num_threads() const { return num_threads_.load(std::memory_order_relaxed); }

  // Runs `task(id, env, data)` for all ids below env->num_task: at most `num_tasks`, one per
  // thread, or for 0 kTasksPerThread times as many as there are threads. A thread that has finished
  // its tasks takes those of others. Internal, with the text of the first failing task, if one does
  // not return 0.
  absl::Status Launch(FTVMParallelLambda task, void* data, int num_tasks);

  // Waits for all tasks of the launch of `env`. For use inside a task. Those that nobody has begun
  // get threads of their own, which takes time: launch one per thread. False where the system has
  // no thread for one of them: the launch fails, and the tasks end as soon as they can.
  static bool Barrier(TVMParallelGroupEnv* env);

 private:
  struct Worker;
  struct Job;
  struct All;
  class LaunchNumber;

  static All& AllPools();

  absl::Status Reconfigure(const std::function<void(ThreadPoolOptions&)>& change);
  void AbandonWorkers();
  void StartWorkers();
  void StopWorkers();
  void WorkerLoop(Worker& worker);
  bool Take(const LaunchNumber& launch, int id);
  void RunTasks(int thread);
  void RunTask(int id);
  void Fail(const char* text);
  void StartUntakenTasks();
  void StartThread(int id);
  void FinishTask();
  absl::Status LaunchOnAll(FTVMParallelLambda task, void* data, int num_tasks);

  ThreadPoolOptions options_;
  std::atomic<int> num_threads_;
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;  // Held by the one launch or Configure under way.
  std::unique_ptr<Job> job_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_THREAD_POOL_H_
