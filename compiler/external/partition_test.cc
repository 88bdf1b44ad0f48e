// SPDX-License-Identifier: Apache-2.0
#include "compiler/external/partition.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "compiler/external/generate.h"
#include "compiler/graph/external_node.h"
#include "compiler/graph/relay_text.h"
#include "compiler/ops/op_def.h"
#include "compiler/passes/testing/run_pass.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<std::vector<ExternalModule>> GenerateNothing(const ExternalRequest&) {
  return std::vector<ExternalModule>();
}

ExternalCodegen Taking(std::string name, std::vector<ExternalOp> ops,
                       std::vector<ExternalPattern> patterns = {}) {
  return {.name = std::move(name),
          .doc = "for tests",
          .linkable = false,
          .ops = std::move(ops),
          .patterns = std::move(patterns),
          .generate = GenerateNothing};
}

// Two linked generators.
const ExternalCodegen kAlpha = Taking("alpha", {{"add"}, {"multiply"}});
const ExternalCodegen kBeta = Taking("beta", {{"nn.relu"}, {"add"}});
KILN_REGISTER_EXTERNAL_CODEGEN(kAlpha);
KILN_REGISTER_EXTERNAL_CODEGEN(kBeta);

// Returns the body of @main after partitioning, and checks that it computes the same and can be
// parsed.
std::string Partitioned(absl::string_view model, std::vector<const ExternalCodegen*> codegens) {
  const Graph before = ParseModel(model);
  const absl::StatusOr<Graph> after = Partition(before, "m", codegens);
  if (!after.ok()) return std::string(after.status().message());
  EXPECT_EQ(Verify(*after, /*typed=*/true), absl::OkStatus());
  EXPECT_EQ(RunGraph(before).value(), RunGraph(*after).value());
  const absl::StatusOr<Graph> read = ParseRelay(PrintRelay(*after), "printed", FindOpSchema);
  EXPECT_TRUE(read.ok()) << read.status();
  if (!read.ok()) return "";
  EXPECT_TRUE(*RunPass(InferTypes, *read) == *after);
  return BodyText(*after);
}

// Returns only the assignment: "alpha(add multiply) nn.relu beta(add)", in the order of the graph.
std::string Summary(absl::string_view model, std::vector<const ExternalCodegen*> codegens) {
  const absl::StatusOr<Graph> after = Partition(ParseModel(model), "m", codegens);
  if (!after.ok()) return std::string(after.status().message());
  EXPECT_NE(Partitioned(model, codegens), "");
  std::string text;
  for (const Node& node : after->nodes) {
    absl::StrAppend(&text, text.empty() ? "" : " ");
    if (ExternalCompiler(node).empty()) {
      absl::StrAppend(&text, node.op_name());
      continue;
    }
    std::string inside;
    for (const Node& inner : node.body->nodes) {
      absl::StrAppend(&inside, inside.empty() ? "" : " ",
                      inner.is_group() ? inner.attrs.String("Composite") : inner.op->name);
    }
    absl::StrAppend(&text, ExternalCompiler(node), "(", inside, ")");
  }
  return text;
}

TEST(Partition, MakesAFunctionOfASubgraph) {
  EXPECT_EQ(Partitioned(R"(
  def @main(%x: Tensor[(2,), float32], %y: Tensor[(2,), float32]) {
    nn.relu(multiply(add(%x, %y), %x))
  })",
                        {&kAlpha}),
            "%0 = fn (%p0: Tensor[(2,), float32], %p1: Tensor[(2,), float32], "
            "Compiler=\"alpha\", global_symbol=\"tvmgen_m_alpha_main_0\") {\n"
            "  %0 = add(%p0, %p1);\n"
            "  multiply(%0, %p0)\n"
            "};\n"
            "%1 = %0(%x, %y);\n"
            "nn.relu(%1)\n");
}

TEST(Partition, ConstantsAreInTheBody) {
  EXPECT_EQ(Partitioned(R"(
  def @main(%x: Tensor[(2,), float32], %constant: Tensor[(2,), float32]) {
    add(multiply(%x, 3f), %constant)
  })",
                        {&kAlpha}),
            "%0 = fn (%p0: Tensor[(2,), float32], Compiler=\"alpha\", "
            "global_symbol=\"tvmgen_m_alpha_main_0\") {\n"
            "  %0 = multiply(%p0, 3f);\n"
            "  add(%0, meta[relay.Constant][0])\n"
            "};\n"
            "%0(%x)\n");
}

TEST(Partition, WithoutGeneratorsNothingChanges) {
  EXPECT_EQ(Summary("def @main(%x: Tensor[(2,), float32]) { nn.relu(add(%x, %x)) }", {}),
            "add nn.relu");
}

TEST(Partition, AnotherOperatorBetweenMakesTwoSubgraphs) {
  constexpr char kModel[] =
      "def @main(%x: Tensor[(2,), float32]) { multiply(negative(add(%x, %x)), 2f) }";
  EXPECT_EQ(Summary(kModel, {&kAlpha}), "alpha(add) negative alpha(multiply)");
  EXPECT_THAT(Partitioned(kModel, {&kAlpha}), HasSubstr("tvmgen_m_alpha_main_1"));
}

// `negative` would read a region with both operators, and be read by it.
TEST(Partition, AWayAroundKeepsSubgraphsApart) {
  EXPECT_EQ(Summary(R"(
  def @main(%x: Tensor[(2,), float32]) {
    %0 = add(%x, %x);
    multiply(%0, negative(%0))
  })",
                    {&kAlpha}),
            "alpha(add) negative alpha(multiply)");
}

// The detour may lead through a subgraph of another generator, or of the same one.
TEST(Partition, AWayAroundThroughSubgraphsKeepsSubgraphsApart) {
  EXPECT_EQ(Summary(R"(
  def @main(%x: Tensor[(2,), float32]) {
    %0 = multiply(%x, %x);
    multiply(%0, nn.relu(%0))
  })",
                    {&kAlpha, &kBeta}),
            "alpha(multiply) beta(nn.relu) alpha(multiply)");
  EXPECT_EQ(Summary(R"(
  def @main(%x: Tensor[(2,), float32]) {
    %0 = add(%x, 1f);
    %1 = negative(%0);
    %2 = multiply(%x, 2f);
    %3 = add(%2, %1);
    %4 = exp(%2);
    %5 = add(%4, %0);
    (%3, %5)
  })",
                    {&kAlpha}),
            "alpha(add) negative alpha(multiply add) exp alpha(add)");
}

TEST(Partition, SubgraphsGrowAsFarAsTheyCan) {
  // Both paths from the first operator to the last are taken.
  EXPECT_EQ(Summary(R"(
  def @main(%x: Tensor[(2,), float32]) {
    %0 = add(%x, 1f);
    %1 = multiply(%0, 2f);
    %2 = multiply(%0, 3f);
    add(%1, %2)
  })",
                    {&kAlpha}),
            "alpha(add multiply multiply add)");
}

TEST(Partition, ASubgraphHasTheOutputsThatAreRead) {
  EXPECT_THAT(Partitioned(R"(
  def @main(%x: Tensor[(2,), float32]) {
    %0 = add(%x, 1f);
    %1 = multiply(%0, 2f);
    (%0, negative(%1))
  })",
                          {&kAlpha}),
              HasSubstr("  (%0, %1)\n};\n"));
}

TEST(Partition, TheFirstGeneratorTakesFirst) {
  constexpr char kModel[] = "def @main(%x: Tensor[(2,), float32]) { nn.relu(add(%x, %x)) }";
  EXPECT_EQ(Summary(kModel, {&kAlpha, &kBeta}), "alpha(add) beta(nn.relu)");
  EXPECT_EQ(Summary(kModel, {&kBeta, &kAlpha}), "beta(add nn.relu)");
}

absl::Status RefuseFloat64(const Graph& graph, const Node& node) {
  if (graph.type(node.outputs[0]).dtype != DType::Float(64)) return absl::OkStatus();
  return absl::UnimplementedError("float64");
}

TEST(Partition, AChecksNoIsRespected) {
  const ExternalCodegen codegen = Taking("picky", {{"add", RefuseFloat64}});
  EXPECT_EQ(Summary(R"(
  def @main(%x: Tensor[(2,), float32], %y: Tensor[(2,), float64]) {
    (add(%x, %x), add(%y, %y))
  })",
                    {&codegen}),
            "picky(add) add");
}

// Such operators are folded, or stay because the result is large.
TEST(Partition, WhatDoesNotDependOnInputsIsNobodys) {
  EXPECT_EQ(
      Summary("def @main(%x: Tensor[(2,), float32]) { add(negative(%x), add(1f, 2f)) }", {&kAlpha}),
      "negative add alpha(add)");
}

absl::Status NoScalarOperand(const Graph& graph, const std::vector<const Node*>& nodes) {
  for (const Node* node : nodes) {
    for (ValueId input : node->inputs) {
      if (graph.type(input).rank() == 0) return absl::UnimplementedError("scalar");
    }
  }
  return absl::OkStatus();
}

ExternalCodegen Chains() {
  return Taking("chains", {},
                {{"chains.dense",
                  {{{"nn.dense"}}, {{"add", "nn.bias_add"}, true}, {{"nn.relu"}, true}},
                  NoScalarOperand}});
}

TEST(Pattern, TakesAsManyStepsAsThereAre) {
  const ExternalCodegen chains = Chains();
  constexpr char kModel[] = R"(
  def @main(%x: Tensor[(2, 3), float32], %constant: Tensor[(4, 3), float32], %constant_bias: Tensor[(4,), float32]) {
    nn.relu(nn.bias_add(nn.dense(%x, %constant, units=4), %constant_bias))
  })";
  EXPECT_EQ(Partitioned(kModel, {&chains}),
            "%0 = fn (%p0: Tensor[(2, 3), float32], Compiler=\"chains\", "
            "global_symbol=\"tvmgen_m_chains_main_0\") {\n"
            "  %0 = fn (%p0: Tensor[(2, 3), float32], Composite=\"chains.dense\", Primitive=1) {\n"
            "    %0 = nn.dense(%p0, meta[relay.Constant][0], units=4);\n"
            "    %1 = nn.bias_add(%0, meta[relay.Constant][1]);\n"
            "    nn.relu(%1)\n"
            "  };\n"
            "  %0(%p0)\n"
            "};\n"
            "%0(%x)\n");
  EXPECT_EQ(Summary(R"(
  def @main(%x: Tensor[(2, 3), float32], %constant: Tensor[(4, 3), float32]) {
    nn.relu(nn.dense(%x, %constant, units=4))
  })",
                    {&chains}),
            "chains(chains.dense)");
}

TEST(Pattern, WhereTheCheckSaysNoFewerAreTaken) {
  const ExternalCodegen chains = Chains();
  EXPECT_EQ(Summary(R"(
  def @main(%x: Tensor[(2, 3), float32], %constant: Tensor[(4, 3), float32]) {
    nn.relu(add(nn.dense(%x, %constant, units=4), 2f))
  })",
                    {&chains}),
            "chains(chains.dense) add nn.relu");
}

TEST(Pattern, AValueThatIsReadElsewhereEndsAChain) {
  const ExternalCodegen chains = Chains();
  EXPECT_EQ(Summary(R"(
  def @main(%x: Tensor[(2, 3), float32], %constant: Tensor[(4, 3), float32]) {
    %0 = nn.dense(%x, %constant, units=4);
    add(nn.relu(%0), %0)
  })",
                    {&chains}),
            "chains(chains.dense) nn.relu add");
  EXPECT_EQ(Summary(R"(
  def @main(%x: Tensor[(2, 3), float32], %constant: Tensor[(4, 3), float32]) {
    %0 = nn.dense(%x, %constant, units=4);
    (nn.relu(%0), %0)
  })",
                    {&chains}),
            "chains(chains.dense) nn.relu");
  EXPECT_EQ(Summary(R"(
  def @main(%x: Tensor[(2, 3), float32], %constant: Tensor[(4, 3), float32]) {
    %0 = nn.dense(%x, %constant, units=4);
    add(%0, %0)
  })",
                    {&chains}),
            "chains(chains.dense) add");
}

TEST(Pattern, SeveralMatchesAreOneSubgraph) {
  const ExternalCodegen chains = Chains();
  EXPECT_EQ(Summary(R"(
  def @main(%x: Tensor[(2, 3), float32], %constant: Tensor[(3, 3), float32]) {
    %0 = nn.relu(nn.dense(%x, %constant, units=3));
    add(nn.dense(%0, %constant, units=3), %0)
  })",
                    {&chains}),
            "chains(chains.dense chains.dense)");
}

TEST(Partition, SubgraphsOfTheModelKeepTheirGenerator) {
  EXPECT_EQ(Partitioned(R"(
  def @main(%x: Tensor[(2,), float32], %constant: Tensor[(2,), float32]) {
    %0 = fn (%a: Tensor[(2,), float32], %b: Tensor[(2,), float32], Compiler="alpha") { add(%a, %b) };
    multiply(%0(%x, %constant), 2f)
  })",
                        {}),
            "%0 = fn (%a: Tensor[(2,), float32], Compiler=\"alpha\", "
            "global_symbol=\"tvmgen_m_alpha_main_0\") {\n"
            "  add(%a, meta[relay.Constant][0])\n"
            "};\n"
            "%1 = %0(%x);\n"
            "multiply(%1, 2f)\n");
}

TEST(Partition, AGeneratorThatIsNotThereIsAnError) {
  EXPECT_EQ(Partitioned(R"(
  def @main(%x: Tensor[(2,), float32]) {
    %0 = fn (%a: Tensor[(2,), float32], Compiler="npu") { negative(%a) };
    %0(%x)
  })",
                        {}),
            "model:5:5: Compiler=\"npu\": found 'npu', which is not built into this compiler; "
            "wanted one of alpha, beta, gamma");
  EXPECT_EQ(std::string(ParseExternalChoice("npu").status().message()),
            "--external: found 'npu', which is not built into this compiler; wanted one of alpha, "
            "beta, gamma");
}

// Returns the error of GenerateExternalModules for a subgraph that Partition has not seen.
std::string GenerateError(absl::string_view function) {
  const Graph graph = ParseModel(absl::StrCat(
      "def @main(%x: Tensor[(2,), float32]) {\n  %0 = fn (%a: Tensor[(2,), float32], Compiler=",
      function, ";\n  %1 = %0(%x);\n  %0(%1)\n}"));
  return std::string(GenerateExternalModules(graph, {}, {.module_name = "m"}).status().message());
}

TEST(Generate, RefusesSubgraphsThatAreNotRight) {
  EXPECT_THAT(GenerateError("\"npu\") { negative(%a) }"), HasSubstr("found 'npu', which is not"));
  EXPECT_THAT(GenerateError("\"alpha\") { add(%a, %a) }"), HasSubstr("is no C identifier"));
  EXPECT_THAT(GenerateError("\"alpha\", global_symbol=\"main\") { add(%a, %a) }"),
              HasSubstr("is no C identifier that begins with tvmgen_m_alpha_"));
  EXPECT_THAT(GenerateError("\"alpha\", global_symbol=\"tvmgen_m_alpha_f g\") { add(%a, %a) }"),
              HasSubstr("is no C identifier that begins with tvmgen_m_alpha_"));
  EXPECT_THAT(GenerateError("\"alpha\", global_symbol=\"tvmgen_m_alpha_f\") { add(%a, %a) }"),
              HasSubstr("another subgraph has the same name"));
  EXPECT_THAT(GenerateError("\"alpha\", global_symbol=\"tvmgen_m_alpha_f\") { negative(%a) }"),
              HasSubstr("alpha does not take negative"));
}

const ExternalCodegen kGamma = Taking(
    "gamma", {}, {{"gamma.pair", {{{"add"}}, {{"nn.relu"}, true}, {{"exp"}}, {{"add"}, true}}}});
KILN_REGISTER_EXTERNAL_CODEGEN(kGamma);

// Returns the error for a subgraph with one match, which is called with `args`.
std::string MatchError(absl::string_view match, absl::string_view args = "%a") {
  return GenerateError(
      absl::StrCat("\"gamma\", global_symbol=\"tvmgen_m_gamma_f\") {\n    %5 = fn (%p: "
                   "Tensor[(2,), float32], Primitive=1, Composite=",
                   match, ";\n    %5(", args, ")\n  }"));
}

TEST(Generate, RefusesMatchesThatAreNone) {
  // The match is right, but the subgraph is called twice.
  EXPECT_THAT(MatchError("\"gamma.pair\") { exp(nn.relu(add(%p, 1f))) }"),
              HasSubstr("another subgraph has the same name"));
  EXPECT_THAT(MatchError("\"gamma.pair\") { exp(add(%p, 1f)) }"),
              HasSubstr("another subgraph has the same name"));
  EXPECT_THAT(MatchError("\"gamma.other\") { exp(add(%p, 1f)) }"),
              HasSubstr("gamma: Composite=\"gamma.other\": there is no such pattern"));
  for (const char* body :
       {"nn.relu(add(%p, 1f))", "exp(nn.relu(%p))", "exp(exp(add(%p, 1f)))",
        "exp(add(negative(%p), 1f))", "%6 = add(%p, 1f); %7 = nn.relu(%6); exp(%6)",
        "%6 = add(%p, 1f); add(exp(%6), %6)"}) {
    EXPECT_THAT(MatchError(absl::StrCat("\"gamma.pair\") { ", body, " }")),
                HasSubstr("is not the chain of operators that the pattern is"))
        << body;
  }
}

// Inputs that no operator reads and outputs that no operator computes have types that no table has
// checked.
TEST(Generate, NothingPassesASubgraphBy) {
  constexpr char kHead[] =
      "def @main(%x: Tensor[(2,), float32], %y: Tensor[(2,), int8], %constant: Tensor[(2,), "
      "int8]) {\n  %0 = fn (%a: Tensor[(2,), "
      "float32], %b: Tensor[(2,), int8], Compiler=\"alpha\", "
      "global_symbol=\"tvmgen_m_alpha_f\") { ";
  const auto error_of = [&](absl::string_view body, absl::string_view call) {
    const Graph graph = ParseModel(absl::StrCat(kHead, body, " };\n  ", call, "\n}"));
    return std::string(GenerateExternalModules(graph, {}, {.module_name = "m"}).status().message());
  };
  EXPECT_THAT(error_of("(add(%a, %a), %b)", "%0(%x, %y)"), HasSubstr("reads its input %b"));
  EXPECT_THAT(error_of("(add(%a, %a), add(%b, %b), %a)", "%0(%x, %y)"),
              HasSubstr("output 2 of the subgraph is not computed in it"));
  EXPECT_THAT(error_of("(add(%a, %a), add(%b, %b), 1i8)", "%0(%x, %y)"),
              HasSubstr("output 2 of the subgraph is not computed in it"));
  EXPECT_THAT(error_of("(add(%a, %a), add(%b, %b))", "%0(%x, %constant)"),
              HasSubstr("called with a constant"));
}

TEST(Generate, AGeneratorThatForgetsASubgraphIsFoundOut) {
  const Graph graph =
      Partition(ParseModel("def @main(%x: Tensor[(2,), float32]) { add(%x, %x) }"), "m", {&kAlpha})
          .value();
  EXPECT_EQ(GenerateExternalModules(graph, {}, {.module_name = "m"}).status(),
            absl::InternalError("external code generator alpha: its modules do not have the "
                                "functions of the subgraphs"));
}

TEST(Generate, TheCRuntimeTakesWhatTheLinkerResolves) {
  const ExternalModule code{
      .codegen = "a", .type_key = "c", .c_source = "", .functions = {{.name = "f"}}};
  const ExternalModule bytes{
      .codegen = "b", .type_key = "bytes", .payload = "…", .functions = {{.name = "g"}}};
  EXPECT_EQ(CheckModulesForCrt({code}), absl::OkStatus());
  EXPECT_EQ(std::string(CheckModulesForCrt({code, bytes}).message()),
            "module 'g' (bytes) cannot be taken by the C runtime: it is not code that can be "
            "linked, and only the C++ runtime has loaders; use --runtime cpp, or leave b out of "
            "--external");
}

}  // namespace
}  // namespace kiln
