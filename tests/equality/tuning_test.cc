// SPDX-License-Identifier: Apache-2.0
// Measured choices: with any choice, interpreter, C and LLVM agree bit for bit. The values are the
// same as without choices, except for the order of sums.
#include "compiler/schedule/tuning.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "compiler/graph/relay_text.h"
#include "compiler/ops/op_def.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "tests/equality/engines.h"

namespace kiln::equality {
namespace {

constexpr size_t kChoices = 8;
constexpr double kTolerance = 1e-4;

// Two successive convolutions that Winograd's algorithm can compute, the second with a residual; a
// product with constants, and a product of two inputs in a batch.
constexpr char kModel[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 16, 9, 11), float32], %w: Tensor[(24, 16, 3, 3), float32], %v: Tensor[(24, 24, 3, 3), float32], %d: Tensor[(37, 24), float32], %a: Tensor[(2, 7, 5), float32], %b: Tensor[(2, 19, 5), float32]) {
  %0 = nn.conv2d(%x, %w, padding=[1, 1, 1, 1], channels=24, kernel_size=[3, 3]);
  %1 = nn.relu(%0);
  %2 = nn.conv2d(%1, %v, padding=[1, 1, 1, 1], channels=24, kernel_size=[3, 3]);
  %3 = add(%2, %1);
  %4 = nn.global_avg_pool2d(%3);
  %5 = nn.batch_flatten(%4);
  %6 = nn.dense(%5, %d, units=37);
  %7 = nn.batch_matmul(%a, %b, transpose_b=True);
  (%6, %7)
}
)";

// The model with its weights as constants.
Graph Model() {
  absl::StatusOr<Graph> parsed = ParseRelay(kModel, "model.relay", FindOpSchema);
  EXPECT_TRUE(parsed.ok()) << parsed.status();
  Graph graph = *std::move(parsed);
  for (ValueId id : graph.inputs) {
    Value& value = graph.value(id);
    if (value.name != "w" && value.name != "v" && value.name != "d") continue;
    value.kind = ValueKind::kConstant;
    value.constant = RandomValues(*value.type, static_cast<uint32_t>(id), -1, 1);
  }
  std::erase_if(graph.inputs, [&](ValueId id) { return graph.is_constant(id); });
  return graph;
}

Lowered LoweredOf(const Graph& graph, const CompileOptions& options) {
  const absl::StatusOr<Compilation> compilation = RunStages(graph, options);
  EXPECT_TRUE(compilation.ok()) << compilation.status();
  return compilation.ok() ? compilation->lowered : Lowered();
}

TEST(TunedModels, AreTheSameOnEveryEngine) {
  Case test{.name = "tuned", .graph = Model(), .inputs = {}};
  for (ValueId id : test.graph.inputs) {
    test.inputs.push_back(RandomValues(test.graph.type(id), static_cast<uint32_t>(id), -1, 1));
  }
  CompileOptions options;
  options.target = Target::Host();
  const std::vector<Outputs> model = RunOnAllEngines({test}, {.target = options.target});
  options.schedule.max_candidates = kChoices;
  const Lowered lowered = LoweredOf(test.graph, options);
  for (size_t k = 0; k < kChoices; ++k) {
    auto tuning = std::make_shared<Tuning>();
    size_t tuned = 0;
    for (const auto& [function, contraction] : lowered.contractions) {
      if (contraction.candidates.empty()) continue;
      const auto& candidates = contraction.candidates;
      tuning->FindOrAdd(options.target).contractions[contraction.problem].choice =
          candidates[std::min(k, candidates.size() - 1)];
      ++tuned;
    }
    EXPECT_GE(tuned, 4u);
    options.schedule.tuning = tuning;
    const std::vector<Call> with = LoweredOf(test.graph, options).calls;
    EXPECT_EQ(static_cast<size_t>(std::count_if(
                  with.begin(), with.end(),
                  [](const Call& c) { return absl::EndsWith(c.schedule, " tuned"); })),
              tuned);
    const std::vector<Outputs> outputs =
        RunOnAllEngines({test}, {.target = options.target, .tuning = tuning});
    EXPECT_EQ(Difference(outputs[0], model[0], kTolerance), "") << "choice " << k;
  }
}

}  // namespace
}  // namespace kiln::equality
