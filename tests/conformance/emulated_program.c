// SPDX-License-Identifier: Apache-2.0
//
// Runs the model MODEL step by step, without a C library, on Linux for AArch64 and RISC-V. Reads
// inputs from standard input and writes outputs to standard output. Exits with the model's status,
// or 100 if a step is incomplete.
#include <kiln/model.h>
#include <stddef.h>
#include <stdint.h>

enum { kRead = 63, kWrite = 64, kExit = 93, kMaxTensors = 16, kMaxBytes = 1 << 22 };

extern const TVMModel MODEL;

static uint8_t memory[kMaxBytes] __attribute__((aligned(64)));

static long Call(long number, long a, long b, long c) {
#if defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
  return x0;
#else
  register long a7 __asm__("a7") = number;
  register long a0 __asm__("a0") = a;
  register long a1 __asm__("a1") = b;
  register long a2 __asm__("a2") = c;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
  return a0;
#endif
}

static void Exit(int status) { Call(kExit, status, 0, 0); }

// Returns the number of bytes, at most `size`, that were moved before the other side ended.
static int64_t Move(long number, int file, uint8_t* data, int64_t size) {
  int64_t done = 0;
  while (done < size) {
    const long n = Call(number, file, (long)(data + done), (long)(size - done));
    if (n <= 0) break;
    done += n;
  }
  return done;
}

// Places tensors in memory from offset `at` on, with their alignments. Returns the end offset.
static size_t Place(const TVMModelMemory* tensors, int32_t count, size_t at, void** places) {
  int32_t i;
  if (count > kMaxTensors) Exit(101);
  for (i = 0; i < count; ++i) {
    const size_t alignment = (size_t)tensors[i].alignment_bytes;
    at = (at + alignment - 1) / alignment * alignment;
    places[i] = memory + at;
    at += (size_t)tensors[i].size_bytes;
    if (at > kMaxBytes) Exit(102);
  }
  return at;
}

void* memcpy(void* to, const void* from, size_t size);
void* memcpy(void* to, const void* from, size_t size) {
  uint8_t* volatile next = to;
  size_t i;
  for (i = 0; i < size; ++i) next[i] = ((const uint8_t*)from)[i];
  return to;
}

void* memset(void* to, int value, size_t size);
void* memset(void* to, int value, size_t size) {
  uint8_t* volatile next = to;
  size_t i;
  for (i = 0; i < size; ++i) next[i] = (uint8_t)value;
  return to;
}

void _start(void);
void _start(void) {
  void *inputs[kMaxTensors], *outputs[kMaxTensors];
  const size_t end = Place(MODEL.inputs, MODEL.num_inputs, 0, inputs);
  Place(MODEL.outputs, MODEL.num_outputs, end, outputs);
  for (;;) {
    int32_t i, status;
    for (i = 0; i < MODEL.num_inputs; ++i) {
      const int64_t read = Move(kRead, 0, inputs[i], MODEL.inputs[i].size_bytes);
      if (read == 0 && i == 0) Exit(0);
      if (read != MODEL.inputs[i].size_bytes) Exit(100);
    }
    status = MODEL.run_static(inputs, outputs, NULL, NULL);
    if (status != 0) Exit(status);
    for (i = 0; i < MODEL.num_outputs; ++i) {
      Move(kWrite, 1, outputs[i], MODEL.outputs[i].size_bytes);
    }
  }
}
