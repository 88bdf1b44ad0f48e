// SPDX-License-Identifier: Apache-2.0
// Bits of a sum of floats depend on the order of its terms, and on nothing else of a plan: every
// legal tile, source of columns, order of loops, number of parts, of tasks and of unrolled steps,
// and every prefetch gives the bits of the plan that the model chooses.
#include <set>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/schedule/testing/product.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

constexpr size_t kMinPlans = 8;

// Returns plans that differ from `model` in one decision or in several. Not all of them fit.
std::vector<ContractionPlan> OtherPlans(const ContractionPlan& model, int seed) {
  std::vector<ContractionPlan> plans;
  const auto add = [&](const auto& change) {
    plans.push_back(model);
    change(plans.back());
  };
  for (const int64_t rows : {1, 2, 3, 5}) {
    for (const int64_t vectors : {1, 2}) {
      add([&](ContractionPlan& p) {
        p.tile.rows = rows;
        p.tile.vectors = vectors;
        p.tile.outer_rows = 1 + (seed + rows) % 2;
        p.epilogue_lanes = 0;
        p.columns_together = p.tile.columns();
        p.parts = 1;
      });
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

// Runs the kernel with every plan that fits, and returns the number of distinct ones.
size_t ExpectSameBits(const Kernel& kernel, const Target& target, int seed) {
  std::vector<ContractionPlan> found;
  ScheduleOptions options;
  options.winograd = false;
  options.replan = [&](const ContractionPlan& plan) {
    found.push_back(plan);
    return plan;
  };
  const std::vector<Tensor> wanted = ValuesOf(kernel, target, options);
  EXPECT_EQ(found.size(), 1u) << "not one contraction";
  if (found.size() != 1) return 0;
  std::set<std::string> tried = {Text(found[0])};
  for (const ContractionPlan& other : OtherPlans(found[0], seed)) {
    options.replan = [&](const ContractionPlan&) { return other; };
    const absl::StatusOr<Scheduled> scheduled = ScheduleKernel(kernel, target, options);
    if (!scheduled.ok()) {
      EXPECT_TRUE(absl::StrContains(scheduled.status().message(), "wanted"));
      continue;
    }
    if (!tried.insert(Text(other)).second) continue;
    const std::vector<Tensor> values = ValuesOf(kernel, target, options);
    EXPECT_EQ(values.size(), wanted.size());
    for (size_t i = 0; i < std::min(values.size(), wanted.size()); ++i) {
      EXPECT_EQ(values[i].bytes(), wanted[i].bytes()) << Text(other);
    }
  }
  return tried.size();
}

// Kernel number `seed` of 300: a product whose extents leave tails of every kind, with constant or
// computed columns, and with or without an epilogue.
Kernel KernelOf(int seed) {
  constexpr Columns kSources[] = {Columns::kConstant, Columns::kConstantTransposed, Columns::kInput,
                                  Columns::kInputTransposed};
  const int64_t rows = 2 + seed % 7, columns = 4 + seed * 5 % 37, reduce = 2 + seed * 7 % 23;
  return Product(rows, reduce, columns, kSources[seed % 4], kF32, seed % 3 == 0 ? Relu : nullptr);
}

TEST(Plans, AllGiveTheSameBits) {
  const std::vector<Target> targets = AllTargets();
  for (int seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "kernel " << seed);
    const Target& target = targets[static_cast<size_t>(seed) % targets.size()];
    EXPECT_GE(ExpectSameBits(KernelOf(seed), target, seed), kMinPlans);
  }
}

TEST(Plans, ThatDoNotFitAreRefused) {
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

TEST(Plans, Print) {
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
