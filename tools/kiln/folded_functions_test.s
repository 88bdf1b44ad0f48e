# SPDX-License-Identifier: Apache-2.0
# Output of gcc that has folded two layers into one, with the names `layer` and `alias`, and has copied a third.
  .section .text.layer,"ax",@progbits
  .type layer, @function
layer:
  ret
  .size layer, . - layer
  .type alias, @function
  .set alias, layer

  .section .text.other,"ax",@progbits
  .type other.constprop.0, @function
other.constprop.0:
  ret
  .size other.constprop.0, . - other.constprop.0

  .section .text.model,"ax",@progbits
  .globl model
  .type model, @function
model:
  call alias
  call other.constprop.0
  ret
  .size model, . - model
