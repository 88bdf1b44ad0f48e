# SPDX-License-Identifier: Apache-2.0
"""Operators that move elements: shapes, parts and indices."""

import numpy as np

from choices import Refused
from model_builder import QUANTISED

_ANY = ("float32", "int32", *QUANTISED)


def _input(b, *ranks):
    b.needs(*_ANY)
    return b.input(b.shape(*ranks))


def reshape(b):
    x = _input(b, 1, 2, 3, 4)
    count = int(np.prod(x.shape))
    shape = b.pick([[-1], [count, 1], [1, -1], [x.shape[0], -1]])
    b.op("RESHAPE", [x, b.ints(shape)], x.quantisation, options="ReshapeOptions", newShape=shape)


def transpose(b):
    x = _input(b, 2, 3, 4, 5)
    axes = list(range(x.rank))
    b.rng.shuffle(axes)
    b.op("TRANSPOSE", [x, b.ints(axes)], x.quantisation)


def _pads(b, x, most):
    return [[b.number(0, most(e)), b.number(0, most(e))] for e in x.shape]


def pad(b):
    x = _input(b, 2, 3, 4)
    if b.coin(0.3):
        reflect = b.coin()
        pads = _pads(b, x, lambda e: min(e - reflect, 3))
        b.op("MIRROR_PAD", [x, b.ints(pads)], x.quantisation, options="MirrorPadOptions",
             mode=0 if reflect else 1)
        return
    pads = b.ints(_pads(b, x, lambda e: 2))
    if b.coin():
        b.op("PAD", [x, pads], x.quantisation)
        return
    value = b.constant(b.values((1,), b.dtype, -4, 4), x.quantisation)
    b.op("PADV2", [x, pads, value], x.quantisation)


def blocks(b):
    b.needs("float32", "int8", "uint8")
    block = b.number(1, 3)
    n, h, w, c = b.shape(4)
    if b.coin():
        x = b.input((n, h * block, w * block, c))
        b.op("SPACE_TO_DEPTH", [x], x.quantisation, options="SpaceToDepthOptions", blockSize=block)
    else:
        x = b.input((n, h, w, c * block * block))
        b.op("DEPTH_TO_SPACE", [x], x.quantisation, options="DepthToSpaceOptions", blockSize=block)


def batches(b):
    b.needs("float32", *QUANTISED)
    block = (b.number(1, 3), b.number(1, 2))
    n, h, w, c = b.shape(4)
    if b.coin():
        pads = [[0, -h % block[0]], [0, -w % block[1]]]
        x = b.input((n, h, w, c))
        b.op("SPACE_TO_BATCH_ND", [x, b.ints(block), b.ints(pads)], x.quantisation)
    else:
        x = b.input((n * block[0] * block[1], h, w, c))
        crops = [[0, b.number(0, h * block[0] - 1)], [b.number(0, w * block[1] - 1), 0]]
        b.op("BATCH_TO_SPACE_ND", [x, b.ints(block), b.ints(crops)], x.quantisation)


def repeat(b):
    x = _input(b, 1, 2, 3)
    if b.coin():
        b.op("TILE", [x, b.ints([b.number(1, 3) for _ in x.shape])], x.quantisation)
        return
    shape = [b.number(1, 4) if e == 1 else e for e in x.shape]
    b.op("BROADCAST_TO", [x, b.ints([2] * b.number(0, 1) + shape)], x.quantisation)


def dimensions(b):
    x = _input(b, 1, 2, 3)
    if b.coin():
        axis = b.constant(np.array(b.number(-x.rank - 1, x.rank), "int32"))
        b.op("EXPAND_DIMS", [x, axis], x.quantisation)
        return
    ones = [i for i, e in enumerate(x.shape) if e == 1]
    if not ones:
        raise Refused
    b.op("SQUEEZE", [x], x.quantisation, options="SqueezeOptions", squeezeDims=[b.pick(ones)])


def reverse(b):
    x = _input(b, 1, 2, 3, 4)
    b.op("REVERSE_V2", [x, b.ints([b.number(0, x.rank - 1)])], x.quantisation)


def about_shape(b):
    x = _input(b, 1, 2, 3, 4)
    if b.coin():
        b.op("SHAPE", [x], dtype="int32", options="ShapeOptions", outType=2)
    else:
        b.op("RANK", [x], dtype="int32")


def concatenation(b):
    x = _input(b, 1, 2, 3, 4)
    axis = b.number(0, x.rank - 1)
    parts = [x]
    for _ in range(b.number(0, 3)):
        shape = list(x.shape)
        shape[axis] = b.number(1, 4)
        other = b.quantisation() if b.dtype == "uint8" and b.coin() else x.quantisation
        parts.append(b.input(shape, quantisation=other))
    b.op("CONCATENATION", parts, x.quantisation, options="ConcatenationOptions",
         axis=axis - x.rank if b.coin(0.3) else axis, fusedActivationFunction=0)


def pack(b):
    x = _input(b, 1, 2, 3)
    if b.coin():
        parts = [x] + [b.input(x.shape, quantisation=x.quantisation) for _ in range(b.number(0, 2))]
        b.op("PACK", parts, x.quantisation, options="PackOptions", valuesCount=len(parts),
             axis=b.number(-x.rank - 1, x.rank))
        return
    axis = b.number(0, x.rank - 1)
    b.op("UNPACK", [x], x.quantisation, outputs=x.shape[axis], options="UnpackOptions",
         num=x.shape[axis], axis=axis)


def cut(b):
    x = _input(b, 1, 2, 3, 4)
    begin = [b.number(0, e - 1) for e in x.shape]
    size = [b.pick([-1, b.number(1, e - p)]) for e, p in zip(x.shape, begin)]
    b.op("SLICE", [x, b.ints(begin), b.ints(size)], x.quantisation)


def split(b):
    x = _input(b, 1, 2, 3)
    axis = b.number(0, x.rank - 1)
    extent = x.shape[axis]
    at = b.constant(np.array(axis - x.rank if b.coin(0.3) else axis, "int32"))
    if b.coin():
        count = b.pick(n for n in range(1, extent + 1) if extent % n == 0)
        b.op("SPLIT", [at, x], x.quantisation, outputs=count, options="SplitOptions",
             numSplits=count)
        return
    first = b.number(1, extent)
    sizes = [first] if first == extent else [first, b.pick([-1, extent - first])]
    b.op("SPLIT_V", [x, b.ints(sizes), at], x.quantisation, outputs=len(sizes),
         options="SplitVOptions", numSplits=len(sizes))


def strided(b):
    x = _input(b, 1, 2, 3, 4)
    begin, end, strides = [], [], []
    for extent in x.shape:
        step = b.pick([1, 1, 2, -1])
        low, high = sorted((b.number(0, extent - 1), b.number(0, extent - 1)))
        begin.append(low if step > 0 else high)
        end.append(high + 1 if step > 0 else low - 1 - (extent if low == 0 else 0))
        strides.append(step)
    mask = b.number(0, 2**x.rank - 1)
    b.op("STRIDED_SLICE", [x, b.ints(begin), b.ints(end), b.ints(strides)], x.quantisation,
         options="StridedSliceOptions", beginMask=mask & b.number(0, 15),
         endMask=mask & b.number(0, 15), ellipsisMask=0, newAxisMask=0,
         shrinkAxisMask=1 if b.coin(0.2) and strides[0] > 0 and not mask & 1 else 0)


def gather(b):
    x = _input(b, 1, 2, 3, 4)
    axis = b.number(0, x.rank - 1)
    if b.coin(0.7):
        indices = b.input(b.shape(1, 2), "int32", 0, x.shape[axis] - 1)
        b.op("GATHER", [x, indices], x.quantisation, options="GatherOptions",
             axis=axis - x.rank if b.coin(0.3) else axis, batchDims=0)
        return
    depth, rows = b.number(1, x.rank), b.number(1, 4)
    indices = b.input((rows, depth), "int32", 0, min(x.shape[:depth]) - 1)
    b.op("GATHER_ND", [x, indices], x.quantisation)


def one_hot(b):
    b.needs("float32", "int32")
    depth = b.number(1, 6)
    indices = b.input(b.shape(1, 2), "int32", 0, depth)
    scalars = [b.constant(np.array(depth, "int32")), b.constant(np.array(1, b.dtype)),
               b.constant(np.array(0, b.dtype))]
    b.op("ONE_HOT", [indices, *scalars], options="OneHotOptions",
         axis=b.number(-1, len(b.feeds[0].shape)))


def update(b):
    b.needs("float32", "int8", "int32")
    x = b.input(b.shape(2, 3))
    part = b.input([b.number(1, e) for e in x.shape], quantisation=x.quantisation)
    b.op("DYNAMIC_UPDATE_SLICE", [x, part, b.input((x.rank,), "int32", 0, 4)], x.quantisation)


def fill(b):
    b.needs("float32", "int32")
    b.op("FILL", [b.ints(list(b.shape(1, 2, 3))), b.input(())])


ALL = (reshape, transpose, *[pad] * 3, *[blocks] * 2, *[batches] * 2, *[repeat] * 2,
       *[dimensions] * 2, reverse, about_shape, *[concatenation] * 2, *[pack] * 2, cut, *[split] * 2,
       *[strided] * 2, *[gather] * 2, one_hot, update, fill)
