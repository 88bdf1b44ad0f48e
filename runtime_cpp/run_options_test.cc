// SPDX-License-Identifier: Apache-2.0
//
// Tests of deadlines, cancellation, thread pools and observers of runs, and of Prefault.
#include "runtime_cpp/run_options.h"

#include <sched.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/library_module.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/run_observer.h"
#include "runtime_cpp/run_scope.h"
#include "runtime_cpp/testdata/floats.h"
#include "runtime_cpp/thread_pool.h"
#include "tvm/runtime/c_backend_api.h"

namespace kiln::runtime {
namespace {

using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kAot[] = "runtime_cpp/testdata/add_aot.so";
constexpr char kGraph[] = "runtime_cpp/testdata/add_graph.so";

std::vector<NDArray> Inputs() { return {Floats({1, 2, 3, 4}), Floats({1, 1, 1, 1})}; }

class RunOptionsTest : public testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(All, RunOptionsTest, testing::Values(kAot, kGraph));

TEST_P(RunOptionsTest, ARunEndsAtItsDeadline) {
  const Model model = Model::Load(GetParam()).value();
  const absl::Status late =
      model.Run(Inputs(), {.deadline = steady_clock::now() - std::chrono::seconds(1)}).status();
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(std::string(late.message()), "the run of model 'add' did not end before its deadline");
  EXPECT_TRUE(model.Run(Inputs(), {.deadline = steady_clock::now() + std::chrono::hours(1)}).ok());
}

TEST_P(RunOptionsTest, ARunThatIsCancelledEnds) {
  const Model model = Model::Load(GetParam()).value();
  CancellationToken token;
  EXPECT_TRUE(model.Run(Inputs(), {.cancellation = &token}).ok());
  token.Cancel();
  const absl::Status cancelled = model.Run(Inputs(), {.cancellation = &token}).status();
  EXPECT_EQ(cancelled.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(std::string(cancelled.message()), "the run of model 'add' was cancelled");
  const std::shared_ptr<Executor> executor = model.MakeExecutor().value();
  ASSERT_TRUE(executor->SetInput(0, *Floats({1, 2, 3, 4})).ok());
  ASSERT_TRUE(executor->SetInput(1, *Floats({1, 1, 1, 1})).ok());
  EXPECT_EQ(executor->Run({.cancellation = &token}).code(), absl::StatusCode::kCancelled);
  token.Reset();
  EXPECT_TRUE(executor->Run({.cancellation = &token}).ok());
}

CancellationToken* token_of_task = nullptr;

int CancelInTask(int, TVMParallelGroupEnv*, void*) {
  token_of_task->Cancel();
  return 0;
}

// Launches one operator after the other, as compiled code does.
TEST(RunScope, EndsARunBetweenOperators) {
  CancellationToken token;
  token_of_task = &token;
  const RunOptions options = {.cancellation = &token};
  RunScope scope("m", options);
  ASSERT_TRUE(scope.Check().ok());
  EXPECT_EQ(TVMBackendParallelLaunch(CancelInTask, nullptr, 0), 0);
  EXPECT_NE(TVMBackendParallelLaunch(CancelInTask, nullptr, 0), 0);
  token.Reset();
  // The run stays canceled.
  EXPECT_NE(TVMBackendParallelLaunch(CancelInTask, nullptr, 0), 0);
  EXPECT_EQ(scope.Finish(absl::InternalError("the code's own text")).code(),
            absl::StatusCode::kCancelled);
}

TEST(RunScope, IsTheInnermost) {
  EXPECT_EQ(RunScope::Current(), nullptr);
  CancellationToken token;
  const RunOptions options = {.cancellation = &token}, none;
  {
    RunScope outer("outer", options);
    EXPECT_EQ(RunScope::Current(), &outer);
    {
      RunScope inner("inner", options);
      EXPECT_EQ(RunScope::Current(), &inner);
      // A run without options and observer does not become the current one.
      RunScope innermost("innermost", none);
      EXPECT_EQ(RunScope::Current(), &inner);
    }
    EXPECT_EQ(RunScope::Current(), &outer);
    std::thread([] { EXPECT_EQ(RunScope::Current(), nullptr); }).join();
  }
  EXPECT_EQ(RunScope::Current(), nullptr);
}

// A copy of an event, made by an observer.
struct Heard {
  std::string model;
  absl::StatusCode code;
  double seconds;
  int64_t parallel_operators;
  int64_t without_threads;
};

class Observed {
 public:
  Observed() {
    SetRunObserver([this](const RunEvent& run) {
      events.push_back({std::string(run.model), run.status.code(), run.seconds,
                        run.parallel_operators, run.without_threads});
    });
  }
  ~Observed() { SetRunObserver(nullptr); }

  std::vector<Heard> events;
};

TEST(RunObserver, HearsOfRunsAndErrors) {
  const Model model = Model::Load(kAot).value();
  {
    Observed observed;
    EXPECT_TRUE(model.Run(Inputs()).ok());
    EXPECT_FALSE(model.Run({Floats({1})}).ok());
    const std::shared_ptr<Executor> executor = model.MakeExecutor().value();
    EXPECT_FALSE(executor->Run().ok());
    ASSERT_EQ(observed.events.size(), 3u);
    EXPECT_EQ(observed.events[0].model, "add");
    EXPECT_EQ(observed.events[0].code, absl::StatusCode::kOk);
    EXPECT_GT(observed.events[0].seconds, 0);
    EXPECT_EQ(observed.events[0].parallel_operators, 2);
    EXPECT_EQ(observed.events[1].code, absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(observed.events[2].code, absl::StatusCode::kFailedPrecondition);
    EXPECT_EQ(observed.events[2].model, "add");
  }
  EXPECT_TRUE(model.Run(Inputs()).ok());
}

std::atomic<bool> is_held = false;

int HoldThreads(int, TVMParallelGroupEnv*, void* release) {
  is_held.store(true);
  static_cast<std::shared_future<void>*>(release)->wait();
  return 0;
}

// Occupies the threads of a pool with another launch until the end of the scope.
class HeldPool {
 public:
  explicit HeldPool(ThreadPool& pool)
      : future_(release_.get_future().share()),
        thread_([this, &pool] { EXPECT_TRUE(pool.Launch(HoldThreads, &future_, 0).ok()); }) {
    while (!is_held.load()) std::this_thread::yield();
  }
  ~HeldPool() {
    release_.set_value();
    thread_.join();
    is_held.store(false);
  }

 private:
  std::promise<void> release_;
  std::shared_future<void> future_;
  std::thread thread_;
};

TEST(ThreadPools, AModelComputesOnItsOwn) {
  ASSERT_TRUE(ThreadPool::Global().SetNumThreads(2).ok());
  const std::shared_ptr<ThreadPool> pool = ThreadPool::Create({.num_threads = 2}).value();
  const Model model = Model::Load(kAot).value();
  const Model on_pool = model.WithThreadPool(pool);
  const std::shared_ptr<Executor> executor = model.MakeExecutor().value();
  ASSERT_TRUE(executor->SetInput(0, *Floats({1, 2, 3, 4})).ok());
  ASSERT_TRUE(executor->SetInput(1, *Floats({1, 1, 1, 1})).ok());
  const HeldPool held(ThreadPool::Global());
  Observed observed;
  EXPECT_TRUE(model.Run(Inputs()).ok());
  EXPECT_THAT(on_pool.Run(Inputs())->at(0).values<float>(), ElementsAre(3, 5, 7, 9));
  EXPECT_TRUE(model.Run(Inputs(), {.pool = pool.get()}).ok());
  EXPECT_TRUE(executor->Run().ok());
  executor->SetThreadPool(pool);
  EXPECT_TRUE(executor->Run().ok());
  std::vector<int64_t> without_threads;
  for (const Heard& run : observed.events) without_threads.push_back(run.without_threads);
  EXPECT_THAT(without_threads, ElementsAre(2, 0, 0, 2, 0));
}

int NoteCpu(int, TVMParallelGroupEnv*, void* seen) {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  if (CPU_COUNT(&set) == 1) static_cast<std::atomic<int>*>(seen)->fetch_or(1 << 1);
  static_cast<std::atomic<int>*>(seen)->fetch_or(1);
  // Waits until a worker has run this task, too.
  while (static_cast<std::atomic<int>*>(seen)->load() != 3) std::this_thread::yield();
  return 0;
}

TEST(ThreadPools, WorkersStayOnTheirCpus) {
  cpu_set_t set;
  CPU_ZERO(&set);
  ASSERT_EQ(sched_getaffinity(0, sizeof(set), &set), 0);
  if (CPU_COUNT(&set) < 2) GTEST_SKIP() << "one CPU";
  int cpu = 0;
  while (!CPU_ISSET(cpu, &set)) ++cpu;
  const std::shared_ptr<ThreadPool> pool =
      ThreadPool::Create({.num_threads = 2, .cpus = {cpu}}).value();
  std::atomic<int> seen = 0;
  EXPECT_TRUE(pool->Launch(NoteCpu, &seen, 0).ok());
  EXPECT_EQ(ThreadPool::Create({.cpus = {0, 1, 2}}).value()->num_threads(), 3);
  EXPECT_THAT(std::string(ThreadPool::Create({.cpus = {-1}}).status().message()),
              HasSubstr("found CPU -1, wanted 0 to"));
  EXPECT_EQ(ThreadPool::Create({.num_threads = -1}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

int64_t MinorFaults() {
  rusage usage = {};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_minflt;
}

// The library has an array of 64 MiB that is not in its file.
TEST(Prefault, LeavesNothingToWaitFor) {
  const Module factory = Module::LoadFromFile("runtime_cpp/testdata/add_aot_large.so").value();
  const Model model = Model::FromModule(factory).value();
  const auto* const zeros =
      static_cast<const volatile char*>(FindLibrary(factory.node())->FindSymbol("zeros"));
  ASSERT_NE(zeros, nullptr);
  constexpr size_t kBytes = 64 << 20, kPage = 4096;
  EXPECT_TRUE(model.Prefault().ok());
  const int64_t before = MinorFaults();
  for (size_t i = 0; i < kBytes; i += kPage) (void)zeros[i];
  EXPECT_LE(MinorFaults() - before, 4);
}

}  // namespace
}  // namespace kiln::runtime
