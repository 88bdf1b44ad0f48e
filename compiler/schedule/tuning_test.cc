// SPDX-License-Identifier: Apache-2.0
// Choices of a tuning: all accepted choices give the right results, and others a clear error.
#include "compiler/schedule/tuning.h"

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/schedule/testing/run_kernel.h"
#include "gtest/gtest.h"

namespace kiln::schedule {
namespace {

constexpr double kTolerance = 1e-3;

ContractionChoice Direct(int64_t outer_rows, int64_t rows, int64_t vectors,
                         bool columns_outside = false) {
  return {.outer_rows = outer_rows,
          .rows = rows,
          .vectors = vectors,
          .columns_outside = columns_outside};
}

ContractionChoice Winograd(int64_t outputs, int64_t block_rows, int64_t rows, int64_t vectors) {
  return {.algorithm = ContractionChoice::Algorithm::kWinograd,
          .rows = rows,
          .vectors = vectors,
          .outputs = outputs,
          .block_rows = block_rows};
}

// out[m, n] = relu(sum over k of x[m, k] * y[n, k])
Kernel Product(int64_t m, int64_t k, int64_t n, bool constant, DType dtype = kF32) {
  const Buffer x = Param("x", dtype, {m, k}), out = Param("out", dtype, {m, n});
  const Buffer sum = Workspace("sum", dtype, {m, n});
  const loop::Constant weights = MakeConstant("w", dtype, {n, k});
  const Buffer y = constant ? weights.buffer : Param("y", dtype, {n, k});
  Kernel kernel{.name = "f", .inputs = {x}, .outputs = {out}, .constants = {}, .stages = {}};
  if (constant) {
    kernel.constants = {weights};
  } else {
    kernel.inputs.push_back(y);
  }
  kernel.stages = {Reduce(sum, {k}, Combine::kSum,
                          [&](const Index& i, const Index& r) {
                            return MakeLoad(x, {i[0], r[0]}) * MakeLoad(y, {i[1], r[0]});
                          }),
                   Pointwise(out, [&](const Index& i) {
                     return loop::Max(MakeLoad(sum, i), loop::Const(dtype, 0));
                   })};
  return kernel;
}

// out = relu(conv(x)), 3 × 3 in channels-last layout.
Kernel Convolution(int64_t height, int64_t width, int64_t in, int64_t columns,
                   const std::string& name = "x") {
  const Buffer x = Param(name, kF32, {1, height + 2, width + 2, in});
  const Shape shape = {1, height, width, columns}, weight_shape = {columns, in, 3, 3};
  std::vector<float> values;
  for (int64_t i = 0; i < columns * in * 9; ++i) {
    values.push_back(static_cast<float>(i * 7 % 11) / 8 - 0.5f);
  }
  const loop::Constant weights = {
      loop::MakeBuffer("w", kF32, weight_shape, loop::BufferScope::kConstant),
      Tensor::From<float>(weight_shape, kF32, values)};
  const Buffer sum = Workspace("sum", kF32, shape), out = Param("out", kF32, shape);
  return {.name = "f",
          .inputs = {x},
          .outputs = {out},
          .constants = {weights},
          .stages = {Reduce(sum, {3, 3, in}, Combine::kSum,
                            [&](const Index& i, const Index& r) {
                              return MakeLoad(x, {i[0], i[1] + r[0], i[2] + r[1], r[2]}) *
                                     MakeLoad(weights.buffer, {i[3], r[2], r[0], r[1]});
                            }),
                     Pointwise(out, [&](const Index& i) {
                       return loop::Max(MakeLoad(sum, i), loop::Const(kF32, 0));
                     })}};
}

ScheduledContraction ContractionOf(const Kernel& kernel, const Target& target,
                                   const ScheduleOptions& options = {}) {
  const Scheduled scheduled = Schedule(kernel, target, options);
  EXPECT_TRUE(scheduled.contraction.has_value());
  return scheduled.contraction.value_or(ScheduledContraction());
}

// Returns a tuning with `choice` for the kernel's contraction.
ScheduleOptions Forced(const Kernel& kernel, const Target& target,
                       const ContractionChoice& choice) {
  auto tuning = std::make_shared<Tuning>();
  tuning->file = "model.tuning";
  tuning->FindOrAdd(target).contractions[ContractionOf(kernel, target).problem].choice = choice;
  return {.tuning = tuning};
}

void ExpectRight(const Kernel& kernel, const Target& target, const ContractionChoice& choice) {
  const ScheduleOptions options = Forced(kernel, target, choice);
  const Scheduled scheduled = Schedule(kernel, target, options);
  SCOPED_TRACE(scheduled.description);
  EXPECT_TRUE(absl::EndsWith(scheduled.description, " tuned"));
  EXPECT_EQ(scheduled.contraction->choice, choice);
  EXPECT_TRUE(scheduled.contraction->tuned);
  ExpectLikeNaive(kernel, target, kTolerance, options);
}

std::string ErrorOf(const Kernel& kernel, const Target& target, const ContractionChoice& choice) {
  return std::string(
      ScheduleKernel(kernel, target, Forced(kernel, target, choice)).status().message());
}

TEST(Tuning, EveryCandidateIsRight) {
  for (const Target& target : AllTargets()) {
    for (const Kernel& kernel : {Product(21, 5, 83, true), Product(7, 3, 40, false),
                                 Product(5, 9, 19, true, DType::Int(32)), Product(1, 9, 150, true),
                                 Convolution(7, 9, 17, 21)}) {
      const auto contraction = ContractionOf(kernel, target, {.max_candidates = 14});
      for (const ContractionChoice& choice : contraction.candidates) {
        EXPECT_FALSE(choice == contraction.choice);
        ExpectRight(kernel, target, choice);
      }
    }
  }
}

// Choices that no model would make.
TEST(Tuning, EveryLegalChoiceIsRight) {
  for (const Target& target : {VectorTarget(0), VectorTarget(256), VectorTarget(512, 3)}) {
    for (bool columns_outside : {false, true}) {
      for (bool constant : {false, true}) {
        const Kernel product = Product(11, 4, 37, constant);
        ExpectRight(product, target, Direct(1, 1, 1, columns_outside));
        ExpectRight(product, target, Direct(1, 4, 3, columns_outside));
        ExpectRight(product, target, Direct(1, 11, 1, columns_outside));
      }
      const Kernel convolution = Convolution(7, 9, 16, 21);
      // Some of the inner rows of several outer rows.
      ExpectRight(convolution, target, Direct(3, 4, 1, columns_outside));
      ExpectRight(convolution, target, Direct(7, 2, 1, columns_outside));
    }
  }
  for (const Target& target : {VectorTarget(128), VectorTarget(256, 3)}) {
    const Kernel convolution = Convolution(7, 9, 16, 21);
    ExpectRight(convolution, target, Winograd(2, 3, 7, 2));
    ExpectRight(convolution, target, Winograd(2, 4, 1, 3));
    ExpectRight(convolution, target, Winograd(4, 1, 3, 1));
    ExpectRight(convolution, target, Winograd(4, 2, 5, 2));
  }
}

TEST(Tuning, CandidatesAreDiverse) {
  const Target target = VectorTarget(512);
  const auto contraction =
      ContractionOf(Convolution(30, 30, 32, 64), target, {.max_candidates = 16});
  EXPECT_EQ(contraction.candidates.size(), 16u);
  bool direct = false, outside = false, small = false, large = false;
  for (const ContractionChoice& choice : contraction.candidates) {
    const bool winograd = choice.algorithm == ContractionChoice::Algorithm::kWinograd;
    direct |= !winograd && !choice.columns_outside;
    outside |= !winograd && choice.columns_outside;
    small |= winograd && choice.outputs == 2;
    large |= winograd && choice.outputs == 4;
  }
  EXPECT_TRUE(direct && outside && small && large);
  const ScheduleOptions no_winograd = {.max_candidates = 16, .winograd = false};
  for (const ContractionChoice& choice :
       ContractionOf(Convolution(30, 30, 32, 64), target, no_winograd).candidates) {
    EXPECT_EQ(choice.algorithm, ContractionChoice::Algorithm::kDirect);
  }
}

TEST(Tuning, ProblemsSayWhatTheChoiceDependsOn) {
  const Target target = VectorTarget(256);
  EXPECT_EQ(ContractionOf(Product(7, 5, 24, true), target).problem,
            "float32 rows 7@5 columns 24@5 reduce 5@1,1 constant epilogue 2");
  EXPECT_EQ(ContractionOf(Product(7, 5, 24, false, DType::Int(32)), target).problem,
            "int32 rows 7@5 columns 24@5 reduce 5@1,1 epilogue 2");
  EXPECT_EQ(ContractionOf(Convolution(7, 9, 16, 24), target).problem,
            "float32 rows 7@176 9@16 columns 24@144 reduce 3@176,3 3@16,1 16@1,9 constant "
            "epilogue 2 3x3");
  EXPECT_EQ(ContractionOf(Convolution(7, 9, 16, 24), target).problem,
            ContractionOf(Convolution(7, 9, 16, 24, "other"), target).problem);
  // Without vectors, Winograd's filtering is not a choice.
  EXPECT_FALSE(
      absl::EndsWith(ContractionOf(Convolution(7, 9, 16, 24), VectorTarget(0)).problem, "3x3"));
}

TEST(Tuning, LeavesTheRestToTheModel) {
  const Target target = VectorTarget(256);
  const Kernel kernel = Product(21, 5, 83, true);
  const Scheduled model = Schedule(kernel, target);
  const ContractionChoice choice = Direct(1, 2, 1);
  // A choice for another contraction.
  const ScheduleOptions other = Forced(Product(22, 5, 83, true), target, choice);
  EXPECT_EQ(Text(Schedule(kernel, target, other)), Text(model));
  // A choice for another target.
  const ScheduleOptions elsewhere = Forced(kernel, VectorTarget(256, 8), choice);
  EXPECT_EQ(Text(Schedule(kernel, target, elsewhere)), Text(model));
  // An entry that leaves it to the model.
  auto tuning = std::make_shared<Tuning>();
  tuning->FindOrAdd(target).contractions[model.contraction->problem] = {};
  const Scheduled untuned = Schedule(kernel, target, {.tuning = tuning});
  EXPECT_EQ(Text(untuned), Text(model));
  EXPECT_EQ(untuned.description, model.description);
}

TEST(Tuning, DoesNotBringBackWhatIsSwitchedOff) {
  const Target target = VectorTarget(256);
  const Kernel kernel = Convolution(7, 9, 16, 21);
  ScheduleOptions options = Forced(kernel, target, Winograd(4, 1, 3, 1));
  options.winograd = false;
  EXPECT_TRUE(absl::StartsWith(Schedule(kernel, target, options).description, "contraction"));
  options = Forced(kernel, target, Direct(1, 3, 1));
  options.winograd = false;
  EXPECT_TRUE(absl::EndsWith(Schedule(kernel, target, options).description, " tuned"));
}

TEST(Tuning, RefusesWhatDoesNotFit) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  const Target target = VectorTarget(256);
  const Kernel product = Product(7, 5, 24, true), convolution = Convolution(7, 9, 16, 21);
  EXPECT_EQ(ErrorOf(product, target, Direct(1, 8, 1)),
            "model.tuning: target '': contraction 'float32 rows 7@5 columns 24@5 reduce 5@1,1 "
            "constant epilogue 2': rows: found 8, wanted 1 to 7, the innermost row axis");
  struct Case {
    const Kernel* kernel;
    ContractionChoice choice;
    const char* error;
  };
  const std::vector<Case> cases = {
      {&product, Direct(1, 0, 1), "rows: found 0, wanted 1 to 7"},
      {&product, Direct(1, -3, 1), "rows: found -3, wanted 1 to 7"},
      {&product, Direct(1, kHuge, kHuge), "wanted 1 to 7"},
      {&product, Direct(2, 1, 1), "outer_rows: found 2, wanted 1 to 1"},
      {&product, Direct(1, 1, 4), "vectors: found 4, wanted 1 to 3"},
      {&product, Direct(1, 7, 3), "found 1, 7 and 3, wanted a product of at most 16 accumulators"},
      {&product, Winograd(4, 1, 1, 1), "found winograd, wanted direct"},
      {&convolution, Direct(8, 1, 1), "outer_rows: found 8, wanted 1 to 7"},
      {&convolution, Winograd(3, 1, 1, 1), "outputs: found 3, wanted 2 or 4"},
      {&convolution, Winograd(4, 3, 1, 1), "block_rows: found 3, wanted 1 to 2"},
      {&convolution, Winograd(4, kHuge, 1, 1), "block_rows: found 4611686018427387904"},
      {&convolution, Winograd(4, 1, 4, 1), "rows: found 4, wanted 1 to 3, the tiles of a block"},
      {&convolution, Winograd(4, 1, 1, 9), "vectors: found 9, wanted 1 to 3"},
  };
  for (const Case& c : cases) {
    const std::string error = ErrorOf(*c.kernel, target, c.choice);
    EXPECT_TRUE(absl::StrContains(error, c.error)) << error << "\nwanted " << c.error;
  }
  EXPECT_TRUE(absl::StrContains(ErrorOf(Convolution(64, 64, 16, 16), target, Winograd(2, 32, 1, 1)),
                                "which makes blocks of 1024 tiles, wanted blocks of up to 256"));
}

}  // namespace
}  // namespace kiln::schedule
