// SPDX-License-Identifier: Apache-2.0
// Bits of a sum of floats depend on the order of its terms, and on nothing else of a plan: every
// legal tile, source of columns, order of loops, number of parts, of tasks and of unrolled steps,
// and every prefetch gives the bits of the plan that the model chooses.
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/schedule/testing/product.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

constexpr size_t kMinPlans = 8;
// Limits of the tiles. No kernel has more rows, and wider tiles have too many accumulators.
constexpr int64_t kMaxOuterRows = 3, kMaxRows = 8, kMaxVectors = 16;

// Returns plans that differ from `model` in one decision or in several. Not all of them fit.
std::vector<ContractionPlan> OtherPlans(const ContractionPlan& model) {
  std::vector<ContractionPlan> plans;
  const auto add = [&](const auto& change) {
    plans.push_back(model);
    change(plans.back());
  };
  for (int64_t outer = 1; outer <= kMaxOuterRows; ++outer) {
    for (int64_t rows = 1; rows <= kMaxRows; ++rows) {
      for (int64_t vectors = 1; vectors <= kMaxVectors; ++vectors) {
        add([&](ContractionPlan& p) {
          p.tile.outer_rows = outer;
          p.tile.rows = rows;
          p.tile.vectors = vectors;
          p.epilogue_lanes = 0;
          p.columns_together = p.tile.columns();
          p.parts = 1;
        });
      }
    }
  }
  add([](ContractionPlan& p) {
    p.columns_outside = !p.columns_outside;
    p.parts = 1;
    p.next_rows = false;
  });
  using Columns = ContractionPlan::Columns;
  for (const Columns columns : {Columns::kInPlace, Columns::kPacked, Columns::kCopied}) {
    add([&](ContractionPlan& p) {
      p.columns = columns;
      p.columns_together = p.tile.columns();
    });
  }
  add([](ContractionPlan& p) { p.columns_together = p.tile.lanes; });
  for (const int64_t parts : {2, 3, 4}) {
    add([&](ContractionPlan& p) {
      p.parts = parts;
      p.columns_outside = true;
      p.batch_inside = false;
      p.next_rows = false;
    });
  }
  for (const int64_t tasks : {0, 2, 64}) add([&](ContractionPlan& p) { p.tasks = tasks; });
  for (const int64_t unrolled : {1, 8, 200}) {
    add([&](ContractionPlan& p) { p.max_unrolled = unrolled; });
  }
  add([](ContractionPlan& p) {
    p.columns_ahead = p.packs() ? 64 : 0;
    p.next_columns = p.packs();
    p.epilogue_ahead = true;
  });
  add([](ContractionPlan& p) { p.next_rows = true; });
  add([](ContractionPlan& p) { p.batch_inside = !p.columns_outside; });
  return plans;
}

// Runs the kernel with every plan that fits. Expects enough plans, and enough different loops.
void ExpectSameBits(const Kernel& kernel, const Target& target) {
  std::vector<ContractionPlan> found;
  ScheduleOptions options;
  options.winograd = false;
  options.replan = [&](const ContractionPlan& plan) {
    found.push_back(plan);
    return plan;
  };
  const std::vector<Tensor> wanted = ValuesOf(kernel, target, options);
  ASSERT_EQ(found.size(), 1u) << "not one contraction";
  std::set<std::string> tried = {Text(found[0])}, loops;
  size_t fitting = 1;  // with the model's plan
  for (const ContractionPlan& other : OtherPlans(found[0])) {
    if (!tried.insert(Text(other)).second) continue;
    options.replan = [&](const ContractionPlan&) { return other; };
    const absl::StatusOr<Scheduled> scheduled = ScheduleKernel(kernel, target, options);
    if (!scheduled.ok()) {
      EXPECT_TRUE(absl::StrContains(scheduled.status().message(), "wanted"));
      continue;
    }
    ++fitting;
    loops.insert(Text(*scheduled));
    const std::vector<Tensor> values = ValuesOf(*scheduled);
    ASSERT_EQ(values.size(), wanted.size());
    for (size_t i = 0; i < values.size(); ++i) {
      EXPECT_EQ(values[i].bytes(), wanted[i].bytes()) << Text(other);
    }
  }
  EXPECT_GE(fitting, kMinPlans);
  // The loops obey their plans.
  EXPECT_GE(loops.size(), kMinPlans);
}

// out[b, m, n] = sum over k of x[b, m, k] * y[b, k, n].
Kernel BatchedProduct(int64_t rows, int64_t reduce, int64_t columns) {
  const Buffer x = Param("x", kF32, {2, rows, reduce}), y = Param("y", kF32, {2, reduce, columns});
  const Buffer out = Param("out", kF32, {2, rows, columns});
  return {.name = "f",
          .inputs = {x, y},
          .outputs = {out},
          .constants = {},
          .stages = {Reduce(out, {reduce}, Combine::kSum, [&](const Index& i, const Index& r) {
            return MakeLoad(x, {i[0], i[1], r[0]}) * MakeLoad(y, {i[0], r[0], i[2]});
          })}};
}

// out[h, w, o] = the convolution of x[h, w, c] by windows of 3 x 2.
Kernel Convolution(int64_t width, int64_t channels, int64_t outputs) {
  const Buffer x = Param("x", kF32, {5, width + 1, channels});
  const Buffer out = Param("out", kF32, {3, width, outputs});
  const loop::Constant w = MakeSmallConstant("w", {3, 2, channels, outputs});
  return {
      .name = "f",
      .inputs = {x},
      .outputs = {out},
      .constants = {w},
      .stages = {Reduce(out, {3, 2, channels}, Combine::kSum, [&](const Index& i, const Index& r) {
        return MakeLoad(x, {i[0] + r[0], i[1] + r[1], r[2]}) *
               MakeLoad(w.buffer, {r[0], r[1], r[2], i[2]});
      })}};
}

// Returns kernel number `seed` of 300. Its extents leave tails of every kind. Columns are constant
// or computed, with or without an epilogue.
Kernel KernelOf(int seed) {
  constexpr Columns kSources[] = {Columns::kConstant, Columns::kConstantTransposed, Columns::kInput,
                                  Columns::kInputTransposed};
  const int64_t rows = 3 + seed % 6, columns = 18 + seed * 5 % 31, reduce = 4 + seed * 7 % 23;
  if (seed % 6 == 4) return BatchedProduct(rows, reduce, columns);
  if (seed % 6 == 5) return Convolution(rows, 1 + reduce % 5, columns);
  return Product(rows, reduce, columns, kSources[seed / 6 % 4], kF32,
                 seed % 3 == 0 ? Relu : nullptr);
}

class Plans : public testing::TestWithParam<int> {};

// Each parameter has 50 of the 300 kernels.
TEST_P(Plans, AllGiveTheSameBits) {
  const std::vector<Target> targets = AllTargets();
  for (int seed = 50 * GetParam(); seed < 50 * (GetParam() + 1); ++seed) {
    SCOPED_TRACE(testing::Message() << "kernel " << seed);
    ExpectSameBits(KernelOf(seed), targets[static_cast<size_t>(seed) % targets.size()]);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Plans, testing::Range(0, 6));

TEST(Plan, ThatDoesNotFitIsRefused) {
  const Kernel kernel = Product(5, 7, 19, Columns::kInputTransposed);
  const auto refusal = [&](const auto& change) {
    ScheduleOptions options;
    options.replan = [&](ContractionPlan plan) {
      change(plan);
      return plan;
    };
    return std::string(ScheduleKernel(kernel, VectorTarget(256), options).status().message());
  };
  EXPECT_EQ(refusal([](ContractionPlan& p) { p.tile.rows = 6; }),
            "tile: found 6x3x8, wanted one that fits the rows, columns and registers");
  EXPECT_EQ(refusal([](ContractionPlan& p) { p.columns = ContractionPlan::Columns::kPacked; }),
            "columns: found packed, wanted copied or in place: they are not constant");
  EXPECT_EQ(refusal([](ContractionPlan& p) { p.columns = ContractionPlan::Columns::kInPlace; }),
            "columns: found in place, wanted packed or copied: they are not contiguous");
  EXPECT_EQ(refusal([](ContractionPlan& p) { p.order.fused = false; }),
            "order of sums: found in order, wanted in order, fused");
  EXPECT_EQ(refusal([](ContractionPlan& p) { p.parts = 2; }),
            "parts: found 2, wanted 1, or a divisor of a reduction by one axis");
}

TEST(Plan, Prints) {
  const Scheduled scheduled = Schedule(Product(7, 64, 64, Columns::kConstant), VectorTarget(256));
  ASSERT_EQ(scheduled.plans.size(), 2u);
  EXPECT_EQ(scheduled.plans[0],
            "contraction float32 rows 7@64 columns 64@1 reduce 64@1,64 constant epilogue 1");
  EXPECT_EQ(scheduled.plans[1],
            "tile 4x2x8, rows outside, columns packed 16 together, batch inside, sums in order, "
            "fused, one thread, unrolls 112, prefetches next columns and next rows and epilogue");
}

}  // namespace
}  // namespace kiln::schedule
