// SPDX-License-Identifier: Apache-2.0
//
// A plugin of QEMU (TCG plugins, version 1 of their interface) that counts the instructions which a
// program executes between a call of BeginInference and the next call of EndInference:
//
//   qemu-system-arm … -plugin libcount_instructions.so,out=counts.txt
//
// writes one number a line. The count is exact and the same in every run; it is not a time.
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// What the emulator's interface has of these names, as far as it is used here.
typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;    // A translated block: instructions that are executed one after the other.
struct qemu_plugin_insn;  // One instruction of a block.
struct qemu_info_t;

typedef void (*TranslateCallback)(qemu_plugin_id_t id, struct qemu_plugin_tb* block);
typedef void (*ExecuteCallback)(unsigned int cpu, void* data);

#define CALLBACK_READS_NO_REGISTERS 0
#define INLINE_ADD_UINT64 0

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, TranslateCallback callback);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* block, size_t index);
const char* qemu_plugin_insn_symbol(const struct qemu_plugin_insn* instruction);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn* instruction,
                                            ExecuteCallback callback, int flags, void* data);
void qemu_plugin_register_vcpu_insn_exec_inline(struct qemu_plugin_insn* instruction, int operation,
                                                void* counter, uint64_t operand);

#define EXPORT __attribute__((visibility("default")))
EXPORT extern int qemu_plugin_version;
EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t* info, int num_args,
                               char** args);

int qemu_plugin_version = 1;

static uint64_t executed, executed_at_begin;
static int counts;  // Whether an inference is running.
static FILE* out;

// The last instruction of BeginInference wins, the first of EndInference.
static void OnBegin(unsigned int cpu, void* data) {
  (void)cpu;
  (void)data;
  executed_at_begin = executed;
  counts = 1;
}

static void OnEnd(unsigned int cpu, void* data) {
  (void)cpu;
  (void)data;
  if (counts) fprintf(out, "%" PRIu64 "\n", executed - executed_at_begin);
  fflush(out);
  counts = 0;
}

static void OnTranslate(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  const size_t num_instructions = qemu_plugin_tb_n_insns(block);
  size_t i;
  (void)id;
  for (i = 0; i < num_instructions; ++i) {
    struct qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
    const char* symbol = qemu_plugin_insn_symbol(instruction);
    const int begins = symbol != NULL && strcmp(symbol, "BeginInference") == 0;
    const int ends = symbol != NULL && strcmp(symbol, "EndInference") == 0;
    if (begins || ends) {
      qemu_plugin_register_vcpu_insn_exec_cb(instruction, begins ? OnBegin : OnEnd,
                                             CALLBACK_READS_NO_REGISTERS, NULL);
    } else {
      qemu_plugin_register_vcpu_insn_exec_inline(instruction, INLINE_ADD_UINT64, &executed, 1);
    }
  }
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t* info, int num_args,
                        char** args) {
  static const char kOut[] = "out=";
  (void)info;
  if (num_args != 1 || strncmp(args[0], kOut, sizeof(kOut) - 1) != 0) {
    fprintf(stderr, "count_instructions: wanted one argument, out=FILE\n");
    return -1;
  }
  out = fopen(args[0] + sizeof(kOut) - 1, "w");
  if (out == NULL) {
    perror(args[0] + sizeof(kOut) - 1);
    return -1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, OnTranslate);
  return 0;
}
