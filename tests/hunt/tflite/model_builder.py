# SPDX-License-Identifier: Apache-2.0
"""A random TFLite model of one operator: its tensors, their scales, and the values of its inputs."""

import dataclasses

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from choices import Choices, Refused

QUANTISED = ("int8", "uint8", "int16")
MAX_ELEMENTS = 4096


@dataclasses.dataclass(frozen=True)
class Quantisation:
    scale: float
    zero: int


@dataclasses.dataclass(frozen=True)
class Tensor:
    index: int
    dtype: str
    shape: tuple
    quantisation: Quantisation | None

    @property
    def rank(self):
        return len(self.shape)

    @property
    def scale(self):
        return self.quantisation.scale if self.quantisation else 1.0


class ModelBuilder(Choices):
    """A model of data of type `dtype`. An operator without a kernel for this type raises Refused.

    `known` is the reason for which LiteRT's numbers differ from Kiln's, or None; see README.md.
    """

    def __init__(self, rng, dtype):
        super().__init__(rng)
        self.dtype = dtype
        self.graph = schema.SubGraphT()
        self.graph.tensors, self.graph.inputs, self.graph.outputs = [], [], []
        self.buffers = [schema.BufferT()]
        self.feeds = []
        self.operator = None
        self.known = None

    # Choices.
    def shape(self, *ranks):
        """Returns a random shape with one of the ranks. With probability 1/6 it has one element."""
        rank = self.pick(ranks)
        if self.coin(1 / 6):
            return (1,) * rank
        return tuple(self.number(1, 7 if rank < 4 else 5) for _ in range(rank))

    def partner(self, shape):
        """Returns a shape that can be broadcast against the shape, usually the same one."""
        if self.coin(0.6):
            return shape
        return tuple(1 if self.coin() else e for e in shape)[self.number(0, len(shape) - 1):]

    def needs(self, *dtypes):
        if self.dtype not in dtypes:
            raise Refused

    # Scales.
    def scale(self, low=-8, high=-3):
        """Returns 2 to a power from `low` to `high`. One in four powers is an integer."""
        power = self.rng.uniform(low, high)
        return float(np.float32(2.0**(round(power) if self.coin(0.25) else power)))

    def zero(self, dtype=None):
        dtype = dtype or self.dtype
        if dtype == "int16":
            return 0
        kind = np.iinfo(dtype)
        middle = 0 if dtype == "int8" else 128
        return self.pick([middle, self.number(middle - 20, middle + 20),
                          self.number(kind.min, kind.max)])

    def quantisation(self, scale=None, dtype=None):
        """Returns a random quantization, or None if the dtype is not quantized."""
        dtype = dtype or self.dtype
        if dtype not in QUANTISED:
            return None
        return Quantisation(self.scale() if scale is None else float(np.float32(scale)),
                            self.zero(dtype))

    def result(self, scale, like=None):
        """Returns the quantization of a result with values of about `scale`. With probability 1/3, returns that of
        `like`."""
        if like is not None and self.coin(1 / 3):
            return like.quantisation
        return self.quantisation(scale * 2.0**self.rng.uniform(-1, 3))

    # Tensors.
    def values(self, shape, dtype, low, high):
        random = np.random.default_rng(self.rng.getrandbits(32))
        if dtype == "bool":
            return random.integers(0, 2, shape).astype(bool)
        if dtype in ("float32", "float16"):
            return np.asarray(random.uniform(low, high, shape)).astype(dtype)
        if dtype in QUANTISED:
            kind = np.iinfo(dtype)
            return random.integers(kind.min, kind.max + 1, shape).astype(dtype)
        return random.integers(int(low), int(high) + 1, shape).astype(dtype)

    def _add(self, dtype, shape, quantisation):
        tensor = schema.TensorT()
        tensor.name = "t%d" % len(self.graph.tensors)
        tensor.shape = [int(e) for e in shape]
        tensor.type = getattr(schema.TensorType, dtype.upper())
        tensor.buffer = 0
        if quantisation is not None:
            q = tensor.quantization = schema.QuantizationParametersT()
            scales = quantisation if isinstance(quantisation, list) else [quantisation]
            q.scale, q.zeroPoint = [e.scale for e in scales], [e.zero for e in scales]
        self.graph.tensors.append(tensor)
        first = quantisation[0] if isinstance(quantisation, list) else quantisation
        return Tensor(len(self.graph.tensors) - 1, dtype, tuple(shape), first)

    def input(self, shape, dtype=None, low=-4, high=4, quantisation=None):
        dtype = dtype or self.dtype
        if int(np.prod(shape)) > MAX_ELEMENTS:
            raise Refused
        tensor = self._add(dtype, shape, quantisation or self.quantisation(dtype=dtype))
        self.graph.inputs.append(tensor.index)
        self.feeds.append(self.values(shape, dtype, low, high))
        return tensor

    def constant(self, array, quantisation=None, axis=0):
        array = np.asarray(array)
        tensor = self._add(str(array.dtype), array.shape, quantisation)
        if quantisation is not None:
            self.graph.tensors[-1].quantization.quantizedDimension = axis
        self.graph.tensors[-1].buffer = len(self.buffers)
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(array.tobytes(), "uint8")
        self.buffers.append(buffer)
        return tensor

    def ints(self, values):
        return self.constant(np.array(values, "int32"))

    # The operator.
    def op(self, code, inputs, quantisation=None, dtype=None, options=None, outputs=1, shape=(),
           **fields):
        """Adds the operator. LiteRT computes the shapes of its outputs. An input of None is an omitted input."""
        dtype = dtype or self.dtype
        op = self.operator = schema.OperatorT()
        op.opcodeIndex = 0
        op.inputs = [-1 if v is None else v.index for v in inputs]
        op.outputs = [self._add(dtype, shape, quantisation).index for _ in range(outputs)]
        self.graph.outputs = list(op.outputs)
        if options:
            op.builtinOptionsType = getattr(schema.BuiltinOptions, options)
            op.builtinOptions = getattr(schema, options + "T")()
            for name, value in fields.items():
                assert hasattr(op.builtinOptions, name), name
                setattr(op.builtinOptions, name, value)
        self.code = code

    def set_shapes(self, shapes):
        for index, shape in zip(self.graph.outputs, shapes):
            self.graph.tensors[index].shape = [int(e) for e in shape]

    def bytes(self):
        code = schema.OperatorCodeT()
        code.builtinCode = getattr(schema.BuiltinOperator, self.code)
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        code.version = 2 if self.code == "BROADCAST_TO" else 1
        self.graph.operators = [self.operator]
        model = schema.ModelT()
        model.version, model.operatorCodes, model.subgraphs = 3, [code], [self.graph]
        model.buffers = self.buffers
        builder = flatbuffers.Builder(1024)
        builder.Finish(model.Pack(builder), b"TFL3")
        return bytes(builder.Output())
