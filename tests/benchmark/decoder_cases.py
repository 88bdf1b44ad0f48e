# SPDX-License-Identifier: Apache-2.0
"""Transformer decoders like Llama's that generate one token per run, with a static cache of keys and values and random weights.

Each graph has the form that PyTorch's exporter writes: rotary positions, heads that share keys and values by Expand, a cache that
index_copy updates between two Transposes, RMS normalizations expressed with Pow and ReduceMean, and the most likely token by ArgMax.
"""

import dataclasses
import importlib
import math

from tests.benchmark.environment import np

onnx = importlib.import_module("onnx")

OPSET = 17
SEED = 1
WEIGHT_DEVIATION = 0.05
EPSILON = 1e-5


@dataclasses.dataclass(frozen=True)
class Decoder:
    positions: int  # positions of the cache
    layers: int = 2
    width: int = 512
    heads: int = 8
    kv_heads: int = 4
    hidden: int = 1376
    vocabulary: int = 2000

    @property
    def name(self):
        return "llama_static_cache_%d" % self.positions

    @property
    def head_width(self):
        return self.width // self.heads

    @property
    def caches(self):
        return [letter + str(layer) for layer in range(self.layers) for letter in "kv"]


DECODERS = tuple(Decoder(positions) for positions in (256, 2048))


class _Builder:
    """An ONNX graph that grows node by node. Each method returns the name of its result."""

    def __init__(self, decoder):
        self.decoder = decoder
        self.nodes = []
        self.constants = []
        self._random = np.random.default_rng(SEED)

    def constant(self, array):
        name = "constant_%d" % len(self.constants)
        self.constants.append(onnx.numpy_helper.from_array(array, name))
        return name

    def ints(self, *values):
        return self.constant(np.array(values, np.int64))

    def op(self, op, *inputs, name=None, **attributes):
        name = name or "value_%d" % len(self.nodes)
        self.nodes.append(onnx.helper.make_node(op, inputs, [name], **attributes))
        return name

    def scalar(self, value):
        return self.constant(np.float32(value))

    def weights(self, *shape):
        return self.constant(self._random.normal(0, WEIGHT_DEVIATION, shape).astype(np.float32))

    def dense(self, data, inputs, outputs):
        return self.op("MatMul", data, self.weights(inputs, outputs))

    def normalized(self, data):
        mean = self.op("ReduceMean", self.op("Pow", data, self.scalar(2)), axes=[-1], keepdims=1)
        root = self.op("Sqrt", self.op("Add", mean, self.scalar(EPSILON)))
        scaled = self.op("Mul", data, self.op("Reciprocal", root))
        return self.op("Mul", scaled, self.constant(np.ones(self.decoder.width, np.float32)))

    def row(self, table):
        """Returns the row at this run's position of a table with all positions."""
        return self.op("Gather", self.constant(table), "position", axis=0)

    def rotated(self, data, cosine, sine):
        half = self.decoder.head_width // 2
        first = self.op("Slice", data, self.ints(0), self.ints(half), self.ints(3))
        second = self.op("Slice", data, self.ints(half), self.ints(2 * half), self.ints(3))
        turned = self.op("Concat", self.op("Neg", second), first, axis=-1)
        return self.op("Add", self.op("Mul", data, cosine), self.op("Mul", turned, sine))

    def heads(self, data, count):
        d = self.decoder
        split = self.op("Reshape", self.dense(data, d.width, count * d.head_width), self.ints(1, 1, count, d.head_width))
        return self.op("Transpose", split, perm=(0, 2, 1, 3))

    def updated(self, cache, row):
        """Returns the cache with this run's row: index_copy along the positions, in the form of PyTorch's exporter."""
        data = self.op("Transpose", cache, perm=(2, 0, 1, 3))
        rows = self.op("Transpose", row, perm=(2, 0, 1, 3))
        index = self.op("Unsqueeze", "position", self.ints(1))
        scattered = self.op("ScatterND", data, index, rows)
        return self.op("Transpose", scattered, name=cache + "_out", perm=(1, 2, 0, 3))

    def for_all_heads(self, cache):
        d = self.decoder
        shape = (1, d.kv_heads, d.heads // d.kv_heads, d.positions, d.head_width)
        wide = self.op("Expand", self.op("Unsqueeze", cache, self.ints(2)), self.ints(*shape))
        return self.op("Reshape", wide, self.ints(1, d.heads, d.positions, d.head_width))

    def attention(self, data, layer, cosine, sine, mask):
        d = self.decoder
        query = self.rotated(self.heads(data, d.heads), cosine, sine)
        key = self.updated("k%d" % layer, self.rotated(self.heads(data, d.kv_heads), cosine, sine))
        value = self.updated("v%d" % layer, self.heads(data, d.kv_heads))
        keys = self.op("Transpose", self.for_all_heads(key), perm=(0, 1, 3, 2))
        scores = self.op("Div", self.op("MatMul", query, keys), self.scalar(math.sqrt(d.head_width)))
        weights = self.op("Softmax", self.op("Add", scores, mask), axis=-1)
        context = self.op("Transpose", self.op("MatMul", weights, self.for_all_heads(value)), perm=(0, 2, 1, 3))
        return self.dense(self.op("Reshape", context, self.ints(1, 1, d.width)), d.width, d.width)

    def feed_forward(self, data):
        d = self.decoder
        gate = self.dense(data, d.width, d.hidden)
        gate = self.op("Mul", gate, self.op("Sigmoid", gate))
        return self.dense(self.op("Mul", gate, self.dense(data, d.width, d.hidden)), d.hidden, d.width)

    def token(self):
        d = self.decoder
        angles = np.arange(d.positions)[:, None] / 1e4 ** (np.arange(d.head_width) % (d.head_width // 2) * 2 / d.head_width)
        cosine, sine = (self.row(table.astype(np.float32)) for table in (np.cos(angles), np.sin(angles)))
        is_past = self.op("LessOrEqual", self.ints(*range(d.positions)), "position")
        mask = self.op("Where", is_past, self.scalar(0), self.scalar(-1e30))
        data = self.op("Gather", self.weights(d.vocabulary, d.width), "token", axis=0)
        for layer in range(d.layers):
            data = self.op("Add", data, self.attention(self.normalized(data), layer, cosine, sine, mask))
            data = self.op("Add", data, self.feed_forward(self.normalized(data)))
        scores = self.dense(self.normalized(data), d.width, d.vocabulary)
        return self.op("ArgMax", scores, name="next", axis=-1, keepdims=0)


def write(decoder, path):
    """Writes the ONNX file. Returns inputs for a run in the middle of a text, and for each cache the output that is the
    next run's cache."""
    builder = _Builder(decoder)
    builder.token()
    tensor = onnx.helper.make_tensor_value_info
    cache = (1, decoder.kv_heads, decoder.positions, decoder.head_width)
    inputs = [tensor("token", onnx.TensorProto.INT64, (1, 1)), tensor("position", onnx.TensorProto.INT64, (1,))]
    inputs += [tensor(name, onnx.TensorProto.FLOAT, cache) for name in decoder.caches]
    outputs = [tensor("next", onnx.TensorProto.INT64, (1, 1))]
    outputs += [tensor(name + "_out", onnx.TensorProto.FLOAT, cache) for name in decoder.caches]
    graph = onnx.helper.make_graph(builder.nodes, decoder.name, inputs, outputs, builder.constants)
    opset = onnx.helper.make_opsetid("", OPSET)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[opset], ir_version=8), str(path))
    feeds = {"token": np.array([[7]], np.int64), "position": np.array([decoder.positions // 2], np.int64)}
    feeds.update({name: np.zeros(cache, np.float32) for name in decoder.caches})
    return feeds, {name: name + "_out" for name in decoder.caches}
