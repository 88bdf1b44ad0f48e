// SPDX-License-Identifier: Apache-2.0
#include "tests/benchmark/byte_products.h"

#include "absl/status/status.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kiln::benchmark {

#if defined(__x86_64__)

namespace {

// Independent sums. Their number exceeds the instruction's latency times the number of instructions
// that begin per cycle, so latency does not limit the rate. The sums and both factors fit into 16
// registers.
#define KILN_EACH_SUM(each) \
  each(0) each(1) each(2) each(3) each(4) each(5) each(6) each(7) each(8) each(9) each(10) each(11)
constexpr int kSums = 12;

#define KILN_BEGIN(i) Vector sum##i = {i};
// Makes the compiler assume that the value changes, so that it computes every product and keeps the
// sums.
#define KILN_CHANGED(vector) asm volatile("" : "+x"(vector));
#define KILN_KEEP(i) KILN_CHANGED(sum##i)

#define KILN_DEFINE_LOOP(name, isa, vector, step)         \
  __attribute__((target(isa))) void name(int64_t steps) { \
    using Vector = vector;                                \
    Vector a = {0x01010101}, b = {0x01010101};            \
    KILN_EACH_SUM(KILN_BEGIN)                             \
    for (int64_t i = 0; i < steps; ++i) {                 \
      KILN_EACH_SUM(step)                                 \
    }                                                     \
    KILN_EACH_SUM(KILN_KEEP)                              \
  }

#define KILN_STEP(i) KILN_CHANGED(a) sum##i = _mm512_dpbusd_epi32(sum##i, a, b);
KILN_DEFINE_LOOP(Vnni512, "avx512f,avx512vnni", __m512i, KILN_STEP)
#undef KILN_STEP
#define KILN_STEP(i) KILN_CHANGED(a) sum##i = _mm256_dpbusd_avx_epi32(sum##i, a, b);
KILN_DEFINE_LOOP(Vnni256, "avx2,avxvnni", __m256i, KILN_STEP)
#undef KILN_STEP
#define KILN_STEP(i) KILN_CHANGED(a) sum##i = _mm512_add_epi32(sum##i, _mm512_madd_epi16(a, b));
KILN_DEFINE_LOOP(Pairs512, "avx512f,avx512bw", __m512i, KILN_STEP)
#undef KILN_STEP
#define KILN_STEP(i) KILN_CHANGED(a) sum##i = _mm256_add_epi32(sum##i, _mm256_madd_epi16(a, b));
KILN_DEFINE_LOOP(Pairs256, "avx2", __m256i, KILN_STEP)
#undef KILN_STEP
#define KILN_STEP(i) KILN_CHANGED(a) sum##i = _mm_add_epi32(sum##i, _mm_madd_epi16(a, b));
KILN_DEFINE_LOOP(Pairs128, "sse2", __m128i, KILN_STEP)
#undef KILN_STEP

struct Row {
  ByteProducts products;
  bool in_target, on_machine;
};

// `group` is the number of products that the instruction adds to each 32-bit lane.
ByteProducts Products(const char* instruction, void (*run)(int64_t), int bits, int group) {
  return {instruction, run, 2.0 * kSums * (bits / 32) * group};
}

}  // namespace

absl::StatusOr<ByteProducts> FindByteProducts(const Target& target) {
  if (!absl::StartsWith(target.triple, "x86_64")) {
    return absl::UnimplementedError(
        absl::StrCat("the peak of byte products is known for x86-64 only, not for ", target.name));
  }
  __builtin_cpu_init();
  const auto has = [&](const char* feature) {
    return absl::StrContains(target.features, absl::StrCat("+", feature));
  };
  const Row rows[] = {
      {Products("vpdpbusd zmm", &Vnni512, 512, 4), target.vector_bits == 512 && has("avx512vnni"),
       __builtin_cpu_supports("avx512vnni") != 0},
      {Products("vpdpbusd ymm", &Vnni256, 256, 4), target.vector_bits >= 256 && has("avxvnni"),
       __builtin_cpu_supports("avxvnni") != 0},
      {Products("vpmaddwd zmm", &Pairs512, 512, 2), target.vector_bits == 512,
       __builtin_cpu_supports("avx512bw") != 0},
      {Products("vpmaddwd ymm", &Pairs256, 256, 2), target.vector_bits == 256,
       __builtin_cpu_supports("avx2") != 0},
      {Products("pmaddwd xmm", &Pairs128, 128, 2), true, true},
  };
  for (const Row& row : rows) {
    if (!row.in_target) continue;
    if (row.on_machine) return row.products;
    return absl::FailedPreconditionError(
        absl::StrCat(target.name, " has ", row.products.instruction, ", this machine does not"));
  }
  return absl::InternalError("no row of byte products");
}

#else

absl::StatusOr<ByteProducts> FindByteProducts(const Target& target) {
  return absl::UnimplementedError(
      absl::StrCat("the peak of byte products is known on x86-64 only, not for ", target.name));
}

#endif

}  // namespace kiln::benchmark
