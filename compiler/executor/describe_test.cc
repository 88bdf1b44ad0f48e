// SPDX-License-Identifier: Apache-2.0
// Tests of Describe: the metadata of a module.
#include "compiler/executor/describe.h"

#include <vector>

#include "compiler/executor/testing/sample.h"
#include "gtest/gtest.h"
#include "kiln/metadata.h"

namespace kiln {
namespace {

using loop::Convention;

proto::Metadata Sample() {
  return Describe(SamplePlan(), SampleProgram(Convention::kUnpacked), SampleInfo());
}

TEST(Describe, TheModel) {
  const proto::Metadata metadata = Sample();
  EXPECT_EQ(metadata.version(), KILN_METADATA_VERSION);
  EXPECT_EQ(metadata.module_name(), "mod");
  EXPECT_EQ(metadata.executor(), "aot");
  EXPECT_EQ(metadata.runtime(), "cpp");
  EXPECT_EQ(metadata.interface_api(), "packed");
  EXPECT_EQ(metadata.calling_convention(), "cpacked");
  EXPECT_EQ(metadata.target(), "x86-64");
  ASSERT_EQ(metadata.devices_size(), 1);
  EXPECT_EQ(metadata.devices(0).device_type(), kDLCPU);
  const proto::Function& main = metadata.functions(0);
  EXPECT_EQ(main.name(), "tvmgen_mod___tvm_main__");
  EXPECT_EQ(main.num_inputs(), 2);
  EXPECT_EQ(main.num_outputs(), 2);
  EXPECT_EQ(main.workspace_size_bytes(), 192);
  EXPECT_EQ(main.io_size_bytes(), 16 + 6 + 16 + 4);
  EXPECT_EQ(main.constant_size_bytes(), 24 + 8);
  EXPECT_EQ(main.parameters(1).relay_name_hint(), "0");
  EXPECT_EQ(main.parameters(1).dtype(), "int8");
  EXPECT_EQ(main.parameters(1).size_bytes(), 6);
  EXPECT_EQ(main.parameters(3).shape_size(), 0);
}

TEST(Describe, TheOperators) {
  const proto::Metadata metadata = Sample();
  ASSERT_EQ(metadata.functions_size(), 4);  // a view has no function
  const proto::Function& f = metadata.functions(1);
  EXPECT_EQ(f.name(), "tvmgen_mod_f");
  EXPECT_EQ(f.op_names(), "nn.conv2d nn.relu");
  EXPECT_EQ(f.source(), "conv1 relu1");
  EXPECT_EQ(f.schedule(), "contraction");
  EXPECT_EQ(f.workspace_size_bytes(), 100);
  EXPECT_EQ(f.constant_size_bytes(), 0);
  // Constants belong to the functions that read them, regardless of their names.
  EXPECT_EQ(metadata.functions(2).constant_size_bytes(), 24);
  EXPECT_EQ(metadata.functions(3).constant_size_bytes(), 8);
}

TEST(Describe, ConstantsOfSeveralFunctions) {
  loop::LoopProgram program = SampleProgram(Convention::kUnpacked);
  const loop::Buffer shared = program.constants[0].buffer;
  const loop::Stmt reads_shared =
      loop::MakeStore(program.funcs[0].params.back(), {loop::Expr(0), loop::Expr(0)},
                      loop::MakeLoad(shared, {loop::Expr(5)}));
  program.funcs[0].body = reads_shared;
  program.funcs[1].body = {};
  program.funcs[2].body = loop::MakeBlock({program.funcs[2].body, reads_shared});
  const proto::Metadata metadata = Describe(SamplePlan(), program, SampleInfo());
  EXPECT_EQ(metadata.functions(0).constant_size_bytes(), 24 + 8);
  EXPECT_EQ(metadata.functions(1).constant_size_bytes(), 24);
  EXPECT_EQ(metadata.functions(2).constant_size_bytes(), 0);
  EXPECT_EQ(metadata.functions(3).constant_size_bytes(), 24 + 8);
  const proto::Pool& constants = metadata.pools(metadata.pools_size() - 1);
  ASSERT_EQ(constants.buffers_size(), 2);
  EXPECT_EQ(constants.buffers(0).first_call(), 0);
  EXPECT_EQ(constants.buffers(0).last_call(), 2);
}

TEST(Describe, ConstantsThatAnotherCpuVariantReads) {
  loop::LoopProgram program = SampleProgram(Convention::kUnpacked);
  const std::vector<std::vector<loop::Func>> variants = {program.funcs};
  for (loop::Func& func : program.funcs) func.body = {};
  const auto bytes_of_g = [&](const std::vector<std::vector<loop::Func>>& of_variants) {
    return Describe(SamplePlan(), program, SampleInfo(), of_variants)
        .functions(2)
        .constant_size_bytes();
  };
  EXPECT_EQ(bytes_of_g({}), 0);
  EXPECT_EQ(bytes_of_g(variants), 24);
}

TEST(Describe, TheCostOfOperatorsAndOfAllCalls) {
  Plan plan = SamplePlan();
  const auto describe = [&] {
    return Describe(plan, SampleProgram(Convention::kUnpacked), SampleInfo());
  };
  proto::Metadata metadata = describe();
  EXPECT_EQ(metadata.functions(1).cost().operations(), 1000);
  EXPECT_EQ(metadata.functions(1).cost().accessed_bytes(), 70);
  // The cost of some calls is unknown.
  EXPECT_FALSE(metadata.functions(2).has_cost());
  EXPECT_FALSE(metadata.functions(0).has_cost());
  // A view costs nothing. A function that is called twice counts twice.
  plan.calls[2] = plan.calls[3] = plan.calls[0];
  metadata = describe();
  EXPECT_EQ(metadata.functions(0).cost().operations(), 3000);
  EXPECT_EQ(metadata.functions(0).cost().accessed_bytes(), 210);
}

TEST(Describe, ThePlan) {
  const proto::Metadata metadata = Sample();
  ASSERT_EQ(metadata.pools_size(), 2);
  const proto::Pool& pool = metadata.pools(0);
  EXPECT_EQ(pool.kind(), proto::Pool::WORKSPACE);
  EXPECT_EQ(pool.size_bytes(), 192);
  EXPECT_EQ(pool.alignment_bytes(), 64);
  EXPECT_EQ(pool.lower_bound_bytes(), 192);
  ASSERT_EQ(pool.buffers_size(), 2);
  EXPECT_EQ(pool.buffers(0).name(), "t");
  EXPECT_EQ(pool.buffers(0).offset_bytes(), 128);
  EXPECT_EQ(pool.buffers(0).size_bytes(), 16);
  // Calls are numbered without the views of the plan: call k is functions[k + 1].
  EXPECT_EQ(pool.buffers(0).first_call(), 0);
  EXPECT_EQ(pool.buffers(0).last_call(), 2);
  EXPECT_EQ(pool.buffers(1).name(), "scratch0");
  EXPECT_EQ(pool.buffers(1).last_call(), 0);
  EXPECT_FALSE(pool.external());
  // Constants, each live while its function runs.
  const proto::Pool& constants = metadata.pools(1);
  EXPECT_EQ(constants.kind(), proto::Pool::CONSTANT);
  EXPECT_EQ(constants.size_bytes(), 32);
  ASSERT_EQ(constants.buffers_size(), 2);
  EXPECT_EQ(constants.buffers(0).name(), "tvmgen_mod_g_w_0");
  EXPECT_EQ(constants.buffers(1).offset_bytes(), 24);
  EXPECT_EQ(constants.buffers(1).first_call(), 2);
  EXPECT_EQ(constants.buffers(1).last_call(), 2);
}

TEST(Describe, RuntimeNamesOfParametersAreUnique) {
  Plan plan = SamplePlan();
  plan.buffers[0].name = "in-put";
  plan.buffers[1].name = "in_put";
  const proto::Metadata metadata =
      Describe(plan, SampleProgram(Convention::kUnpacked), SampleInfo());
  EXPECT_EQ(metadata.functions(0).parameters(0).tir_name_hint(), "in_put");
  EXPECT_EQ(metadata.functions(0).parameters(1).tir_name_hint(), "in_put_1");
  EXPECT_EQ(metadata.functions(0).parameters(1).relay_name_hint(), "in_put");
  // Names need not be identifiers.
  plan.buffers[0].name = "0";
  EXPECT_EQ(Describe(plan, SampleProgram(Convention::kUnpacked), SampleInfo())
                .functions(0)
                .parameters(0)
                .tir_name_hint(),
            "0");
}

}  // namespace
}  // namespace kiln
