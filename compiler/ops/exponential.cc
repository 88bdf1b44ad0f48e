// SPDX-License-Identifier: Apache-2.0
// Exponentials, logarithms, roots and functions made of them.
#include "compiler/loop/math.h"
#include "compiler/ops/unary.h"

namespace kiln {
namespace {

OpDef Fusing(OpDef op) {
  op.traits.fuses_multiply_adds = true;
  return op;
}

const OpDef kExponential[] = {
    Fusing(FloatUnary("exp", "e to the power of x.", LowerUnary<loop::Exp>, {-2, 0, 1.5},
                      {0.1353352832, 1, 4.4816890703})),
    Fusing(FloatUnary("expm1",
                      "exp(x) - 1, accurate also near 0, where the subtraction would lose most "
                      "digits. exp followed by subtract becomes this operator.",
                      LowerUnary<loop::Expm1>, {-2, 0, 1.5}, {-0.8646647168, 0, 3.4816890703})),
    FloatUnary("log", "Natural logarithm.", LowerUnary<loop::Log>, {0.125, 1, 10},
               {-2.0794415417, 0, 2.3025850930}),
    FloatUnary("log2", "Logarithm to the base 2.", LowerUnary<loop::Log2>, {0.125, 1, 10},
               {-3, 0, 3.3219280949}),
    FloatUnary("log10", "Logarithm to the base 10.", LowerUnary<loop::Log10>, {0.125, 1, 10},
               {-0.9030899870, 0, 1}),
    FloatUnary("sqrt", "Square root.", LowerUnary<loop::Sqrt>, {0, 2, 9}, {0, 1.4142135624, 3}),
    FloatUnary("rsqrt", "1 / sqrt(x).", LowerUnary<loop::Rsqrt>, {0.25, 2, 100},
               {2, 0.7071067812, 0.1}),
    Fusing(FloatUnary("sigmoid", "1 / (1 + exp(-x)).", LowerUnary<loop::Sigmoid>, {-2, 0, 3},
                      {0.1192029220, 0.5, 0.9525741268})),
    Fusing(FloatUnary("tanh", "Hyperbolic tangent.", LowerUnary<loop::Tanh>, {-3, 0, 0.5},
                      {-0.9950547537, 0, 0.4621171573})),
    Fusing(FloatUnary("erf", "Error function.", LowerUnary<loop::Erf>, {-3, 0, 0.5},
                      {-0.9999779095, 0, 0.5204998778})),
    Fusing(FloatUnary("nn.gelu",
                      "x * (1 + erf(x / sqrt(2))) / 2. The sequence of operators that exporters "
                      "write for it becomes this operator.",
                      LowerUnary<loop::Gelu>, {-3, 0, 0.5}, {-0.0040496940, 0, 0.3457312306})),
    Fusing(FloatUnary(
        "nn.softplus", "log(1 + exp(x)). nn.relu(x) + log(1 + exp(-abs(x))) becomes this operator.",
        LowerUnary<loop::Softplus>, {-3, 0, 0.5}, {0.0485873516, 0.6931471806, 0.9740769842})),
    Fusing(FloatUnary("fast_exp", "The same function as exp, which is at least as exact as needed.",
                      LowerUnary<loop::Exp>, {-2, 0, 1.5}, {0.1353352832, 1, 4.4816890703})),
    Fusing(FloatUnary("fast_tanh", "The same function as tanh.", LowerUnary<loop::Tanh>,
                      {-3, 0, 0.5}, {-0.9950547537, 0, 0.4621171573})),
    Fusing(FloatUnary("fast_erf", "The same function as erf.", LowerUnary<loop::Erf>, {-3, 0, 0.5},
                      {-0.9999779095, 0, 0.5204998778})),
};
KILN_REGISTER_OPS(kExponential);

}  // namespace
}  // namespace kiln
