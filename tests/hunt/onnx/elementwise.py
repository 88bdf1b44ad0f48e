# SPDX-License-Identifier: Apache-2.0
"""Element-wise operators of random models. Each function adds one or a few nodes."""

import numpy as np

from choices import Refused
from model_builder import NUMBERS

_SMOOTH = {  # operator: first opset, bound of its result
    "Sin": (7, 1), "Cos": (7, 1), "Tanh": (7, 1), "Sigmoid": (7, 1), "Erf": (9, 1),
    "Softsign": (7, 1), "Atan": (7, 2), "HardSigmoid": (7, 1), "Asinh": (9, 12)}
_GROWING = {"Softplus": 7, "Elu": 7, "Selu": 7, "Celu": 12, "LeakyRelu": 7, "HardSwish": 14,
            "Mish": 18, "Gelu": 20}
_EXACT = ("Relu", "Neg", "Abs", "Identity")
_JUMPS = ("Floor", "Ceil", "Round", "Sign", "ThresholdedRelu", "Shrink")
_FIRST = {"Round": 11, "Sign": 9, "ThresholdedRelu": 10, "Shrink": 9}


def smooth(b):
    op = b.pick(o for o, (first, _) in _SMOOTH.items() if first <= b.opset)
    x = b.tame(b.float_value(), 64)
    b.node(op, [x], x.shape, _SMOOTH[op][1])


def growing(b):
    op = b.pick(o for o, first in _GROWING.items() if first <= b.opset)
    x = b.float_value()
    attributes = {"alpha": b.pick([None, 0.5])} if op in ("Elu", "Celu", "LeakyRelu") else {}
    if op == "Gelu":
        attributes["approximate"] = b.pick([None, "tanh"])
    b.node(op, [x], x.shape, 2 * x.bound + 2, **attributes)


def exact(b):
    x = b.value(lambda v: v.dtype in NUMBERS)
    op = b.pick(_EXACT)
    if op == "Relu" and not x.is_float:
        op = "Neg"
    b.node(op, [x], x.shape, x.bound, x.exact)


def jumps(b):
    op = b.pick(o for o in _JUMPS if _FIRST.get(o, 7) <= b.opset)
    x = b.exact_value(lambda v: v.dtype == "float32" and v.bound < 1e5)
    b.node(op, [x], x.shape, x.bound + 1, op != "Shrink")


def restricted(b):
    op = b.pick(["Sqrt", "Log", "Reciprocal", "Exp", "Sinh", "Cosh", "Asin", "Acos", "Atanh",
                 "Acosh"])
    if op in ("Sinh", "Cosh", "Atanh", "Acosh") and b.opset < 9:
        raise Refused
    x = b.float_value()
    if op in ("Exp", "Sinh", "Cosh"):
        x, bound = b.tame(x, 4), 64
    elif op in ("Asin", "Acos", "Atanh"):
        x, bound = b.tame(x, 0.75), 4
    else:
        x = b.positive(x)
        if op == "Acosh":
            x = b.node("Add", [x, b.scalar(1, x)], x.shape, x.bound + 1)
        bound = x.bound + 2
    b.node(op, [x], x.shape, bound)


def _partner(b, x, dtype=None):
    """Returns a value or a constant that can be broadcast against x."""
    same = [v for v in b.values if v.dtype == (dtype or x.dtype) and v.shape == x.shape]
    if same and b.coin(0.6):
        return b.pick(same)
    shape = [1 if b.coin(0.3) else e for e in x.shape]
    shape = shape[b.number(0, len(shape)):]
    return b.weight(shape, dtype or x.dtype)


def binary(b):
    x = b.value(lambda v: v.dtype in NUMBERS)
    y = _partner(b, x)
    op = b.pick(["Add", "Sub", "Mul", "Max", "Min"])
    if op in ("Max", "Min") and b.opset < 8 or not x.is_float and op in ("Max", "Min") and b.opset < 12:
        raise Refused
    bound = x.bound * y.bound if op == "Mul" else x.bound + y.bound
    if bound > 1e4 and x.is_float:
        x, y = b.tame(x, 64), b.tame(y, 64)
        bound = 4096
    if bound > 2**30 and not x.is_float:
        raise Refused
    keeps = op in ("Max", "Min") or bound < 512 and op != "Mul"
    b.node(op, [x, y] if b.coin() else [y, x], np.broadcast_shapes(x.shape, y.shape), bound,
           x.exact and y.exact and keeps)


def several(b):
    x = b.float_value()
    rest = [_partner(b, x) for _ in range(b.number(0, 2))]
    op = b.pick(["Sum", "Mean"])
    if b.opset < 8:
        raise Refused
    b.node(op, [x, *rest], x.shape, x.bound + sum(v.bound for v in rest))


def divide(b):
    x = b.value(lambda v: v.dtype in NUMBERS)
    if x.is_float:
        y = b.positive(_partner(b, x))
        b.node("Div", [x, y], np.broadcast_shapes(x.shape, y.shape), x.bound * 2)
        return
    y = b.scalar(b.pick([1, 2, 3, -3, 7]), x)
    op = b.pick(["Div", "Mod"])
    if op == "Mod" and b.opset < 10:
        raise Refused
    b.node(op, [x, y], x.shape, max(x.bound, 7),
           fmod=b.pick([None, 1]) if op == "Mod" else None)


def power(b):
    x = b.tame(b.float_value(), 16)
    e = b.pick([2, 3, 0.5, -1, 1.5, 0])
    if e not in (2, 3, 0):
        x = b.positive(x)
    b.node("Pow", [x, b.scalar(e, x)], x.shape, max(x.bound, 2)**max(e, 1))


def prelu(b):
    x = b.float_value()
    slope = b.weight([1 if b.coin() else e for e in x.shape])
    b.node("PRelu", [x, slope], x.shape, x.bound * max(slope.bound, 1))


def clip(b):
    x = b.float_value()
    low, high = sorted([b.number(-9, 9), b.number(-9, 9)])
    if b.opset < 11:
        b.node("Clip", [x], x.shape, max(x.bound, 9), x.exact, min=float(low), max=float(high))
        return
    bounds = [b.scalar(low, x) if b.coin(0.8) else None, b.scalar(high, x)]
    b.node("Clip", [x, *bounds], x.shape, max(x.bound, 9), x.exact)


def compare(b):
    x = b.exact_value(lambda v: v.dtype in ("float32", "int32", "int64"))
    y = _partner(b, x)
    if not y.exact or b.opset < 9:
        raise Refused
    ops = ["Less", "Greater"] + ["Equal"] * (b.opset >= 11)
    ops += ["LessOrEqual", "GreaterOrEqual"] * (b.opset >= 16)
    b.node(b.pick(ops), [x, y], np.broadcast_shapes(x.shape, y.shape), 1, True, "bool")


def logical(b):
    x = b.value(lambda v: v.dtype == "bool")
    op = b.pick(["And", "Or", "Xor", "Not"])
    if op == "Not":
        b.node(op, [x], x.shape, 1, True)
        return
    y = _partner(b, x)
    b.node(op, [x, y], np.broadcast_shapes(x.shape, y.shape), 1, True)


def where(b):
    condition = b.value(lambda v: v.dtype == "bool")
    if b.opset < 9:
        raise Refused
    dtype = b.pick(["float32", "int32", "int64"])
    x, y = _partner(b, condition, dtype), _partner(b, condition, dtype)
    shape = np.broadcast_shapes(condition.shape, x.shape, y.shape)
    b.node("Where", [condition, x, y], shape, max(x.bound, y.bound), x.exact and y.exact, dtype)


def cast(b):
    x = b.exact_value(lambda v: v.bound < 100)
    to = b.pick(d for d in ("float32", "float64", "int32", "int64", "int8", "bool", "uint8")
                if d != x.dtype and not (d == "uint8" and x.dtype != "bool"))
    if b.opset < 9:
        raise Refused
    codes = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7, "bool": 9, "float64": 11}
    b.node("Cast", [x], x.shape, x.bound, True, to, to=codes[to])


def bits(b):
    x = b.value(lambda v: v.dtype in ("int32", "int64"))
    if b.opset < 18:
        raise Refused
    op = b.pick(["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"])
    inputs = [x] if op == "BitwiseNot" else [x, _partner(b, x)]
    b.node(op, inputs, np.broadcast_shapes(*(v.shape for v in inputs)), 2 * x.bound + 16)


def shift(b):
    x = b.value(lambda v: v.dtype in ("uint8",))
    if b.opset < 11:
        raise Refused
    by = b.scalar(b.number(0, 7), x)
    b.node("BitShift", [x, by], x.shape, 255, direction=b.pick(["LEFT", "RIGHT"]))


def computed_clip(b):
    x = b.float_value(lambda v: v.rank > 0 and min(v.shape) > 0)
    if b.opset < 12:
        raise Refused
    axes = {} if b.opset >= 18 else {"axes": list(range(x.rank))}
    high = b.node("ReduceMean", [x], [], x.bound, keepdims=0, **axes)
    b.node("Clip", [x, None, high] if b.coin() else [x, high], x.shape, x.bound)


def odd_floats(b):
    x = b.exact_value(lambda v: v.dtype == "float32")
    if b.opset < 13:
        raise Refused
    zero = b.node("Mul", [x, b.scalar(0, x)], x.shape, 0, True)
    y = b.node("Div", [x, zero], x.shape, 1, True)
    b.values.remove(y)
    b.node(b.pick(["IsNaN", "IsInf"]), [y], x.shape, 1, True, "bool")


ALL = (smooth, growing, exact, jumps, restricted, binary, several, divide, power, prelu, clip,
       compare, logical, where, cast, bits, shift, computed_clip, odd_floats)
