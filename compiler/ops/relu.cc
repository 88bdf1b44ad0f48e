// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/unary.h"

namespace kiln {
namespace {

Expr Relu(Expr x) { return Max(x, loop::Const(x.type(), 0)); }

const OpDef kRelu = NumericUnary("nn.relu", "max(x, 0). NaN stays.", LowerUnary<Relu>,
                                 {-1.5, 0, 0.25}, {0, 0, 0.25}, {-3, 5}, {0, 5});
KILN_REGISTER_OP(kRelu);

}  // namespace
}  // namespace kiln
