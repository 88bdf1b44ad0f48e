# SPDX-License-Identifier: Apache-2.0
"""A growing random ONNX model: its values, their properties, and its nodes.

Each value has a bound of its elements, so that nothing overflows. It is also known to be exact or not: exact values
are the same with any order of operations. Operators with jumps, such as Floor, use only exact values.
"""

import dataclasses

import numpy as np
import onnx
from onnx import helper, numpy_helper

from choices import Choices, Refused

FLOATS = ("float32", "float64")
NUMBERS = ("float32", "float64", "int32", "int64")
MAX_ELEMENTS = 2048


@dataclasses.dataclass(frozen=True)
class Value:
    name: str
    dtype: str
    shape: tuple
    bound: float
    exact: bool

    @property
    def rank(self):
        return len(self.shape)

    @property
    def is_float(self):
        return self.dtype in FLOATS


class ModelBuilder(Choices):
    def __init__(self, rng, opset):
        super().__init__(rng)
        self.opset = opset
        self.values, self.nodes, self.initializers, self.inputs = [], [], [], []
        self.feeds, self.used = {}, set()
        self.kept = []  # outputs that no node may read

    # Choices.
    def value(self, condition=lambda v: True):
        """Returns a value that fulfills the condition, preferably one of the last."""
        found = [v for v in self.values if condition(v)]
        return self.pick(found[-4:] if self.coin(0.7) else found)

    def float_value(self, condition=lambda v: True):
        return self.value(lambda v: v.dtype == "float32" and condition(v))

    def exact_value(self, condition=lambda v: True):
        return self.value(lambda v: v.exact and condition(v))

    # Parts of a model.
    def array(self, dtype, shape):
        """Returns elements that can be added and multiplied several times without rounding."""
        random = np.random.default_rng(self.rng.getrandbits(32))
        if dtype == "bool":
            return random.integers(0, 2, shape).astype(bool)
        if dtype in (*FLOATS, "float16"):
            return (random.integers(-24, 25, shape) / 8).astype(dtype)
        low = 0 if dtype.startswith("u") else -9
        return random.integers(low, 10, shape).astype(dtype)

    def add_input(self, dtype, shape):
        name = "x%d" % len(self.inputs)
        array = self.array(dtype, shape)
        self.inputs.append(helper.make_tensor_value_info(
            name, helper.np_dtype_to_tensor_dtype(array.dtype), shape))
        self.feeds[name] = array
        return self._define(Value(name, dtype, tuple(shape), 9, True))

    def drop_inputs(self, first):
        """Removes the inputs from `first` on."""
        for info in self.inputs[first:]:
            del self.feeds[info.name]
        del self.inputs[first:]

    def constant(self, array):
        array = np.asarray(array)
        name = "c%d" % len(self.initializers)
        self.initializers.append(numpy_helper.from_array(array, name))
        bound = float(np.max(np.abs(array.astype("float64")), initial=0))
        return Value(name, str(array.dtype), array.shape, bound, True)

    def ints(self, values):
        return self.constant(np.array(values, "int64"))

    def scalar(self, value, like):
        return self.constant(np.array(value, like.dtype))

    def weight(self, shape, dtype="float32"):
        return self.constant(self.array(dtype, shape) if dtype not in FLOATS
                             else (self.array(dtype, shape) / 4).astype(dtype))

    def _define(self, value):
        self.values.append(value)
        return value

    def node(self, op, inputs, shape, bound, exact=False, dtype=None, outputs=1, **attributes):
        """Adds a node and returns its first output. `shape`, `bound`, `exact` and `dtype` describe
        this output."""
        shape = tuple(int(extent) for extent in shape)
        if int(np.prod(shape)) > MAX_ELEMENTS:
            raise Refused
        dtype = dtype or inputs[0].dtype
        names = ["v%d_%d" % (len(self.nodes), i) for i in range(outputs)]
        self.nodes.append(helper.make_node(
            op, ["" if v is None else v.name for v in inputs], names,
            **{k: v for k, v in attributes.items() if v is not None}))
        self.used.update(v.name for v in inputs if v is not None)
        integral = dtype not in FLOATS
        return self._define(Value(names[0], dtype, shape, bound, bool(exact or integral)))

    def branch(self, op, condition, value, operators):
        """Adds a node whose two bodies each apply one of two operators to the value. The bodies
        have no inputs."""
        name = "v%d_0" % len(self.nodes)
        kind = helper.np_dtype_to_tensor_dtype(np.dtype(value.dtype))
        bodies = [helper.make_graph(
            [helper.make_node(o, [value.name], ["%s_%s" % (name, o)])], o, [],
            [helper.make_tensor_value_info("%s_%s" % (name, o), kind, value.shape)])
                  for o in operators]
        self.nodes.append(helper.make_node(op, [condition.name], [name], then_branch=bodies[0],
                                           else_branch=bodies[1]))
        self.used.update((condition.name, value.name))
        return self._define(dataclasses.replace(value, name=name))

    def also(self, first, index, shape, dtype=None, bound=None, exact=None):
        """Adds another output of the node that computes `first`."""
        return self._define(Value(first.name[:-1] + str(index), dtype or first.dtype, tuple(shape),
                                  first.bound if bound is None else bound,
                                  first.exact if exact is None else exact))

    # Values with properties that operators need.
    def tame(self, value, limit):
        """Returns the value, scaled if necessary so that no element exceeds the limit."""
        if value.bound <= limit:
            return value
        factor = self.scalar(limit / value.bound, value)
        return self.node("Mul", [value, factor], value.shape, limit)

    def positive(self, value):
        """|value| + 1/2."""
        value = self.node("Abs", [value], value.shape, value.bound, value.exact)
        return self.node("Add", [value, self.scalar(0.5, value)], value.shape, value.bound + 0.5,
                         value.exact and value.bound < 1000)

    def model(self):
        outputs = [v for v in self.values if v.name not in self.used and v.name not in self.feeds]
        outputs += [v for v in self.values
                    if v.name in self.used and v.name not in self.feeds and self.coin(0.1)]
        outputs += self.kept
        graph = helper.make_graph(
            self.nodes, "g", self.inputs,
            [helper.make_tensor_value_info(
                v.name, helper.np_dtype_to_tensor_dtype(np.dtype(v.dtype)), v.shape)
             for v in outputs], self.initializers)
        return helper.make_model(graph, ir_version=8 if self.opset < 20 else 10,
                                 opset_imports=[helper.make_opsetid("", self.opset)])
