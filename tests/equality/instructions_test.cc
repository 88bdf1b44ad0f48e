// SPDX-License-Identifier: Apache-2.0
// A quantized model, or a float model that may be rounded to bfloat16, for each row and width of
// the table of dot instructions. The instruction must be in the code, and all engines must give the
// same bits. For integers, plain loops must give the same bits.
#include "compiler/target/instructions.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/substitute.h"
#include "compiler/backend/backend.h"
#include "compiler/codegen/c/c_compiler.h"
#include "compiler/graph/relay_text.h"
#include "compiler/ops/op_def.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/emit_stage.h"
#include "tests/equality/engines.h"

namespace kiln::equality {
namespace {

// A depthwise convolution of every other pixel, a convolution with padding, a pointwise
// convolution, and a depthwise convolution of every pixel. Then dense products: short rows of
// uint8, a long row, a short row, and int16. Requantization is TFLite's.
constexpr char kModel[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 16, 16, 16), int8]) {
  %0 = cast(full(-5, shape=[3, 3, 16, 1]), dtype="int8");
  %1 = qnn.conv2d(%x, %0, 7, 0, 0.5f, 0.25f, strides=[2, 2], padding=[0, 0, 1, 1], groups=16,
    channels=16, kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWOI", out_dtype="int32");
  %2 = qnn.requantize(%1, 0.125f, 0, 5f, -3, axis=3, rounding="TFLITE", out_dtype="int8");
  %3 = cast(full(3, shape=[3, 3, 16, 64]), dtype="int8");
  %4 = qnn.conv2d(%2, %3, -3, 0, 0.5f, 0.25f, padding=[1, 1, 1, 1], channels=64,
    kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
  %5 = qnn.requantize(%4, 0.125f, 0, 40f, 3, axis=3, rounding="TFLITE", out_dtype="int8");
  %6 = cast(full(-7, shape=[1, 1, 64, 32]), dtype="int8");
  %7 = qnn.conv2d(%5, %6, 3, 0, 40f, 0.25f, channels=32, kernel_size=[1, 1],
    data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
  %8 = qnn.requantize(%7, 10f, 0, 300f, -2, axis=3, rounding="TFLITE", out_dtype="int8");
  %9 = cast(full(9, shape=[3, 3, 32, 1]), dtype="int8");
  %10 = qnn.conv2d(%8, %9, -2, 0, 300f, 0.25f, padding=[1, 1, 1, 1], groups=32, channels=32,
    kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWOI", out_dtype="int32");
  %11 = qnn.requantize(%10, 75f, 0, 3000f, 126, axis=3, rounding="TFLITE", out_dtype="uint8");
  %12 = reshape(%11, newshape=[32, 64]);
  %13 = cast(full(5, shape=[32, 64]), dtype="int8");
  %14 = qnn.dense(%12, %13, 126, 0, 3000f, 0.5f, units=32, out_dtype="int32");
  %15 = qnn.requantize(%14, 1500f, 0, 90000f, 1, axis=1, rounding="TFLITE", out_dtype="int8");
  %16 = reshape(%15, newshape=[1, 1024]);
  %17 = cast(full(-3, shape=[16, 1024]), dtype="int8");
  %18 = qnn.dense(%16, %17, 1, 0, 90000f, 0.5f, units=16, out_dtype="int32");
  %19 = qnn.requantize(%18, 45000f, 0, 2000000f, 2, axis=1, rounding="TFLITE", out_dtype="int8");
  %20 = cast(full(6, shape=[16, 16]), dtype="int8");
  %21 = qnn.dense(%19, %20, 2, 0, 2000000f, 0.5f, units=16, out_dtype="int32");
  %22 = qnn.requantize(%21, 1000000f, 0, 9000f, 0, axis=1, rounding="TFLITE", out_dtype="int16");
  %23 = cast(full(11, shape=[4, 16]), dtype="int8");
  %24 = qnn.dense(%22, %23, 0, 0, 9000f, 0.5f, units=4, out_dtype="int32");
  qnn.requantize(%24, 4500f, 0, 9000000f, 1, axis=1, rounding="TFLITE", out_dtype="int8")
}
)";

// Contains only positive numbers: a convolution with padding, a pointwise convolution, a batch of
// products by as many constants, and a dense product.
constexpr char kFloatModel[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 16, 16, 32), float32]) {
  %0 = nn.conv2d(%x, full(0.3f, shape=[5, 5, 32, 32]), padding=[2, 2, 2, 2], channels=32,
    kernel_size=[5, 5], data_layout="NHWC", kernel_layout="HWIO");
  %1 = nn.relu(%0);
  %2 = nn.conv2d(%1, full(0.7f, shape=[1, 1, 32, 16]), channels=16, kernel_size=[1, 1],
    data_layout="NHWC", kernel_layout="HWIO");
  %3 = reshape(%2, newshape=[4, 64, 16]);
  %4 = nn.batch_matmul(%3, full(0.1f, shape=[4, 24, 16]), transpose_b=True);
  %5 = reshape(%4, newshape=[3, 2048]);
  nn.dense(%5, full(0.9f, shape=[20, 2048]), units=20)
}
)";
constexpr int kFloatProducts = 4;

// For instructions on bytes in matrix registers: a convolution with padding, and products of more
// rows than a register has. `$0` and `$1` are the types of data and weights, `$2` a weight.
constexpr char kMatrixModel[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 10, 10, 64), $0]) {
  %0 = cast(full($2, shape=[3, 3, 64, 48]), dtype="$1");
  %1 = qnn.conv2d(%x, %0, 7, 0, 0.5f, 0.25f, padding=[1, 1, 1, 1], channels=48,
    kernel_size=[3, 3], data_layout="NHWC", kernel_layout="HWIO", out_dtype="int32");
  %2 = qnn.requantize(%1, 0.125f, 0, 700f, -3, axis=3, rounding="TFLITE", out_dtype="$0");
  %3 = reshape(%2, newshape=[50, 96]);
  %4 = cast(full($2, shape=[40, 96]), dtype="$1");
  %5 = qnn.dense(%3, %4, 3, 0, 700f, 0.5f, units=40, out_dtype="int32");
  qnn.requantize(%5, 350f, 0, 90000f, 1, axis=1, rounding="TFLITE", out_dtype="int8")
}
)";

// For instructions on the windows of depthwise convolutions: windows of `$0` rows and columns, with
// padding `$1`, of every other pixel and of every pixel.
constexpr char kWindowModel[] = R"(#[version = "0.0.5"]
def @main(%x: Tensor[(1, 20, 20, 16), int8]) {
  %0 = cast(full(-5, shape=[$0, $0, 16, 1]), dtype="int8");
  %1 = qnn.conv2d(%x, %0, 7, 0, 0.5f, 0.25f, strides=[2, 2], padding=[$1, $1, $1, $1], groups=16,
    channels=16, kernel_size=[$0, $0], data_layout="NHWC", kernel_layout="HWOI", out_dtype="int32");
  %2 = qnn.requantize(%1, 0.125f, 0, 5f, -3, axis=3, rounding="TFLITE", out_dtype="int8");
  %3 = cast(full(9, shape=[$0, $0, 16, 1]), dtype="int8");
  %4 = qnn.conv2d(%2, %3, -3, 0, 5f, 0.25f, padding=[$1, $1, $1, $1], groups=16, channels=16,
    kernel_size=[$0, $0], data_layout="NHWC", kernel_layout="HWOI", out_dtype="int32");
  qnn.requantize(%4, 1.25f, 0, 90f, 1, axis=3, rounding="TFLITE", out_dtype="int8")
}
)";

Graph Model(absl::string_view text = kModel) {
  const absl::StatusOr<Graph> graph = ParseRelay(text, "model.relay", FindOpSchema);
  EXPECT_TRUE(graph.ok()) << graph.status();
  return graph.ok() ? *graph : Graph();
}

bool IsOfMatrices(const DotInstruction& row) { return row.geometry == DotGeometry::kMatrix; }

// True for an instruction on windows that kModel, whose windows have 3 columns, does not have.
bool IsOfWideWindows(const DotInstruction& row) { return row.has_loops_only() && row.group > 3; }

// Returns the model whose products use `row` on machines with this instruction.
Graph ModelOf(const DotInstruction& row) {
  if (row.sum.is_float()) return Model(kFloatModel);
  if (IsOfWideWindows(row)) return Model(absl::Substitute(kWindowModel, row.group, row.group / 2));
  if (!IsOfMatrices(row)) return Model(kModel);
  return Model(absl::Substitute(kMatrixModel, row.a.ToString(), row.b.ToString(),
                                row.b.is_int() ? -101 : 201));
}

// Returns a machine with this form of the instruction and no wider one.
Target MachineOf(const DotInstruction& row, const DotForm& form) {
  const std::string base = !row.IsOfArch("x86_64")
                               ? (row.IsOfArch("aarch64")                   ? "aarch64"
                                  : row.IsOfArch("riscv64")                 ? "riscv64gcv"
                                  : absl::StrContains(form.features, "dsp") ? "cortex-m4"
                                                                            : "cortex-m55")
                           : form.lanes >= 16 ? "x86-64-v4"
                           : form.lanes == 8  ? "x86-64-v3"
                                              : "x86-64-v2";
  const std::string features =
      form.features.empty()
          ? ""
          : absl::StrCat(" -mattr=+", absl::StrReplaceAll(form.features, {{",", ",+"}}));
  const int bits = 32 * form.lanes;
  // The features of narrow forms imply wider vectors, so the width is limited.
  const std::string width =
      row.IsOfArch("riscv64") ? absl::StrCat(",+zvl", bits, "b -vector-bits=", bits)
      : row.IsOfArch("x86_64") && form.lanes < 16 ? absl::StrCat(" -vector-bits=", bits)
                                                  : "";
  const absl::StatusOr<Target> target = Target::Parse(base + features + width);
  EXPECT_TRUE(target.ok()) << target.status();
  return target.ok() ? *target : Target::Host();
}

CompileOptions OptionsOf(const Target& target, Codegen codegen, bool bfloat16_products = false) {
  CompileOptions options;
  options.schedule.bfloat16_products = bfloat16_products;
  options.module_name = "m";
  options.target = target;
  options.runtime = Runtime::kCrt;
  options.codegen = codegen;
  return options;
}

class RowOfInstructions : public testing::TestWithParam<DotInstruction> {};

TEST_P(RowOfInstructions, HasTheBitsOfPlainLoops) {
  const DotInstruction& row = GetParam();
  if (row.sum.is_float()) GTEST_SKIP() << "floats are rounded: FloatsAreWithinTheirBound";
  const Graph graph = ModelOf(row);
  const Tensor x =
      IsOfMatrices(row)
          ? RandomValues({{1, 10, 10, 64}, row.a}, 5, static_cast<double>(row.a.MinInt()),
                         static_cast<double>(row.a.MaxInt()))
      : IsOfWideWindows(row) ? RandomValues({{1, 20, 20, 16}, DType::Int(8)}, 5, -128, 127)
                             : RandomValues({{1, 16, 16, 16}, DType::Int(8)}, 5, -128, 127);
  const std::vector<Case> cases = {{"quantised", graph, {x}}};
  const std::vector<Outputs> plain = RunOnAllEngines(
      cases, {.target = Target::Host(), .naive = true, .passes = false, .interpret_only = true});
  for (const DotForm& form : row.forms) {
    SCOPED_TRACE(absl::StrCat(row.name, " of ", form.lanes, " with ", form.features));
    const std::vector<Outputs> outputs = RunOnAllEngines(cases, {.target = MachineOf(row, form)});
    EXPECT_EQ(Difference(outputs[0], plain[0], 0), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Instructions, RowOfInstructions, testing::ValuesIn(DotInstructions()),
                         [](const auto& info) {
                           return absl::StrReplaceAll(info.param.name, {{".", "_"}});
                         });

// Rounding a float32 to the 8 bits of a bfloat16 changes it by a factor of at most 1 ± 2^-8. Both
// factors of each product in the model are rounded, and nothing is subtracted. Sums of float32 are
// rounded to 24 bits: for 2048 products, about 2^-13 in all.
TEST_P(RowOfInstructions, FloatsAreWithinTheirBound) {
  const DotInstruction& row = GetParam();
  if (!row.sum.is_float()) GTEST_SKIP() << "integers have no error";
  const Graph graph = Model(kFloatModel);
  const Tensor x = RandomValues({{1, 16, 16, 32}, DType::Float(32)}, 5, 0, 1);
  const std::vector<Case> cases = {{"floats", graph, {x}}};
  const std::vector<Outputs> plain = RunOnAllEngines(
      cases, {.target = Target::Host(), .naive = true, .passes = false, .interpret_only = true});
  const double bound = std::pow(1 + 0x1p-8, 2 * kFloatProducts) - 1 + 0x1p-13;
  for (const DotForm& form : row.forms) {
    SCOPED_TRACE(absl::StrCat(row.name, " of ", form.lanes, " with ", form.features));
    const Target target = MachineOf(row, form);
    const std::vector<Outputs> allowed =
        RunOnAllEngines(cases, {.target = target, .bfloat16_products = true});
    EXPECT_EQ(Difference(allowed[0], plain[0], bound), "");
    EXPECT_NE(Difference(allowed[0], plain[0], 0x1p-12), "");
    const std::vector<Outputs> others = RunOnAllEngines(cases, {.target = target});
    EXPECT_EQ(Difference(others[0], plain[0], 0x1p-12), "");
  }
}

TEST(Instructions, AreInTheCode) {
  if (!HasCodegen(Codegen::kLlvm)) GTEST_SKIP() << "this compiler is built without LLVM";
  for (const DotInstruction& row : DotInstructions()) {
    const bool of_floats = row.sum.is_float();
    const Graph graph = ModelOf(row);
    for (const DotForm& form : row.forms) {
      SCOPED_TRACE(absl::StrCat(row.name, " of ", form.lanes, " with ", form.features));
      const CompileOptions options = OptionsOf(MachineOf(row, form), Codegen::kLlvm, of_floats);
      const absl::StatusOr<std::string> assembly = EmitStage(graph, options, "asm");
      ASSERT_TRUE(assembly.ok()) << assembly.status();
      // SSE mnemonics have no v, and no mnemonic has a `_`.
      const bool is_sse = row.IsOfArch("x86_64") && form.features.empty();
      const absl::string_view name = row.name.substr(is_sse ? 1 : 0, row.name.find('_'));
      EXPECT_TRUE(absl::StrContains(*assembly, name));
      if (of_floats) {
        const auto scheduled = EmitStage(graph, options, "scheduled");
        ASSERT_TRUE(scheduled.ok()) << scheduled.status();
        const std::vector<std::string> operators = absl::StrSplit(*scheduled, "operator ");
        EXPECT_EQ(absl::c_count_if(operators,
                                   [&](const std::string& text) {
                                     return absl::StrContains(text, absl::StrCat("dot<", row.name));
                                   }),
                  kFloatProducts);
        EXPECT_TRUE(absl::StrContains(*assembly, "vcvtneps2bf16") || form.lanes == 4 ||
                    !absl::StrContains(form.features, "avx512bf16"));
        const auto without =
            EmitStage(graph, OptionsOf(MachineOf(row, form), Codegen::kLlvm), "asm");
        ASSERT_TRUE(without.ok()) << without.status();
        EXPECT_FALSE(absl::StrContains(*without, row.name));
        EXPECT_FALSE(absl::StrContains(*without, "vcvtneps2bf16"));
      }
      for (const DotLoop& tile : row.loops) {
        // Each mnemonic must be in the assembly, with any registers.
        for (const absl::string_view line : absl::StrSplit(tile.step, '\n', absl::SkipEmpty())) {
          const std::string mnemonic = absl::StrCat(line.substr(0, line.find(' ')), "\t");
          EXPECT_TRUE(absl::StrContains(*assembly, mnemonic)) << mnemonic;
        }
      }
    }
  }
}

TEST(Instructions, AreInGeneratedC) {
  for (const DotInstruction& row : DotInstructions()) {
    const bool of_floats = row.sum.is_float();
    const Graph graph = ModelOf(row);
    for (const DotForm& form : row.forms) {
      SCOPED_TRACE(absl::StrCat(row.name, " of ", form.lanes, " with ", form.features));
      const CompileOptions options = OptionsOf(MachineOf(row, form), Codegen::kC, of_floats);
      const absl::StatusOr<std::string> c = EmitStage(graph, options, "c");
      ASSERT_TRUE(c.ok()) << c.status();
      for (const DotLoop& tile : row.loops) {
        const std::string name =
            absl::StrCat("kiln_dots_", row.name, "_", tile.rows, "x", tile.columns, "_",
                         tile.slide > 0 ? absl::StrCat(row.group, "_by_", tile.slide, "_") : "");
        EXPECT_TRUE(absl::StrContains(*c, name)) << name << *c;
      }
      if (!form.c.empty()) {
        const std::string name = IsOfMatrices(row)
                                     ? absl::StrCat("kiln_", row.name, "_2x")
                                     : absl::StrCat("kiln_dot_", row.name, "_", form.lanes);
        EXPECT_TRUE(absl::StrContains(*c, name));
        EXPECT_TRUE(absl::StrContains(*c, form.guard));
      } else if (row.loops.empty()) {
        EXPECT_TRUE(absl::StrContains(*c, row.c.body)) << row.name;
      }
    }
  }
}

// Requantization, depthwise sums and copied rows use intrinsics of Helium.
TEST(Instructions, VectorsOfHeliumAreInGeneratedC) {
  if (!codegen::HasCompiler("arm-none-eabi-gcc")) GTEST_SKIP() << "no arm-none-eabi-gcc";
  CompileOptions options = OptionsOf(*Target::Parse("cortex-m55"), Codegen::kC);
  options.interface = Interface::kC;
  options.calling_convention = CallingConvention::kUnpacked;
  const absl::StatusOr<std::string> c = EmitStage(Model(), options, "c");
  ASSERT_TRUE(c.ok()) << c.status();
  const std::vector<std::string> compiler = {"arm-none-eabi-gcc", "-std=c99", "-O2", "-mthumb",
                                             "-mfloat-abi=hard"};
  const auto assembly = [&](const char* core) {
    std::vector<std::string> command = compiler;
    command.push_back(core);
    const absl::StatusOr<std::string> text = codegen::AssemblyOfC(*c, command);
    EXPECT_TRUE(text.ok()) << text.status();
    return text.value_or("");
  };
  const std::string with_vectors = assembly("-mcpu=cortex-m55+nomve.fp");
  const std::string without = assembly("-mcpu=cortex-m55+nomve");
  for (const char* mnemonic :
       {"vrmulh.s32", "vstrb.32", "vldrb.s32", "vmul.i32", "vldrb.8", "vmladava.s8"}) {
    EXPECT_TRUE(absl::StrContains(with_vectors, mnemonic)) << mnemonic;
    EXPECT_FALSE(absl::StrContains(without, mnemonic)) << mnemonic;
  }
}

// Sums are converted to bytes by saturating instructions.
TEST(Instructions, LimitSums) {
  if (!HasCodegen(Codegen::kLlvm)) GTEST_SKIP() << "built without LLVM";
  for (const auto& [name, mnemonic] : {std::pair("x86-64-v4", "vpmovsdb"),
                                       {"x86-64-v3", "vpacksswb"},
                                       {"aarch64", "sqxtn"},
                                       {"cortex-m4", "ssat"}}) {
    CompileOptions options = OptionsOf(*Target::Parse(name), Codegen::kLlvm);
    const absl::StatusOr<std::string> scheduled = EmitStage(Model(), options, "scheduled");
    ASSERT_TRUE(scheduled.ok()) << scheduled.status();
    EXPECT_TRUE(absl::StrContains(*scheduled, "saturate_int8(")) << name;
    const absl::StatusOr<std::string> assembly = EmitStage(Model(), options, "asm");
    ASSERT_TRUE(assembly.ok()) << assembly.status();
    EXPECT_TRUE(absl::StrContains(*assembly, mnemonic)) << name;
  }
}

// The loops in assembly take nearly all registers. A compiler has fewer free registers without
// optimization.
TEST(Instructions, CompileAtEveryLevelOfOptimization) {
  if (!codegen::HasCompiler("arm-none-eabi-gcc")) GTEST_SKIP() << "no arm-none-eabi-gcc";
  CompileOptions options = OptionsOf(*Target::Parse("cortex-m4"), Codegen::kC);
  options.interface = Interface::kC;
  options.calling_convention = CallingConvention::kUnpacked;
  const absl::StatusOr<std::string> c = EmitStage(Model(), options, "c");
  ASSERT_TRUE(c.ok()) << c.status();
  for (const char* level : {"-O0", "-Og", "-O1", "-O2", "-O3", "-Os"}) {
    const absl::Status compiled = codegen::CheckC(
        *c, {"arm-none-eabi-gcc", "-std=c99", level, "-mcpu=cortex-m4", "-mthumb", "-w"});
    EXPECT_TRUE(compiled.ok()) << compiled;
  }
}

}  // namespace
}  // namespace kiln::equality
