// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_QUANTIZE_FOLD_CHANNELS_H_
#define KILN_COMPILER_QUANTIZE_FOLD_CHANNELS_H_

#include "compiler/quantize/network.h"

namespace kiln::quantize {

// Makes what follows a Conv or belongs to a Gemm channel by channel part of its weights and bias:
// BatchNormalization, an Add of one constant per channel, alpha and beta.
void FoldChannels(Network& network);

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_FOLD_CHANNELS_H_
