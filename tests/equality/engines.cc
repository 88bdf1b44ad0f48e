// SPDX-License-Identifier: Apache-2.0
#include "tests/equality/engines.h"

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "compiler/backend/backend.h"
#include "compiler/base/status.h"
#include "compiler/codegen/c/c_compiler.h"
#include "compiler/codegen/c/codegen_c.h"
#include "compiler/evaluate/evaluate.h"
#include "compiler/executor/aot.h"
#include "compiler/loop/interpret.h"
#include "compiler/loop/overlap.h"
#include "compiler/loop/passes.h"
#include "compiler/loop/round_trip.h"
#include "compiler/options/options.h"
#include "compiler/pipeline/compile.h"
#include "gtest/gtest.h"
#include "tests/equality/runs_here.h"
#ifdef KILN_WITH_LLVM
#include "compiler/codegen/llvm/codegen_llvm.h"
#include "compiler/codegen/llvm/jit.h"
#endif

namespace kiln::equality {
namespace {

struct Lowering {
  bool ok = false;
  std::string function;
  std::vector<TensorType> outputs;
  int64_t workspace_bytes = 0;
};

// Lowers a case into `program`, with function names that contain its number.
absl::StatusOr<Lowering> LowerInto(const Case& test, size_t number, const EngineOptions& options,
                                   loop::LoopProgram& program) {
  PassOptions passes;
  passes.thorough = true;
  if (!options.fuse) passes.disabled.push_back("fuse");
  if (!options.passes) {
    for (const Pass& pass : AllPasses()) {
      if (pass.optional) passes.disabled.push_back(pass.name);
    }
  }
  KILN_ASSIGN_OR_RETURN(
      const Graph graph,
      RunPasses(test.graph, {.target = options.target, .evaluate = EvaluateAllConstants}, passes));
  const std::string module = absl::StrCat("case", number);
  KILN_ASSIGN_OR_RETURN(
      Lowered lowered,
      Lower(graph, options.target,
            {.module_name = module,
             .schedule = {.tuning = options.tuning,
                          .naive = options.naive,
                          .bfloat16_products = options.bfloat16_products,
                          .passes = {.disabled = {}, .thorough = true, .after = nullptr}},
             .place_concatenations = options.place_concatenations && !options.naive}));
  PlanOptions planning;
  if (options.overlap) {
    planning.find_overlap = [&](const Call& call, int input, int output) {
      return loop::FindOverlap(*lowered.program.FindFunc(call.function), input, output,
                               planning.alignment_bytes);
    };
  }
  KILN_ASSIGN_OR_RETURN(const Plan plan, MakePlan(graph, lowered.calls, planning));
  MarkOverlaps(plan, lowered.program);
  Lowering result;
  result.function = absl::StrCat(module, "_run");
  KILN_ASSIGN_OR_RETURN(loop::Func main, RunModel(plan, lowered.program, result.function));
  for (loop::Func& func : lowered.program.funcs) func.exported = false;
  lowered.program.funcs.push_back(std::move(main));
  KILN_RETURN_IF_ERROR(loop::VerifyProgram(lowered.program));
  for (loop::Func& func : lowered.program.funcs) program.funcs.push_back(std::move(func));
  for (loop::Constant& constant : lowered.program.constants)
    program.constants.push_back(std::move(constant));
  for (ValueId output : graph.outputs) result.outputs.push_back(graph.type(output));
  result.workspace_bytes = plan.workspace_bytes();
  result.ok = true;
  return result;
}

using RunFunction =
    std::function<absl::Status(const std::string& function, const std::vector<void*>& args)>;

// Memory with the alignment that generated code expects.
struct AlignedBytes {
  explicit AlignedBytes(size_t size)
      : bytes(static_cast<char*>(std::aligned_alloc(64, (size + 63) / 64 * 64 + 64)), &std::free) {}
  std::unique_ptr<char, void (*)(void*)> bytes;
};

absl::StatusOr<Outputs> RunCase(const Case& test, const Lowering& lowering,
                                const RunFunction& run) {
  std::vector<AlignedBytes> memory;
  std::vector<void*> args;
  const auto add = [&](int64_t size, const char* from) {
    memory.emplace_back(static_cast<size_t>(size));
    char* bytes = memory.back().bytes.get();
    if (from != nullptr) {
      std::memcpy(bytes, from, static_cast<size_t>(size));
    } else {
      std::memset(bytes, 0xa5, static_cast<size_t>(size));
    }
    args.push_back(bytes);
  };
  for (const Tensor& input : test.inputs) add(input.type().num_bytes(), input.bytes().data());
  for (const TensorType& output : lowering.outputs) add(output.num_bytes(), nullptr);
  if (lowering.workspace_bytes > 0) add(lowering.workspace_bytes, nullptr);
  KILN_RETURN_IF_ERROR(run(lowering.function, args));
  Outputs outputs;
  for (size_t i = 0; i < lowering.outputs.size(); ++i) {
    const char* bytes = static_cast<const char*>(args[test.inputs.size() + i]);
    outputs.emplace_back(lowering.outputs[i],
                         std::string(bytes, static_cast<size_t>(lowering.outputs[i].num_bytes())));
  }
  return outputs;
}

absl::Status CallPointers(void* address, const std::vector<void*>& a) {
  if (address == nullptr) return absl::InternalError("no such function");
  int32_t status = -1;
  const auto call = [&]<size_t... i>(std::index_sequence<i...>) {
    using F = int32_t (*)(decltype((void)i, static_cast<void*>(nullptr))...);
    status = reinterpret_cast<F>(address)(a[i]...);
  };
  switch (a.size()) {
    case 1:
      call(std::make_index_sequence<1>());
      break;
    case 2:
      call(std::make_index_sequence<2>());
      break;
    case 3:
      call(std::make_index_sequence<3>());
      break;
    case 4:
      call(std::make_index_sequence<4>());
      break;
    case 5:
      call(std::make_index_sequence<5>());
      break;
    case 6:
      call(std::make_index_sequence<6>());
      break;
    case 7:
      call(std::make_index_sequence<7>());
      break;
    case 8:
      call(std::make_index_sequence<8>());
      break;
    case 9:
      call(std::make_index_sequence<9>());
      break;
    case 10:
      call(std::make_index_sequence<10>());
      break;
    default:
      return absl::InternalError("more arguments than the test passes");
  }
  return status == 0 ? absl::OkStatus() : absl::InternalError(absl::StrCat("status ", status));
}

// Returns "" or the position of the first difference in bits. NaNs are equal for any payload.
std::string BitDifference(const Outputs& a, const Outputs& b) { return Difference(a, b, 0); }

void Compare(const char* engine, const std::vector<Case>& cases,
             const std::vector<Lowering>& lowerings, const std::vector<Outputs>& reference,
             const RunFunction& run) {
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!lowerings[i].ok || reference[i].empty()) continue;
    const absl::StatusOr<Outputs> outputs = RunCase(cases[i], lowerings[i], run);
    if (!outputs.ok()) {
      ADD_FAILURE() << cases[i].name << " on " << engine << ": " << outputs.status();
      continue;
    }
    const std::string difference = BitDifference(reference[i], *outputs);
    EXPECT_EQ(difference, "") << cases[i].name << ": interpreter and " << engine << " differ";
  }
}

}  // namespace

std::string Difference(const Outputs& a, const Outputs& b, double tolerance) {
  if (a.size() != b.size()) return "numbers of outputs";
  for (size_t o = 0; o < a.size(); ++o) {
    if (a[o].type() != b[o].type())
      return absl::StrCat(a[o].type().ToString(), " and ", b[o].type().ToString());
    if (a[o].bytes() == b[o].bytes()) continue;
    const bool is_float = a[o].type().dtype.is_float();
    for (int64_t i = 0; i < a[o].type().num_elements(); ++i) {
      const size_t size = static_cast<size_t>(a[o].type().dtype.bytes());
      const size_t at = static_cast<size_t>(i) * size;
      if (a[o].bytes().compare(at, size, b[o].bytes(), at, size) == 0) continue;
      const double x = a[o].AsDouble(i), y = b[o].AsDouble(i);
      if (is_float && std::isnan(x) && std::isnan(y)) continue;
      if (is_float && tolerance > 0 && (x == y || std::abs(x - y) <= tolerance * (1 + std::abs(y))))
        continue;
      return absl::StrFormat("output %d at %d: %.17g and %.17g", o, i, x, y);
    }
  }
  return "";
}

std::vector<Outputs> RunOnAllEngines(const std::vector<Case>& cases, const EngineOptions& options) {
  loop::LoopProgram program;
  std::vector<Lowering> lowerings;
  for (size_t i = 0; i < cases.size(); ++i) {
    absl::StatusOr<Lowering> lowering = LowerInto(cases[i], i, options, program);
    if (!lowering.ok()) ADD_FAILURE() << cases[i].name << ": " << lowering.status();
    lowerings.push_back(lowering.ok() ? *lowering : Lowering());
  }
  CompileOptions compile;
  compile.target = options.target;
  compile.threads = 1;
  compile.schedule.passes.thorough = true;
  const absl::StatusOr<loop::LoopProgram> scalar_program = CProgram(program, compile);
  if (!scalar_program.ok()) {
    ADD_FAILURE() << scalar_program.status();
    return std::vector<Outputs>(cases.size());
  }
  const loop::LoopProgram& scalar = *scalar_program;
  EXPECT_EQ(loop::CheckRoundTrip(scalar), absl::OkStatus());
  loop::Interpreter interpreter(scalar);
  std::vector<Outputs> reference(cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!lowerings[i].ok) continue;
    absl::StatusOr<Outputs> outputs = RunCase(
        cases[i], lowerings[i], [&](const std::string& function, const std::vector<void*>& args) {
          return interpreter.Run(function, args);
        });
    if (!outputs.ok())
      ADD_FAILURE() << cases[i].name << " on the interpreter: " << outputs.status();
    if (outputs.ok()) reference[i] = *std::move(outputs);
  }
  if (options.interpret_only) return reference;

  const absl::StatusOr<std::string> source =
      codegen::EmitC(scalar, options.target, {.module_name = "cases"});
  EXPECT_TRUE(source.ok()) << source.status();
  if (source.ok()) {
    const auto library = codegen::LoadedC::Compile(
        *source, {"gcc", "-O1", "-march=native", "-fno-math-errno", "-w"});
    EXPECT_TRUE(library.ok()) << library.status();
    if (library.ok()) {
      Compare("C", cases, lowerings, reference,
              [&](const std::string& function, const std::vector<void*>& args) {
                return CallPointers((*library)->Symbol(function), args);
              });
    }
  }
#ifdef KILN_WITH_LLVM
  const absl::StatusOr<loop::LoopProgram> vectors = VectorProgram(program, compile);
  EXPECT_TRUE(vectors.ok()) << vectors.status();
  if (!vectors.ok()) return reference;
  EXPECT_EQ(loop::CheckRoundTrip(*vectors), absl::OkStatus());
  if (!RunsHere(options.target)) {
    const auto object = codegen::EmitObject(*vectors, options.target);
    EXPECT_TRUE(object.ok()) << object.status();
    return reference;
  }
  const auto jit = codegen::Jit::Create(*vectors, options.target);
  EXPECT_TRUE(jit.ok()) << jit.status();
  if (jit.ok()) {
    Compare("LLVM", cases, lowerings, reference,
            [&](const std::string& function, const std::vector<void*>& args) {
              return CallPointers((*jit)->Lookup(function), args);
            });
  }
#endif
  return reference;
}

Tensor RandomValues(const TensorType& type, uint32_t seed, double min, double max) {
  uint32_t state = seed * 2654435761u + 1;
  const auto next = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  std::string bytes;
  for (int64_t i = 0; i < type.num_elements(); ++i) {
    const double unit = static_cast<double>(next()) / 16777216.0;
    double value = min + unit * (max - min);
    if (type.dtype.is_bool()) value = unit < 0.5 ? 0 : 1;
    if (type.dtype.is_integral()) {
      value = std::floor(type.dtype.is_uint() ? unit * max * 4 : value * 4);
    }
    bytes += Tensor::Scalar(type.dtype, value).bytes();
  }
  return Tensor(type, std::move(bytes));
}

}  // namespace kiln::equality
