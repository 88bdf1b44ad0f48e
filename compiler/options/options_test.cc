// SPDX-License-Identifier: Apache-2.0
// Legal combinations of options, and the errors for the others. tests/cli covers the command line.
#include "compiler/options/options.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace kiln {
namespace {

using ::testing::HasSubstr;

CompileOptions For(const std::string& target, Runtime runtime) {
  CompileOptions options;
  options.target = Target::Parse(target).value();
  options.runtime = runtime;
  return options;
}

std::string ErrorOf(const CompileOptions& options) {
  return std::string(CheckOptions(options).message());
}

TEST(Options, TheCppRuntimeNeedsAnOperatingSystem) {
  for (const char* target : {"cortex-m4f", "cortex-m4f -cores=2", "riscv64-unknown-elf"}) {
    EXPECT_THAT(ErrorOf(For(target, Runtime::kCpp)),
                HasSubstr("the C++ runtime needs an operating system; use --runtime crt"))
        << target;
    EXPECT_EQ(ErrorOf(For(target, Runtime::kCrt)), "") << target;
  }
  EXPECT_EQ(ErrorOf(For("armv7-unknown-linux-gnueabihf -cores=1", Runtime::kCpp)), "");
}

TEST(Options, AnAllowanceHasAName) {
  CompileOptions options;
  EXPECT_TRUE(Allow({}, options).ok());
  EXPECT_FALSE(options.schedule.bfloat16_products);
  EXPECT_TRUE(Allow({"bf16", "bf16"}, options).ok());
  EXPECT_TRUE(options.schedule.bfloat16_products);
  EXPECT_EQ(Allow({"bf16", "fp8"}, options).message(), "--allow: found 'fp8', wanted one of bf16");
}

TEST(Options, GeneratedCHasNoVectorsOnMicrocontrollersButHeliums) {
  CompileOptions options = For("cortex-m55", Runtime::kCrt);
  for (const Codegen codegen : {Codegen::kLlvm, Codegen::kC}) {
    options.codegen = codegen;
    EXPECT_EQ(EffectiveTargets(options)[0].vector_bits, 128);
    EXPECT_EQ(EffectiveTargets(options)[0].by_c_compiler, codegen == Codegen::kC);
  }
  options.target = Target::Parse("riscv32imac -vector-bits=128").value();
  EXPECT_EQ(EffectiveTargets(options)[0].vector_bits, 0);
  options.target = Target::Parse("x86-64-v3").value();
  EXPECT_EQ(EffectiveTargets(options)[0].vector_bits, 256);
}

TEST(Options, TheCRuntimeHasOneThreadAndNoProfile) {
  CompileOptions options = For("x86-64", Runtime::kCrt);
  options.threads = 1;
  EXPECT_EQ(ErrorOf(options), "");
  options.threads = 4;
  EXPECT_EQ(ErrorOf(options),
            "--threads 4 and --runtime crt do not go together: the C runtime has one thread; leave "
            "--threads out, or use --runtime cpp");
  options.threads = 0;
  options.profile = true;
  EXPECT_EQ(ErrorOf(options),
            "--profile and --runtime crt do not go together: only the C++ runtime measures "
            "operators; leave --profile out, or use --runtime cpp");
}

TEST(Options, PoolsAreOfTheCRuntime) {
  CompileOptions options = For("x86-64", Runtime::kCpp);
  options.pools = {{.name = "sram"}};
  EXPECT_THAT(ErrorOf(options), HasSubstr("--pool and --runtime cpp do not go together: the C++ "
                                          "runtime runs on one workspace"));
  options.constant_pools = std::exchange(options.pools, {});
  EXPECT_THAT(ErrorOf(options), HasSubstr("--constant-pool and --runtime cpp do not go together: "
                                          "no linker script places"));
}

TEST(Options, WorkspaceIoIsOfTheCInterface) {
  CompileOptions options = For("x86-64", Runtime::kCpp);
  options.workspace_io = true;
  EXPECT_EQ(ErrorOf(options),
            "--workspace-io and --runtime cpp do not go together: the C++ runtime takes inputs and "
            "outputs as arrays of the caller's; use --runtime crt --interface c, or leave "
            "--workspace-io out");
  options.runtime = Runtime::kCrt;
  EXPECT_EQ(ErrorOf(options),
            "--workspace-io and --interface packed do not go together: a packed function takes "
            "inputs and outputs as arguments; use --interface c, or leave --workspace-io out");
  options.executor = Executor::kGraph;
  EXPECT_EQ(ErrorOf(options),
            "--workspace-io and --executor graph do not go together: the graph executor allocates "
            "inputs and outputs itself; use --executor aot --runtime crt --interface c, or leave "
            "--workspace-io out");
  options.executor = Executor::kAot;
  options.interface = Interface::kC;
  options.calling_convention = CallingConvention::kUnpacked;
  EXPECT_EQ(ErrorOf(options), "");
}

}  // namespace
}  // namespace kiln
