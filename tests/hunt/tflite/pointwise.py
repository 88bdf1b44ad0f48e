# SPDX-License-Identifier: Apache-2.0
"""Element-wise operators."""

import math

import numpy as np

from choices import Refused
from model_builder import QUANTISED, Quantisation

NONE, RELU, RELU_N1_TO_1, RELU6 = range(4)
_ANY = ("float32", *QUANTISED)
# By operator: the dtypes and the range of float inputs.
_UNARY = {
    "ABS": (("float32", "int8", "int16"), -4, 4), "NEG": (("float32", "int32"), -4, 4),
    "FLOOR": (("float32",), -4, 4), "CEIL": (("float32",), -4, 4), "ROUND": (("float32",), -4, 4),
    "EXP": (("float32",), -4, 4), "LOG": (("float32",), 0.1, 9), "SQRT": (("float32",), 0, 9),
    "SQUARE": (("float32",), -4, 4), "SIN": (("float32",), -4, 4), "COS": (("float32",), -4, 4),
    "RELU": (_ANY, -4, 4), "RELU6": (_ANY, -4, 9), "RELU_N1_TO_1": (("float32", "int8", "uint8"), -2, 2),
    "RELU_0_TO_1": (("float32",), -2, 2), "ELU": (("float32", "int8"), -4, 4),
    "HARD_SWISH": (("float32", "int8", "uint8"), -5, 5), "SIGN": (("float32",), -4, 4),
    "ZEROS_LIKE": (("float32", "int32"), -4, 4)}
# Results with scale and zero point that the operator defines.
_FIXED = {
    "LOGISTIC": {"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0)},
    "TANH": {"int8": (1 / 128, 0), "uint8": (1 / 128, 128), "int16": (1 / 32768, 0)},
    "SOFTMAX": {"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0)},
    "LOG_SOFTMAX": {"int8": (1 / 16, 127)}, "L2_NORMALIZATION": {"int8": (1 / 128, 0)}}


def fixed_scale(b, op):
    b.needs("float32", *_FIXED[op])
    return Quantisation(*_FIXED[op][b.dtype]) if b.dtype in QUANTISED else None


def unary(b):
    op = b.pick(_UNARY)
    dtypes, low, high = _UNARY[op]
    b.needs(*dtypes)
    x = b.input(b.shape(1, 2, 3, 4), low=low, high=high)
    b.op(op, [x], b.result(x.scale, x))


def rsqrt(b):
    """The reciprocal square root of positive numbers. With zero point -128 all numbers are positive
    except 0, which is replaced."""
    b.needs("float32", "int8")
    x = b.input(b.shape(1, 2, 3), low=0.1, high=9,
                quantisation=Quantisation(b.scale(), -128) if b.dtype == "int8" else None)
    if b.dtype == "int8":
        b.feeds[0] = np.maximum(b.feeds[0], np.int8(-127))
    b.op("RSQRT", [x], b.quantisation(1 / (128 * math.sqrt(x.scale))))


def table(b):
    op = b.pick(["LOGISTIC", "TANH"])
    result = fixed_scale(b, op)
    quantisation = b.quantisation(b.scale(-15, -10)) if b.dtype == "int16" else None
    b.op(op, [b.input(b.shape(1, 2, 3, 4), low=-8, high=8, quantisation=quantisation)], result)


def softmax(b):
    op = b.pick(["SOFTMAX", "LOG_SOFTMAX"])
    result = fixed_scale(b, op)
    x = b.input(b.shape(2, 3, 4),
                quantisation=b.quantisation(b.scale(-15, -11)) if b.dtype == "int16" else None)
    if op == "SOFTMAX":
        b.op(op, [x], result, options="SoftmaxOptions", beta=b.pick([1.0, 1.0, 0.5]))
    else:
        b.op(op, [x], result, options="LogSoftmaxOptions")


def normalisation(b):
    if b.coin():
        result = fixed_scale(b, "L2_NORMALIZATION")
        b.op("L2_NORMALIZATION", [b.input(b.shape(2, 3, 4))], result, options="L2NormOptions")
        return
    b.needs("float32")
    b.op("LOCAL_RESPONSE_NORMALIZATION", [b.input(b.shape(4))],
         options="LocalResponseNormalizationOptions", radius=b.number(0, 3), bias=1.0, alpha=0.1,
         beta=0.5)


def leaky(b):
    b.needs(*_ANY)
    x = b.input(b.shape(1, 2, 3, 4))
    alpha = b.pick([0.1, 0.5, 0.3, -0.5])
    b.op("LEAKY_RELU", [x], b.result(x.scale, x), options="LeakyReluOptions", alpha=alpha)


def gelu(b):
    b.needs("float32")
    b.op("GELU", [b.input(b.shape(1, 2, 3))], options="GeluOptions", approximate=b.coin())


def prelu(b):
    b.needs("float32", "int8", "uint8")
    x = b.input(b.shape(4))
    alpha = (1, 1, x.shape[3])
    slope = b.constant(b.values(alpha, b.dtype, -1, 1), b.quantisation())
    b.op("PRELU", [x, slope], b.result(x.scale, x))


def arithmetic(b):
    op = b.pick(["ADD", "SUB", "MUL"])
    b.needs(*_ANY, "int32")
    x = b.input(b.shape(1, 2, 3, 4))
    y = b.input(b.partner(x.shape), quantisation=x.quantisation if b.coin(0.3) else None)
    if b.coin():
        x, y = y, x
    scale = x.scale * y.scale * 64 if op == "MUL" else max(x.scale, y.scale)
    extra = {"potScaleInt16": False} if op != "MUL" else {}
    b.op(op, [x, y], b.result(scale, x), options=op.capitalize() + "Options",
         fusedActivationFunction=b.pick([NONE, NONE, NONE, RELU, RELU6, RELU_N1_TO_1]), **extra)


def division(b):
    """Division by numbers that are not 0."""
    b.needs("float32", "int8", "uint8")
    x = b.input(b.shape(1, 2, 3, 4))
    y = b.input(b.partner(x.shape), low=0.5, high=4)
    if b.dtype != "float32":
        feed, zero = b.feeds[1], y.quantisation.zero
        b.known = "tiny quotients"
        b.feeds[1] = np.where(feed == zero, zero + (1 if zero < 100 else -1), feed).astype(b.dtype)
    b.op("DIV", [x, y], b.result(x.scale / (64 * y.scale), x), options="DivOptions",
         fusedActivationFunction=b.pick([NONE, NONE, RELU, RELU6]))


def squared_difference(b):
    b.needs("float32", "int8", "int32")
    x = b.input(b.shape(1, 2, 3, 4))
    y = b.input(b.partner(x.shape))
    b.op("SQUARED_DIFFERENCE", [x, y], b.result(max(x.scale, y.scale)**2 * 64, x))


def extreme(b):
    op = b.pick(["MAXIMUM", "MINIMUM"])
    b.needs(*_ANY, "int32")
    x = b.input(b.shape(1, 2, 3, 4))
    y = b.input(b.partner(x.shape), quantisation=x.quantisation)
    b.op(op, [x, y], x.quantisation)


def of_floats(b):
    op = b.pick(["POW", "FLOOR_DIV", "FLOOR_MOD"])
    b.needs("float32")
    x = b.input(b.shape(1, 2, 3), low=0.1, high=4)
    b.op(op, [x, b.input(b.partner(x.shape), low=0.5, high=3)])


def add_n(b):
    b.needs("float32", "int32")
    x = b.input(b.shape(1, 2, 3))
    b.op("ADD_N", [x, *(b.input(x.shape) for _ in range(b.number(1, 3)))])


def comparison(b):
    op = b.pick(["EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"])
    b.needs(*_ANY, "int32")
    x = b.input(b.shape(1, 2, 3, 4))
    y = b.input(b.partner(x.shape), quantisation=x.quantisation if b.coin(0.4) else None)
    if b.dtype == "int16":
        b.known = "comparison of int16"
    b.op(op, [x, y], dtype="bool")


def logic(b):
    op = b.pick(["LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT"])
    b.needs("bool")
    x = b.input(b.shape(1, 2, 3))
    b.op(op, [x] if op == "LOGICAL_NOT" else [x, b.input(b.partner(x.shape))])


def select(b):
    op = b.pick(["SELECT", "SELECT_V2"])
    b.needs("float32", "int8", "int16", "uint8", "int32")
    x = b.input(b.shape(1, 2, 3, 4))
    y = b.input(x.shape, quantisation=x.quantisation)
    b.op(op, [b.input(x.shape if op == "SELECT" else b.partner(x.shape), "bool"), x, y],
         x.quantisation, shape=x.shape)


def quantise(b):
    """Quantizes floats, or converts from one scale to another."""
    b.needs(*QUANTISED)
    source = b.pick(["float32", "int8", "int16", "uint8"])
    if source == "int16" and b.dtype == "uint8" or source == "uint8" and b.dtype == "int16":
        raise Refused
    x = b.input(b.shape(1, 2, 3), source)
    b.op("QUANTIZE", [x], b.result(x.scale if source != "float32" else b.scale(),
                                   x if source == b.dtype else None))


def dequantise(b):
    b.needs(*QUANTISED)
    b.op("DEQUANTIZE", [b.input(b.shape(1, 2, 3))], dtype="float32")


def cast(b):
    b.needs("float32", "int32", "bool")
    to = b.pick(d for d in ("float32", "int32", "int64", "bool", "int8") if d != b.dtype)
    codes = {"float32": 0, "int32": 2, "int64": 4, "bool": 6, "int8": 9}
    b.op("CAST", [b.input(b.shape(1, 2, 3), low=-9, high=9)], dtype=to, options="CastOptions",
         inDataType=codes[b.dtype], outDataType=codes[to])


ALL = (*[unary] * 6, rsqrt, *[table] * 2, *[softmax] * 2, *[normalisation] * 2, leaky, gelu, prelu,
       *[arithmetic] * 3, division, squared_difference, extreme, of_floats, add_n, *[comparison] * 3,
       logic, select, *[quantise] * 2, dequantise, cast)
