// SPDX-License-Identifier: Apache-2.0
//
// The threads that run the parallel loops of generated code.
//
// A launch divides tasks 0 to n-1 among the threads, including the caller. A thread that has
// finished its own tasks takes tasks that other threads have not begun. Workers that wait for the
// next launch first spin for a short time, so that the operators of a model follow each other
// within microseconds, and then sleep. A launch from inside a task, or during another thread's
// launch, does not wait: it runs as a single task on the caller. Therefore any number of threads
// may run models at the same time. A program may have several pools, each with its own threads:
// Model::WithThreadPool.
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
  // Number of threads, including the calling thread. 0: one per CPU of `cpus`, or one per core that
  // the process may use, within the quota of its control group.
  int num_threads = 0;

  // Placement of the workers. The calling thread is never moved.
  enum class Affinity {
    kNone,     // The operating system decides.
    kCompact,  // Worker i stays on the i-th CPU of Cpus::order.
  };
  Affinity affinity = Affinity::kNone;

  // CPUs that the workers may run on. If there are none, those of the process. With kCompact,
  // worker i stays on the i-th CPU of the list.
  std::vector<int> cpus = {};

  // Time that a worker spins while it waits for the next launch, before it sleeps. Workers do not
  // spin if there are more threads than CPUs.
  int spin_microseconds = 200;
};

class ThreadPool {
 public:
  // Maximum number of threads of a pool.
  static constexpr int kMaxThreads = 1024;
  // Number of tasks per thread of a launch that leaves the number to the pool. More tasks balance
  // the load better if some CPUs are slow or busy.
  static constexpr int kTasksPerThread = 4;

  // Configures the pool as Configure does, but ignores invalid options.
  explicit ThreadPool(const ThreadPoolOptions& options = {});
  // Returns InvalidArgument for invalid options.
  static absl::StatusOr<std::shared_ptr<ThreadPool>> Create(const ThreadPoolOptions& options);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  // Returns the pool that TVMBackendParallelLaunch uses by default. Its threads start with the
  // first launch. The child of a fork starts its own threads.
  static ThreadPool& Global();

  // Ends the threads and applies new options. Waits for the launch of another thread. Returns
  // FailedPrecondition inside a task and InvalidArgument for invalid options.
  absl::Status Configure(const ThreadPoolOptions& options);

  // Changes the number of threads only, as Configure does.
  absl::Status SetNumThreads(int num_threads);

  int num_threads() const { return num_threads_.load(std::memory_order_relaxed); }

  // Runs `task(id, env, data)` for all ids below env->num_task. That is at most `num_tasks`, one
  // per thread, or for 0 kTasksPerThread times the number of threads. A thread that has finished
  // its tasks takes tasks of others. Returns Internal, with the text of the first failing task, if
  // a task does not return 0.
  absl::Status Launch(FTVMParallelLambda task, void* data, int num_tasks);

  // Waits for all tasks of the launch of `env`; for use inside a task. Tasks that no thread has
  // begun get new threads, which takes time, so launch one task per thread. Returns false if the
  // system has no thread for one of them. The launch then fails, and the tasks must end as soon as
  // they can.
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
  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;  // Held by the current launch or Configure.
  std::unique_ptr<Job> job_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace kiln::runtime

#endif  // KILN_RUNTIME_CPP_THREAD_POOL_H_
