// SPDX-License-Identifier: Apache-2.0
//
// A QEMU plugin (TCG plugins, version 1 of their interface) that counts the instructions that a
// program executes between a call of BeginInference and the next call of EndInference:
//
//   qemu-system-arm … -plugin libcount_instructions.so,out=counts.txt,core=cortex-m4
//
// It writes two numbers per line: the instructions, which are exact and the same in every run, and
// their estimated cycles on the core according to cycles.h. Without core= the cycles are 0.
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/firmware/cycles.h"

// Declarations of the emulator's interface, as far as they are used here.
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;    // A translated block: instructions that are executed one after the other.
struct qemu_plugin_insn;  // One instruction of a block.
struct qemu_info_t;

typedef void (*TranslateCallback)(qemu_plugin_id_t id, struct qemu_plugin_tb* block);
typedef void (*ExecuteCallback)(unsigned int cpu, void* data);  // of an instruction or a block

#define CALLBACK_READS_NO_REGISTERS 0
#define INLINE_ADD_UINT64 0

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, TranslateCallback callback);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* block, size_t index);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb* block);
const char* qemu_plugin_insn_symbol(const struct qemu_plugin_insn* instruction);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn* instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn* instruction);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb* block, ExecuteCallback callback,
                                          int flags, void* data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn* instruction,
                                            ExecuteCallback callback, int flags, void* data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn* instruction, int operation,
                                                void* counter, uint64_t operand);

#define EXPORT __attribute__((visibility("default")))
EXPORT extern int qemu_plugin_version;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t* info, int num_args,
                               char** args);

int qemu_plugin_version = 1;

// Cycles of a block when it is executed.
struct BlockCycles {
  uint64_t begin, end;  // addresses
  uint64_t cycles;      // of its instructions
  uint64_t refill;      // additional cycles if the next block is not the one at its end
};

static const struct CoreCycles* core;  // NULL if cycles are not counted.
static const struct BlockCycles* last_block;
static uint64_t executed, executed_at_begin;
static uint64_t cycles, cycles_at_begin;
static int counts;  // True while an inference is running.
static FILE* out;

// The last instruction of BeginInference and the first of EndInference count.
static void OnBegin(unsigned int cpu, void* data) {
  (void)cpu;
  (void)data;
  executed_at_begin = executed;
  cycles_at_begin = cycles;
  counts = 1;
}

static void OnEnd(unsigned int cpu, void* data) {
  (void)cpu;
  (void)data;
  if (counts) {
    fprintf(out, "%" PRIu64 " %" PRIu64 "\n", executed - executed_at_begin,
            cycles - cycles_at_begin);
  }
  fflush(out);
  counts = 0;
}

static void OnBlock(unsigned int cpu, void* data) {
  const struct BlockCycles* const block = data;
  (void)cpu;
  if (last_block != NULL && last_block->end != block->begin) cycles += last_block->refill;
  cycles += block->cycles;
  last_block = block;
}

static struct ThumbInstruction Decode(const struct qemu_plugin_insn* instruction) {
  uint16_t words[2] = {0, 0};
  const size_t size = qemu_plugin_insn_size(instruction);
  memcpy(words, qemu_plugin_insn_data(instruction), size < sizeof(words) ? size : sizeof(words));
  return DecodeThumb(words[0], words[1]);
}

static int HasSymbol(const struct qemu_plugin_insn* instruction, const char* name) {
  const char* symbol = qemu_plugin_insn_symbol(instruction);
  return symbol != NULL && strcmp(symbol, name) == 0;
}

static int IsMark(const struct qemu_plugin_insn* instruction) {
  return HasSymbol(instruction, "BeginInference") || HasSymbol(instruction, "EndInference");
}

// Registers the cycles of a block, without the instructions of BeginInference and EndInference.
static void CountCycles(struct qemu_plugin_tb* block) {
  const size_t num_instructions = qemu_plugin_tb_n_insns(block);
  struct BlockCycles* const result = calloc(1, sizeof(*result));  // never freed, used until the
                                                                  // emulator ends
  struct ThumbInstruction instructions[2];  // the current and the previous one, in turns
  size_t i;
  if (result == NULL) abort();
  result->begin = result->end = qemu_plugin_tb_vaddr(block);
  for (i = 0; i < num_instructions; ++i) {
    const struct qemu_plugin_insn* const instruction = qemu_plugin_tb_get_insn(block, i);
    result->end += qemu_plugin_insn_size(instruction);
    instructions[i % 2] = Decode(instruction);
    if (IsMark(instruction)) continue;
    result->cycles +=
        (uint64_t)CyclesOf(core, i == 0 ? NULL : &instructions[(i + 1) % 2], &instructions[i % 2]);
    result->refill = (uint64_t)RefillCycles(core, &instructions[i % 2]);
  }
  qemu_plugin_register_vcpu_tb_exec_cb(block, OnBlock, CALLBACK_READS_NO_REGISTERS, result);
}

static void OnTranslate(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  const size_t num_instructions = qemu_plugin_tb_n_insns(block);
  size_t i;
  (void)id;
  if (core != NULL) CountCycles(block);
  for (i = 0; i < num_instructions; ++i) {
    struct qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
    if (IsMark(instruction)) {
      const int begins = HasSymbol(instruction, "BeginInference");
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, begins ? OnBegin : OnEnd,
                                             CALLBACK_READS_NO_REGISTERS, NULL);
    } else {
      qemu_plugin_register_vcpu_insn_exec_inline(instruction, INLINE_ADD_UINT64, &executed, 1);
    }
  }
}

// Returns the text after `name`, which ends with '=', in the arguments; NULL if there is none.
static const char* Argument(int num_args, char** args, const char* name) {
  const size_t length = strlen(name);
  int i;
  for (i = 0; i < num_args; ++i) {
    if (strncmp(args[i], name, length) == 0) return args[i] + length;
  }
  return NULL;
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t* info, int num_args,
                        char** args) {
  const char* const path = Argument(num_args, args, "out=");
  const char* const name = Argument(num_args, args, "core=");
  (void)info;
  if (path == NULL || num_args != 1 + (name != NULL)) {
    fprintf(stderr, "count_instructions: wanted out=FILE and perhaps core=NAME\n");
    return -1;
  }
  core = name == NULL ? NULL : CyclesOfCore(name);
  if (name != NULL && core == NULL) {
    fprintf(stderr, "count_instructions: found core=%s, whose cycles are not known\n", name);
    return -1;
  }
  out = fopen(path, "w");
  if (out == NULL) {
    perror(path);
    return -1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, OnTranslate);
  return 0;
}
