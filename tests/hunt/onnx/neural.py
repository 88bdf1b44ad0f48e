# SPDX-License-Identifier: Apache-2.0
"""Operators of random models that reduce, multiply, slide windows and quantize."""

import numpy as np

from choices import Refused


def _reduced(shape, axes, keepdims):
    axes = [a % len(shape) for a in axes]
    if keepdims:
        return [1 if i in axes else e for i, e in enumerate(shape)]
    return [e for i, e in enumerate(shape) if i not in axes]


def reduce(b):
    x = b.value(lambda v: v.dtype in ("float32", "int32", "int64") and v.rank > 0)
    ops = ["ReduceSum", "ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd"]
    if x.is_float:
        ops += ["ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"]
    else:
        ops = ops[:3]
    op = b.pick(ops)
    if not x.is_float and op != "ReduceSum" and b.opset < 12:
        raise Refused
    axes = sorted(set(b.number(-x.rank, -1) for _ in range(b.number(1, x.rank))))
    keepdims = b.pick([0, 1])
    count = int(np.prod(x.shape)) or 1
    if op in ("ReduceLogSum", "ReduceL2"):
        x = b.positive(x)
    if op in ("ReduceLogSumExp", "ReduceSumSquare"):
        x = b.tame(x, 8)
    if op == "ReduceProd":
        x = b.tame(x, 1)
    bound = {"ReduceSumSquare": x.bound**2 * count, "ReduceProd": 1, "ReduceMax": x.bound,
             "ReduceMin": x.bound, "ReduceMean": x.bound,
             "ReduceLogSumExp": x.bound + 9}.get(op, x.bound * count)
    inputs, attributes = [x], {"keepdims": keepdims}
    if b.opset >= (13 if op == "ReduceSum" else 18):
        inputs.append(b.ints(axes))
    else:
        attributes["axes"] = axes
    b.node(op, inputs, _reduced(x.shape, axes, keepdims), bound,
           x.exact and op in ("ReduceMax", "ReduceMin"), **attributes)


def arg_reduce(b):
    x = b.exact_value(lambda v: v.dtype in ("float32", "int32") and v.rank > 0)
    axis, keepdims = b.number(-x.rank, -1), b.pick([0, 1])
    if axis < 0 and b.opset < 11:
        axis += x.rank
    last = b.pick([None, 1]) if b.opset >= 12 else None
    b.node(b.pick(["ArgMax", "ArgMin"]), [x], _reduced(x.shape, [axis], keepdims), 64, True,
           "int64", axis=axis, keepdims=keepdims, select_last_index=last)


def top_k(b):
    x = b.exact_value(lambda v: v.dtype == "float32" and v.rank > 0 and min(v.shape) > 0)
    if b.opset < 11:
        raise Refused
    axis = b.number(0, x.rank - 1)
    k = b.number(1, x.shape[axis])
    shape = list(x.shape)
    shape[axis] = k
    y = b.node("TopK", [x, b.ints([k])], shape, x.bound, True, outputs=2, axis=axis,
               largest=b.pick([0, 1]))
    b.also(y, 1, shape, "int64", 64, True)


def matmul(b):
    x = b.tame(b.float_value(lambda v: v.rank >= 2), 64)
    n = b.number(1, 9)
    batch = x.shape[:-2] if b.coin() else ()
    if b.coin(0.3) and x.rank == 2:
        y = b.tame(b.float_value(lambda v: v.rank == 2), 64)
        if y.shape[0] != x.shape[1]:
            raise Refused
    else:
        y = b.weight([*batch, x.shape[-1], n])
    b.node("MatMul", [x, y], [*x.shape[:-1], y.shape[-1]], x.bound * y.bound * x.shape[-1])


def gemm(b):
    x = b.tame(b.float_value(lambda v: v.rank == 2), 64)
    trans_a, trans_b, n = b.pick([None, 1]), b.pick([None, 1]), b.number(1, 9)
    m, k = (x.shape[1], x.shape[0]) if trans_a else x.shape
    w = b.weight([n, k] if trans_b else [k, n])
    c = b.weight(b.pick([[n], [1, n], [m, 1], [m, n], []]))
    b.node("Gemm", [x, w, c], [m, n], 2 * (x.bound * w.bound * k + c.bound), transA=trans_a,
           transB=trans_b, alpha=b.pick([None, 0.5]), beta=b.pick([None, 2.0]))


def _window(b, x):
    """Returns kernel, strides, dilations and pads for the dimensions of x after the second one, and
    the output's extents."""
    kernel, strides, dilations, begin, end, out = [], [], [], [], [], []
    for extent in x.shape[2:]:
        k, s, d = b.number(1, min(3, extent)), b.number(1, 2), b.number(1, 2)
        p = [b.number(0, k - 1), b.number(0, k - 1)]
        size = (extent + sum(p) - (k - 1) * d - 1) // s + 1
        if size < 1:
            raise Refused
        for into, what in zip((kernel, strides, dilations, begin, end, out),
                              (k, s, d, *p, size)):
            into.append(what)
    return kernel, strides, dilations, begin + end, out


def _image(b):
    x = b.float_value(lambda v: v.rank in (3, 4, 5) and min(v.shape) > 0)
    return b.tame(x, 64)


def conv(b):
    x = _image(b)
    kernel, strides, dilations, pads, out = _window(b, x)
    groups = b.pick(g for g in (1, 2, 3, 4, x.shape[1]) if x.shape[1] % g == 0)
    channels = groups * b.number(1, 3)
    w = b.weight([channels, x.shape[1] // groups, *kernel])
    inputs = [x, w] + ([b.weight([channels])] if b.coin() else [])
    bound = x.bound * w.bound * int(np.prod(w.shape[1:])) + 1
    b.node("Conv", inputs, [x.shape[0], channels, *out], bound, group=groups, strides=strides,
           dilations=dilations, pads=pads, kernel_shape=b.pick([None, kernel]))


def conv_transpose(b):
    x = _image(b)
    if x.rank == 5:
        raise Refused
    spatial = len(x.shape) - 2
    kernel = [b.number(1, 3) for _ in range(spatial)]
    strides = [b.number(1, 2) for _ in range(spatial)]
    out = [(e - 1) * s + k for e, s, k in zip(x.shape[2:], strides, kernel)]
    groups = b.pick(g for g in (1, 2) if x.shape[1] % g == 0)
    channels = b.number(1, 3)
    w = b.weight([x.shape[1], channels, *kernel])
    b.node("ConvTranspose", [x, w], [x.shape[0], channels * groups, *out],
           x.bound * w.bound * int(np.prod(w.shape)), group=groups, strides=strides)


def same_conv(b):
    """A convolution with padding given by auto_pad."""
    x = _image(b)
    spatial = x.rank - 2
    kernel = [b.number(1, min(3, e)) for e in x.shape[2:]]
    strides = [b.number(1, 2) for _ in range(spatial)]
    mode = b.pick(["SAME_UPPER", "SAME_LOWER", "VALID"])
    if mode == "VALID":
        out = [(e - k) // s + 1 for e, k, s in zip(x.shape[2:], kernel, strides)]
    else:
        out = [-(-e // s) for e, s in zip(x.shape[2:], strides)]
    w = b.weight([2, x.shape[1], *kernel])
    b.node("Conv", [x, w], [x.shape[0], 2, *out], x.bound * w.bound * int(np.prod(w.shape)),
           strides=strides, auto_pad=mode)


def padded_conv_transpose(b):
    x = _image(b)
    if x.rank != 4:
        raise Refused
    kernel, strides, out, pads, extra = [], [], [], [], []
    for extent in x.shape[2:]:
        k, s = b.number(1, 3), b.number(1, 3)
        p, o = b.number(0, k - 1), b.number(0, s - 1)
        for into, what in zip((kernel, strides, pads, extra, out),
                              (k, s, p, o, (extent - 1) * s + k - p + o)):
            into.append(what)
    if min(out) < 1:
        raise Refused
    w = b.weight([x.shape[1], 2, *kernel])
    b.node("ConvTranspose", [x, w, b.weight([2])], [x.shape[0], 2, *out],
           x.bound * w.bound * int(np.prod(w.shape)) + 1, strides=strides,
           pads=[*pads, 0, 0], output_padding=extra)


def ceil_pool(b):
    """Pooling with a last window that may begin in the padding."""
    x = _image(b)
    if b.opset < 19:
        raise Refused
    kernel, strides, begin, out = [], [], [], []
    for extent in x.shape[2:]:
        k, s = b.number(1, min(3, extent)), b.number(1, 3)
        p = b.number(0, k - 1)
        size = -(-(extent + 2 * p - k) // s) + 1
        if (size - 1) * s >= extent + p:
            raise Refused
        for into, what in zip((kernel, strides, begin, out), (k, s, p, size)):
            into.append(what)
    op = b.pick(["MaxPool", "AveragePool"])
    b.node(op, [x], [*x.shape[:2], *out], x.bound, x.exact and op == "MaxPool", ceil_mode=1,
           kernel_shape=kernel, strides=strides, pads=begin + begin,
           count_include_pad=b.pick([None, 1]) if op == "AveragePool" else None)


def pool(b):
    x = _image(b)
    kernel, strides, dilations, pads, out = _window(b, x)
    op = b.pick(["MaxPool", "AveragePool", "LpPool"])
    attributes = {"kernel_shape": kernel, "strides": strides, "pads": pads}
    if op == "MaxPool" and b.opset >= 10:
        attributes["dilations"] = dilations
    else:
        out = [(e + p + q - k) // s + 1 for e, p, q, k, s in
               zip(x.shape[2:], pads, pads[len(kernel):], kernel, strides)]
    if op == "AveragePool":
        attributes["count_include_pad"] = b.pick([None, 1])
    bound = x.bound * (int(np.prod(kernel)) if op == "LpPool" else 1)
    b.node(op, [x], [*x.shape[:2], *out], bound, x.exact and op == "MaxPool", **attributes)


def global_pool(b):
    x = _image(b)
    op = b.pick(["GlobalAveragePool", "GlobalMaxPool"])
    b.node(op, [x], [*x.shape[:2], *[1] * (x.rank - 2)], x.bound, x.exact and op[6] == "M")


def normalise(b):
    x = b.tame(b.float_value(lambda v: v.rank >= 3 and min(v.shape) > 0), 64)
    op = b.pick(["BatchNormalization", "InstanceNormalization", "LRN", "LayerNormalization"])
    c = x.shape[1]
    if op == "BatchNormalization":
        if b.opset < 9:
            raise Refused
        variance = b.constant(np.abs(b.array("float32", [c])) + np.float32(0.5))
        b.node(op, [x, b.weight([c]), b.weight([c]), b.weight([c]), variance], x.shape,
               2 * x.bound + 9, epsilon=b.pick([None, 0.01]))
    elif op == "LRN":
        if x.rank != 4:
            raise Refused
        b.node(op, [x], x.shape, x.bound, size=b.pick([1, 3, 5]), alpha=0.01, beta=0.75)
    elif op == "InstanceNormalization":
        b.node(op, [x, b.weight([c]), b.weight([c])], x.shape, 99, epsilon=0.1)
    else:
        if b.opset < 17:
            raise Refused
        axis = b.number(-x.rank, -1)
        shape = x.shape[axis:]
        b.node(op, [x, b.weight(shape), b.weight(shape)], x.shape, 99, axis=axis, epsilon=0.1)


def softmax(b):
    x = b.tame(b.float_value(lambda v: v.rank > 0), 32)
    op = b.pick(["Softmax", "LogSoftmax"])
    axis = b.number(0, x.rank - 1) if b.opset < 11 else b.number(-x.rank, x.rank - 1)
    b.node(op, [x], x.shape, 80, axis=b.pick([None, axis]) if x.rank > 1 else axis)


def resize(b):
    x = b.float_value(lambda v: v.rank == 4 and min(v.shape) > 0)
    if b.opset < 13:
        raise Refused
    out = [*x.shape[:2], b.number(1, 7), b.number(1, 7)]
    mode = b.pick(["nearest", "linear", "cubic"])
    how = b.pick(["half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel"])
    nearest = b.pick(["floor", "ceil", "round_prefer_floor"]) if mode == "nearest" else None
    if mode == "nearest" and how != "asymmetric":
        out[2:] = [x.shape[2] * 2, x.shape[3] * 2]
        how = "asymmetric"
    b.node("Resize", [x, None, None, b.ints(out)], out, 2 * x.bound,
           x.exact and mode == "nearest", mode=mode, coordinate_transformation_mode=how,
           nearest_mode=nearest)


def quantise(b):
    x = b.exact_value(lambda v: v.dtype == "float32")
    if b.opset < 13:
        raise Refused
    dtype = b.pick(["uint8", "int8"])
    scale, zero = b.scalar(b.pick([0.125, 0.25, 0.5]), x), b.constant(
        np.array(b.number(0, 5), dtype))
    q = b.node("QuantizeLinear", [x, scale, zero], x.shape, 255, True, dtype)
    if b.coin(0.8):
        b.node("DequantizeLinear", [q, scale, zero], x.shape, 160, True, "float32")


def quantised_matmul(b):
    x = b.value(lambda v: v.dtype in ("uint8", "int8") and v.rank == 2)
    if b.opset < 10:
        raise Refused
    w = b.weight([x.shape[1], b.number(1, 6)], "int8" if x.dtype == "int8" else b.pick(
        ["uint8", "int8"]))
    zero = b.constant(np.array(b.number(0, 4), x.dtype))
    shape = [x.shape[0], w.shape[1]]
    if b.coin():
        b.node("MatMulInteger", [x, w, zero], shape, 1e5, True, "int32")
        return
    one = b.constant(np.array(0.25, "float32"))
    b.node("QLinearMatMul", [x, one, zero, w, one, b.constant(np.array(0, w.dtype)),
                             b.constant(np.array(2, "float32")), zero], shape, 255, True)


def quantised_conv(b):
    x = b.value(lambda v: v.dtype in ("uint8", "int8") and v.rank == 4 and min(v.shape) > 0)
    if b.opset < 10:
        raise Refused
    kernel, strides, dilations, pads, out = _window(b, x)
    channels = b.number(1, 3)
    w = b.weight([channels, x.shape[1], *kernel], "int8" if x.dtype == "int8" else "uint8")
    zero = b.constant(np.array(b.number(0, 4), x.dtype))
    attributes = {"strides": strides, "dilations": dilations, "pads": pads}
    shape = [x.shape[0], channels, *out]
    if b.coin() and x.dtype == "uint8":
        b.node("ConvInteger", [x, w, zero], shape, 1e5, True, "int32", **attributes)
        return
    one, two = (b.constant(np.array(v, "float32")) for v in (0.25, 2))
    inputs = [x, one, zero, w, one, b.constant(np.array(0, w.dtype)), two, zero]
    if b.coin():
        inputs.append(b.weight([channels], "int32"))
    b.node("QLinearConv", inputs, shape, 255, True, **attributes)


def einsum(b):
    x = b.tame(b.float_value(lambda v: v.rank in (2, 3)), 64)
    if b.opset < 12:
        raise Refused
    if x.rank == 2:
        equation, shape = b.pick([("ij,jk->ik", [x.shape[0], 3]), ("ij,jk->ki", [3, x.shape[0]]),
                                  ("ij,jk->k", [3])])
    else:
        equation, shape = "bij,jk->bik", [*x.shape[:2], 3]
    w = b.weight([x.shape[-1], 3])
    b.node("Einsum", [x, w], shape, x.bound * w.bound * int(np.prod(x.shape)), equation=equation)


def more_norms(b):
    x = b.tame(b.float_value(lambda v: v.rank >= 2 and min(v.shape) > 0), 64)
    op = b.pick(["LpNormalization", "MeanVarianceNormalization", "GroupNormalization"])
    if op == "LpNormalization":
        x = b.positive(x)
        b.node(op, [x], x.shape, 1, axis=b.number(-x.rank, -1), p=b.pick([1, 2]))
    elif op == "GroupNormalization" and b.opset >= 21 and x.rank >= 3:
        c = x.shape[1]
        b.node(op, [x, b.weight([c]), b.weight([c])], x.shape, 99, epsilon=0.1,
               num_groups=b.pick(g for g in (1, 2, c) if c % g == 0))
    else:
        raise Refused


def recurrent(b):
    x = b.tame(b.float_value(lambda v: v.rank == 3 and v.shape[0] <= 4 and min(v.shape) > 0), 8)
    op, gates = b.pick([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    hidden, both = b.number(1, 4), b.coin(0.3)
    d = 2 if both else 1
    w, r = b.weight([d, gates * hidden, x.shape[2]]), b.weight([d, gates * hidden, hidden])
    inputs = [x, w, r] + ([b.weight([d, 2 * gates * hidden])] if b.coin() else [])
    y = b.node(op, inputs, [x.shape[0], d, x.shape[1], hidden], 1, outputs=2, hidden_size=hidden,
               direction="bidirectional" if both else b.pick([None, "reverse"]),
               linear_before_reset=b.pick([None, 1]) if op == "GRU" else None)
    b.also(y, 1, [d, x.shape[1], hidden])


ALL = (reduce, arg_reduce, top_k, matmul, gemm, conv, conv_transpose, same_conv,
       padded_conv_transpose, ceil_pool, pool, global_pool, normalise, softmax, resize,
       quantise, quantised_matmul, quantised_conv, einsum, more_norms, recurrent)
