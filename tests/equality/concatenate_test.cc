// SPDX-License-Identifier: Apache-2.0
// Concatenations whose inputs are computed in place: all engines agree, and plain loops with copies
// give the same result.
#include <gtest/gtest.h>

#include <string>

#include "compiler/graph/relay_text.h"
#include "compiler/ops/op_def.h"
#include "tests/equality/engines.h"

namespace kiln::equality {
namespace {

constexpr double kTolerance = 1e-4;

struct Model {
  const char* name;
  const char* text;
};

// Weights are inputs, so that they have random values.
constexpr Model kModels[] = {
    {"two convolutions",
     R"(
def @main(%x: Tensor[(1, 6, 6, 16), float32], %w: Tensor[(3, 3, 16, 16), float32], %v: Tensor[(1, 1, 16, 33), float32]) {
  %0 = nn.relu(nn.conv2d(%x, %w, padding=[1, 1, 1, 1], data_layout="NHWC", kernel_layout="HWIO"));
  %1 = nn.conv2d(%x, %v, data_layout="NHWC", kernel_layout="HWIO");
  %2 = concatenate((%0, %1), axis=3);
  nn.relu(nn.max_pool2d(%2, pool_size=[2, 2], strides=[2, 2], layout="NHWC"))
})"},
    {"chain of dense connections",
     R"(
def @main(%x: Tensor[(1, 5, 5, 16), float32], %w: Tensor[(1, 1, 16, 16), float32], %v: Tensor[(3, 3, 32, 16), float32], %u: Tensor[(1, 1, 48, 17), float32]) {
  %0 = nn.conv2d(%x, %w, data_layout="NHWC", kernel_layout="HWIO");
  %1 = concatenate((%x, %0), axis=3);
  %2 = nn.conv2d(%1, %v, padding=[1, 1, 1, 1], data_layout="NHWC", kernel_layout="HWIO");
  %3 = concatenate((%1, nn.relu(%2)), axis=3);
  %4 = nn.conv2d(%3, %u, data_layout="NHWC", kernel_layout="HWIO");
  %5 = concatenate((%3, %4), axis=3);
  (nn.avg_pool2d(%5, pool_size=[5, 5], layout="NHWC"), nn.softmax(%5))
})"},
    {"concatenations that grow",
     R"(
def @main(%x: Tensor[(1, 4, 4, 16), float32], %w: Tensor[(3, 3, 32, 16), float32]) {
  %0 = exp(%x);
  %1 = tanh(%x);
  %2 = concatenate((%0, %1), axis=3);
  %3 = nn.conv2d(%2, %w, padding=[1, 1, 1, 1], data_layout="NHWC", kernel_layout="HWIO");
  concatenate((%0, %1, %3), axis=3)
})"},
    {"a value twice, an input, a part with other readers",
     R"(
def @main(%x: Tensor[(3, 16), float32]) {
  %0 = exp(%x);
  %1 = nn.relu(tanh(%0));
  %2 = concatenate((%0, %x, %1, %0), axis=1);
  (multiply(%0, %1), sum(%2, axis=[1]))
})"},
    {"a constant, and a part that is an output",
     R"(
def @main(%x: Tensor[(2, 16), float32]) {
  %0 = exp(%x);
  %1 = multiply(ones(shape=[2, 16]), 0.5f);
  (concatenate((%0, %1, negative(%0)), axis=1), %0)
})"},
    {"along different axes",
     R"(
def @main(%x: Tensor[(2, 3, 16), float32]) {
  %0 = concatenate((exp(%x), tanh(%x)), axis=2);
  %1 = concatenate((negative(%x), sigmoid(%x)), axis=2);
  %2 = concatenate((%0, %1), axis=1);
  concatenate((%2, nn.relu(%2), nn.softmax(%2)), axis=0)
})"},
    {"candidates for in place behind parts",
     R"(
def @main(%x: Tensor[(4, 16), float32]) {
  %0 = exp(%x);
  %1 = nn.softmax(%0);
  %2 = negative(%1);
  %3 = concatenate((%1, %2), axis=1);
  %4 = sqrt(nn.softmax(%3));
  (%4, nn.softmax(negative(%0)))
})"},
    {"several parts of one whole",
     R"(
def @main(%x: Tensor[(4, 16), float32]) {
  %0 = nn.softmax(%x);
  %1 = nn.softmax(negative(%x));
  %2 = maximum(%0, %1);
  %3 = concatenate((%0, nn.softmax(%2), %1), axis=1);
  %4 = concatenate((%3, max(%3, axis=[0], keepdims=True)), axis=0);
  nn.softmax(%4)
})"},
    {"views",
     R"(
def @main(%x: Tensor[(1, 3, 4, 4), float32]) {
  %0 = nn.softmax(%x);
  %1 = nn.max_pool2d(%x, pool_size=[2, 2], strides=[2, 2]);
  %2 = reshape(%0, newshape=[1, -1, 2]);
  %3 = reshape(%1, newshape=[1, -1, 2]);
  %4 = concatenate((%2, %3), axis=1);
  (reshape(nn.softmax(%4), newshape=[-1]), exp(%3))
})"},
    {"the parts of a split",
     R"(
def @main(%x: Tensor[(2, 32), float32]) {
  %0 = split(nn.softmax(%x), indices_or_sections=2, axis=1);
  concatenate((exp(%0.1), %0.0), axis=1)
})"},
    {"products",
     R"(
def @main(%x: Tensor[(5, 16), float32], %w: Tensor[(40, 16), float32], %y: Tensor[(5, 16), float32]) {
  %0 = nn.dense(%x, %w);
  %1 = nn.dense(%y, %w);
  %2 = concatenate((%0, %1), axis=1);
  %3 = concatenate((%0, nn.dense(%0, %1), exp(%1)), axis=1);
  (nn.dense(%2, %2), %3)
})"},
    {"a function that returns a value twice, its parameter, and a constant",
     R"(
def @main(%x: Tensor[(4, 16), float32]) {
  %0 = fn (%p: Tensor[(4, 16), float32], Primitive=1) { %2 = negative(%p); (%2, %2, %p, 1f) };
  %1 = %0(abs(%x));
  (concatenate((%1.0, %1.1, %1.2, %1.0), axis=0), add(%1.1, %1.3))
})"},
    {"float16",
     R"(
def @main(%x: Tensor[(3, 32), float16]) {
  %0 = concatenate((negative(%x), nn.relu(%x)), axis=1);
  concatenate((%0, abs(%0)), axis=0)
})"},
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const Model& model : kModels) {
    const absl::StatusOr<Graph> graph =
        ParseRelay(std::string("#[version = \"0.0.5\"]\n") + model.text, model.name, FindOpSchema);
    if (!graph.ok()) {
      ADD_FAILURE() << model.name << ": " << graph.status();
      continue;
    }
    Case test{.name = model.name, .graph = *graph, .inputs = {}};
    for (ValueId input : graph->inputs) {
      test.inputs.push_back(RandomValues(graph->type(input), static_cast<uint32_t>(input), -1, 1));
    }
    cases.push_back(std::move(test));
  }
  return cases;
}

void ExpectLikePlain(const EngineOptions& options) {
  const std::vector<Case> cases = Cases();
  const std::vector<Outputs> placed = RunOnAllEngines(cases, options);
  EngineOptions copied = options;
  copied.place_concatenations = false;
  const std::vector<Outputs> copies = RunOnAllEngines(cases, copied);
  const std::vector<Outputs> plain =
      RunOnAllEngines(cases, {.target = options.target, .naive = true, .passes = false});
  ASSERT_EQ(placed.size(), std::size(kModels));
  for (size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(Difference(placed[i], copies[i], kTolerance), "") << cases[i].name << ": copied";
    EXPECT_EQ(Difference(placed[i], plain[i], kTolerance), "") << cases[i].name << ": plain";
  }
}

TEST(Concatenate, IsTheSameInPlace) { ExpectLikePlain({.target = Target::Host()}); }

TEST(Concatenate, IsTheSameWithoutFusion) {
  ExpectLikePlain({.target = Target::Host(), .fuse = false});
}

// On bare metal, parts of any size are computed in place.
TEST(Concatenate, IsTheSameOnBareMetal) {
  Target target = Target::Host();
  target.has_os = false;
  ExpectLikePlain({.target = target});
}

}  // namespace
}  // namespace kiln::equality
