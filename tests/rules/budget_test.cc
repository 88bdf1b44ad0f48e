// SPDX-License-Identifier: Apache-2.0
//
// A model that keeps its budget is built like any other model.
#include "gtest/gtest.h"
#include "within_budget.h"

namespace {

TEST(Budget, KeptBudgetsChangeNothing) {
  float image[64] = {}, probabilities[10] = {};
  ASSERT_EQ(tvmgen_within_budget_run_model(image, probabilities), 0);
  EXPECT_GT(probabilities[0] + probabilities[1] + probabilities[8], 0);
  EXPECT_LE(TVMGEN_WITHIN_BUDGET_WORKSPACE_SIZE_BYTES, 32 * 1024);
}

}  // namespace
