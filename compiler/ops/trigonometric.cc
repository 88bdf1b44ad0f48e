// SPDX-License-Identifier: Apache-2.0
// Circular and hyperbolic functions and their inverses, in radians.
#include "compiler/loop/math.h"
#include "compiler/ops/unary.h"

namespace kiln {
namespace {

const OpDef kTrigonometric[] = {
    FloatUnary("sin", "Sine.", LowerUnary<loop::Sin>, {-2, 0, 10},
               {-0.9092974268, 0, -0.5440211109}),
    FloatUnary("cos", "Cosine.", LowerUnary<loop::Cos>, {-2, 0, 10},
               {-0.4161468365, 1, -0.8390715291}),
    FloatUnary("tan", "Tangent.", LowerUnary<loop::Tan>, {-1, 0, 1.25},
               {-1.5574077247, 0, 3.0095696739}),
    FloatUnary("asin", "Arc sine. It is NaN outside of -1 … 1.", LowerUnary<loop::Asin>,
               {-1, 0, 0.5}, {-1.5707963268, 0, 0.5235987756}),
    FloatUnary("acos", "Arc cosine. It is NaN outside of -1 … 1.", LowerUnary<loop::Acos>,
               {-1, 0, 0.5}, {3.1415926536, 1.5707963268, 1.0471975512}),
    FloatUnary("atan", "Arc tangent.", LowerUnary<loop::Atan>, {-1, 0, 10},
               {-0.7853981634, 0, 1.4711276743}),
    FloatUnary("sinh", "Hyperbolic sine.", LowerUnary<loop::Sinh>, {-2, 0, 0.5},
               {-3.6268604078, 0, 0.5210953055}),
    FloatUnary("cosh", "Hyperbolic cosine.", LowerUnary<loop::Cosh>, {-2, 0, 0.5},
               {3.7621956911, 1, 1.1276259652}),
    FloatUnary("asinh", "Inverse hyperbolic sine.", LowerUnary<loop::Asinh>, {-2, 0, 0.5},
               {-1.4436354752, 0, 0.4812118251}),
    FloatUnary("acosh", "Inverse hyperbolic cosine. It is NaN below 1.", LowerUnary<loop::Acosh>,
               {1, 2, 10}, {0, 1.3169578969, 2.9932228461}),
    FloatUnary("atanh", "Inverse hyperbolic tangent. It is NaN outside of -1 … 1.",
               LowerUnary<loop::Atanh>, {-0.5, 0, 0.75}, {-0.5493061443, 0, 0.9729550745}),
};
KILN_REGISTER_OPS(kTrigonometric);

}  // namespace
}  // namespace kiln
