// SPDX-License-Identifier: Apache-2.0
// Target::HasFeature: what follows from the name of a processor, and what a target says of itself.
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "compiler/target/target.h"
#include "runtime_cpp/cpu/x86_features.h"

namespace kiln {
namespace {

// Features that processors have without being asked: for x86-64 all of X86Features, for AArch64 all of
// Aarch64Features, for microcontrollers the features that schedules or rows of instructions use. Lists
// are separated by commas.
struct Processors {
  absl::string_view names;     // LLVM's
  absl::string_view features;  // and levels of x86-64
};

// The manuals of their makers; a test compares the table with LLVM's.
constexpr Processors kProcessors[] = {
    {"athlon64-sse3,k8-sse3,nocona,opteron-sse3", "sse3,cx16"},
    {"amdfam10,barcelona", "sse4a,popcnt,cx16,sahf,lzcnt"},
    {"core2,core_2_duo_ssse3", "ssse3,cx16,sahf"},
    {"atom,bonnell", "ssse3,cx16,sahf,movbe"},
    {"btver1", "ssse3,sse4a,popcnt,cx16,sahf,lzcnt"},
    {"core_2_duo_sse4_1,penryn", "sse4.1,cx16,sahf"},
    {"core_aes_pclmulqdq,core_i7_sse4_2,corei7,nehalem,westmere", "x86-64-v2"},
    {"atom_sse4_2,atom_sse4_2_movbe,goldmont,goldmont-plus,goldmont_plus,silvermont,slm",
     "x86-64-v2,movbe"},
    {"tremont", "x86-64-v2,movbe,gfni"},
    {"core_2nd_gen_avx,corei7-avx,sandybridge", "x86-64-v2,avx"},
    {"bdver1", "x86-64-v2,xop,lzcnt"},
    {"core-avx-i,core_3rd_gen_avx,ivybridge", "x86-64-v2,f16c"},
    {"btver2", "x86-64-v2,sse4a,f16c,bmi,lzcnt,movbe"},
    {"bdver2,bdver3", "x86-64-v2,xop,tbm,f16c,fma,bmi,lzcnt"},
    {"bdver4", "x86-64-v3,xop,tbm"},
    {"broadwell,core-avx2,core_4th_gen_avx,core_4th_gen_avx_tsx,core_5th_gen_avx,"
     "core_5th_gen_avx_tsx,haswell,skylake",
     "x86-64-v3"},
    {"znver1,znver2,znver3", "x86-64-v3,sse4a"},
    {"alderlake,arrowlake,arrowlake-s,arrowlake_s,clearwaterforest,gracemont,grandridge,lunarlake,"
     "meteorlake,pantherlake,raptorlake,sierraforest",
     "x86-64-v3,avxvnni,gfni"},
    {"knl,mic_avx512", "x86-64-v3,avx512cd"},
    {"knm", "x86-64-v3,avx512cd,avx512vpopcntdq"},
    {"skx,skylake-avx512,skylake_avx512", "x86-64-v4"},
    {"cannonlake", "x86-64-v4,avx512vbmi"},
    {"cascadelake", "x86-64-v4,avx512vnni"},
    {"cooperlake", "x86-64-v4,avx512vnni,avx512bf16"},
    {"icelake-client,icelake-server,icelake_client,icelake_server,rocketlake,tigerlake",
     "x86-64-v4,gfni,avx512vnni,avx512vbmi,avx512vbmi2,avx512bitalg,avx512vpopcntdq"},
    {"znver4",
     "x86-64-v4,sse4a,gfni,avx512vnni,avx512vbmi,avx512vbmi2,avx512bitalg,avx512vpopcntdq,"
     "avx512bf16"},
    {"znver5",
     "x86-64-v4,sse4a,gfni,avxvnni,avx512vnni,avx512vbmi,avx512vbmi2,avx512bitalg,"
     "avx512vpopcntdq,avx512bf16"},
    {"emeraldrapids,graniterapids,graniterapids-d,graniterapids_d,sapphirerapids",
     "x86-64-v4,gfni,avxvnni,avx512vnni,avx512vbmi,avx512vbmi2,avx512bitalg,avx512vpopcntdq,"
     "avx512fp16,avx512bf16,amx-bf16,amx-int8"},

    {"cortex-a34,cortex-a35,cortex-a53,cortex-a57,cortex-a72,cortex-a73,exynos-m3,kryo,"
     "thunderx,thunderxt81,thunderxt83,thunderxt88",
     "crc"},
    {"apple-a10,falkor", "crc,rdm"},
    {"thunderx2t99", "crc,lse,rdm"},
    {"apple-a11,carmel", "crc,lse,fullfp16,rdm"},
    {"exynos-m4,exynos-m5", "crc,lse,fullfp16,rdm,dotprod"},
    {"a64fx", "crc,lse,fullfp16,rdm,complxnum,sve"},
    {"cortex-a55,cortex-a65,cortex-a65ae,cortex-a75,cortex-a76,cortex-a76ae,cortex-a77,"
     "cortex-a78,cortex-a78ae,cortex-a78c,cortex-x1,cortex-x1c,neoverse-e1,neoverse-n1",
     "crc,lse,fullfp16,rdm,rcpc,dotprod"},
    {"thunderx3t110", "crc,lse,rdm,jsconv,complxnum,rcpc"},
    {"apple-a12", "crc,lse,fullfp16,rdm,jsconv,complxnum,rcpc"},
    {"saphira", "crc,lse,rdm,jsconv,complxnum,rcpc,dotprod"},
    {"tsv110", "crc,lse,fullfp16,rdm,jsconv,complxnum,dotprod,fp16fml"},
    {"apple-a13,apple-a14,apple-m1,cortex-r82,cortex-r82ae",
     "crc,lse,fullfp16,rdm,jsconv,complxnum,rcpc,dotprod,fp16fml"},
    {"ampere1,ampere1a,ampere1b", "crc,lse,fullfp16,rdm,jsconv,complxnum,rcpc,dotprod,i8mm,bf16"},
    {"apple-a15,apple-a16,apple-a17,apple-m2,apple-m3,oryon-1",
     "crc,lse,fullfp16,rdm,jsconv,complxnum,rcpc,dotprod,fp16fml,i8mm,bf16"},
    {"apple-m4", "crc,lse,fullfp16,rdm,jsconv,complxnum,rcpc,dotprod,fp16fml,i8mm,bf16,sme"},
    {"neoverse-512tvb,neoverse-v1",
     "crc,lse,fullfp16,rdm,jsconv,complxnum,rcpc,dotprod,sve,fp16fml,i8mm,bf16"},
    {"cortex-a510,cortex-a520,cortex-a520ae,cortex-a710,cortex-a715,cortex-a720,cortex-a720ae,"
     "cortex-a725,cortex-x2,cortex-x3,cortex-x4,cortex-x925,neoverse-n2,neoverse-n3,"
     "neoverse-v2,neoverse-v3,neoverse-v3ae",
     "crc,lse,fullfp16,rdm,jsconv,complxnum,rcpc,dotprod,sve,fp16fml,sve2,i8mm,bf16"},

    {"cortex-m33,cortex-m35p,cortex-m4", "dsp"},
    {"cortex-m7", "dsp,fp64"},
    {"cortex-m52,cortex-m55,cortex-m85", "dsp,fp64,mve"},
};

bool Contains(absl::string_view list, absl::string_view word) {
  for (const absl::string_view item : absl::StrSplit(list, ',')) {
    if (item == word) return true;
  }
  return false;
}

bool ProcessorHasFeature(absl::string_view cpu, absl::string_view feature) {
  if (IsX86Level(cpu)) return X86LevelHasFeature(cpu, feature);
  for (const Processors& row : kProcessors) {
    if (!Contains(row.names, cpu)) continue;
    for (const absl::string_view has : absl::StrSplit(row.features, ',')) {
      if (X86LevelHasFeature(has, feature) || ImpliesFeature(has, feature)) return true;
    }
  }
  return false;
}

}  // namespace

bool Target::HasFeature(absl::string_view feature) const {
  bool has = ProcessorHasFeature(cpu, feature);
  // Each word adds what follows from it, or takes away what it follows from, as LLVM has it.
  for (const absl::string_view word : absl::StrSplit(features, ',', absl::SkipEmpty())) {
    const absl::string_view said = word.substr(1);
    if (word[0] == '+' && ImpliesFeature(said, feature)) has = true;
    if (word[0] == '-' && ImpliesFeature(feature, said)) has = false;
  }
  return has;
}

bool Target::HasFeatures(absl::string_view list) const {
  for (const absl::string_view feature : absl::StrSplit(list, ',', absl::SkipEmpty())) {
    if (!HasFeature(feature)) return false;
  }
  return true;
}

}  // namespace kiln
