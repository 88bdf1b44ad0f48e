// SPDX-License-Identifier: Apache-2.0
// CompileOptions: the options of a compilation, their spellings on the command line, and the legal
// combinations.
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
// Changes to a model's numbers that the user permits for speed, beyond rounding sums in another
// order. kBf16 sets ScheduleOptions::bfloat16_products.
enum class Allowance { kBf16 };

struct CompileOptions {
  std::string module_name = "default";  // a C identifier
  Executor executor = Executor::kAot;
  Runtime runtime = Runtime::kCpp;
  Interface interface = Interface::kPacked;
  CallingConvention calling_convention = CallingConvention::kCPacked;
  Codegen codegen = Codegen::kLlvm;
  Target target;
  // Several x86-64 targets, lowest first, whose code is in one library. The library runs the last
  // variant that the CPU supports (compiler/target/cpu_variants.h). `target` is then the first of
  // them. Empty: all code is for `target`, and a CPU that lacks one of its features stops the
  // program.
  std::vector<Target> cpu_variants;
  int threads = 0;  // for parallel loops; 0: as many as the runtime has, 1: serial loops
  PassOptions passes;
  // C++ runtime: emits code to link into the program, which registers itself for Module::SystemLib,
  // instead of a shared object.
  bool system_lib = false;
  // The AOT executor's run function notifies the C++ runtime when each operator function begins and
  // ends, as profiles need it. Costs a test of a pointer per call.
  bool profile = false;
  // If a computed index is out of bounds, the model returns a status other than 0 instead of
  // clamping the index. A constant index out of bounds is a compile error.
  bool check_indices = false;
  // C code generator: kPacked writes large constants as bytes, which C compilers read fast.
  // kElements writes them element by element, which every compiler for every machine accepts.
  CConstants c_constants = CConstants::kPacked;
  // C runtime: memory of the application for tensors between operators, and sections for constants.
  // If empty, the module has static memory and ordinary read-only data.
  std::vector<PoolSpec> pools;
  std::vector<PoolSpec> constant_pools;
  // C interface: inputs and outputs lie in the pools instead of being arguments of the model's
  // function. If `pools` is empty, the application provides one pool, "workspace".
  bool workspace_io = false;
  // Bare-metal targets: an output may overlap an input of its call if that makes the workspace
  // smaller.
  bool overlap = true;
  // External code generators. An earlier one takes subgraphs before later ones.
  std::vector<ExternalChoice> externals;
  ScheduleOptions schedule = {};
  // Recorded in the metadata; the code does not depend on it.
  ModelOrigin origin = {};
};

// The spelling of an enumerator of these enums, or of Optimize, on the command line: "aot".
template <typename E>
const char* SpellingOf(E value);
// Parses the spelling of one of these enums, or of Optimize. InvalidArgument, with the option and
// its spellings, for any other text.
template <typename E>
absl::StatusOr<E> ParseSpelling(absl::string_view text);
// Sets the options that the spellings of Allowance permit.
absl::Status Allow(const std::vector<std::string>& spellings, CompileOptions& options);
// Parses "name:size[:alignment][:speed]". Sizes are in bytes, with K for 2^10 or M for 2^20 bytes,
// or "any". `option` is the name of the option in errors.
absl::StatusOr<PoolSpec> ParsePool(absl::string_view option, absl::string_view text);

// The default calling convention for a legal combination of the other options (requirement E2).
CallingConvention DefaultCallingConvention(Runtime runtime, Interface interface,
                                           const std::vector<ExternalChoice>& externals = {});
// InvalidArgument for an illegal combination, with the reason and an alternative, and for the name
// of a module, pool or device that generated code cannot have.
absl::Status CheckOptions(const CompileOptions& options);

// All options of the user, one per line. Two compilations of a model with equal texts give equal
// code.
std::string OptionsText(const CompileOptions& options);

// InvalidArgument for options that CheckOptions accepts but that a model which keeps its own state
// does not support.
absl::Status CheckKeepsState(const CompileOptions& options);

// Operator functions take their scratch memory from the runtime: the ABI of the graph executor has
// no argument for it.
bool TakesScratchFromRuntime(const CompileOptions& options);

// The linker's name of the symbol that a loader looks up as `name`. System libraries and modules
// for the C runtime share a program with others, so their symbols begin with the module's prefix.
std::string LoaderSymbol(const CompileOptions& options, absl::string_view name);

// The targets that loops are generated for: the CPU variants, or the target. They have one core if
// loops are serial, as for the C runtime, which has one thread. They have no vectors if a C
// compiler for bare metal would not make any.
std::vector<Target> EffectiveTargets(const CompileOptions& options);

}  // namespace kiln

#endif  // KILN_COMPILER_OPTIONS_OPTIONS_H_
