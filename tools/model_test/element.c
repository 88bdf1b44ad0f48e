// SPDX-License-Identifier: Apache-2.0
#include "tools/model_test/element.h"

#include <stdint.h>
#include <string.h>

// Returns 2^exponent * value, without libm.
static double Scaled(double value, int exponent) {
  for (; exponent > 0; --exponent) value *= 2.0;
  for (; exponent < 0; ++exponent) value /= 2.0;
  return value;
}

static double HalfValue(uint16_t bits) {
  const int exponent = bits >> 10 & 0x1f;
  const int mantissa = bits & 0x3ff;
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const double zero = 0.0;
  if (exponent == 0x1f) return mantissa != 0 ? zero / zero : sign / zero;
  if (exponent == 0) return sign * Scaled((double)mantissa, -24);
  return sign * Scaled((double)(mantissa + 0x400), exponent - 25);
}

size_t ElementBytes(const char* dtype) {
  static const struct {
    const char* dtype;
    size_t bytes;
  } kSizes[] = {{"bool", 1},    {"int8", 1},    {"uint8", 1},  {"int16", 2},
                {"uint16", 2},  {"float16", 2}, {"int32", 4},  {"uint32", 4},
                {"float32", 4}, {"int64", 8},   {"uint64", 8}, {"float64", 8}};
  size_t i;
  for (i = 0; i < sizeof(kSizes) / sizeof(kSizes[0]); ++i) {
    if (strcmp(kSizes[i].dtype, dtype) == 0) return kSizes[i].bytes;
  }
  return 0;
}

double ElementValue(const char* dtype, const unsigned char* p) {
  union {
    int8_t i8;
    uint8_t u8;
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
  } value;
  memcpy(&value, p, ElementBytes(dtype));
  if (strcmp(dtype, "int8") == 0) return value.i8;
  if (strcmp(dtype, "int16") == 0) return value.i16;
  if (strcmp(dtype, "uint16") == 0) return value.u16;
  if (strcmp(dtype, "int32") == 0) return value.i32;
  if (strcmp(dtype, "uint32") == 0) return value.u32;
  if (strcmp(dtype, "int64") == 0) return (double)value.i64;
  if (strcmp(dtype, "uint64") == 0) return (double)value.u64;
  if (strcmp(dtype, "float16") == 0) return HalfValue(value.u16);
  if (strcmp(dtype, "float32") == 0) return (double)value.f32;
  if (strcmp(dtype, "float64") == 0) return value.f64;
  return value.u8;
}
