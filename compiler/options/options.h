// SPDX-License-Identifier: Apache-2.0
// CompileOptions: what is asked of a compilation, its spellings on the command line, and which
// combinations are legal.
//
//   CompileOptions options{.module_name = "my_mod", .target = *Target::Parse("cortex-m4f")};
//   options.runtime = Runtime::kCrt;
//   KILN_RETURN_IF_ERROR(CheckOptions(options));
#ifndef KILN_COMPILER_OPTIONS_OPTIONS_H_
#define KILN_COMPILER_OPTIONS_OPTIONS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/external/generate.h"
#include "compiler/graph/model_origin.h"
#include "compiler/passes/pass.h"
#include "compiler/plan/plan.h"
#include "compiler/schedule/code_shape.h"
#include "compiler/schedule/schedule.h"
#include "compiler/target/target.h"

namespace kiln {

enum class Executor { kAot, kGraph };
enum class Runtime { kCpp, kCrt };
enum class Interface { kPacked, kC };
enum class CallingConvention { kPacked, kCPacked, kUnpacked };
enum class Codegen { kLlvm, kC };
enum class CConstants { kPacked, kElements };
// What the compiler may do to the numbers of a model beyond rounding sums in its own order, where that
// is faster: kBf16 is ScheduleOptions::bfloat16_products.
enum class Allowance { kBf16 };

struct CompileOptions {
  std::string module_name = "default";  // a C identifier
  Executor executor = Executor::kAot;
  Runtime runtime = Runtime::kCpp;
  Interface interface = Interface::kPacked;
  CallingConvention calling_convention = CallingConvention::kCPacked;
  Codegen codegen = Codegen::kLlvm;
  Target target;
  // Several targets of x86-64, lowest first, whose code is in one library that runs the last one
  // that the CPU has (compiler/target/cpu_variants.h). `target` is then the first of them. None:
  // the code is for `target` alone, and a CPU that lacks what it needs stops the program.
  std::vector<Target> cpu_variants;
  int threads = 0;  // of parallel loops; 0: as many as the runtime has, 1: loops are serial
  PassOptions passes;
  // C++ runtime: code to be linked into the program, which registers itself for Module::SystemLib,
  // instead of a shared object.
  bool system_lib = false;
  // The AOT executor's run function tells the C++ runtime when each operator function begins and
  // ends: its profile needs it. Costs a test of a pointer per call.
  bool profile = false;
  // The model ends with a status other than 0 where an index that it computes is outside of what it
  // reads or writes, instead of taking the nearest place; a constant one is an error here.
  bool check_indices = false;
  // C: large constants as bytes, which C compilers read fast, instead of element by element, which
  // every compiler for every machine takes.
  CConstants c_constants = CConstants::kPacked;
  // C runtime: memory that the application has, for tensors between operators, and sections for
  // constants. None: the module has static memory of its own, and ordinary read-only data.
  std::vector<PoolSpec> pools;
  std::vector<PoolSpec> constant_pools;
  // C interface: inputs and outputs lie in the pools, and are no arguments of the model's function.
  // Without pools of the application's there is one, "workspace", which it gives.
  bool workspace_io = false;
  // On a machine without an operating system: an output may reach into an input of its call, where
  // that makes the workspace smaller.
  bool overlap = true;
  // External code generators; one that comes earlier takes subgraphs first.
  std::vector<ExternalChoice> externals;
  ScheduleOptions schedule = {};
  // For the metadata; the code does not depend on it.
  ModelOrigin origin = {};
};

// The spelling on the command line of one of these enums, or of Optimize: "aot".
template <typename E>
const char* SpellingOf(E value);
// The value of one of these, a Codegen, CConstants, Optimize or Allowance. InvalidArgument, with the option
// and its spellings, for any other text.
template <typename E>
absl::StatusOr<E> ParseSpelling(absl::string_view text);
// Sets what these spellings of an Allowance say.
absl::Status Allow(const std::vector<std::string>& spellings, CompileOptions& options);
// "name:size[:alignment][:speed]": sizes in bytes, with K or M for 2^10 or 2^20 of them, or "any";
// `option` is what the error says.
absl::StatusOr<PoolSpec> ParsePool(absl::string_view option, absl::string_view text);

// The convention that a legal combination of the other options takes by itself: E2 of the
// requirements.
CallingConvention DefaultCallingConvention(Runtime runtime, Interface interface,
                                           const std::vector<ExternalChoice>& externals = {});
// InvalidArgument, with the reason and what to use instead, for a combination that is not legal,
// and for the name of a module, a pool or a device that generated code cannot have.
absl::Status CheckOptions(const CompileOptions& options);

// All that the user said, a line each; two compilations of a model with one text give the same code.
std::string OptionsText(const CompileOptions& options);

// InvalidArgument for options that CheckOptions finds legal, but not for a model that keeps its
// state itself.
absl::Status CheckKeepsState(const CompileOptions& options);

// The linker's name of what a loader looks up as `name`: of a system library, and for the C
// runtime, where a module shares a program with others, it begins with the module's prefix.
std::string LoaderSymbol(const CompileOptions& options, absl::string_view name);

// The machines as loops are made for them: the CPU variants or the target, with one core where
// loops are serial (the C runtime has one thread).
std::vector<Target> EffectiveTargets(const CompileOptions& options);

}  // namespace kiln

#endif  // KILN_COMPILER_OPTIONS_OPTIONS_H_
