// SPDX-License-Identifier: Apache-2.0
#ifndef KILN_COMPILER_QUANTIZE_FOLD_CHANNELS_H_
#define KILN_COMPILER_QUANTIZE_FOLD_CHANNELS_H_

#include "compiler/quantize/network.h"

namespace kiln::quantize {

// Folds per-channel operations into the weights and bias of a Conv or Gemm: a BatchNormalization,
// or an Add of one constant per channel, that follows a Conv; alpha and beta of a Gemm.
void FoldChannels(Network& network);

}  // namespace kiln::quantize

#endif  // KILN_COMPILER_QUANTIZE_FOLD_CHANNELS_H_
