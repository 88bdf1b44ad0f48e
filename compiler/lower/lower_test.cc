// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/lower.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/loop/passes.h"
#include "compiler/lower/testing/lower_model.h"
#include "compiler/passes/testing/run_pass.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

std::vector<std::string> Functions(const Lowered& lowered) {
  std::vector<std::string> names;
  for (const Call& call : lowered.calls) names.push_back(call.function);
  return names;
}

using Names = std::vector<std::string>;

TEST(Lower, OneFunctionForEachGroup) {
  const Lowered lowered = LowerModel(R"(
def @main(%x: Tensor[(2, 4), float32]) {
  %0 = fn (%p: Tensor[(2, 4), float32], Primitive=1) { nn.relu(exp(%p)) };
  %1 = %0(%x);
  nn.softmax(%1)
})");
  EXPECT_EQ(Functions(lowered),
            (Names{"tvmgen_mod_fused_exp_nn_relu", "tvmgen_mod_fused_nn_softmax"}));
  EXPECT_EQ(lowered.calls[0].op_names, "exp nn.relu");
  EXPECT_EQ(lowered.calls[0].schedule, "pointwise");
  EXPECT_EQ(lowered.calls[1].schedule, "reduction");
  EXPECT_EQ(lowered.program.funcs.size(), 2u);
  EXPECT_EQ(lowered.program.funcs[0].kind, loop::Func::Kind::kOperator);
}

// The steps of a recurrent network: equal operators with the same weights become functions with the
// same body and the same constants. Other weights of the same shape are not shared.
TEST(Lower, SchedulesEqualOperatorsOnce) {
  Graph graph = ParseModel(R"(
def @main(%x: Tensor[(2, 16), float32], %w: Tensor[(16, 16), float32],
          %v: Tensor[(16, 16), float32]) {
  %0 = nn.dense(%x, %w);
  %1 = nn.dense(%0, %w);
  nn.dense(%1, %v)
})");
  const std::vector<ValueId> weights = {graph.inputs[1], graph.inputs[2]};
  for (size_t i = 0; i < weights.size(); ++i) {
    Value& value = graph.value(weights[i]);
    value.kind = ValueKind::kConstant;
    value.constant = Tensor::Filled(*value.type, static_cast<double>(i));
  }
  graph.inputs.resize(1);
  const Lowered lowered = LowerGraph(graph);
  ASSERT_EQ(lowered.program.funcs.size(), 3u);
  const auto body = [&](size_t i) { return lowered.program.funcs[i].body.get(); };
  EXPECT_EQ(body(0), body(1));
  EXPECT_NE(body(0), body(2));
  EXPECT_NE(lowered.calls[0].function, lowered.calls[1].function);
  EXPECT_EQ(lowered.program.constants.size(), 2u);
}

// The operator makes a new table for each node.
TEST(Lower, EqualOperatorsWithTablesAreScheduledOnce) {
  const Lowered lowered = LowerModel(R"(
def @main(%x: Tensor[(2, 16), int16]) {
  %0 = qnn.sigmoid(%x, 2.44140625e-4f, 0, 3.0517578125e-5f, 0, rounding="TFLITE");
  qnn.sigmoid(%0, 2.44140625e-4f, 0, 3.0517578125e-5f, 0, rounding="TFLITE")
})");
  ASSERT_EQ(lowered.program.funcs.size(), 2u);
  EXPECT_EQ(lowered.program.constants.size(), 1u);
  EXPECT_EQ(lowered.program.funcs[0].body.get(), lowered.program.funcs[1].body.get());
}

// Forms of one graph that are lowered with the same known kernels share the loops of their
// functions. Each program has constants of its own.
TEST(Lower, FormsOfAGraphShareKnownKernels) {
  const Graph graph = ParseModel(R"(
def @main(%x: Tensor[(2, 16), float32], %constant: Tensor[(16, 16), float32]) {
  nn.dense(nn.softmax(%x), %constant)
})");
  const Target target;
  KnownKernels known;
  const Lowered first = Lower(graph, target, {.module_name = "a"}, known).value(),
                second = Lower(graph, target, {.module_name = "b"}, known).value(),
                apart = Lower(graph, target, {.module_name = "b"}).value();
  const auto softmax = [](const Lowered& lowered) { return lowered.program.funcs[0].body.get(); };
  EXPECT_EQ(softmax(first), softmax(second));
  EXPECT_NE(softmax(first), softmax(apart));
  EXPECT_EQ(loop::ToString(second.program), loop::ToString(apart.program));
  ASSERT_EQ(second.program.constants.size(), 1u);
  EXPECT_NE(first.program.constants[0].buffer, second.program.constants[0].buffer);
}

TEST(Lower, FusesMultiplyAddsOfElementaryFunctions) {
  const Graph graph = ParseModel(R"(
def @main(%x: Tensor[(2, 4), float32], %y: Tensor[(2, 4), float32]) {
  %0 = sigmoid(%x);
  %1 = nn.softmax(%0);
  %2 = multiply(%1, %y);
  add(%2, %x)
})");
  for (const auto& [name, fused] : {std::pair{"x86-64-v3", true}, {"x86-64-v2", false}}) {
    const absl::StatusOr<std::string> stages =
        PrintStages(graph, *Target::Parse(name), {.module_name = "mod"});
    ASSERT_TRUE(stages.ok()) << stages.status();
    const std::vector<std::string> kernels = absl::StrSplit(*stages, "kernel ");
    ASSERT_EQ(kernels.size(), 5u) << *stages;
    for (size_t i : {1, 2}) {
      EXPECT_EQ(absl::StrContains(kernels[i], "fma("), fused) << name << "\n" << kernels[i];
    }
    // Two operators of the model are rounded separately.
    for (size_t i : {3, 4}) EXPECT_FALSE(absl::StrContains(kernels[i], "fma(")) << kernels[i];
  }
}

TEST(Lower, NamesAreUnique) {
  EXPECT_EQ(Functions(LowerModel(R"(
def @main(%x: Tensor[(2,), float32], %y: Tensor[(3,), float32]) {
  (exp(%x), exp(%y), exp(exp(%y)))
})")),
            (Names{"tvmgen_mod_fused_exp", "tvmgen_mod_fused_exp_1", "tvmgen_mod_fused_exp_2",
                   "tvmgen_mod_fused_exp_3"}));
}

TEST(Lower, LongNamesAreCutButStayApart) {
  std::string body = "%x", other = "sqrt(%x)";
  for (int i = 0; i < 30; ++i) {
    body = absl::StrCat("exp(", body, ")");
    other = absl::StrCat("exp(", other, ")");
  }
  const std::string main = "def @main(%x: Tensor[(2,), float32]) {\n";
  const auto model = [&](const std::string& text) {
    return main + "%0 = fn (%p: Tensor[(2,), float32], Primitive=1) {\n" +
           absl::StrCat(text.substr(0, text.find("%x")), "%p", text.substr(text.find("%x") + 2)) +
           "};\n%0(%x)\n}";
  };
  const std::string a = Functions(LowerModel(model(body)))[0];
  const std::string b = Functions(LowerModel(model(other)))[0];
  EXPECT_LT(a.size(), 120u);
  EXPECT_NE(a, b);
  EXPECT_EQ(a, Functions(LowerModel(model(body)))[0]);
}

TEST(Lower, ReshapesOfComputedValuesAreViews) {
  const Lowered lowered = LowerModel(R"(
def @main(%x: Tensor[(2, 3), float32]) {
  exp(reshape(%x, newshape=[6]))
})");
  EXPECT_EQ(Functions(lowered), (Names{"", "tvmgen_mod_fused_exp"}));
  EXPECT_EQ(lowered.calls[0].op_names, "reshape");
  EXPECT_EQ(lowered.calls[0].inputs.size(), 1u);
  EXPECT_EQ(lowered.calls[1].inputs, lowered.calls[0].outputs);
  // A constant has no memory for a view.
  EXPECT_EQ(Functions(LowerModel(R"(
def @main(%constant: Tensor[(2, 3), float32]) {
  reshape(%constant, newshape=[6])
})")),
            (Names{"tvmgen_mod_fused_reshape"}));
}

TEST(Lower, ConstantsAreInsideOfTheirFunctions) {
  const Lowered lowered = LowerModel(R"(
def @main(%x: Tensor[(4,), float32], %constant_a: Tensor[(4,), float32], %constant_b: Tensor[(4,), float32]) {
  %0 = fn (%p: Tensor[(4,), float32], %q: Tensor[(4,), float32], Primitive=1) { multiply(%p, %q) };
  %1 = %0(%x, %constant_a);
  add(%1, %constant_b)
})");
  ASSERT_EQ(lowered.calls.size(), 2u);
  for (const Call& call : lowered.calls) EXPECT_EQ(call.inputs.size(), 1u);
  for (const loop::Func& func : lowered.program.funcs) EXPECT_EQ(func.params.size(), 2u);
  ASSERT_EQ(lowered.program.constants.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    const loop::Constant& constant = lowered.program.constants[i];
    EXPECT_TRUE(absl::StartsWith(constant.buffer->name, lowered.calls[i].function + "_"));
    EXPECT_EQ(constant.tensor.AsDouble(3), 2.5);
  }
}

// Aligns constants that are used as they are, and packed constants.
TEST(Lower, AlignsConstantsAsTheTargetWants) {
  const Graph graph = ParseModel(R"(
def @main(%x: Tensor[(8, 3), float32], %constant_w: Tensor[(35, 3), float32], %constant_b: Tensor[(35,), float32]) {
  %0 = nn.dense(%x, %constant_w, units=None);
  add(exp(%0), %constant_b)
})");
  for (const auto& [target, alignment] : {std::pair{"x86-64-v3", 64}, {"cortex-m4f", 16}}) {
    const absl::StatusOr<Lowered> lowered =
        Lower(graph, *Target::Parse(target), {.module_name = "mod"});
    ASSERT_TRUE(lowered.ok()) << lowered.status();
    std::vector<std::string> names;
    for (const loop::Constant& constant : lowered->program.constants) {
      names.push_back(constant.buffer->name);
      EXPECT_EQ(constant.buffer->alignment_bytes, alignment) << target << " " << names.back();
    }
    EXPECT_EQ(names, (Names{"tvmgen_mod_fused_nn_dense_constant_w_packed_0",
                            "tvmgen_mod_fused_add_constant_b_0"}))
        << target;
  }
}

TEST(Lower, ScalarConstantsAreLiterals) {
  const Lowered lowered = LowerModel("def @main(%x: Tensor[(4,), float32]) { add(%x, 0.25f) }");
  EXPECT_TRUE(lowered.program.constants.empty());
  EXPECT_TRUE(absl::StrContains(loop::ToString(lowered.program), " + 0.25f32"));
}

TEST(Lower, ReadsAValueOnceThatANodeTakesTwice) {
  const Lowered lowered = LowerModel("def @main(%x: Tensor[(4,), float32]) { multiply(%x, %x) }");
  EXPECT_EQ(lowered.calls[0].inputs.size(), 1u);
  EXPECT_EQ(lowered.program.funcs[0].num_inputs, 1);
}

TEST(Lower, HandsOnWorkspaceAndInPlace) {
  const Lowered lowered = LowerModel(R"(
def @main(%x: Tensor[(8, 16), float32], %y: Tensor[(16, 16), float32]) {
  nn.relu(nn.dense(%x, %y))
})");
  ASSERT_EQ(lowered.calls.size(), 2u);
  const loop::Func& dense = lowered.program.funcs[0];
  ASSERT_NE(dense.workspace, nullptr);
  EXPECT_EQ(lowered.calls[0].workspace_bytes, dense.workspace->num_bytes());
  EXPECT_TRUE(lowered.calls[0].in_place.empty());
  EXPECT_FALSE(dense.in_place);
  EXPECT_EQ(lowered.calls[1].workspace_bytes, 0);
  EXPECT_EQ(lowered.calls[1].in_place, (std::vector<std::pair<int, int>>{{0, 0}}));
  EXPECT_TRUE(lowered.program.funcs[1].in_place);
}

TEST(Lower, Float16IsStorageOnly) {
  const Lowered lowered =
      LowerModel("def @main(%x: Tensor[(4,), float16], %y: Tensor[(4,), float16]) { add(%x, %y) }");
  const std::string text = loop::ToString(lowered.program);
  EXPECT_TRUE(absl::StrContains(text, "= float16(float32(p0[i0]) + float32(p1[i0]))\n")) << text;
}

TEST(Lower, NaiveIsPlainLoops) {
  const Graph graph = ParseModel(R"(
def @main(%x: Tensor[(8, 16), float32], %constant: Tensor[(16, 16), float32]) {
  nn.dense(%x, %constant)
})");
  const Lowered lowered = LowerGraph(graph, {.module_name = "mod", .schedule = {.naive = true}});
  EXPECT_EQ(lowered.calls[0].schedule, "naive");
  const std::string text = loop::ToString(lowered.program);
  for (const char* never : {"vectorized", "parallel", "packed"}) {
    EXPECT_FALSE(absl::StrContains(text, never)) << text;
  }
}

TEST(Lower, PrintsStagesAsOperatorsSayThem) {
  const Graph graph = ParseModel(R"(
def @main(%x: Tensor[(2, 3), float32]) {
  sum(reshape(%x, newshape=[3, 2]), axis=[1])
})");
  EXPECT_EQ(PrintStages(graph, Target(), {.module_name = "mod"}).value(),
            R"(kernel tvmgen_mod_fused_sum(p0: float32[3, 2]) -> (out0: float32[3]) {
  stage sum_reduced: float32[3]
    for i0 in 0..3
    sum over r0 in 0..2 from 0f32
    sum_reduced[i0] = p0[i0, r0]
  stage out0: float32[3]
    for i0_1 in 0..3
    out0[i0_1] = sum_reduced[i0_1]
}

)");
}

TEST(Lower, ExternalSubgraphsAreDeclared) {
  const Lowered lowered = LowerModel(R"(
def @main(%x: Tensor[(2, 4), float32]) {
  %0 = fn (%p: Tensor[(2, 4), float32], Compiler="npu", global_symbol="tvmgen_mod_npu_main_0") {
    %0 = fn (%q: Tensor[(2, 4), float32], Composite="npu.pair", Primitive=1) { nn.relu(abs(%q)) };
    (%0(%p), negative(%p))
  };
  %1 = %0(%x);
  exp(%1.0)
})");
  EXPECT_EQ(Functions(lowered), (Names{"tvmgen_mod_npu_main_0", "tvmgen_mod_fused_exp"}));
  EXPECT_EQ(lowered.calls[0].op_names, "abs nn.relu negative");
  EXPECT_EQ(lowered.calls[0].schedule, "npu");
  ASSERT_EQ(lowered.program.funcs.size(), 2u);
  const loop::Func& declared = lowered.program.funcs[0];
  EXPECT_EQ(declared.kind, loop::Func::Kind::kExternal);
  EXPECT_EQ(declared.num_inputs, 1);
  EXPECT_EQ(declared.params.size(), 3u);
}

TEST(Lower, ExternalSubgraphsHaveTheirConstantsInside) {
  const Graph graph = ParseModel(R"(
def @main(%x: Tensor[(2,), float32]) {
  %0 = fn (%p: Tensor[(), float32], Compiler="npu", global_symbol="f") { negative(%p) };
  add(%x, %0(1f))
})");
  const absl::Status status = Lower(graph, Target(), {.module_name = "mod"}).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_TRUE(absl::StrContains(status.message(), "f: a constant is an argument")) << status;
}

TEST(Lower, ComputesWhatTheGraphSays) {
  const Graph graph = ParseModel(R"(
def @main(%constant: Tensor[(6, 4), float32]) {
  %0 = split(nn.relu(%constant), indices_or_sections=2);
  %1 = nn.dense(%0.0, %constant);
  %2 = fn (%p: Tensor[(3, 6), float32], %q: Tensor[(3, 4), float32], Primitive=1) {
    add(sum(%p, axis=[1], keepdims=True), %q)
  };
  %3 = %2(%1, %0.1);
  reshape(%3, newshape=[12])
})");
  const Lowered lowered = LowerGraph(graph);
  const std::vector<Tensor> found = RunLowered(graph, lowered, {});
  const std::vector<Tensor> expected = RunGraph(graph).value();
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].type(), expected[0].type());
  for (int64_t i = 0; i < 12; ++i) {
    EXPECT_NEAR(found[0].AsDouble(i), expected[0].AsDouble(i), 1e-3 * expected[0].AsDouble(i)) << i;
  }
}

// Returns the shapes of a function's parameters: "f(4x16 -> 4x32)".
std::string Signature(const loop::Func& func) {
  std::string text = absl::StrCat(func.name, "(");
  for (size_t i = 0; i < func.params.size(); ++i) {
    absl::StrAppend(&text,
                    i == static_cast<size_t>(func.num_inputs) ? " -> "
                    : i == 0                                  ? ""
                                                              : ", ",
                    absl::StrJoin(func.params[i]->shape, "x"));
  }
  return text + ")";
}

TEST(Lower, PartsOfAConcatenationAreWrittenIntoIt) {
  constexpr char kModel[] = R"(
def @main(%x: Tensor[(4, 16), float32]) {
  %0 = exp(%x);
  %1 = concatenate((%0, negative(%0), %x), axis=1);
  add(%1, %1)
})";
  const Lowered lowered = LowerModel(kModel);
  Names signatures;
  for (const loop::Func& func : lowered.program.funcs) signatures.push_back(Signature(func));
  EXPECT_EQ(
      signatures,
      (Names{"tvmgen_mod_fused_exp(4x16 -> 4x48)", "tvmgen_mod_fused_negative(4x48 -> 4x48)",
             "tvmgen_mod_fused_concatenate(4x16 -> 4x48)", "tvmgen_mod_fused_add(4x48 -> 4x48)"}));
  const ValueId whole = lowered.calls[3].inputs[0];
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(lowered.calls[i].outputs, std::vector<ValueId>{whole});
    EXPECT_TRUE(lowered.calls[i].in_place.empty());
  }
  // The function reads one part and writes another.
  EXPECT_TRUE(lowered.program.funcs[1].in_place);
  EXPECT_FALSE(lowered.program.funcs[0].in_place);
  EXPECT_FALSE(lowered.calls[3].in_place.empty());
  EXPECT_EQ(lowered.calls[1].cost->accessed_bytes, 2 * 4 * 16 * 4);

  const Lowered copied =
      LowerGraph(ParseModel(kModel), {.module_name = "mod", .place_concatenations = false});
  EXPECT_EQ(Signature(copied.program.funcs[2]),
            "tvmgen_mod_fused_concatenate(4x16, 4x16, 4x16 -> 4x48)");
}

TEST(Lower, PartsOfOneWholeAreOneParameter) {
  const Lowered lowered = LowerModel(R"(
def @main(%x: Tensor[(4, 16), float32]) {
  %0 = exp(%x);
  %1 = tanh(%x);
  (concatenate((%0, %1), axis=1), add(%1, %0))
})");
  ASSERT_EQ(lowered.program.funcs.size(), 3u);
  EXPECT_EQ(Signature(lowered.program.funcs[2]), "tvmgen_mod_fused_add(4x32 -> 4x16)");
  EXPECT_TRUE(lowered.calls[2].in_place.empty());
}

}  // namespace
}  // namespace kiln
