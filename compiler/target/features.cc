// SPDX-License-Identifier: Apache-2.0
// Target::HasFeature: features that follow from the name of the processor or from the target's own
// feature list.
#include "absl/algorithm/container.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "compiler/target/target.h"
#include "runtime_cpp/cpu/implied_features.h"
#include "runtime_cpp/cpu/x86_features.h"

namespace kiln {
namespace {

// Words, and the features that each of them implies. Both are lists separated by commas.
struct Row {
  absl::string_view words;     // by LLVM's names
  absl::string_view features;  // also words of the same table, or levels of x86-64
};

// Words of -mattr= that X86Features and Aarch64Features lack. A test compares the table with
// LLVM's.
constexpr Row kFeatures[] = {
    {"amx-complex,amx-fp16", "amx-tile"},
    {"avx10.1-256,avx10.1-512",
     "avx512cd,avx512vnni,avx512vbmi,avx512vbmi2,avx512bitalg,avx512vpopcntdq,avx512fp16,"
     "avx512bf16"},
    {"avx512ifma,avx512vp2intersect", "avx512f"},
    {"avxifma,avxneconvert,avxvnniint16,avxvnniint8,sha512,sm4,vaes", "avx2"},
    {"sm3,vpclmulqdq", "avx"},

    // Versions of the architecture, with the features that are mandatory in them.
    {"v8.1a,v8.2a", "crc,lse,rdm"},
    {"v8.3a", "v8.2a,jsconv,complxnum,rcpc"},
    {"v8.4a,v8.5a,v9a", "v8.3a,dotprod"},
    {"v8.6a,v8.7a,v8.8a,v8.9a,v9.1a,v9.2a,v9.3a,v9.4a,v9.5a", "v8.4a,i8mm,bf16"},
    {"v8r", "crc,lse,rcpc"},
    {"b16b16,fp8,fp8dot2,fp8dot4,fp8fma,sve-b16b16", "bf16"},
    {"d128,lse128", "lse"},
    {"rcpc-immo,rcpc3", "rcpc"},
    {"f32mm,f64mm", "sve"},
    {"sve2-aes,sve2-bitperm,sve2-sha3,sve2-sm4,sve2p1", "sve2"},
    {"sme-b16b16,sme-f16f16,sme-f64f64,sme-f8f16,sme-f8f32,sme-i16i64,sme2,sme2p1,ssve-fp8dot2,"
     "ssve-fp8dot4,ssve-fp8fma",
     "sme"},
    {"sme-fa64", "sme,sve2"},
    {"oryon-1", "v8.6a,fp16fml"},
};

// Features that follow from the name of a processor: on x86-64 all of X86Features, on AArch64 all
// of Aarch64Features, on microcontrollers the features that schedules or rows of instructions use.
// The sources are the manuals of the makers. A test compares the table with LLVM's.
constexpr Row kProcessors[] = {
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
    {"znver4", "icelake-server,sse4a,avx512bf16"},
    {"znver5", "znver4,avxvnni"},
    {"emeraldrapids,graniterapids,graniterapids-d,graniterapids_d,sapphirerapids",
     "icelake-server,avxvnni,avx512fp16,avx512bf16,amx-bf16,amx-int8"},

    {"cortex-a34,cortex-a35,cortex-a53,cortex-a57,cortex-a72,cortex-a73,exynos-m3,kryo,"
     "thunderx,thunderxt81,thunderxt83,thunderxt88",
     "crc"},
    {"apple-a10,falkor", "crc,rdm"},
    {"thunderx2t99", "v8.1a"},
    {"apple-a11,carmel", "v8.2a,fullfp16"},
    {"exynos-m4,exynos-m5", "v8.2a,fullfp16,dotprod"},
    {"a64fx", "v8.2a,complxnum,sve"},
    {"cortex-a55,cortex-a65,cortex-a65ae,cortex-a75,cortex-a76,cortex-a76ae,cortex-a77,"
     "cortex-a78,cortex-a78ae,cortex-a78c,cortex-x1,cortex-x1c,neoverse-e1,neoverse-n1",
     "v8.2a,fullfp16,rcpc,dotprod"},
    {"tsv110", "v8.2a,jsconv,complxnum,dotprod,fp16fml"},
    {"thunderx3t110", "v8.3a"},
    {"apple-a12", "v8.3a,fullfp16"},
    {"saphira", "v8.4a"},
    {"apple-a13,apple-a14,apple-m1,cortex-r82,cortex-r82ae", "v8.4a,fp16fml"},
    {"ampere1,ampere1a,ampere1b", "v8.6a,fullfp16"},
    {"apple-a15,apple-a16,apple-a17,apple-m2,apple-m3,oryon-1", "v8.6a,fp16fml"},
    {"apple-m4", "v8.6a,fp16fml,sme"},
    {"neoverse-512tvb,neoverse-v1", "v8.6a,fp16fml,sve"},
    {"cortex-a510,cortex-a520,cortex-a520ae,cortex-a710,cortex-a715,cortex-a720,cortex-a720ae,"
     "cortex-a725,cortex-x2,cortex-x3,cortex-x4,cortex-x925,neoverse-n2,neoverse-n3,"
     "neoverse-v2,neoverse-v3,neoverse-v3ae",
     "v8.6a,fp16fml,sve2"},

    {"cortex-m33,cortex-m35p,cortex-m4", "dsp"},
    {"cortex-m7", "dsp,fp64"},
    {"cortex-m52,cortex-m55,cortex-m85", "dsp,fp64,mve"},
};

bool Contains(absl::string_view list, absl::string_view word) {
  return absl::c_linear_search(absl::StrSplit(list, ','), word);
}

// True if `has` accepts one of the features in the table's rows for `word`.
template <size_t kRows, typename Has>
bool RowHasFeature(const Row (&table)[kRows], absl::string_view word, const Has& has) {
  return absl::c_any_of(table, [&](const Row& row) {
    return Contains(row.words, word) && absl::c_any_of(absl::StrSplit(row.features, ','), has);
  });
}

// True if `word`, a feature or a level of x86-64, implies `feature`.
bool FeatureFollows(absl::string_view word, absl::string_view feature) {
  return X86LevelHasFeature(word, feature) || ImpliesFeature(word, feature) ||
         RowHasFeature(kFeatures, word,
                       [&](absl::string_view has) { return FeatureFollows(has, feature); });
}

bool ProcessorHasFeature(absl::string_view cpu, absl::string_view feature) {
  return X86LevelHasFeature(cpu, feature) ||
         RowHasFeature(kProcessors, cpu, [&](absl::string_view has) {
           return FeatureFollows(has, feature) || ProcessorHasFeature(has, feature);
         });
}

}  // namespace

bool Target::HasFeature(absl::string_view feature) const {
  bool has = ProcessorHasFeature(cpu, feature);
  // "+word" adds the features that `word` implies. "-word" removes the features that imply `word`.
  // LLVM does the same.
  for (const absl::string_view word : absl::StrSplit(features, ',', absl::SkipEmpty())) {
    const absl::string_view said = word.substr(1);
    if (word[0] == '+' && FeatureFollows(said, feature)) has = true;
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
