// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/machine_peak.h"

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime_cpp/thread_pool.h"
#include "tools/kiln/fma_kernels.h"

namespace kiln::tools {
namespace {

TEST(FmaKernels, DoWhatTheyCount) {
  ASSERT_FALSE(FmaKernels(Target::Host()).empty());
  for (const FmaKernel& kernel : FmaKernels(Target::Host())) {
    SCOPED_TRACE(kernel.instructions);
    // A step adds 1 to each lane. It counts as a multiplication and an addition per lane.
    const float lanes = kernel.run(3, 1, 1) - kernel.run(2, 1, 1);
    EXPECT_EQ(static_cast<float>(kernel.operations), 2 * lanes);
    // A sum that begins at b ends at b / 4 + 3 / 2. The mean of all sums follows the same formula.
    const float begin = kernel.run(0, 1, 1);
    EXPECT_EQ(kernel.run(2, 0.5, 1), begin / 4 + 1.5f * lanes);
  }
}

TEST(FmaKernels, AreThoseOfTheTarget) {
  for (const std::string& name : ListTargets()) {
    const absl::StatusOr<Target> target = Target::Parse(name);
    ASSERT_TRUE(target.ok()) << target.status();
    const std::vector<FmaKernel> kernels = FmaKernels(*target);
    ASSERT_FALSE(kernels.empty()) << name;
    for (size_t i = 1; i < kernels.size(); ++i) {
      EXPECT_LE(kernels[i].vector_bits, target->vector_bits) << name;
      EXPECT_TRUE(target->has_fma || !kernels[i].fused) << name;
    }
  }
  const auto last = [](const char* name) { return FmaKernels(*Target::Parse(name)).back(); };
  EXPECT_EQ(last("x86-64").vector_bits, 128);
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    EXPECT_STREQ(last("x86-64-v3").instructions, "avx2 fma");
    EXPECT_STREQ(last("x86_64-linux-gnu -mattr=+avx2").instructions, "avx");
  }
  if (__builtin_cpu_supports("avx512f")) {
    EXPECT_STREQ(last("x86-64-v4").instructions, "avx512f");
  }
#endif
}

TEST(MachinePeak, HasFiguresForOneThreadAndForAll) {
  for (const int threads : {1, 2}) {
    ASSERT_TRUE(runtime::ThreadPool::Global().SetNumThreads(threads).ok());
    const absl::StatusOr<MachinePeak> peak = MeasureMachinePeak(Target::Host(), /*seconds=*/0.001);
    ASSERT_TRUE(peak.ok()) << peak.status();
    EXPECT_FALSE(peak->instructions.empty());
    EXPECT_GE(peak->buffer_bytes, int64_t{64} << 20);
    EXPECT_EQ(peak->one_thread.threads, 1);
    EXPECT_EQ(peak->all_threads.threads, threads);
    for (const PeakRates& rates : {peak->one_thread, peak->all_threads}) {
      EXPECT_GT(rates.gflops, 0);
      EXPECT_GT(rates.read_gigabytes, 0);
      EXPECT_GT(rates.copy_gigabytes, 0);
    }
  }
}

}  // namespace
}  // namespace kiln::tools
