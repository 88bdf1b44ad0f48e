// SPDX-License-Identifier: Apache-2.0
#include "compiler/target/names.h"

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "compiler/base/nearest.h"
#include "compiler/target/names/lists.h"

namespace kiln {
namespace {

constexpr absl::string_view kArmVersions =
    "v4,v4t,v5t,v5te,v5tej,v6,v6k,v6kz,v6l,v6m,v6t2,v7,v7a,v7em,v7k,v7l,v7m,v7r,v7s,v7ve,v8,v8a,"
    "v8l,v8r,"
    "v8m.base,v8m.main,v8.1a,v8.1m.main,v8.2a,v8.3a,v8.4a,v8.5a,v8.6a,v8.7a,v8.8a,v8.9a,v9a,v9.1a,"
    "v9.2a,"
    "v9.3a,v9.4a,v9.5a";

constexpr absl::string_view kOperatingSystems =
    "aix,android,cygwin,darwin,dragonfly,driverkit,freebsd,fuchsia,haiku,hurd,ios,kfreebsd,linux,"
    "macos,"
    "macosx,mingw,netbsd,ohos,openbsd,serenity,solaris,tvos,watchos,win32,windows,xros";
// Systems whose programs have neither threads nor shared objects.
constexpr absl::string_view kBareSystems =
    "emscripten,hermit,liteos,none,rtems,uefi,unknown,wasi,zos";

constexpr absl::string_view kEnvironments =
    "android,androideabi,coreclr,cygnus,eabi,eabihf,elf,gnu,gnuabi64,gnueabi,gnueabihf,"
    "gnueabihft64,"
    "gnueabit64,gnuf32,gnuf64,gnusf,gnut64,itanium,macabi,msvc,musl,musleabi,musleabihf,ohos,"
    "simulator,"
    "uclibc,uclibceabi,uclibceabihf,uclibcgnueabi,uclibcgnueabihf";

constexpr absl::string_view kVersion = "0123456789.";

std::vector<absl::string_view> Words(absl::string_view list) {
  return absl::StrSplit(list, ',', absl::SkipEmpty());
}

bool Lists(absl::string_view list, absl::string_view word) {
  return absl::c_linear_search(Words(list), word);
}

absl::string_view WithoutVersion(absl::string_view word) {
  return word.substr(0, word.find_last_not_of(kVersion) + 1);
}

bool IsOs(absl::string_view part) {
  return Lists(kOperatingSystems, part) || Lists(kOperatingSystems, WithoutVersion(part));
}

bool IsSystemOrEnvironment(absl::string_view part) {
  return IsOs(part) || Lists(kBareSystems, WithoutVersion(part)) || Lists(kEnvironments, part) ||
         (absl::StartsWith(part, "android") && Lists(kEnvironments, WithoutVersion(part)));
}

bool IsArm(absl::string_view architecture) {
  if (!absl::ConsumePrefix(&architecture, "arm") && !absl::ConsumePrefix(&architecture, "thumb")) {
    return false;
  }
  return architecture.empty() || architecture == "eb" || Lists(kArmVersions, architecture);
}

std::vector<std::string> ProcessorsOf(const Architecture& architecture) {
  std::vector<std::string> names;
  for (const absl::string_view list :
       {architecture.processors, architecture.processors_of_64_bits}) {
    for (const absl::string_view name : Words(list)) names.emplace_back(name);
  }
  return names;
}

// Errors name the architecture as it is spelled in the triple.
absl::Status NoneKnown(absl::string_view target, absl::string_view option, absl::string_view of) {
  return absl::InvalidArgumentError(absl::StrCat(
      "target '", target, "': found ", option, ", but no names of it are known for the ",
      "architecture ", of, "; wanted the triple without this option"));
}

absl::Status Unknown(absl::string_view target, absl::string_view kind, absl::string_view name,
                     absl::string_view of, const std::vector<std::string>& known) {
  if (name == "native") {
    return absl::InvalidArgumentError(absl::StrCat("target '", target, "': unknown ", kind,
                                                   " 'native'; the target 'host' is this machine"));
  }
  return absl::InvalidArgumentError(absl::StrCat("target '", target, "': unknown ", kind, " '",
                                                 name, "' of ", of, Perhaps(name, known)));
}

absl::Status CheckArchitecture(absl::string_view target, const Architecture& architecture,
                               absl::string_view of, absl::string_view features) {
  for (const absl::string_view feature : absl::StrSplit(features, ',')) {
    const absl::string_view name = feature.empty() ? feature : feature.substr(1);
    if (name.empty() || (feature[0] != '+' && feature[0] != '-')) {
      return absl::InvalidArgumentError(
          absl::StrCat("target '", target, "': found '", feature,
                       "' in -mattr=, wanted features with '+' or '-': -mattr=+avx2,-fma"));
    }
    if (Lists(architecture.features, name)) continue;
    std::vector<std::string> known;
    for (const absl::string_view word : Words(architecture.features)) known.emplace_back(word);
    return Unknown(target, "feature", name, of, known);
  }
  return absl::OkStatus();
}

}  // namespace

const std::vector<Architecture>& Architectures() {
  constexpr absl::string_view kOfArm = "aapcs,aapcs-linux,aapcs16,apcs-gnu";
  static const auto& rows = *new std::vector<Architecture>{
      {"x86_64", 64, kX86Processors64, kX86Features, "", "x86-64", ""},
      {"i386,i486,i586,i686", 32, kX86Processors32, kX86Features, "", "i686-linux-gnu",
       kX86Processors64},
      {"aarch64,aarch64_be,arm64", 64, kAArch64Processors, kAArch64Features,
       "aapcs,aapcs-soft,darwinpcs", "aarch64", ""},
      // FindArchitecture maps all versions of Arm to this row.
      {"arm,armeb,thumb,thumbeb", 32, kArmProcessors, kArmFeatures, kOfArm, "thumb-none-eabi", ""},
      {"riscv32", 32, kRiscV32Processors, kRiscVFeatures, "ilp32,ilp32d,ilp32e,ilp32f",
       "riscv32-unknown-elf", ""},
      {"riscv64", 64, kRiscV64Processors, kRiscVFeatures, "lp64,lp64d,lp64e,lp64f", "riscv64gc",
       ""},
      // Kiln generates the same code for all processors of these architectures.
      {"loongarch64,mips64,mips64el,powerpc64,powerpc64le,ppc64,ppc64le,s390x,sparc64,sparcv9,"
       "wasm64",
       64, "", "", "", "", ""},
      {"arc,csky,hexagon,loongarch32,m68k,microblaze,mips,mipsel,nios2,or1k,powerpc,powerpcle,ppc,"
       "rx,sh,"
       "sparc,sparcel,tricore,wasm32,xtensa",
       32, "", "", "", "", ""},
  };
  return rows;
}

const Architecture* FindArchitecture(absl::string_view triple) {
  absl::string_view name = triple.substr(0, triple.find('-'));
  if (IsArm(name)) name = "arm";
  for (const Architecture& row : Architectures()) {
    if (Lists(row.names, name)) return &row;
  }
  return nullptr;
}

std::vector<absl::string_view> ArmVersions() { return Words(kArmVersions); }

std::vector<absl::string_view> TripleSystems() {
  std::vector<absl::string_view> systems = Words(kOperatingSystems);
  absl::c_copy(Words(kBareSystems), std::back_inserter(systems));
  return systems;
}

std::vector<absl::string_view> TripleEnvironments() { return Words(kEnvironments); }

bool NamesOs(absl::string_view triple) {
  const std::vector<absl::string_view> parts = absl::StrSplit(triple, '-');
  return std::any_of(parts.begin() + 1, parts.end(), [](absl::string_view part) {
    return IsOs(part) || absl::StartsWith(part, "android");
  });
}

// True for environments that exist only on an operating system.
bool NeedsOs(absl::string_view part) {
  for (const char* name : {"gnu", "musl", "android", "msvc", "uclibc"}) {
    if (absl::StartsWith(part, name)) return true;
  }
  return false;
}

absl::Status CheckTriple(absl::string_view triple) {
  const std::vector<absl::string_view> parts = absl::StrSplit(triple, '-');
  if (FindArchitecture(triple) == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", parts[0], "' is no architecture of an LLVM triple"));
  }
  for (size_t i = 1; i < parts.size(); ++i) {
    const bool is_vendor = i == 1 && parts.size() > 2 && !parts[i].empty();
    if (is_vendor || IsSystemOrEnvironment(parts[i])) continue;
    return absl::InvalidArgumentError(absl::StrCat(
        "'", parts[i], "' is no system or environment of an LLVM triple, as linux, none, ",
        "gnu, eabi and eabihf are"));
  }
  // "aarch64-linx-gnu" would otherwise have the vendor "linx" and no operating system.
  if (parts.size() == 3 && NeedsOs(parts[2]) && !NamesOs(triple)) {
    return absl::InvalidArgumentError(
        absl::StrCat("'", parts[1], "' is no operating system of an LLVM triple, and '", parts[2],
                     "' needs one", Perhaps(parts[1], {"linux", "windows", "freebsd", "netbsd"})));
  }
  return absl::OkStatus();
}

absl::Status CheckOptionNames(absl::string_view target, absl::string_view triple,
                              absl::string_view option) {
  const absl::string_view of = triple.substr(0, triple.find('-'));
  const Architecture& architecture = *FindArchitecture(triple);
  absl::string_view value = option;
  if (absl::ConsumePrefix(&value, "-mcpu=")) {
    if (architecture.processors.empty()) return NoneKnown(target, option, of);
    const std::vector<std::string> known = ProcessorsOf(architecture);
    if (!absl::c_linear_search(known, value)) {
      return Unknown(target, "processor", value, of, known);
    }
  } else if (absl::ConsumePrefix(&value, "-mattr=")) {
    if (architecture.features.empty()) return NoneKnown(target, option, of);
    return CheckArchitecture(target, architecture, of, value);
  } else if (absl::ConsumePrefix(&value, "-mabi=")) {
    if (architecture.abis.empty()) return NoneKnown(target, option, of);
    if (!Lists(architecture.abis, value)) {
      return absl::InvalidArgumentError(
          absl::StrCat("target '", target, "': unknown calling convention '", value, "' of ", of,
                       ", wanted one of ", absl::StrJoin(Words(architecture.abis), ", ")));
    }
  }
  return absl::OkStatus();
}

}  // namespace kiln
