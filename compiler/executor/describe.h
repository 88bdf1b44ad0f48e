// SPDX-License-Identifier: Apache-2.0
// The metadata of a compiled model, and its renderings that go into generated code.
#ifndef KILN_COMPILER_EXECUTOR_DESCRIBE_H_
#define KILN_COMPILER_EXECUTOR_DESCRIBE_H_

#include <string>
#include <vector>

#include "compiler/graph/state.h"
#include "compiler/loop/loop.h"
#include "compiler/plan/plan.h"
#include "metadata/metadata.pb.h"

namespace kiln {

struct ModuleInfo {
  std::string module_name;
  std::string executor;
  std::string runtime;
  std::string interface_api;
  std::string calling_convention;
  std::string target;
  std::string cpu;  // of the target, or of the lowest CPU variant
  std::vector<std::string> cpu_features;
  std::string main_function;  // the symbol of the model's function; empty for a graph
  std::vector<std::string> cpu_variants = {};
  proto::Origin origin = {};
};

// `variants` are the functions as each CPU variant has them, where there are several; the program's
// are those of one. A constant belongs to the functions that read it, in any of them.
proto::Metadata Describe(const Plan& plan, const loop::LoopProgram& program, const ModuleInfo& info,
                         const std::vector<std::vector<loop::Func>>& variants = {});

// Adds states that are inputs and outputs of the model's function, which the metadata has with their
// quantization.
void DescribeStatePairs(const std::vector<StatePair>& states, const Plan& plan,
                        const loop::LoopProgram& program, proto::Metadata& metadata);

// `struct Metadata` of kiln/metadata.h as const data, and the function `getter` that returns it: a
// packed one, or plain C.
void AddModelMetadata(const proto::Metadata& metadata, const std::string& getter, bool packed,
                      loop::LoopProgram& program);

// Whether the model's entry function takes the memory of the pool as a parameter: pools of the
// application's, and what the C++ runtime allocates. Others are static memory of the module's.
bool IsEntryParameter(const proto::Metadata& metadata, const proto::Pool& pool);
bool HasStaticWorkspace(const proto::Metadata& metadata);

// `struct TVMMetadata` of tvm/runtime/metadata_types.h and the packed function `getter` that
// returns it.
void AddTvmMetadata(const proto::Metadata& metadata, const std::string& getter,
                    loop::LoopProgram& program);

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_DESCRIBE_H_
