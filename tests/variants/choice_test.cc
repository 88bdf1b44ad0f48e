// SPDX-License-Identifier: Apache-2.0
// The choice of a CPU variant from the words in which a CPU describes itself, run by the
// interpreter.
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/backend/backend.h"
#include "compiler/graph/relay_text.h"
#include "compiler/loop/interpret.h"
#include "compiler/ops/op_def.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "compiler/target/cpu_variants.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Words = std::vector<uint32_t>;

constexpr uint32_t kAvxState = 0x7;
constexpr uint32_t kAvx512State = 0xe7;

// A model with weights of many values, which each target packs differently, and a bias, which no
// target packs.
Graph Model() {
  return ParseRelay(R"(#[version = "0.0.5"]
      def @main(%x: Tensor[(3, 33), float32]) {
        %0 = reshape(cumsum(full(0.013f, shape=[1320]), axis=0), newshape=[40, 33]);
        %1 = nn.dense(%x, sin(%0), units=40);
        nn.relu(nn.bias_add(%1, cumsum(full(-0.07f, shape=[40]), axis=0)))
      })",
                    "model.relay", FindOpSchema)
      .value();
}

CompileOptions Options(const std::vector<std::string>& targets) {
  CompileOptions options;
  options.module_name = "my_mod";
  options.threads = 1;
  options.codegen = HasCodegen(Codegen::kLlvm) ? Codegen::kLlvm : Codegen::kC;
  if (targets.size() > 1) options.cpu_variants = ParseCpuVariants(targets).value();
  options.target = Target::Parse(targets[0]).value();
  return options;
}

CompileOptions ThreeVariants() { return Options({"x86-64-v2", "x86-64-v3", "x86-64-v4"}); }

// Returns a CPU with all features of the target, and a system that saves the registers given by
// `xcr0`.
Words CpuOf(const std::string& target, uint32_t xcr0) {
  Words words(kNumCpuWords, 0);
  const auto features = CpuFeaturesOf(Target::Parse(target).value()).value();
  for (const CpuFeature* feature : features) words[feature->word] |= feature->bits;
  if (xcr0 != 0) words[kCpuLeaf1Ecx] |= kCpuOsXsave;
  words[kCpuXcr0] = xcr0;
  return words;
}

Words Without(Words words, const char* name) {
  const auto features = CpuFeaturesOf(Target::Parse("x86-64-v4").value()).value();
  for (const CpuFeature* feature : features) {
    if (std::string(feature->name) == name) words[feature->word] &= ~feature->bits;
  }
  return words;
}

int32_t Decide(const loop::LoopProgram& program, Words words) {
  int32_t choice = 0;
  loop::Interpreter interpreter(program);
  const std::vector<void*> args = {words.data(), &choice};
  EXPECT_TRUE(interpreter.Run(program.cpu_choice->decide, args).ok());
  return choice;
}

TEST(Choice, IsTheLastVariantThatTheCpuHasAllOf) {
  const Compilation compilation = RunStages(Model(), ThreeVariants()).value();
  const loop::LoopProgram& program = compilation.program;
  const Words v2 = CpuOf("x86-64-v2", 0), v3 = CpuOf("x86-64-v3", kAvxState),
              v4 = CpuOf("x86-64-v4", kAvx512State);
  EXPECT_EQ(Decide(program, v2), 1);
  EXPECT_EQ(Decide(program, v3), 2);
  EXPECT_EQ(Decide(program, v4), 3);
  EXPECT_EQ(Decide(program, Words(kNumCpuWords, ~uint32_t{0})), 3);
  // Without one feature, the next lower level is chosen.
  for (const char* name : {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}) {
    EXPECT_EQ(Decide(program, Without(v4, name)), 2) << name;
  }
  for (const char* name : {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}) {
    EXPECT_EQ(Decide(program, Without(v4, name)), 1) << name;
  }
  const std::vector<const char*> baseline = {"sse3",   "ssse3", "sse4.1", "sse4.2",
                                             "popcnt", "cx16",  "sahf"};
  for (size_t i = 0; i < baseline.size(); ++i) {
    const int32_t choice = Decide(program, Without(v4, baseline[i]));
    ASSERT_EQ(choice, -1 - static_cast<int32_t>(i)) << baseline[i];
    EXPECT_THAT(
        program.cpu_choice->lacks[i],
        HasSubstr(absl::StrCat("my_mod: found a CPU without ", baseline[i], ", wanted x86-64-v2")));
  }
}

// The CPU has the instructions, but the system does not save their registers or does not enable
// them.
TEST(Choice, IsOfWhatTheOperatingSystemSavesToo) {
  const Compilation compilation = RunStages(Model(), ThreeVariants()).value();
  const loop::LoopProgram& program = compilation.program;
  for (const auto& [xcr0, choice] : std::vector<std::pair<uint32_t, int32_t>>{
           {0, 1}, {0x1, 1}, {0x3, 1}, {0x5, 1}, {0x7, 2}, {0x67, 2}, {0xc7, 2}, {0xe7, 3}}) {
    EXPECT_EQ(Decide(program, CpuOf("x86-64-v4", xcr0)), choice) << xcr0;
  }
  Words disabled = CpuOf("x86-64-v4", kAvx512State);
  disabled[kCpuLeaf1Ecx] &= ~kCpuOsXsave;
  EXPECT_EQ(Decide(program, disabled), 1);
  const Compilation alone = RunStages(Model(), Options({"x86-64-v3", "x86-64-v4"})).value();
  const int32_t choice = Decide(alone.program, CpuOf("x86-64-v4", 0x3));
  ASSERT_LT(choice, 0);
  EXPECT_EQ(alone.program.cpu_choice->lacks[static_cast<size_t>(-1 - choice)],
            "my_mod: found a CPU without avx, or a system that does not save its registers, wanted "
            "x86-64-v3 or one that has more");
}

TEST(Choice, KnowsFeaturesBeyondTheLevels) {
  const Compilation compilation =
      RunStages(Model(), Options({"x86-64-v3", "x86-64-v3 -mattr=+avxvnni",
                                  "x86-64-v4 -mattr=+avx512vnni -mattr=+avxvnni"}))
          .value();
  EXPECT_EQ(Decide(compilation.program, CpuOf("x86-64-v4", kAvx512State)), 1);
  EXPECT_EQ(Decide(compilation.program, CpuOf("x86-64-v3 -mattr=+avxvnni", kAvxState)), 2);
  EXPECT_EQ(
      Decide(compilation.program, CpuOf("x86-64-v4 -mattr=+avxvnni,+avx512vnni", kAvx512State)), 3);
}

// For AMX, the system must save the registers and permit the process to use them. Otherwise the
// bits are not set.
TEST(Choice, KnowsRegistersThatHoldMatrices) {
  const std::string matrices = "x86-64-v4 -mattr=+avx512vnni -mattr=+amx-int8";
  const Compilation compilation = RunStages(Model(), Options({"x86-64-v4", matrices})).value();
  const loop::LoopProgram& program = compilation.program;
  const uint32_t state = kAvx512State | 0x60000;
  EXPECT_EQ(Decide(program, CpuOf(matrices, state)), 2);
  EXPECT_EQ(Decide(program, CpuOf(matrices, kAvx512State)), 1);
  EXPECT_EQ(Decide(program, CpuOf(matrices, kAvx512State | 0x20000)), 1);
  Words refused = CpuOf(matrices, state);
  refused[kCpuLeaf7Edx] &= ~kCpuMatrixBits;
  EXPECT_EQ(Decide(program, refused), 1);
  Words others = CpuOf(matrices, state);
  others[kCpuLeaf7Edx] &= ~(uint32_t{1} << 25);
  EXPECT_EQ(Decide(program, others), 1);
}

// Returns the model's results on that CPU, or the error.
absl::StatusOr<std::vector<float>> RunModel(const CompileOptions& options, const Words& words) {
  const Compilation compilation = RunStages(Model(), options).value();
  const loop::LoopProgram program = VectorProgram(compilation.program, options).value();
  loop::Interpreter interpreter(program);
  interpreter.SetCpuWords(words);
  std::vector<float> x(3 * 33), y(3 * 40);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 1.0f / static_cast<float>(i + 3);
  std::vector<char> workspace(static_cast<size_t>(compilation.plan.workspace_bytes()));
  std::vector<void*> args = {x.data(), y.data()};
  if (!workspace.empty()) args.push_back(workspace.data());
  const absl::Status status = interpreter.Run("tvmgen_my_mod_run_model", args);
  if (!status.ok()) return status;
  return y;
}

TEST(Choice, RunsWhatIsCompiledForTheTargetAlone) {
  std::set<std::vector<float>> results;
  for (const auto& [target, xcr0] :
       std::map<std::string, uint32_t>{{"x86-64-v2", 0}, {"x86-64-v3", 7}, {"x86-64-v4", 0xe7}}) {
    CompileOptions alone = Options({target});
    alone.calling_convention = CallingConvention::kUnpacked;
    alone.runtime = Runtime::kCrt;
    CompileOptions variants = ThreeVariants();
    variants.calling_convention = CallingConvention::kUnpacked;
    variants.runtime = Runtime::kCrt;
    const auto found = RunModel(variants, CpuOf(target, xcr0)), wanted = RunModel(alone, {});
    ASSERT_TRUE(found.ok()) << found.status();
    EXPECT_EQ(*found, wanted.value()) << target;
    results.insert(*found);
  }
  EXPECT_GT(results.size(), 1u) << "the model does not tell a variant from another";
  const absl::Status refused = RunModel(ThreeVariants(), Words(kNumCpuWords, 0)).status();
  EXPECT_THAT(std::string(refused.message()), HasSubstr("found a CPU without sse3"));
}

TEST(Variants, ShareEqualConstants) {
  const Compilation compilation = RunStages(Model(), ThreeVariants()).value();
  std::set<std::string> bytes;
  int64_t size = 0;
  for (const loop::Constant& constant : compilation.program.constants) {
    EXPECT_TRUE(bytes.insert(constant.tensor.bytes()).second) << constant.buffer->name;
    size += constant.buffer->num_bytes();
  }
  // The constants are one bias for the three variants of an operator function, and the weights as
  // each variant packs them.
  EXPECT_GE(compilation.program.constants.size(), 2u);
  EXPECT_LT(compilation.program.constants.size(), 6u);
  EXPECT_EQ(compilation.metadata.functions(0).constant_size_bytes(), size);
  EXPECT_THAT(compilation.metadata.cpu_variants(),
              ElementsAre("x86-64-v2", "x86-64-v3", "x86-64-v4"));
}

TEST(Variants, AreDeterministic) {
  for (const Codegen codegen : {Codegen::kC, Codegen::kLlvm}) {
    if (!HasCodegen(codegen)) continue;
    CompileOptions options = ThreeVariants();
    options.codegen = codegen;
    options.system_lib = true;
    const Artifacts first = Compile(Model(), options)->artifacts;
    EXPECT_EQ(first, Compile(Model(), options)->artifacts);
  }
}

TEST(Variants, AreTheTarget) {
  CompileOptions options = ThreeVariants();
  options.target = Target::Parse("x86-64-v4").value();
  EXPECT_EQ(std::string(CheckOptions(options).message()),
            "--cpu-variants and --target x86-64-v4 do not go together: the variants are the "
            "targets, the lowest first; leave one of the two out");
}

}  // namespace
}  // namespace kiln
