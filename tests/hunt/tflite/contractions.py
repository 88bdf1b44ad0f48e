# SPDX-License-Identifier: Apache-2.0
"""Operators that sum, use windows, or reduce dimensions."""

import numpy as np

from choices import Refused
from model_builder import QUANTISED, Quantisation
from pointwise import NONE, RELU, RELU6

SAME, VALID = range(2)
_ANY = ("float32", *QUANTISED)


def _activation(b):
    return b.pick([NONE, NONE, RELU, RELU6])


def _weight(b, shape, axis, per_channel):
    """Returns constant weights: float32 or uint8 like the data, otherwise int8."""
    if b.dtype == "float32":
        return b.constant(b.values(shape, "float32", -1, 1))
    dtype = "uint8" if b.dtype == "uint8" else "int8"
    count = shape[axis] if per_channel and dtype == "int8" else 1
    zero = b.zero("uint8") if dtype == "uint8" else 0
    values = b.values(shape, dtype, 0, 0)
    if dtype == "int8":
        values = np.maximum(values, np.int8(-127))
    return b.constant(values, [Quantisation(b.scale(-10, -7), zero) for _ in range(count)], axis)


def _bias(b, x, weight, channels, always=False):
    """Returns a list with a constant bias, or an empty list."""
    if b.coin(0.3) and not always:
        return []
    if b.dtype == "float32":
        return [b.constant(b.values((channels,), "float32", -1, 1))]
    dtype = "int64" if b.dtype == "int16" else "int32"
    scales = b.graph.tensors[weight.index].quantization.scale
    return [b.constant(b.values((channels,), dtype, -1000, 1000), [
        Quantisation(float(np.float32(x.scale) * np.float32(s)), 0) for s in scales])]


def _result(b, x, weight, count):
    return b.result(x.scale * weight.scale * 40 * count**0.5, x)


def _window(b):
    """Returns strides, dilations and padding. With dilations, the strides are 1."""
    if b.coin(0.2):
        strides, dilations = (1, 1), (b.number(1, 2), b.number(1, 2))
    else:
        strides, dilations = (b.number(1, 3), b.number(1, 3)), (1, 1)
    return {"strideH": strides[0], "strideW": strides[1], "dilationHFactor": dilations[0],
            "dilationWFactor": dilations[1], "padding": b.pick([SAME, VALID]),
            "fusedActivationFunction": _activation(b)}


def conv(b):
    b.needs(*_ANY)
    x = b.input(b.shape(4))
    shape = (b.number(1, 5), b.number(1, min(3, x.shape[1])), b.number(1, min(3, x.shape[2])),
             x.shape[3])
    w = _weight(b, shape, 0, b.coin(0.7))
    bias = _bias(b, x, w, shape[0], always=True)
    b.op("CONV_2D", [x, w, *bias], _result(b, x, w, np.prod(shape[1:])), options="Conv2DOptions",
         **_window(b))


def depthwise(b):
    b.needs(*_ANY)
    x = b.input(b.shape(4))
    times = b.number(1, 2)
    shape = (1, b.number(1, min(3, x.shape[1])), b.number(1, min(3, x.shape[2])),
             x.shape[3] * times)
    w = _weight(b, shape, 3, b.dtype != "uint8")
    bias = _bias(b, x, w, shape[3])
    b.op("DEPTHWISE_CONV_2D", [x, w, *bias], _result(b, x, w, shape[1] * shape[2]),
         options="DepthwiseConv2DOptions", depthMultiplier=times, **_window(b))


def transpose_conv(b):
    b.needs(*_ANY)
    x = b.input(b.shape(4))
    k, s = (b.number(1, 3), b.number(1, 3)), (b.number(1, 2), b.number(1, 2))
    padding = b.pick([SAME, VALID])
    shape = (b.number(1, 4), *k, x.shape[3])
    w = _weight(b, shape, 0, b.dtype != "uint8")
    extents = [e * t if padding == SAME else (e - 1) * t + f
               for e, t, f in zip(x.shape[1:3], s, k)]
    inputs = [b.ints([x.shape[0], *extents, shape[0]]), w, x, *_bias(b, x, w, shape[0])]
    b.op("TRANSPOSE_CONV", inputs, _result(b, x, w, np.prod(shape[1:])),
         options="TransposeConvOptions", padding=padding, strideH=s[0], strideW=s[1])


def fully_connected(b):
    b.needs(*_ANY)
    if b.dtype != "float32":
        b.known = "rounded once"
    x = b.input(b.shape(2, 3))
    w = _weight(b, (b.number(1, 6), x.shape[-1]), 0, b.dtype == "int8" and b.coin(0.3))
    bias = _bias(b, x, w, w.shape[0])
    b.op("FULLY_CONNECTED", [x, w, *(bias or [None])], _result(b, x, w, x.shape[-1]),
         options="FullyConnectedOptions", fusedActivationFunction=_activation(b),
         keepNumDims=x.rank == 3)


def batch_matmul(b):
    b.needs("float32", "int8", "int16")
    x = b.input(b.shape(2, 3, 4))
    adj_x, adj_y, n = b.coin(0.3), b.coin(0.3), b.number(1, 5)
    depth = x.shape[-2] if adj_x else x.shape[-1]
    y = b.input((*x.shape[:-2], *((n, depth) if adj_y else (depth, n))))
    b.op("BATCH_MATMUL", [x, y], b.result(x.scale * y.scale * 40 * depth**0.5, x),
         options="BatchMatMulOptions", adjX=adj_x, adjY=adj_y)


def pool(b):
    op = b.pick(["AVERAGE_POOL_2D", "AVERAGE_POOL_2D", "MAX_POOL_2D", "L2_POOL_2D"])
    b.needs(*(_ANY if op != "L2_POOL_2D" else ["float32"]))
    x = b.input(b.shape(4))
    b.op(op, [x], x.quantisation, options="Pool2DOptions", padding=b.pick([SAME, VALID]),
         strideH=b.number(1, 3), strideW=b.number(1, 3),
         filterHeight=b.number(1, min(3, x.shape[1])), filterWidth=b.number(1, min(3, x.shape[2])),
         fusedActivationFunction=_activation(b))


def resize(b):
    op = b.pick(["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"])
    b.needs(*_ANY)
    x = b.input(b.shape(4))
    how = b.pick([(False, False), (True, False), (False, True)])
    options = "ResizeBilinearOptions" if op == "RESIZE_BILINEAR" else "ResizeNearestNeighborOptions"
    b.op(op, [x, b.ints([b.number(1, 9), b.number(1, 9)])], x.quantisation, options=options,
         alignCorners=how[0], halfPixelCenters=how[1])


def _axes(b, x):
    """Returns one axis more often than several. Some are negative."""
    if b.coin(0.6):
        axes = [b.number(0, x.rank - 1)]
    else:
        axes = sorted({b.number(0, x.rank - 1) for _ in range(x.rank)})
    return b.ints([a - x.rank if b.coin(0.3) else a for a in axes])


def reduce(b):
    op = b.pick(["MEAN", "MEAN", "MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD",
                 "REDUCE_ANY", "REDUCE_ALL"])
    dtypes = {"REDUCE_PROD": ["float32"], "REDUCE_ANY": ["bool"], "REDUCE_ALL": ["bool"]}
    b.needs(*dtypes.get(op, _ANY))
    x = b.input(b.shape(1, 2, 3, 4), low=-2, high=2)
    result = x.quantisation
    if op in ("MEAN", "SUM"):
        result = b.result(x.scale * (2 if op == "SUM" else 1), x)
    if op == "SUM" and b.dtype in QUANTISED:
        b.known = "sums"
    b.op(op, [x, _axes(b, x)], result, options="ReducerOptions", keepDims=b.coin())


def extreme_index(b):
    op = b.pick(["ARG_MAX", "ARG_MIN"])
    b.needs("float32", "int8", "uint8")
    x = b.input(b.shape(1, 2, 3, 4))
    axis = b.constant(np.array(b.number(-x.rank, x.rank - 1), "int32"))
    kind = b.pick(["int32", "int64"])
    b.op(op, [x, axis], dtype=kind, options="ArgMaxOptions" if op == "ARG_MAX" else "ArgMinOptions",
         outputType={"int32": 2, "int64": 4}[kind])


def cumsum(b):
    b.needs("float32", "int32")
    x = b.input(b.shape(1, 2, 3))
    axis = b.constant(np.array(b.number(-x.rank, x.rank - 1), "int32"))
    b.op("CUMSUM", [x, axis], options="CumsumOptions", exclusive=b.coin(), reverse=b.coin())


ALL = (*[conv] * 4, *[depthwise] * 3, *[transpose_conv] * 2, *[fully_connected] * 2,
       *[batch_matmul] * 2, *[pool] * 3, *[resize] * 2, *[reduce] * 5, extreme_index, cumsum)
