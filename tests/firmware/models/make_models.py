#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the models of this directory as Relay text, with inputs and NumPy's results:

    python3 -m venv venv && venv/bin/pip install numpy==1.26.4
    venv/bin/python tests/firmware/models/make_models.py tests/firmware/models

The script is needed only to change them. Random numbers have fixed seeds.
"""

import base64
import json
import os
import struct
import sys

import numpy as np

DTYPE_CODES = {"i": 0, "u": 1, "f": 2}
# Magic number at the beginning of an array, in a parameter file and in the metadata section of Relay text.
ARRAY_MAGIC = 0xDD5E40F096B4A13F


def array_bytes(array):
    code = DTYPE_CODES[array.dtype.kind]
    head = struct.pack("<QQiiiBBH", ARRAY_MAGIC, 0, 1, 0, array.ndim, code, array.itemsize * 8, 1)
    shape = struct.pack("<{}q".format(array.ndim), *array.shape)
    return head + shape + struct.pack("<q", array.nbytes) + array.tobytes()


def metadata_section(constants):
    attributes = {"_checked_type_": "0", "span": "0", "virtual_device_": "0"}
    nodes = [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]}]
    nodes.append({"type_key": "Array", "data": list(range(3, 3 + len(constants)))})
    nodes += [{"type_key": "relay.Constant", "attrs": dict(attributes, data=str(i))} for i in range(len(constants))]
    arrays = [base64.b64encode(array_bytes(constant)).decode() for constant in constants]
    section = {"root": 1, "nodes": nodes, "b64ndarrays": arrays, "attrs": {"tvm_version": "0.9.0"}}
    return "\n#[metadata]\n" + json.dumps(section, indent=1) + "\n"


class Writer:
    def __init__(self, folder):
        self.folder = folder

    def model(self, name, text, constants, tensors):
        with open(os.path.join(self.folder, name + ".relay"), "w", encoding="utf-8") as file:
            file.write('#[version = "0.0.5"]\n' + text.lstrip("\n") + (metadata_section(constants) if constants else ""))
        for tensor, values in tensors.items():
            np.save(os.path.join(self.folder, "{}_{}.npy".format(name, tensor)), values)


def convolve(data, weight, pad, groups):
    """Returns the cross-correlation of (1, c, h, w) in float64."""
    padded = np.pad(data, ((0, 0), (0, 0), (pad, pad), (pad, pad))).astype(np.float64)
    size = weight.shape[2]
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), axis=(2, 3))[0]
    if groups == 1:
        return np.einsum("chwij,ocij->ohw", windows, weight.astype(np.float64))[np.newaxis]
    return np.einsum("chwij,cij->chw", windows, weight[:, 0].astype(np.float64))[np.newaxis]


SEPARABLE = """
// A depthwise and a pointwise convolution with a residual, as small networks for microcontrollers have them.
def @main(%image: Tensor[(1, 8, 10, 10), float32]) {
  %0 = nn.conv2d(%image, meta[relay.Constant][0], padding=[1, 1, 1, 1], groups=8, channels=8, kernel_size=[3, 3]);
  %1 = clip(nn.bias_add(%0, meta[relay.Constant][1]), a_min=0f, a_max=6f);
  %2 = nn.conv2d(%1, meta[relay.Constant][2], channels=8, kernel_size=[1, 1]);
  %3 = nn.relu(add(nn.bias_add(%2, meta[relay.Constant][3]), %image));
  %4 = nn.batch_flatten(nn.global_avg_pool2d(%3));
  nn.softmax(nn.dense(%4, meta[relay.Constant][4], units=5))
}
"""


def separable(writer):
    random = np.random.default_rng(1)
    image = random.standard_normal((1, 8, 10, 10), dtype=np.float32)
    depthwise = random.standard_normal((8, 1, 3, 3), dtype=np.float32)
    pointwise = random.standard_normal((8, 8, 1, 1), dtype=np.float32)
    biases = random.standard_normal((2, 8), dtype=np.float32)
    dense = random.standard_normal((5, 8), dtype=np.float32)
    x = np.clip(convolve(image, depthwise, 1, 8) + biases[0].reshape(8, 1, 1), 0, 6)
    x = np.maximum(convolve(x, pointwise, 0, 1) + biases[1].reshape(8, 1, 1) + image, 0)
    x = x.mean(axis=(2, 3)) @ dense.T.astype(np.float64)
    x = np.exp(x - x.max())
    output = (x / x.sum()).astype(np.float32)
    constants = [depthwise, biases[0], pointwise, biases[1], dense]
    writer.model("separable", SEPARABLE, constants, {"image": image, "output": output})


INTEGERS = """
// Integers of every width, several inputs and outputs: a product of bytes with its sums in int32, scaled back to bytes by a multiplication
// in int64, and what else is found around such a product.
def @main(%bytes: Tensor[(3, 16), int8], %words: Tensor[(3, 7), int32], output_tensor_names=["sums", "scaled", "best", "quotients"]) {
  %0 = nn.dense(%bytes, meta[relay.Constant][0], units=7, out_dtype="int32");
  %1 = add(%0, meta[relay.Constant][1]);
  %2 = right_shift(multiply(cast(%1, dtype="int64"), 1518500250i64), 38i64);
  %3 = cast(clip(%2, a_min=-128f, a_max=127f), dtype="int8");
  %4 = argmax(%1, axis=[1]);
  %5 = floor_divide(%1, %words);
  (%1, %3, %4, %5)
}
"""


def integers(writer):
    random = np.random.default_rng(2)
    data = random.integers(-128, 128, (3, 16), dtype=np.int8)
    weight = random.integers(-128, 128, (7, 16), dtype=np.int8)
    bias = random.integers(-20000, 20000, (7,), dtype=np.int32)
    words = random.integers(-1000, 1000, (3, 7), dtype=np.int32)
    words[words == 0] = 1
    sums = (data.astype(np.int64) @ weight.T.astype(np.int64) + bias).astype(np.int32)
    scaled = np.clip((sums.astype(np.int64) * 1518500250) >> 38, -128, 127).astype(np.int8)
    tensors = {"bytes": data, "words": words, "sums": sums, "scaled": scaled}
    tensors["best"] = sums.argmax(axis=1).astype(np.int32)
    tensors["quotients"] = sums // words
    writer.model("integers", INTEGERS, [weight, bias], tensors)


INT16 = """
// Samples of int16 by weights of int8, as TFLite has them.
def @main(%samples: Tensor[(5, 40), int16], output_tensor_names=["sums"]) {
  qnn.dense(%samples, meta[relay.Constant][0], 0, 0, 0.5f, 0.5f, units=24, out_dtype="int32")
}
"""


def int16(writer):
    random = np.random.default_rng(4)
    samples = random.integers(-32768, 32768, (5, 40), dtype=np.int16)
    samples[0], samples[1] = -32768, 32767
    weight = random.integers(-128, 128, (24, 40), dtype=np.int8)
    sums = (samples.astype(np.int64) @ weight.T.astype(np.int64)).astype(np.int32)
    writer.model("int16", INT16, [weight], {"samples": samples, "sums": sums})


EDGES = """
// Numbers at the edge, element by element: subnormals, infinities, NaN and both zeros, in float32 and float16.
def @main(%x: Tensor[(24,), float32], %y: Tensor[(24,), float32], %h: Tensor[(24,), float16],
          output_tensor_names=["product", "quotient", "root", "exponential", "logistic", "half_product", "half_sum", "widened", "narrowed"]) {
  (multiply(%x, %y), divide(%x, %y), sqrt(abs(%x)), exp(%x), sigmoid(%y), multiply(%h, %h), add(%h, 1f16),
   cast(%h, dtype="float32"), cast(%x, dtype="float16"))
}
"""


def edges(writer):
    random = np.random.default_rng(3)
    special = [0.0, -0.0, 1e-45, -1e-40, 1.1754944e-38, np.inf, -np.inf, np.nan, 3e38, -88.5, -103.5, 65520.0, 6e-8, 1e-20]
    x = np.array(special + list(random.standard_normal(10)), dtype=np.float32)
    y = np.array(list(random.standard_normal(10)) + [-100.0, 100.0, 1e-20, 1e-20] + list(10 * random.standard_normal(10)), dtype=np.float32)
    bits = [0, 0x8000, 1, 0x3FF, 0x400, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x8001, 0x3C00, 0x3BFF]
    half = np.array(bits + list(random.integers(0, 0x7C00, 12)), dtype=np.uint16).view(np.float16)
    with np.errstate(all="ignore"):
        wide = y.astype(np.float64)
        tensors = {
            "x": x,
            "y": y,
            "h": half,
            "product": x * y,
            "quotient": x / y,
            "root": np.sqrt(np.abs(x)),
            "exponential": np.exp(x.astype(np.float64)).astype(np.float32),
            "logistic": (1 / (1 + np.exp(-wide))).astype(np.float32),
            "half_product": half * half,
            "half_sum": half + np.float16(1),
            "widened": half.astype(np.float32),
            "narrowed": x.astype(np.float16),
        }
    writer.model("edges", EDGES, [], tensors)


if __name__ == "__main__":
    WRITER = Writer(sys.argv[1])
    separable(WRITER)
    integers(WRITER)
    int16(WRITER)
    edges(WRITER)
