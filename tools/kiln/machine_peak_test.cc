// SPDX-License-Identifier: Apache-2.0
#include "tools/kiln/machine_peak.h"

#include "absl/status/statusor.h"
#include "gtest/gtest.h"
#include "runtime_cpp/thread_pool.h"
#include "tools/kiln/fma_kernels.h"

namespace kiln::tools {
namespace {

TEST(FmaKernels, DoWhatTheyCount) {
  ASSERT_FALSE(FmaKernels().empty());
  for (const FmaKernel& kernel : FmaKernels()) {
    SCOPED_TRACE(kernel.instructions);
    // A step adds 1 to each lane, and is a multiplication and an addition for each.
    const float lanes = kernel.run(3, 1, 1) - kernel.run(2, 1, 1);
    EXPECT_EQ(static_cast<float>(kernel.operations), 2 * lanes);
    // Sums that begin at b end at b / 4 + 3 / 2; the mean of all is the same of the mean b.
    const float begin = kernel.run(0, 1, 1);
    EXPECT_EQ(kernel.run(2, 0.5, 1), begin / 4 + 1.5f * lanes);
  }
}

TEST(MachinePeak, HasFiguresForOneThreadAndForAll) {
  for (const int threads : {1, 2}) {
    ASSERT_TRUE(runtime::ThreadPool::Global().SetNumThreads(threads).ok());
    const absl::StatusOr<MachinePeak> peak = MeasureMachinePeak(/*seconds=*/0.001);
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
