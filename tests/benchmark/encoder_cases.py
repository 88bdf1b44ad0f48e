# SPDX-License-Identifier: Apache-2.0
"""Transformer encoders like BERT's with random weights.

Each graph has the form that exporters write: projections with biases, heads split by Reshape and
Transpose, scores with a mask and a softmax, two layer normalizations, and a GELU expressed with Erf.
"""

import dataclasses
import functools
import importlib
import math

from tests.benchmark.environment import np

onnx = importlib.import_module("onnx")

OPSET = 17  # first version with LayerNormalization
SEED = 1
WEIGHT_DEVIATION = 0.02  # BERT's value at the start of training
TOKENS = (8, 16, 32, 64, 128, 256)


@dataclasses.dataclass(frozen=True)
class Encoder:
    layers: int
    width: int
    heads: int
    tokens: int

    @property
    def name(self):
        return "encoder_%dx%d_%d_tokens" % (self.layers, self.width, self.tokens)


ENCODERS = tuple(Encoder(layers, width, 12, tokens)
                 for layers, width in ((6, 384), (4, 768)) for tokens in TOKENS)


class _Builder:
    """An ONNX graph that grows node by node. Each method returns the name of its result."""

    def __init__(self, encoder):
        self.encoder = encoder
        self.nodes = []
        self.constants = []
        self._random = np.random.default_rng(SEED)

    def constant(self, array):
        name = "constant_%d" % len(self.constants)
        self.constants.append(onnx.numpy_helper.from_array(array, name))
        return name

    def op(self, op, *inputs, **attributes):
        name = "value_%d" % len(self.nodes)
        self.nodes.append(onnx.helper.make_node(op, inputs, [name], **attributes))
        return name

    def scalar(self, value):
        return self.constant(np.float32(value))

    def weights(self, *shape):
        return self.constant(
            self._random.normal(0, WEIGHT_DEVIATION, shape).astype(np.float32))

    def dense(self, data, inputs, outputs):
        product = self.op("MatMul", data, self.weights(inputs, outputs))
        return self.op("Add", product, self.weights(outputs))

    def normalised(self, data):
        width = self.encoder.width
        scale = self.constant(np.ones(width, np.float32))
        return self.op("LayerNormalization", data, scale, self.weights(width), axis=-1,
                       epsilon=1e-12)

    def head(self, data, order):
        """Returns a projection of the data, with the heads as an outer dimension."""
        e = self.encoder
        shape = self.constant(np.array([1, e.tokens, e.heads, e.width // e.heads], np.int64))
        split = self.op("Reshape", self.dense(data, e.width, e.width), shape)
        return self.op("Transpose", split, perm=order)

    def attention(self, data, mask):
        e = self.encoder
        query, key, value = (self.head(data, order)
                             for order in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)))
        scores = self.op("MatMul", query, key)
        scores = self.op("Div", scores, self.scalar(math.sqrt(e.width // e.heads)))
        scores = self.op("Softmax", self.op("Add", scores, mask), axis=-1)
        context = self.op("Transpose", self.op("MatMul", scores, value), perm=(0, 2, 1, 3))
        shape = self.constant(np.array([1, e.tokens, e.width], np.int64))
        return self.dense(self.op("Reshape", context, shape), e.width, e.width)

    def gelu(self, data):
        erf = self.op("Erf", self.op("Div", data, self.scalar(math.sqrt(2))))
        return self.op("Mul", self.op("Mul", data, self.op("Add", erf, self.scalar(1))),
                       self.scalar(0.5))

    def layer(self, data, mask):
        width = self.encoder.width
        data = self.normalised(self.op("Add", data, self.attention(data, mask)))
        hidden = self.gelu(self.dense(data, width, 4 * width))
        return self.normalised(self.op("Add", data, self.dense(hidden, 4 * width, width)))


def write(encoder, path):
    """Writes the ONNX file, and returns inputs for it."""
    builder = _Builder(encoder)
    data = functools.reduce(lambda value, _: builder.layer(value, "mask"), range(encoder.layers),
                            "hidden")
    inputs = {"hidden": (1, encoder.tokens, encoder.width), "mask": (1, 1, 1, encoder.tokens)}
    value_info = functools.partial(onnx.helper.make_tensor_value_info,
                                   elem_type=onnx.TensorProto.FLOAT)
    graph = onnx.helper.make_graph(
        builder.nodes, encoder.name, [value_info(n, shape=s) for n, s in inputs.items()],
        [value_info(data, shape=inputs["hidden"])], builder.constants)
    opset = onnx.helper.make_opsetid("", OPSET)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), str(path))
    random = np.random.default_rng(SEED)
    mask = np.zeros(inputs["mask"], np.float32)
    mask[..., -encoder.tokens // 8:] = -1e4  # the last eighth is padding
    return {"hidden": random.normal(size=inputs["hidden"]).astype(np.float32), "mask": mask}
