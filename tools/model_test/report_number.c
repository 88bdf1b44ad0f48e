// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>

#include "tools/model_test/report.h"

#define NUM_DIGITS 9
#define FIRST_DIGIT 100000000u  // 10^(NUM_DIGITS - 1)
#define LARGEST 1.7976931348623157e308

// value = result * 10^(exponent - NUM_DIGITS + 1), with NUM_DIGITS digits; 0 < value <= LARGEST.
static uint32_t Decimal(double value, int* exponent) {
  uint32_t result;
  for (*exponent = 0; value >= 10; ++*exponent) value /= 10;
  for (; value < 1; --*exponent) value *= 10;
  result = (uint32_t)(value * FIRST_DIGIT + 0.5);
  if (result / 10 < FIRST_DIGIT) return result;
  ++*exponent;
  return result / 10;
}

// Writes the first `count` of `digits`, with the point after digits[exponent]. Returns the end.
static char* WriteDigits(char* out, const char* digits, int count, int exponent) {
  int i;
  for (i = exponent < 0 ? exponent : 0; i < count || i <= exponent; ++i) {
    if (i == exponent + 1) *out++ = '.';
    *out++ = i >= 0 && i < count ? digits[i] : '0';
  }
  return out;
}

void ReportNumber(double value) {
  char text[32], digits[NUM_DIGITS];
  char* out = text;
  uint32_t decimal;
  int count = NUM_DIGITS, exponent, scientific, i;
  if (value < 0) {
    Report("-");
    value = -value;
  }
  if (!(value > 0) || value > LARGEST) {
    Report(value > 0 ? "inf" : value != value ? "nan" : "0");
    return;
  }
  decimal = Decimal(value, &exponent);
  for (i = NUM_DIGITS; i-- > 0; decimal /= 10) digits[i] = (char)('0' + decimal % 10);
  while (digits[count - 1] == '0') --count;
  scientific = exponent < -4 || exponent >= NUM_DIGITS;
  out = WriteDigits(out, digits, count, scientific ? 0 : exponent);
  *out = '\0';
  Report(text);
  if (!scientific) return;
  Report("e");
  ReportNumber(exponent);
}
