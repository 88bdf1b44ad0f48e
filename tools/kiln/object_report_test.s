# SPDX-License-Identifier: Apache-2.0
# A small version of a compiler's output for a model: `model` with 40 bytes of stack calls `layer` with 200 and memcpy.
  .section .text.layer,"ax",@progbits
  .type layer, @function
layer:
  call memcpy
  ret
  .size layer, . - layer

  .section .text.model,"ax",@progbits
  .globl model
  .type model, @function
model:
  call layer
  ret
  .size model, . - model

  .section .rodata,"a",@progbits
  .zero 100

  .bss
  .zero 24

  .section .stack_sizes,"",@progbits
  .long layer
  .uleb128 200
  .long model
  .uleb128 40
