// SPDX-License-Identifier: Apache-2.0
//
// Runs the program's model_case twice, so that what a run leaves behind in its memory shows, and
// compares the outputs. Ends with 0 if they agree, else says where they differ and ends with 1.
#include <stdio.h>
#include <string.h>

#include "tools/model_test/model_case.h"

// What outputs hold before a run.
#define GARBAGE 0xa5
#define NUM_RUNS 2

// 2^exponent * value, without libm.
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

// Bytes of an element; 0 for a dtype that is not known.
static size_t ElementBytes(const char* dtype) {
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

// The element at `p`, whose dtype is known.
static double ValueAt(const char* dtype, const unsigned char* p) {
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

static int IsClose(double found, double expected) {
  const double difference = found < expected ? expected - found : found - expected;
  const double magnitude = expected < 0 ? -expected : expected;
  if (found != found) return expected != expected;
  // Infinities of the same sign have no difference.
  return found == expected || difference <= model_case.atol + model_case.rtol * magnitude;
}

// The number of elements that differ, after words about the first of them.
static unsigned long Compare(const struct ModelTensor* output, int run) {
  const size_t element_bytes = ElementBytes(output->dtype);
  const unsigned char* found = (const unsigned char*)output->data;
  const unsigned char* expected = (const unsigned char*)output->expected;
  const int equal_bits = !(model_case.rtol > 0) && !(model_case.atol > 0);
  unsigned long wrong = 0, first = 0;
  size_t offset;
  if (expected == NULL) return 0;
  if (element_bytes == 0) {
    printf("%s: output '%s' is of the dtype %s, which cannot be compared\n", model_case.module_name,
           output->name, output->dtype);
    return 1;
  }
  for (offset = 0; offset < output->size_bytes; offset += element_bytes) {
    if (memcmp(found + offset, expected + offset, element_bytes) == 0) continue;
    if (!equal_bits &&
        IsClose(ValueAt(output->dtype, found + offset), ValueAt(output->dtype, expected + offset)))
      continue;
    if (wrong++ == 0) first = (unsigned long)(offset / element_bytes);
  }
  if (wrong != 0) {
    printf(
        "%s: output '%s' in run %d: %lu of %lu values differ, the first at %lu: found %.9g, wanted "
        "%.9g\n",
        model_case.module_name, output->name, run + 1, wrong,
        (unsigned long)(output->size_bytes / element_bytes), first,
        ValueAt(output->dtype, found + first * element_bytes),
        ValueAt(output->dtype, expected + first * element_bytes));
  }
  return wrong;
}

int main(void) {
  unsigned long wrong = 0;
  int run, i;
  for (run = 0; run < NUM_RUNS; ++run) {
    const char* error;
    for (i = 0; i < model_case.num_outputs; ++i) {
      memset(model_case.outputs[i].data, GARBAGE, model_case.outputs[i].size_bytes);
    }
    error = model_case.run(&model_case);
    if (error != NULL) {
      printf("%s: run %d failed: %s\n", model_case.module_name, run + 1, error);
      return 1;
    }
    for (i = 0; i < model_case.num_outputs; ++i) wrong += Compare(&model_case.outputs[i], run);
  }
  if (wrong != 0) return 1;
  printf("%s: %d outputs agree in %d runs\n", model_case.module_name, model_case.num_outputs,
         NUM_RUNS);
  return 0;
}
