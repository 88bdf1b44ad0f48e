# SPDX-License-Identifier: Apache-2.0
"""Operators of random models that move elements."""

import numpy as np

from choices import Refused
from model_builder import NUMBERS


def transpose(b):
    x = b.value()
    axes = list(range(x.rank))
    b.rng.shuffle(axes)
    if x.rank == 0:
        raise Refused
    b.node("Transpose", [x], [x.shape[a] for a in axes], x.bound, x.exact, perm=axes)


def reshape(b):
    x = b.value(lambda v: 0 not in v.shape)
    count, shape = int(np.prod(x.shape)), []
    for _ in range(b.number(0, 3)):
        factor = b.pick(f for f in (1, 2, 3, 4, 5, 6) if count % f == 0)
        shape.append(factor)
        count //= factor
    shape.append(count)
    b.rng.shuffle(shape)
    asked = list(shape)
    if b.coin():
        asked[b.number(0, len(shape) - 1)] = -1
    b.node("Reshape", [x, b.ints(asked)], shape, x.bound, x.exact)


def flatten(b):
    x = b.value(lambda v: v.dtype == "float32" or b.opset >= 9)
    axis = b.number(0, x.rank)
    b.node("Flatten", [x], [int(np.prod(x.shape[:axis])), int(np.prod(x.shape[axis:]))], x.bound,
           x.exact, axis=axis)


def squeeze(b):
    x = b.value(lambda v: v.rank < 5)
    ones = [i for i, e in enumerate(x.shape) if e == 1]
    if ones and b.coin():
        axes, op = [b.pick(ones)], "Squeeze"
        shape = [e for i, e in enumerate(x.shape) if i not in axes]
    else:
        axes, op = [b.number(0, x.rank)], "Unsqueeze"
        shape = list(x.shape)
        shape.insert(axes[0], 1)
    if b.opset >= 13:
        b.node(op, [x, b.ints(axes)], shape, x.bound, x.exact)
    else:
        b.node(op, [x], shape, x.bound, x.exact, axes=axes)


def concat(b):
    x = b.value(lambda v: v.rank > 0)
    axis = b.number(0, x.rank - 1)
    parts = [x]
    for _ in range(b.number(0, 2)):
        fits = [v for v in b.values if v.dtype == x.dtype and v.rank == x.rank and
                all(i == axis or e == f for i, (e, f) in enumerate(zip(v.shape, x.shape)))]
        parts.append(b.pick(fits))
    if b.coin(0.3):
        parts.append(b.weight(x.shape, x.dtype))
    shape = list(x.shape)
    shape[axis] = sum(v.shape[axis] for v in parts)
    b.node("Concat", parts, shape, max(v.bound for v in parts), all(v.exact for v in parts),
           axis=axis)


def split(b):
    x = b.value(lambda v: v.rank > 0 and max(v.shape) >= 2 and v.dtype in NUMBERS)
    axis = b.pick(i for i, e in enumerate(x.shape) if e >= 2)
    at = b.number(1, x.shape[axis] - 1)
    sizes = [at, x.shape[axis] - at]
    shapes = [[s if i == axis else e for i, e in enumerate(x.shape)] for s in sizes]
    inputs, attributes = [x], {"axis": axis}
    if b.opset >= 13:
        inputs.append(b.ints(sizes))
    else:
        attributes["split"] = sizes
    y = b.node("Split", inputs, shapes[0], x.bound, x.exact, outputs=2, **attributes)
    b.also(y, 1, shapes[1])


def slice_(b):
    x = b.value(lambda v: v.rank > 0)
    starts, ends, axes, steps, shape = [], [], [], [], list(x.shape)
    for axis, extent in enumerate(x.shape):
        if not b.coin():
            continue
        step = b.pick([1, 1, 2, -1, -2]) if b.opset >= 10 else 1
        start, end = b.number(-extent, extent), b.pick([b.number(-extent, extent), 2**31 - 1, -1])
        if step < 0:
            end = b.pick([-2**31, b.number(-extent, extent)])
        size = len(range(extent)[start:end:step]) if end > -2**31 else len(
            range(extent)[start::step])
        if size < 1:
            raise Refused
        for into, what in zip((starts, ends, axes, steps), (start, end, axis, step)):
            into.append(what)
        shape[axis] = size
    if not axes:
        raise Refused
    if b.opset < 10:
        b.node("Slice", [x], shape, x.bound, x.exact, starts=starts, ends=ends, axes=axes)
    else:
        b.node("Slice", [x, b.ints(starts), b.ints(ends), b.ints(axes), b.ints(steps)], shape,
               x.bound, x.exact)


def pad(b):
    x = b.float_value(lambda v: v.rank > 0 and min(v.shape) > 0)
    mode = b.pick(["constant", "reflect", "edge"] + ["wrap"] * (b.opset >= 19))
    most = [min(2, e - 1) if mode == "reflect" else min(2, e) for e in x.shape]
    begin, end = [b.number(0, m) for m in most], [b.number(0, m) for m in most]
    shape = [e + p + q for e, p, q in zip(x.shape, begin, end)]
    if b.opset < 11:
        b.node("Pad", [x], shape, x.bound, x.exact, mode=mode, pads=begin + end)
    else:
        inputs = [x, b.ints(begin + end)]
        if mode == "constant" and b.coin():
            inputs.append(b.scalar(2, x))
        b.node("Pad", inputs, shape, max(x.bound, 2), x.exact, mode=mode)


def repeat(b):
    x = b.value(lambda v: v.rank > 0 and v.dtype != "int8")
    if b.coin():
        times = [b.number(1, 2) for _ in x.shape]
        b.node("Tile", [x, b.ints(times)], [e * t for e, t in zip(x.shape, times)], x.bound,
               x.exact)
    elif b.opset >= 8:
        shape = [b.number(2, 3) if e == 1 else e for e in x.shape]
        b.node("Expand", [x, b.ints(shape)], shape, x.bound, x.exact)


def gather(b):
    x = b.value(lambda v: v.rank > 0 and min(v.shape) > 0)
    if b.opset < 11:
        raise Refused
    axis = b.number(0, x.rank - 1)
    extent = x.shape[axis]
    op = b.pick(["Gather", "GatherElements", "GatherND"])
    dtype = b.pick(["int64", "int32"]) if op != "GatherND" else "int64"

    def indices(shape, low=-extent, high=extent - 1):
        count = int(np.prod(shape))
        return b.constant(np.array([b.number(low, high) for _ in range(count)],
                                   dtype).reshape(shape))

    if op == "Gather":
        shape = [b.number(1, 3) for _ in range(b.number(0, 2))]
        b.node(op, [x, indices(shape)], [*x.shape[:axis], *shape, *x.shape[axis + 1:]], x.bound,
               x.exact, axis=axis)
    elif op == "GatherElements":
        shape = [b.number(1, e) for e in x.shape]
        b.node(op, [x, indices(shape)], shape, x.bound, x.exact, axis=axis)
    else:
        places, extent = b.number(1, 3), x.shape[0]
        b.node(op, [x, indices([places, 1], -extent, extent - 1)], [places, *x.shape[1:]], x.bound,
               x.exact)


def scatter(b):
    x = b.float_value(lambda v: v.rank > 0 and min(v.shape) > 0)
    if b.opset < 11:
        raise Refused
    if b.coin():
        count = b.number(1, x.shape[0])
        rows = list(range(x.shape[0]))
        b.rng.shuffle(rows)
        updates = b.weight([count, *x.shape[1:]])
        indices = b.ints([[r] for r in rows[:count]])
        b.node("ScatterND", [x, indices, updates], x.shape, x.bound + updates.bound,
               reduction=b.pick([None, "add"]) if b.opset >= 16 else None)
        return
    axis = b.number(0, x.rank - 1)
    shape = [b.number(1, e) for e in x.shape]
    along = np.argsort(np.random.default_rng(b.rng.getrandbits(32)).random(x.shape), axis)
    indices = b.ints(along[tuple(slice(0, e) for e in shape)])
    updates = b.weight(shape)
    b.node("ScatterElements", [x, indices, updates], x.shape, x.bound + updates.bound, x.exact,
           axis=axis)


def depth(b):
    x = b.float_value(lambda v: v.rank == 4)
    if x.shape[1] % 4 == 0:
        mode = b.pick([None, "CRD"]) if b.opset >= 11 else None
        b.node("DepthToSpace", [x], [x.shape[0], x.shape[1] // 4, x.shape[2] * 2, x.shape[3] * 2],
               x.bound, x.exact, blocksize=2, mode=mode)
    elif x.shape[2] % 2 == 0 and x.shape[3] % 2 == 0:
        b.node("SpaceToDepth", [x], [x.shape[0], x.shape[1] * 4, x.shape[2] // 2,
                                     x.shape[3] // 2], x.bound, x.exact, blocksize=2)


def trilu(b):
    x = b.value(lambda v: v.rank >= 2 and v.dtype in ("float32", "int64"))
    if b.opset < 14:
        raise Refused
    b.node("Trilu", [x] + ([b.scalar(b.number(-2, 2), b.ints(0))] if b.coin() else []), x.shape,
           x.bound, x.exact, upper=b.pick([0, 1]))


def cumulate(b):
    x = b.value(lambda v: v.rank > 0 and v.dtype in ("float32", "int64", "int32"))
    if b.opset < 11:
        raise Refused
    b.node("CumSum", [x, b.ints(b.number(-x.rank, x.rank - 1))], x.shape,
           x.bound * max(x.shape), exclusive=b.pick([None, 1]), reverse=b.pick([None, 1]))


def one_hot(b):
    x = b.value(lambda v: v.dtype == "int64" and 0 < v.rank < 4)
    if b.opset < 11:
        raise Refused
    size = b.number(1, 6)
    axis = b.number(-x.rank - 1, x.rank)
    shape = list(x.shape)
    shape.insert(axis % (x.rank + 1), size)
    b.node("OneHot", [x, b.ints(size), b.constant(np.array([0, 2], "float32"))], shape, 2, True,
           "float32", axis=axis)


def shape_of(b):
    """Computes with the shape of a value, as exporters do."""
    x = b.value(lambda v: v.rank > 0 and 0 not in v.shape)
    shape = b.node("Shape", [x], [x.rank], 2048, True, "int64")
    if b.opset < 10 or b.coin():
        return
    first = b.node("Slice", [shape, b.ints([0]), b.ints([1])], [1], 2048, True)
    full = b.node("Concat", [first, b.ints([-1])], [2], 2048, True, axis=0)
    b.node("Reshape", [x, full], [x.shape[0], int(np.prod(x.shape[1:]))], x.bound, x.exact)


def scaled_resize(b):
    x = b.float_value(lambda v: v.rank == 4 and min(v.shape) > 0)
    if b.opset < 13:
        raise Refused
    scales = [1, 1, b.pick([0.5, 1, 1.5, 2, 3]), b.pick([0.5, 1, 2, 2.5])]
    out = [int(e * s) for e, s in zip(x.shape, scales)]
    if min(out) < 1:
        raise Refused
    b.node("Resize", [x, None, b.constant(np.array(scales, "float32"))], out, 2 * x.bound,
           mode=b.pick(["linear", "cubic"]),
           coordinate_transformation_mode=b.pick(["half_pixel", "asymmetric"]))


def reverse_sequence(b):
    x = b.value(lambda v: v.rank >= 2 and v.dtype in ("float32", "int64"))
    if b.opset < 10:
        raise Refused
    lengths = b.ints([b.number(1, x.shape[0]) for _ in range(x.shape[1])])
    b.node("ReverseSequence", [x, lengths], x.shape, x.bound, x.exact, time_axis=0, batch_axis=1)


def condition(b):
    """An If with a constant or a computed condition."""
    x = b.float_value()
    if b.opset < 13:
        raise Refused
    known = b.coin()
    c = b.constant(np.array(b.coin())) if known else b.value(
        lambda v: v.dtype == "bool" and v.shape == ())
    b.branch("If", c, x, b.pick([("Relu", "Neg"), ("Abs", "Identity")]))


ALL = (transpose, reshape, flatten, squeeze, concat, split, slice_, pad, repeat, gather, scatter,
       depth, trilu, cumulate, one_hot, shape_of, scaled_resize, reverse_sequence, condition)
