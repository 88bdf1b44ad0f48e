# SPDX-License-Identifier: Apache-2.0
"""A random ONNX model while it grows: its values, what is known of them, and its nodes.

Of every value is known a bound of its elements, so that nothing overflows, and whether it is exact:
the same in every order of operations. Operators with jumps, such as Floor, take exact values only.
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
        self.kept = []  # values that no node may read, and that are outputs

    # Choices.
    def value(self, condition=lambda v: True):
        """A value for which the condition holds, with preference for the last ones."""
        found = [v for v in self.values if condition(v)]
        return self.pick(found[-4:] if self.coin(0.7) else found)

    def float_value(self, condition=lambda v: True):
        return self.value(lambda v: v.dtype == "float32" and condition(v))

    def exact_value(self, condition=lambda v: True):
        return self.value(lambda v: v.exact and condition(v))

    # What a model is made of.
    def array(self, dtype, shape):
        """Elements that float arithmetic adds and multiplies without rounding for a while."""
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
        """Takes back the inputs from `first` on."""
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
        """Adds a node, of whose outputs the first is described, and returns that."""
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
        """A node with a body for each of two operators on the value, which have no inputs."""
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
        """Describes another output of the node that made `first`."""
        return self._define(Value(first.name[:-1] + str(index), dtype or first.dtype, tuple(shape),
                                  first.bound if bound is None else bound,
                                  first.exact if exact is None else exact))

    # Values that an operator may take.
    def tame(self, value, limit):
        """The value itself, or a part of it, with no element beyond the limit."""
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
