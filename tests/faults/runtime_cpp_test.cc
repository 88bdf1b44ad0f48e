// SPDX-License-Identifier: Apache-2.0
// The C++ runtime without enough memory, libraries or threads. A model is loaded, given memory and
// run, in each of three ways. Each call of a kind fails in turn, alone and together with all later
// calls. Each run gives an error or the right result, repeated runs leak nothing, and the next run
// without faults works.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime_cpp/executor.h"
#include "runtime_cpp/model.h"
#include "runtime_cpp/module.h"
#include "runtime_cpp/ndarray.h"
#include "runtime_cpp/thread_pool.h"
#include "tests/faults/faults.h"
#include "tvm/runtime/c_backend_api.h"
#include "tvm/runtime/c_runtime_api.h"

namespace kiln::runtime {
namespace {

using Numbers = std::vector<float>;
using Way = std::function<absl::StatusOr<Numbers>(const std::string& library)>;

constexpr char kAot[] = "runtime_cpp/testdata/add_aot.so";
constexpr char kGraph[] = "runtime_cpp/testdata/add_graph.so";
constexpr int kThreads = 3;

absl::StatusOr<NDArray> InputOf(const TensorInfo& info) {
  absl::StatusOr<NDArray> input = NDArray::Empty(info.shape, info.dtype, info.device);
  if (input.ok()) std::ranges::fill(input->values<float>(), 0.5F);
  return input;
}

Numbers ValuesOf(const NDArray& array) {
  const auto values = array.values<float>();
  return Numbers(values.begin(), values.end());
}

absl::StatusOr<Numbers> RunModel(const std::string& library) {
  const absl::StatusOr<Model> model = Model::Load(library);
  if (!model.ok()) return model.status();
  std::vector<NDArray> inputs;
  for (const TensorInfo& info : model->inputs()) {
    absl::StatusOr<NDArray> input = InputOf(info);
    if (!input.ok()) return input.status();
    inputs.push_back(*input);
  }
  const absl::StatusOr<std::vector<NDArray>> outputs = model->Run(inputs);
  if (!outputs.ok()) return outputs.status();
  return ValuesOf(outputs->front());
}

absl::StatusOr<Numbers> RunExecutor(const std::string& library) {
  const absl::StatusOr<Module> factory = Module::LoadFromFile(library);
  if (!factory.ok()) return factory.status();
  const absl::StatusOr<std::shared_ptr<Executor>> executor =
      Executor::Create(*factory, {kDLCPU, 0});
  if (!executor.ok()) return executor.status();
  for (int i = 0; i < (*executor)->num_inputs(); ++i) {
    if ((*executor)->IsParam(i)) continue;
    const absl::StatusOr<NDArray> input =
        InputOf((*executor)->input_infos()[static_cast<size_t>(i)]);
    if (!input.ok()) return input.status();
    const absl::Status set = (*executor)->SetInput(i, *input->tensor());
    if (!set.ok()) return set;
  }
  const absl::Status run = (*executor)->Run();
  if (!run.ok()) return run;
  const absl::StatusOr<NDArray> output = (*executor)->GetOutput(0);
  if (!output.ok()) return output.status();
  return ValuesOf(*output);
}

// A handle of the C API and the function that frees it.
using Handle = std::unique_ptr<void, int (*)(void*)>;

// The C API has error texts, but no error codes.
absl::Status LastError() { return absl::UnknownError(TVMGetLastError()); }

// Calls a function and returns the resulting handle of a module, a function or an array.
absl::StatusOr<void*> Call(void* function, std::vector<TVMValue> values, std::vector<int> codes) {
  TVMValue result = {.v_handle = nullptr};
  int code = kTVMNullptr;
  const int error = TVMFuncCall(function, values.data(), codes.data(),
                                static_cast<int>(values.size()), &result, &code);
  if (error != 0) return LastError();
  return result.v_handle;
}

absl::StatusOr<Handle> FunctionOf(void* module, const char* name) {
  void* function = nullptr;
  if (TVMModGetFunction(module, name, 0, &function) != 0) return LastError();
  if (function == nullptr) return absl::NotFoundError(name);
  return Handle(function, TVMFuncFree);
}

// Runs an executor by calls of the C API, as other languages do.
absl::StatusOr<Numbers> RunCApi(const std::string& library) {
  void* module = nullptr;
  if (TVMModLoadFromFile(library.c_str(), "so", &module) != 0) return LastError();
  const Handle factory(module, TVMModFree);
  const absl::StatusOr<Handle> create = FunctionOf(module, "add");
  if (!create.ok()) return create.status();
  const absl::StatusOr<void*> made = Call(create->get(), {{.v_device = {kDLCPU, 0}}}, {kDLDevice});
  if (!made.ok()) return made.status();
  const Handle executor(*made, TVMModFree);
  const absl::StatusOr<Handle> get_input = FunctionOf(*made, "get_input");
  if (!get_input.ok()) return get_input.status();
  const absl::StatusOr<Handle> run = FunctionOf(*made, "run");
  if (!run.ok()) return run.status();
  const absl::StatusOr<Handle> get_output = FunctionOf(*made, "get_output");
  if (!get_output.ok()) return get_output.status();
  for (int64_t i = 0; i < 2; ++i) {
    const absl::StatusOr<void*> input = Call(get_input->get(), {{.v_int64 = i}}, {kTVMArgInt});
    if (!input.ok()) return input.status();
    NDArray array = NDArray::FromHandle(static_cast<DLTensor*>(*input));
    std::ranges::fill(array.values<float>(), 0.5F);
  }
  if (const absl::StatusOr<void*> ran = Call(run->get(), {}, {}); !ran.ok()) return ran.status();
  const absl::StatusOr<void*> output = Call(get_output->get(), {{.v_int64 = 0}}, {kTVMArgInt});
  if (!output.ok()) return output.status();
  return ValuesOf(NDArray::FromHandle(static_cast<DLTensor*>(*output)));
}

// Resources that a process holds.
struct Held {
  long blocks = 0;
  int64_t descriptors = 0;

  bool operator<=(const Held& other) const {
    return blocks <= other.blocks && descriptors <= other.descriptors;
  }
};

Held HeldNow() {
  // The threads of the pool have ended and released their resources.
  EXPECT_TRUE(ThreadPool::Global().SetNumThreads(1).ok());
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return {.blocks = FaultsBlocks(),
          .descriptors = std::distance(begin(files), std::filesystem::directory_iterator())};
}

enum class Outcome { kRight, kWrong, kError };

class FaultsTest : public testing::TestWithParam<const char*> {
 protected:
  // Runs once, with newly started threads.
  Outcome Run(const Way& way, FaultKind kind, long at, bool on) {
    EXPECT_TRUE(ThreadPool::Global().SetNumThreads(kThreads).ok());
    Outcome outcome = Outcome::kError;
    status_ = absl::OkStatus();
    FaultsBegin(kind, at, on);
    try {
      const absl::StatusOr<Numbers> numbers = way(GetParam());
      if (numbers.ok()) outcome = *numbers == wanted_ ? Outcome::kRight : Outcome::kWrong;
      status_ = numbers.status();
    } catch (const std::bad_alloc&) {
    }
    calls_ = FaultsEnd();
    return outcome;
  }

  // A leak occurs in each run. A cache fills in the first one or two runs.
  bool LosesSomething(const Way& way, FaultKind kind, long at, bool on) {
    constexpr int kTries = 4;
    Held before = HeldNow();
    for (int i = 0; i < kTries; ++i) {
      Run(way, kind, at, on);
      const Held now = HeldNow();
      if (now <= before) return false;
      before = now;
    }
    return true;
  }

  void FailEveryCall(const Way& way, FaultKind kind) {
    EXPECT_EQ(Run(way, kind, -1, false), Outcome::kRight);
    const long calls = calls_;
    long errors = 0;
    for (long at = 0; at < calls; ++at) {
      for (const bool on : {false, true}) {
        SCOPED_TRACE(testing::Message() << "kind " << kind << ", call " << at << " of " << calls
                                        << (on ? " and all behind it" : ""));
        const Outcome outcome = Run(way, kind, at, on);
        EXPECT_NE(outcome, Outcome::kWrong);
        errors += outcome == Outcome::kError;
        if (kind == kMallocFault && outcome == Outcome::kError) {
          EXPECT_TRUE(status_.ok() || absl::IsResourceExhausted(status_) ||
                      absl::IsUnknown(status_))
              << status_;
        }
        EXPECT_EQ(Run(way, kind, -1, false), Outcome::kRight) << "the next call";
        EXPECT_FALSE(LosesSomething(way, kind, at, on));
      }
    }
    std::printf("kind %d: %ld calls, each alone and with all behind it: %ld errors\n",
                static_cast<int>(kind), calls, errors);
    if (kind == kThreadFault) {
      EXPECT_EQ(errors, 0) << "fewer threads do the same";
      EXPECT_GT(calls, 0);
    } else if (kind != kMmapFault) {
      EXPECT_GE(errors, calls) << "each call is needed";
    }
  }

  void FailEverything(const Way& way) {
    const absl::StatusOr<Numbers> wanted = way(GetParam());
    ASSERT_TRUE(wanted.ok()) << wanted.status();
    wanted_ = *wanted;
    for (const FaultKind kind : {kMallocFault, kDlopenFault, kMmapFault, kThreadFault}) {
      // nlohmann::json reads graphs. Its destructors allocate memory, and end the process if there
      // is none: docs/decisions/0021-left-as-it-is.md.
      if (kind == kMallocFault && GetParam() == std::string(kGraph)) continue;
      FailEveryCall(way, kind);
    }
  }

 private:
  Numbers wanted_;
  absl::Status status_;  // of the last run; OK if it threw bad_alloc
  long calls_ = 0;
};

TEST_P(FaultsTest, Model) { FailEverything(RunModel); }
TEST_P(FaultsTest, Executor) { FailEverything(RunExecutor); }
TEST_P(FaultsTest, CApi) { FailEverything(RunCApi); }

INSTANTIATE_TEST_SUITE_P(Libraries, FaultsTest, testing::Values(kAot, kGraph));

// Scratch memory of a thread. Each allocation inside the pool fails in turn, alone and together
// with all later ones. Then there is no block, and an error text. Earlier blocks do not overlap,
// are freed without further allocations, and serve the next call.
class Workspaces {
 public:
  // Allocates and frees blocks while call `at` fails, and then once more without a fault. Returns
  // the error, or "".
  std::string Run(long at, bool on) {
    // Creates the state that a thread keeps: its empty pool, and the text of its error.
    TVMBackendFreeWorkspace(kDLCPU, 0, nullptr);
    TVMAPISetLastError("");
    blocks_.reserve(2 * kSizes.size());
    FaultsBegin(kMallocFault, at, on);
    TakeAll();
    const size_t taken = blocks_.size();
    const bool apart = AreApart();
    const bool given_back = GiveAllBack();
    calls_ = FaultsEnd();
    has_failed_ = taken < kSizes.size();
    if (!apart || !given_back) return apart ? "a block is not given back" : "blocks overlap";
    if (has_failed_ && std::string_view(TVMGetLastError()).empty()) return "no text";
    TakeAll();
    if (blocks_.size() < kSizes.size() || !AreApart()) return "the next call";
    return GiveAllBack() ? "" : "a block of the next call is not given back";
  }

  long calls() const { return calls_; }
  bool has_failed() const { return has_failed_; }

 private:
  struct Block {
    char* memory;
    size_t bytes;
  };

  void TakeAll() {
    for (const size_t bytes : kSizes) {
      void* const memory = TVMBackendAllocWorkspace(kDLCPU, 0, bytes, kDLFloat, 32);
      if (memory != nullptr) blocks_.push_back({static_cast<char*>(memory), bytes});
    }
  }

  // True if no blocks overlap: each is filled with a different number, and keeps it.
  bool AreApart() const {
    char number = 1;
    for (const Block& block : blocks_) std::fill_n(block.memory, block.bytes, number++);
    number = 1;
    bool apart = true;
    for (const Block& block : blocks_) {
      apart &= std::count(block.memory, block.memory + block.bytes, number++) ==
               static_cast<ptrdiff_t>(block.bytes);
    }
    return apart;
  }

  // Frees the last block first, as generated code does.
  bool GiveAllBack() {
    bool done = true;
    for (; !blocks_.empty(); blocks_.pop_back()) {
      done &= TVMBackendFreeWorkspace(kDLCPU, 0, blocks_.back().memory) == 0;
    }
    return done;
  }

  static constexpr std::array<size_t, 4> kSizes = {100, 5000, 100, 20000};

  std::vector<Block> blocks_;
  long calls_ = 0;
  bool has_failed_ = false;
};

TEST(WorkspaceTest, EveryAllocationFails) {
  // A new thread has an empty pool, and frees it at its end.
  const auto in_a_thread = [](long at, bool on) {
    Workspaces workspaces;
    std::string wrong;
    std::thread([&] { wrong = workspaces.Run(at, on); }).join();
    EXPECT_EQ(wrong, "");
    return workspaces;
  };
  EXPECT_FALSE(in_a_thread(-1, false).has_failed());  // allocates the state shared by all threads
  const Workspaces all = in_a_thread(-1, false);
  EXPECT_FALSE(all.has_failed());
  EXPECT_GE(all.calls(), 4);
  for (long at = 0; at < all.calls(); ++at) {
    for (const bool on : {false, true}) {
      SCOPED_TRACE(testing::Message()
                   << "call " << at << " of " << all.calls() << (on ? " and all behind it" : ""));
      const long before = FaultsBlocks();
      EXPECT_TRUE(in_a_thread(at, on).has_failed()) << "each call is needed";
      EXPECT_LE(FaultsBlocks(), before);
    }
  }
}

// A barrier needs a thread per task. Without enough threads the launch fails, and no task waits
// forever.
TEST(BarrierTest, WithoutThreads) {
  ThreadPool pool({.num_threads = kThreads});
  const auto task = [](int, TVMParallelGroupEnv* env, void*) {
    return ThreadPool::Barrier(env) ? 0 : -1;
  };
  for (long at = 0; at < kThreads * ThreadPool::kTasksPerThread; ++at) {
    FaultsBegin(kThreadFault, at, 0);
    const absl::Status status = pool.Launch(task, nullptr, 0);
    const bool failed = FaultsEnd() > at && at >= kThreads - 1;
    EXPECT_EQ(status.ok(), !failed) << at << ": " << status;
    EXPECT_TRUE(pool.SetNumThreads(kThreads).ok());
    EXPECT_TRUE(pool.Launch(task, nullptr, 0).ok());
    EXPECT_TRUE(pool.SetNumThreads(kThreads).ok());
  }
}

}  // namespace
}  // namespace kiln::runtime
