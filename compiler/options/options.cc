// SPDX-License-Identifier: Apache-2.0
#include "compiler/options/options.h"

#include <set>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/base/identifier.h"
#include "compiler/base/module_prefix.h"
#include "compiler/base/status.h"
#include "compiler/target/cpu_variants.h"
#include "kiln/model.h"
#include "metadata/member_name.h"

namespace kiln {
namespace {

constexpr size_t kMaxModuleName = 128;  // the room for a name in TVMAotExecutor
constexpr size_t kMaxPools = TVM_MAX_WORKSPACES;
constexpr int64_t kMaxPoolBytes = int64_t{1} << 40;
constexpr int64_t kMaxPoolAlignment = 4096;
constexpr double kMaxPoolSpeed = 1e9;
constexpr int kMaxThreads = 1024;  // ThreadPool::kMaxThreads of the C++ runtime

absl::Status CheckModuleName(const std::string& name) {
  if (IsIdentifier(name) && name.size() <= kMaxModuleName) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "--module-name: found '", name,
      "', wanted a C identifier (letters, digits, '_', not beginning with a digit) of at most ",
      kMaxModuleName, " characters"));
}

absl::Status Illegal(absl::string_view what, absl::string_view reason, absl::string_view instead) {
  return absl::InvalidArgumentError(
      absl::StrCat(what, " do not go together: ", reason, "; ", instead));
}

// InvalidArgument if the name of a pool or a device cannot appear unchanged in generated C and C++.
absl::Status CheckMemberName(absl::string_view option, absl::string_view name) {
  const std::string member = MemberName(name);
  // Every struct of a pool has a constant kSizeBytes.
  if (member == name && name != "kSizeBytes") return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      option, ": found the name '", name,
      "', which C or C++ reserves or the generated header uses itself; wanted another identifier"));
}

absl::Status CheckPools(const CompileOptions& o) {
  const bool pools = !o.pools.empty(), constant_pools = !o.constant_pools.empty();
  if (!pools && !constant_pools) return absl::OkStatus();
  if (pools && o.runtime == Runtime::kCpp) {
    return Illegal("--pool and --runtime cpp",
                   "the C++ runtime runs on one workspace, the caller's or its own",
                   "leave --pool out, or use --runtime crt");
  }
  if (constant_pools && o.runtime == Runtime::kCpp) {
    return Illegal("--constant-pool and --runtime cpp",
                   "no linker script places the sections of a shared object or of a program with "
                   "an operating system",
                   "leave --constant-pool out, or use --runtime crt");
  }
  if (pools && o.executor == Executor::kGraph) {
    return Illegal("--pool and --executor graph",
                   "the graph executor takes its memory in one piece",
                   "leave --pool out, or use --executor aot");
  }
  if (o.pools.size() > kMaxPools) {
    return absl::InvalidArgumentError(
        absl::StrCat("--pool: found ", o.pools.size(), " pools, wanted at most ", kMaxPools));
  }
  for (const PoolSpec& pool : o.pools) {
    KILN_RETURN_IF_ERROR(CheckMemberName("--pool", pool.name));
  }
  std::set<std::string> names;
  for (const auto* list : {&o.pools, &o.constant_pools}) {
    for (const PoolSpec& pool : *list) {
      if (!names.insert(absl::AsciiStrToUpper(pool.name)).second) {
        return absl::InvalidArgumentError(
            absl::StrCat("--pool: two pools have the name '", pool.name, "'"));
      }
      if (pool.alignment_bytes > 0 && pool.alignment_bytes < o.target.buffer_alignment()) {
        return absl::InvalidArgumentError(absl::StrCat(
            "--pool ", pool.name, ": found the alignment ", pool.alignment_bytes,
            ", wanted at least ", o.target.buffer_alignment(), " for the target ", o.target.name));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckWorkspaceIo(const CompileOptions& o) {
  if (!o.workspace_io) return absl::OkStatus();
  if (o.executor == Executor::kGraph) {
    return Illegal("--workspace-io and --executor graph",
                   "the graph executor allocates inputs and outputs itself",
                   "use --executor aot --runtime crt --interface c, or leave --workspace-io out");
  }
  if (o.runtime == Runtime::kCpp) {
    return Illegal("--workspace-io and --runtime cpp",
                   "the C++ runtime takes inputs and outputs as arrays of the caller's",
                   "use --runtime crt --interface c, or leave --workspace-io out");
  }
  if (o.interface == Interface::kPacked) {
    return Illegal("--workspace-io and --interface packed",
                   "a packed function takes inputs and outputs as arguments",
                   "use --interface c, or leave --workspace-io out");
  }
  return absl::OkStatus();
}

absl::Status CheckVariants(const CompileOptions& o) {
  if (o.cpu_variants.empty()) return absl::OkStatus();
  KILN_RETURN_IF_ERROR(CheckCpuVariants(o.cpu_variants));
  if (o.target.name == o.cpu_variants[0].name) return absl::OkStatus();
  return Illegal(absl::StrCat("--cpu-variants and --target ", o.target.name),
                 "the variants are the targets, the lowest first", "leave one of the two out");
}

// Parses a number of bytes with an optional suffix: K for 2^10 bytes, M for 2^20.
bool ParseBytes(absl::string_view text, int64_t* bytes) {
  int64_t unit = 1;
  if (absl::ConsumeSuffix(&text, "K")) unit = int64_t{1} << 10;
  if (unit == 1 && absl::ConsumeSuffix(&text, "M")) unit = int64_t{1} << 20;
  if (!absl::SimpleAtoi(text, bytes) || *bytes <= 0 || *bytes > kMaxPoolBytes / unit) return false;
  *bytes *= unit;
  return true;
}

}  // namespace

absl::StatusOr<PoolSpec> ParsePool(absl::string_view option, absl::string_view text) {
  const auto error = [&](absl::string_view what) {
    return absl::InvalidArgumentError(
        absl::StrCat("--", option, ": found '", text, "', ", what,
                     "; wanted name:size[:alignment][:speed], such as sram:64K:8:4"));
  };
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  if (parts.size() < 2 || parts.size() > 4) {
    return error(absl::StrCat("which has ", parts.size(), " parts"));
  }
  PoolSpec pool{.name = parts[0]};
  if (!IsIdentifier(pool.name)) return error("whose name is no C identifier");
  if (parts[1] != "any" && !ParseBytes(parts[1], &pool.limit_bytes)) {
    return error("whose size is neither a number of bytes nor 'any'");
  }
  if (parts.size() > 2 && !parts[2].empty()) {
    const bool ok = absl::SimpleAtoi(parts[2], &pool.alignment_bytes) && pool.alignment_bytes > 0 &&
                    pool.alignment_bytes <= kMaxPoolAlignment &&
                    (pool.alignment_bytes & (pool.alignment_bytes - 1)) == 0;
    if (!ok) {
      return error(absl::StrCat("whose alignment is no power of two up to ", kMaxPoolAlignment));
    }
  }
  if (parts.size() > 3 && (!absl::SimpleAtod(parts[3], &pool.speed) || !(pool.speed > 0) ||
                           !(pool.speed < kMaxPoolSpeed))) {
    return error("whose speed is no positive number");
  }
  return pool;
}

CallingConvention DefaultCallingConvention(Runtime runtime, Interface interface,
                                           const std::vector<ExternalChoice>& externals) {
  const bool linkable = absl::c_all_of(
      externals, [](const ExternalChoice& choice) { return choice.codegen->linkable; });
  if (runtime == Runtime::kCpp && !linkable) return CallingConvention::kPacked;
  return runtime == Runtime::kCrt && interface == Interface::kC ? CallingConvention::kUnpacked
                                                                : CallingConvention::kCPacked;
}

absl::Status CheckOptions(const CompileOptions& o) {
  KILN_RETURN_IF_ERROR(CheckModuleName(o.module_name));
  if (o.threads < 0 || o.threads > kMaxThreads) {
    return absl::InvalidArgumentError(
        absl::StrCat("--threads: found ", o.threads, ", wanted 0 to ", kMaxThreads));
  }
  if (o.executor == Executor::kGraph && o.interface == Interface::kC) {
    return Illegal("--executor graph and --interface c",
                   "the graph executor calls operators through tables",
                   "use --executor aot, or --interface packed");
  }
  if (o.runtime == Runtime::kCpp && o.interface == Interface::kC) {
    return Illegal("--runtime cpp and --interface c",
                   "the C++ runtime calls a model by packed functions",
                   "use --runtime crt, or --interface packed");
  }
  if (o.runtime == Runtime::kCpp && o.calling_convention == CallingConvention::kUnpacked) {
    return Illegal("--runtime cpp and --calling-convention unpacked",
                   "the C++ runtime calls operator functions by packed functions",
                   "use --calling-convention cpacked");
  }
  if (o.interface == Interface::kC && o.calling_convention != CallingConvention::kUnpacked) {
    return Illegal("--interface c and a packed calling convention",
                   "the C interface links no packed functions",
                   "use --calling-convention unpacked");
  }
  if (o.executor == Executor::kGraph && o.calling_convention == CallingConvention::kUnpacked) {
    return Illegal("--executor graph and --calling-convention unpacked",
                   "the graph executor calls operators by packed functions",
                   "use --calling-convention cpacked");
  }
  if (o.runtime == Runtime::kCpp && o.target.is_baremetal()) {
    return Illegal(absl::StrCat("--runtime cpp and --target ", o.target.name),
                   "the C++ runtime needs an operating system", "use --runtime crt");
  }
  for (const char* system : {"windows", "darwin", "macos", "apple", "mingw", "cygwin"}) {
    if (o.runtime == Runtime::kCpp && absl::StrContains(o.target.triple, system)) {
      return Illegal(absl::StrCat("--runtime cpp and --target ", o.target.name),
                     "the library for the C++ runtime is ELF, for Linux", "use --runtime crt");
    }
  }
  if (o.system_lib && o.runtime != Runtime::kCpp) {
    return Illegal("--system-lib and --runtime crt", "the C runtime finds a model by the linker",
                   "leave --system-lib out, or use --runtime cpp");
  }
  if (o.profile && o.executor == Executor::kGraph) {
    return Illegal("--profile and --executor graph", "the graph executor is profiled as it is",
                   "leave --profile out");
  }
  if (o.profile && o.runtime == Runtime::kCrt) {
    return Illegal("--profile and --runtime crt", "only the C++ runtime measures operators",
                   "leave --profile out, or use --runtime cpp");
  }
  if (o.threads > 1 && o.runtime == Runtime::kCrt) {
    return Illegal(absl::StrCat("--threads ", o.threads, " and --runtime crt"),
                   "the C runtime has one thread", "leave --threads out, or use --runtime cpp");
  }
  KILN_RETURN_IF_ERROR(CheckPools(o));
  KILN_RETURN_IF_ERROR(CheckWorkspaceIo(o));
  KILN_RETURN_IF_ERROR(CheckVariants(o));
  const bool devices =
      absl::c_any_of(o.externals, [](const ExternalChoice& e) { return !e.device.empty(); });
  if (devices && o.interface != Interface::kC) {
    return Illegal("--external with a device and --interface packed",
                   "the contexts of devices are parameters of the plain C function",
                   "use --runtime crt --interface c, or leave the device out");
  }
  for (const ExternalChoice& external : o.externals) {
    if (!external.device.empty()) {
      KILN_RETURN_IF_ERROR(CheckMemberName("--external with a device", external.device));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckKeepsState(const CompileOptions& o) {
  for (const PoolSpec& pool : o.pools) {
    if (!absl::EqualsIgnoreCase(pool.name, "state")) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--pool: found the name '", pool.name,
                     "', which the memory of the model's state has; wanted another name"));
  }
  if (o.pools.size() < kMaxPools) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--pool: found ", o.pools.size(),
                                                 " pools, wanted at most ", kMaxPools - 1,
                                                 " beside the memory of the model's state"));
}

bool TakesScratchFromRuntime(const CompileOptions& options) {
  return options.executor == Executor::kGraph;
}

std::string LoaderSymbol(const CompileOptions& options, absl::string_view name) {
  const bool shared = options.system_lib || options.runtime == Runtime::kCrt;
  return shared ? absl::StrCat(ModulePrefix(options.module_name), "_", name) : std::string(name);
}

std::vector<Target> EffectiveTargets(const CompileOptions& options) {
  std::vector<Target> targets = options.cpu_variants;
  if (targets.empty()) targets.push_back(options.target);
  for (Target& target : targets) {
    if (options.runtime == Runtime::kCrt || options.threads == 1) target.cores = 1;
    target.by_c_compiler = options.codegen == Codegen::kC;
    // Compilers for microcontrollers vectorize few loops, and keep arrays of lanes in memory.
    // Helium is an exception because it has intrinsics.
    const bool has_intrinsics = target.HasFeature("mve");
    if (target.by_c_compiler && target.is_baremetal() && !has_intrinsics) target.vector_bits = 0;
  }
  return targets;
}

}  // namespace kiln
