// SPDX-License-Identifier: Apache-2.0
#include "compiler/plan/place.h"

#include <algorithm>
#include <numeric>
#include <random>

#include "gtest/gtest.h"

namespace kiln {
namespace {

bool AliveTogether(const Lifetime& a, const Lifetime& b) {
  return std::max(a.first, b.first) <= std::min(a.last, b.last);
}

void ExpectSound(const std::vector<Lifetime>& lifetimes, const Placement& placement) {
  ASSERT_EQ(placement.offsets.size(), lifetimes.size());
  int64_t end = 0;
  for (size_t i = 0; i < lifetimes.size(); ++i) {
    const int64_t begin_i = placement.offsets[i], end_i = begin_i + lifetimes[i].bytes;
    EXPECT_GE(begin_i, 0);
    end = std::max(end, end_i);
    for (size_t j = 0; j < i; ++j) {
      const int64_t begin_j = placement.offsets[j], end_j = begin_j + lifetimes[j].bytes;
      EXPECT_TRUE(!AliveTogether(lifetimes[i], lifetimes[j]) || end_i <= begin_j ||
                  end_j <= begin_i)
          << i << " and " << j << " overlap";
    }
  }
  EXPECT_EQ(placement.total_bytes, end);
  EXPECT_GE(placement.total_bytes, LowerBound(lifetimes));
}

TEST(Place, Nothing) {
  const Placement placement = Place({});
  EXPECT_EQ(placement.total_bytes, 0);
  EXPECT_EQ(placement.strategy, "");
  EXPECT_EQ(LowerBound({}), 0);
}

TEST(Place, LowerBoundIsTheMostAliveAtOnce) {
  EXPECT_EQ(LowerBound({{64, 0, 1}, {128, 1, 2}, {256, 2, 3}}), 384);
  EXPECT_EQ(LowerBound({{64, 0, 0}, {128, 1, 1}, {256, 2, 2}}), 256);
  EXPECT_EQ(LowerBound({{64, 0, 5}, {128, 5, 5}}), 192);
}

TEST(Place, SharesMemoryAfterTheLastUse) {
  const std::vector<Lifetime> chain = {{64, 0, 1}, {128, 1, 2}, {64, 2, 3}, {128, 3, 4}};
  const Placement placement = Place(chain);
  ExpectSound(chain, placement);
  EXPECT_EQ(placement.total_bytes, 192);
}

// Returns the bytes needed by one strategy: the largest buffer first, each at the lowest free
// offset.
int64_t LargestFirst(const std::vector<Lifetime>& lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  std::vector<int64_t> offsets(lifetimes.size(), -1);
  int64_t end = 0;
  for (size_t i : order) {
    int64_t& offset = offsets[i] = 0;
    for (size_t j = 0; j < lifetimes.size();) {
      const bool overlaps =
          j != i && offsets[j] >= 0 && AliveTogether(lifetimes[i], lifetimes[j]) &&
          offset < offsets[j] + lifetimes[j].bytes && offsets[j] < offset + lifetimes[i].bytes;
      if (overlaps) offset = offsets[j] + lifetimes[j].bytes;
      j = overlaps ? 0 : j + 1;
    }
    end = std::max(end, offset + lifetimes[i].bytes);
  }
  return end;
}

// Placing the largest first puts small buffers with long lifetimes above the large ones. Other
// strategies are better.
TEST(Place, TakesTheBestStrategy) {
  std::mt19937 random(3);
  int climbed = 0, better = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<Lifetime> lifetimes;
    const int n = 2 + static_cast<int>(random() % 20);
    for (int i = 0; i < n; ++i) {
      const int first = static_cast<int>(random() % 12);
      lifetimes.push_back({64 * (1 + static_cast<int64_t>(random() % 16)), first,
                           first + static_cast<int>(random() % 5)});
    }
    const Placement placement = Place(lifetimes);
    ExpectSound(lifetimes, placement);
    // The result is deterministic.
    const Placement again = Place(lifetimes);
    EXPECT_EQ(again.offsets, placement.offsets);
    EXPECT_EQ(again.strategy, placement.strategy);
    climbed += placement.strategy == "hill climbing" ? 1 : 0;
    const int64_t alone = LargestFirst(lifetimes);
    EXPECT_LE(placement.total_bytes, alone);
    better += placement.total_bytes < alone ? 1 : 0;
    EXPECT_TRUE(placement.strategy != "greedy by size" || placement.total_bytes == alone);
  }
  EXPECT_GT(climbed, 0);
  EXPECT_GT(better, 0);
}

// Strategies that compare pairs would take minutes.
TEST(Place, ManyBuffersArePlacedInOrder) {
  std::mt19937 random(5);
  std::vector<Lifetime> lifetimes;
  for (int i = 0; i < 3000; ++i) {
    const int first = static_cast<int>(random() % 1000);
    lifetimes.push_back({64 * (1 + static_cast<int64_t>(random() % 16)), first,
                         first + static_cast<int>(random() % 1000)});
  }
  const Placement placement = Place(lifetimes);
  EXPECT_EQ(placement.strategy, "in order of lifetimes");
  ExpectSound(lifetimes, placement);
  EXPECT_LE(placement.total_bytes, LowerBound(lifetimes) * 5 / 4);
}

// Buffers that are alive at the same time are contiguous, without gaps.
TEST(Place, ManyBuffersAtOnceNeedNoMoreThanTheirBytes) {
  std::vector<Lifetime> lifetimes;
  for (int i = 0; i < 3000; ++i) lifetimes.push_back({64 * (1 + i % 7), i, 3000 + i});
  const Placement placement = Place(lifetimes);
  ExpectSound(lifetimes, placement);
  EXPECT_EQ(placement.total_bytes, LowerBound(lifetimes));
}

TEST(Place, ManyBuffersStayWithinTheLimitsOfPools) {
  std::vector<Lifetime> lifetimes;
  for (int i = 0; i < 2000; ++i) lifetimes.push_back({64, 0, 1, i});
  const Placement placement =
      Place(lifetimes, {{.limit_bytes = 64 * 500}, {.limit_bytes = 64 * 900, .speed = 2}});
  EXPECT_EQ(placement.pool_bytes, (std::vector<int64_t>{64 * 500, 64 * 900}));
  EXPECT_EQ(placement.unplaced.size(), 600u);
}

TEST(Place, HotBuffersGoIntoTheFastestPool) {
  const std::vector<Lifetime> lifetimes = {
      {64, 0, 2, 64}, {64, 0, 2, 640}, {128, 0, 2, 256}, {64, 3, 4, 128}};
  const Placement placement = Place(lifetimes, {{}, {.limit_bytes = 64, .speed = 4}});
  EXPECT_TRUE(placement.unplaced.empty());
  EXPECT_EQ(placement.pools, (std::vector<int>{0, 1, 0, 1}));
  EXPECT_EQ(placement.offsets[3], 0);  // the hot buffer is dead by then
  EXPECT_EQ(placement.pool_bytes, (std::vector<int64_t>{192, 64}));
  EXPECT_EQ(placement.total_bytes, 256);
  EXPECT_DOUBLE_EQ(placement.cost, 64 + 256 + (640 + 128) / 4.0);
}

TEST(Place, OfEquallyFastPoolsTheFirstIsFilled) {
  const std::vector<Lifetime> lifetimes = {{64, 0, 1, 64}, {64, 0, 1, 64}, {64, 0, 1, 64}};
  const Placement placement = Place(lifetimes, {{.limit_bytes = 128}, {}});
  EXPECT_EQ(placement.pool_bytes, (std::vector<int64_t>{128, 64}));
}

TEST(Place, SaysWhatHasNoRoom) {
  const std::vector<Lifetime> lifetimes = {{64, 0, 1}, {256, 0, 1}, {64, 2, 3}};
  const Placement placement = Place(lifetimes, {{.limit_bytes = 64}, {.limit_bytes = 128}});
  EXPECT_EQ(placement.unplaced, (std::vector<int>{1}));
  EXPECT_EQ(placement.pools[1], -1);
}

// Many buffers of many sizes: the smallest placement is smaller than the usual one, sound and
// deterministic.
TEST(Place, SearchesForTheSmallest) {
  std::mt19937 random(3);
  std::vector<Lifetime> lifetimes;
  for (int i = 0; i < 60; ++i) {
    const int first = static_cast<int>(random() % 40);
    lifetimes.push_back({.bytes = 16 * static_cast<int64_t>(1 + random() % 97),
                         .first = first,
                         .last = first + static_cast<int>(random() % 12)});
  }
  const Placement usual = Place(lifetimes),
                  smallest = Place(lifetimes, {{}}, {}, Effort::kSmallest);
  ExpectSound(lifetimes, smallest);
  EXPECT_LT(smallest.total_bytes, usual.total_bytes);
  EXPECT_EQ(Place(lifetimes, {{}}, {}, Effort::kSmallest).offsets, smallest.offsets);
}

}  // namespace
}  // namespace kiln
