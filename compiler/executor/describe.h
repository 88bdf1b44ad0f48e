// SPDX-License-Identifier: Apache-2.0
// The metadata of a compiled model, and its representations in generated code.
#ifndef KILN_COMPILER_EXECUTOR_DESCRIBE_H_
#define KILN_COMPILER_EXECUTOR_DESCRIBE_H_

#include <string>
#include <vector>

#include "compiler/graph/state.h"
#include "compiler/loop/loop.h"
#include "compiler/plan/plan.h"
#include "metadata/metadata.pb.h"

namespace kiln {

// DLDeviceType of memory of the CPU.
inline constexpr int kCpuDevice = 1;

struct ModuleInfo {
  std::string module_name;
  std::string executor;
  std::string runtime;
  std::string interface_api;
  std::string calling_convention;
  std::string target;
  std::string cpu;  // processor of the target, or of the lowest CPU variant
  std::vector<std::string> cpu_features;
  std::string main_function;  // symbol of the model's function; empty for the graph executor
  std::vector<std::string> cpu_variants = {};
  proto::Origin origin = {};
};

// Returns the metadata. `variants` has the functions of each CPU variant if there are several;
// `program` has the functions of one. A constant belongs to the functions that read it in any
// variant.
proto::Metadata Describe(const Plan& plan, const loop::LoopProgram& program, const ModuleInfo& info,
                         const std::vector<std::vector<loop::Func>>& variants = {});

// The first call of each operator function, in the order of the calls: the order in which the
// metadata describes the functions, after that of the model.
std::vector<const PlanCall*> FirstCalls(const Plan& plan);

// Adds the states that are inputs and outputs of the model's function. The metadata must already
// have their quantization.
void DescribeStatePairs(const std::vector<StatePair>& states, const Plan& plan,
                        const loop::LoopProgram& program, proto::Metadata& metadata);

// Adds `struct Metadata` of kiln/metadata.h as constant data, and the function `getter` that
// returns it. `getter` is a packed function or plain C.
void AddModelMetadata(const proto::Metadata& metadata, const std::string& getter, bool packed,
                      loop::LoopProgram& program);

// Adds `struct TVMMetadata` of tvm/runtime/metadata_types.h, and the packed function `getter` that
// returns it.
void AddTvmMetadata(const proto::Metadata& metadata, const std::string& getter,
                    loop::LoopProgram& program);

}  // namespace kiln

#endif  // KILN_COMPILER_EXECUTOR_DESCRIBE_H_
