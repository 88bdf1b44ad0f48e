# SPDX-License-Identifier: Apache-2.0
"""Nodes with unusual attributes, shapes and values, which the specification allows but exporters rarely write."""

import numpy as np
from onnx import helper

from choices import Refused

# Composites, which the specification defines by other operators. By operator: first opset, attributes.
_COMPOSITES = {
    "Elu": (7, {"alpha": [None, 0.5]}),
    "Gelu": (20, {"approximate": [None, "tanh"]}), "HardSigmoid": (7, {"alpha": [None, 0.3]}),
    "HardSwish": (14, {}), "LeakyRelu": (7, {"alpha": [None, 0.3]}), "LogSoftmax": (13, {}),
    "Mish": (18, {}), "Selu": (7, {"gamma": [None, 2.0]}), "Sigmoid": (7, {}), "Softmax": (13, {}),
    "Softplus": (7, {}), "Softsign": (7, {}), "Swish": (24, {"alpha": [None, 0.5]}), "Tanh": (7, {})}


def _broadcast(b, shape):
    """Returns a shape that broadcasts to `shape`: leading axes may be missing, and others may be 1."""
    shape = [1 if b.coin(0.4) else extent for extent in shape]
    return shape[b.number(0, len(shape)):]


def layer_norm(b):
    """Layer normalization with scale and bias of any shape that broadcasts to x."""
    x = b.tame(b.float_value(lambda v: v.rank >= 1 and min(v.shape) > 0), 64)
    op = b.pick(["LayerNormalization"] * (b.opset >= 17) + ["RMSNormalization"] * (b.opset >= 23))
    axis = b.number(-x.rank, x.rank - 1)
    inputs = [x, b.weight(_broadcast(b, x.shape))]
    if op == "LayerNormalization" and b.coin(0.7):
        inputs.append(b.weight(_broadcast(b, x.shape)))
    b.node(op, inputs, x.shape, 99, axis=axis, epsilon=0.1)


def prelu(b):
    x = b.float_value(lambda v: v.rank > 0)
    slope = b.weight(_broadcast(b, x.shape))
    b.node("PRelu", [x, slope], x.shape, x.bound * max(slope.bound, 1))


def _dequantized(b, array):
    """Returns a constant that a DequantizeLinear computes from int8."""
    if b.opset < 13:
        raise Refused
    stored = b.constant(np.asarray(np.asarray(array) * 8, "int8"))
    scale, zero = b.constant(np.array(0.125, "float32")), b.constant(np.array(0, "int8"))
    value = b.node("DequantizeLinear", [stored, scale, zero], stored.shape, 16, True, "float32")
    b.values.remove(value)
    return value


def dequantized_constant(b):
    """A DequantizeLinear of a constant whose value importers need."""
    x = b.float_value(lambda v: v.rank > 0 and min(v.shape) > 0)
    op = b.pick(["Pad", "Clip", "PRelu", "Add", "Pow"])
    if op == "Pad":
        pads = [b.number(0, 2) for _ in range(2 * x.rank)]
        shape = [e + p + q for e, p, q in zip(x.shape, pads, pads[x.rank:])]
        b.node(op, [x, b.ints(pads), _dequantized(b, 1.5)], shape, max(x.bound, 2), x.exact)
    elif op == "Clip":
        b.node(op, [x, _dequantized(b, -1.5), _dequantized(b, 2.5)], x.shape, 3, x.exact)
    elif op == "Pow":
        x = b.tame(x, 16)
        b.node(op, [x, _dequantized(b, 2)], x.shape, 256)
    else:
        values = b.rng.choices([-1.5, -0.5, 0.25, 1, 2], k=x.shape[-1])
        b.node(op, [x, _dequantized(b, values)], x.shape, 2 * x.bound + 2)


def one_hot(b):
    x = b.value(lambda v: v.dtype in ("int32", "int64") and v.rank <= 3)
    depth = b.number(1, 5)
    values = _dequantized(b, [-1, 2])
    axis = b.number(-x.rank - 1, x.rank)
    shape = list(x.shape)
    shape.insert(axis % (x.rank + 1), depth)
    b.node("OneHot", [x, b.constant(np.array(depth, "int64")), values], shape, 2, True, "float32",
           axis=axis)


def not_a_number(b):
    """An operator on an input with NaN and infinities. No other node reads its result."""
    shape = [b.number(1, 7) for _ in range(b.number(1, 3))]
    x = b.add_input("float32", shape)
    array = b.feeds[x.name]
    random = np.random.default_rng(b.rng.getrandbits(32))
    array[random.random(shape) < 0.2] = np.nan
    array[random.random(shape) < 0.1] = b.pick([np.inf, -np.inf])
    b.values.remove(x)
    axis = b.number(-x.rank, -1)
    reduced = [1 if i == axis % x.rank else e for i, e in enumerate(shape)]
    op = b.pick(["Max", "Min", "ReduceMax", "ReduceMin", "Relu", "Clip", "Abs", "Neg", "Add",
                 "Sigmoid", "Tanh", "Softplus", "LeakyRelu", "IsNaN", "Greater", "Equal", "Where"])
    if b.opset < 13:
        raise Refused
    if op in ("Max", "Min", "Add", "Greater", "Equal"):
        others = [x, b.weight(_broadcast(b, shape))]
        b.rng.shuffle(others)
        dtype = "bool" if op in ("Greater", "Equal") else "float32"
        y = b.node(op, others, shape, 1, True, dtype)
    elif op in ("ReduceMax", "ReduceMin"):
        axes = {} if b.opset >= 18 else {"axes": [axis]}
        y = b.node(op, [x] + [b.ints([axis])] * (b.opset >= 18), reduced, 1, True, **axes)
    elif op == "Clip":
        y = b.node(op, [x, b.scalar(-1, x), b.scalar(2, x)], shape, 1, True)
    elif op == "Where":
        condition = b.constant(b.array("bool", shape))
        y = b.node(op, [condition, x, b.weight(shape)], shape, 1, True, "float32")
    else:
        y = b.node(op, [x], shape, 1, True, "bool" if op == "IsNaN" else "float32")
    b.values.remove(y)
    b.kept.append(y)


def empty(b):
    """Operators with results without elements."""
    x = b.value(lambda v: v.rank > 0 and min(v.shape) > 0 and v.dtype == "float32")
    axis = b.number(0, x.rank - 1)
    shape = list(x.shape)
    shape[axis] = 0
    if b.opset < 13:
        raise Refused
    op = b.pick(["Tile", "Slice", "TopK", "Gather", "Expand"])
    if op == "Tile":
        y = b.node(op, [x, b.ints([0 if i == axis else 1 for i in range(x.rank)])], shape, 1, True)
    elif op == "Slice":
        y = b.node(op, [x, b.ints([1]), b.ints([1]), b.ints([axis])], shape, 1, True)
    elif op == "TopK":
        y = b.node(op, [x, b.ints([0])], shape, 1, True, outputs=2, axis=axis)
    elif op == "Gather":
        y = b.node(op, [x, b.constant(np.zeros([0], "int64"))], shape, 1, True, axis=axis)
    else:
        shape = [0, *x.shape]
        y = b.node(op, [x, b.ints(shape)], shape, 1, True)
    # A concatenation with an empty tensor gives the other tensor.
    if op != "Expand" and b.coin():
        b.node("Concat", [y, x], x.shape, x.bound, x.exact, axis=axis)


def half(b):
    """A single float16 composite. Composites are not chained because each rounds its result."""
    if b.opset < 13:
        raise Refused
    x = b.add_input("float16", [b.number(1, 3), b.number(1, 40)])
    b.values.remove(x)
    b.feeds[x.name] = np.asarray(
        np.random.default_rng(b.rng.getrandbits(32)).uniform(-10, 10, x.shape), "float16")
    op = b.pick(o for o, (first, _) in _COMPOSITES.items() if first <= b.opset)
    attributes = {name: b.pick(values) for name, values in _COMPOSITES[op][1].items()}
    y = b.node(op, [x], x.shape, 1, **attributes)
    b.values.remove(y)
    b.kept.append(y)


def float16_model(b):
    """A model of float16 composites only. Their results have the precision of float16."""
    for _ in range(b.number(1, 4)):
        try:
            half(b)
        except Refused:
            pass


ALL = (layer_norm, prelu, dequantized_constant, one_hot, not_a_number, empty)
