// SPDX-License-Identifier: Apache-2.0
#include "runtime_cpp/thread_pool.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace kiln::runtime {
namespace {

ThreadPoolOptions Threads(int num_threads) {
  ThreadPoolOptions options;
  options.num_threads = num_threads;
  return options;
}

struct Sum {
  ThreadPool* pool;
  std::vector<int64_t> values;
  std::atomic<int64_t> total{0};
  std::atomic<int> tasks{0};
};

// Adds this task's part of the values.
int AddShare(int task_id, TVMParallelGroupEnv* env, void* data) {
  auto& sum = *static_cast<Sum*>(data);
  const size_t n = sum.values.size();
  const auto id = static_cast<size_t>(task_id);
  const auto num_task = static_cast<size_t>(env->num_task);
  sum.total += std::accumulate(
      sum.values.begin() + static_cast<std::ptrdiff_t>(n * id / num_task),
      sum.values.begin() + static_cast<std::ptrdiff_t>(n * (id + 1) / num_task), int64_t{0});
  ++sum.tasks;
  return 0;
}

Sum MakeSum(ThreadPool& pool, size_t size) {
  std::vector<int64_t> values(size);
  std::iota(values.begin(), values.end(), 1);
  return {.pool = &pool, .values = std::move(values)};
}

TEST(ThreadPool, RunsEveryTaskOnce) {
  for (const int num_threads : {1, 2, 4, 7}) {
    ThreadPool pool(Threads(num_threads));
    for (int i = 0; i < 50; ++i) {
      Sum sum = MakeSum(pool, 1000);
      ASSERT_TRUE(pool.Launch(AddShare, &sum, 0).ok());
      EXPECT_EQ(sum.total, 500500);
      EXPECT_EQ(sum.tasks, num_threads == 1 ? 1 : num_threads * ThreadPool::kTasksPerThread);
    }
  }
}

TEST(ThreadPool, FewerTasksThanThreads) {
  ThreadPool pool(Threads(4));
  Sum sum = MakeSum(pool, 100);
  ASSERT_TRUE(pool.Launch(AddShare, &sum, 2).ok());
  EXPECT_EQ(sum.tasks, 2);
  EXPECT_EQ(sum.total, 5050);
}

TEST(ThreadPool, MoreTasksThanThreadsAreFolded) {
  ThreadPool pool(Threads(2));
  Sum sum = MakeSum(pool, 100);
  ASSERT_TRUE(pool.Launch(AddShare, &sum, 100).ok());
  EXPECT_EQ(sum.tasks, 2);
  EXPECT_EQ(sum.total, 5050);
}

TEST(ThreadPool, WakesSleepingWorkers) {
  ThreadPoolOptions options = Threads(3);
  options.spin_microseconds = 0;
  ThreadPool pool(options);
  for (int i = 0; i < 20; ++i) {
    Sum sum = MakeSum(pool, 10);
    ASSERT_TRUE(pool.Launch(AddShare, &sum, 0).ok());
    EXPECT_EQ(sum.total, 55);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// Workers may wake up after the end of their launch, or during another launch.
TEST(ThreadPool, EveryTaskRunsOnceWhoeverIsAwake) {
  struct Counts {
    std::array<std::atomic<int>, 8 * ThreadPool::kTasksPerThread> runs{};
  };
  ThreadPoolOptions options = Threads(8);
  options.spin_microseconds = 0;
  ThreadPool pool(options);
  for (int i = 0; i < 5000; ++i) {
    const int asked = i % 8 == 0 ? 0 : 1 + i % 8;
    const int num_tasks = asked == 0 ? 8 * ThreadPool::kTasksPerThread : asked;
    Counts counts;
    ASSERT_TRUE(pool.Launch(
                        [](int id, TVMParallelGroupEnv* env, void* data) {
                          auto& found = *static_cast<Counts*>(data);
                          return id < env->num_task ? found.runs[static_cast<size_t>(id)]++ * 0 : 1;
                        },
                        &counts, asked)
                    .ok());
    for (int id = 0; id < 8 * ThreadPool::kTasksPerThread; ++id) {
      ASSERT_EQ(counts.runs[static_cast<size_t>(id)], id < num_tasks ? 1 : 0) << i << " " << id;
    }
  }
}

TEST(ThreadPool, NestedLaunchRunsAsOneTask) {
  ThreadPool pool(Threads(3));
  Sum outer = MakeSum(pool, 30);
  const auto nested = [](int, TVMParallelGroupEnv*, void* data) {
    auto& outer = *static_cast<Sum*>(data);
    Sum inner = MakeSum(*outer.pool, 10);
    const bool ok = outer.pool->Launch(AddShare, &inner, 0).ok();
    if (inner.tasks != 1 || inner.total != 55) return -1;
    ++outer.tasks;
    return ok ? 0 : -1;
  };
  ASSERT_TRUE(pool.Launch(nested, &outer, 0).ok());
  EXPECT_EQ(outer.tasks, 3 * ThreadPool::kTasksPerThread);
}

TEST(ThreadPool, ManyCallersAtOnce) {
  ThreadPool pool(Threads(4));
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int i = 0; i < 6; ++i) {
    callers.emplace_back([&] {
      for (int j = 0; j < 200; ++j) {
        Sum sum = MakeSum(pool, 100);
        if (!pool.Launch(AddShare, &sum, 0).ok() || sum.total != 5050) ++wrong;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, ConfigureBetweenLaunchesOfOtherThreads) {
  ThreadPool pool(Threads(2));
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread caller([&] {
    while (!stop) {
      Sum sum = MakeSum(pool, 100);
      if (!pool.Launch(AddShare, &sum, 0).ok() || sum.total != 5050) ++wrong;
    }
  });
  for (int i = 0; i < 20; ++i) {
    EXPECT_TRUE(pool.SetNumThreads(1 + i % 4).ok());
    EXPECT_EQ(pool.num_threads(), 1 + i % 4);
  }
  stop = true;
  caller.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, ErrorOfATaskIsReturnedWithItsText) {
  ThreadPool pool(Threads(3));
  const auto fail = [](int task_id, TVMParallelGroupEnv* env, void*) {
    if (task_id != env->num_task - 1) return 0;
    TVMAPISetLastError("the last task is tired");
    return -1;
  };
  EXPECT_EQ(pool.Launch(fail, nullptr, 0), absl::InternalError("the last task is tired"));
  Sum sum = MakeSum(pool, 10);
  EXPECT_TRUE(pool.Launch(AddShare, &sum, 0).ok());
}

struct Phases {
  std::atomic<int> first{0};
  std::atomic<int> wrong{0};
};

TEST(ThreadPool, BarrierSeparatesPhases) {
  for (const int num_threads : {1, 2, 5}) {
    ThreadPool pool(Threads(num_threads));
    Phases phases;
    const auto task = [](int, TVMParallelGroupEnv* env, void* data) {
      auto& phases = *static_cast<Phases*>(data);
      for (int round = 1; round <= 20; ++round) {
        ++phases.first;
        ThreadPool::Barrier(env);
        if (phases.first != round * env->num_task) ++phases.wrong;
        ThreadPool::Barrier(env);
      }
      return 0;
    };
    for (const int num_tasks : {0, num_threads}) {
      phases.first = 0;
      ASSERT_TRUE(pool.Launch(task, &phases, num_tasks).ok());
      EXPECT_EQ(phases.wrong, 0) << num_threads;
    }
  }
}

TEST(ThreadPool, ConfigureRefusesNonsense) {
  ThreadPool pool(Threads(2));
  EXPECT_FALSE(pool.SetNumThreads(-1).ok());
  EXPECT_FALSE(pool.SetNumThreads(ThreadPool::kMaxThreads + 1).ok());
  EXPECT_EQ(pool.num_threads(), 2);
  const auto task = [](int, TVMParallelGroupEnv*, void* data) {
    const absl::Status status = static_cast<ThreadPool*>(data)->SetNumThreads(1);
    return status.code() == absl::StatusCode::kFailedPrecondition ? 0 : -1;
  };
  EXPECT_TRUE(pool.Launch(task, &pool, 0).ok());
}

// ThreadSanitizer does not allow new threads in the child.
#if !defined(__SANITIZE_THREAD__)
TEST(ThreadPool, ChildOfAForkHasThreadsOfItsOwn) {
  ThreadPool& pool = ThreadPool::Global();
  ASSERT_TRUE(pool.SetNumThreads(3).ok());
  Sum sum = MakeSum(pool, 10);
  ASSERT_TRUE(pool.Launch(AddShare, &sum, 0).ok());
  const pid_t child = fork();
  if (child == 0) {
    Sum again = MakeSum(pool, 10);
    _exit(pool.Launch(AddShare, &again, 0).ok() && again.tasks == 3 * ThreadPool::kTasksPerThread
              ? 0
              : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}
#endif

TEST(ThreadPool, CompactAffinityPinsWorkersOnly) {
  ThreadPoolOptions options = Threads(2);
  options.affinity = ThreadPoolOptions::Affinity::kCompact;
  ThreadPool pool(options);
  std::atomic<int> cpus[2] = {};
  const auto task = [](int task_id, TVMParallelGroupEnv* env, void* data) {
    ThreadPool::Barrier(env);  // Gives each task its own thread.
    cpu_set_t set;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    static_cast<std::atomic<int>*>(data)[task_id] = CPU_COUNT(&set);
    return 0;
  };
  cpu_set_t caller;
  CPU_ZERO(&caller);
  sched_getaffinity(0, sizeof(caller), &caller);
  ASSERT_TRUE(pool.Launch(task, cpus, 2).ok());
  EXPECT_EQ(cpus[0], CPU_COUNT(&caller));
  EXPECT_EQ(cpus[1], 1);
}

// Limits the memory so that it suffices for the stacks of only some of the threads.
int SumWithFewThreads() {
  constexpr rlim_t kRoom = rlim_t{40} << 20;
  std::ifstream statm("/proc/self/statm");
  rlim_t pages = 0;
  statm >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + kRoom;
  const rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
  ThreadPool pool(Threads(64));
  Sum sum = MakeSum(pool, 1000);
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 2;
  for (int64_t i = 1; i <= 3; ++i) {
    if (!pool.Launch(AddShare, &sum, 0).ok() || sum.total != i * 500500) return 3;
  }
  return pool.num_threads() < 64 ? 0 : 4;
}

TEST(ThreadPool, GoesOnWithTheThreadsThereAre) {
  EXPECT_EXIT(std::_Exit(SumWithFewThreads()), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace kiln::runtime
