# SPDX-License-Identifier: Apache-2.0
"""The models that are measured, and what they are fed.

The files are those below KILN_SHARED_DATA; its MANIFEST says what they are.
"""

import dataclasses
import json
import pathlib

from tests.benchmark.onnx_runtime import np

# Real graphs of full size with constant weights.
LIGHT = ("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet",
         "squeezenet", "vgg19", "zfnet512")
# Trained models, float32.
TRAINED = ("squeezenet1.0_fp32", "subpixel_cnn", "mlperf_ic_float", "mlperf_vww_float",
           "cifar10_pytorch_cnn", "mnist_cntk", "tribuo_cnn_mnist", "ultraface_rfb320",
           "vespa_transformer", "fastestdet", "yunet_n_320", "dtln_1", "silero_vad_16k_op15",
           "tiny_random_gpt2")
# Trained models whose weights and activations are integers of 8 bits.
QUANTISED = ("mlperf_ad_int8", "mlperf_ic_int8", "mlperf_kws_int8", "mlperf_vww_int8",
             "mobilenet_v2_quant")


@dataclasses.dataclass
class Case:
    name: str
    model: pathlib.Path
    inputs: dict  # name to array

    def constants(self):
        """The scalars among the inputs, which are options of the model: Kiln compiles for one
        value of them."""
        return {name: array for name, array in self.inputs.items() if array.ndim == 0}

    def tensors(self):
        return {name: array for name, array in self.inputs.items() if array.ndim > 0}


def _lcg(seed, shape):
    """The manifest's generator: one stream per tensor, exact in float32."""
    count = int(np.prod(shape))
    values = np.empty(count, np.float32)
    state = seed
    for i in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        values[i] = np.float32(state >> 8) / np.float32(8388608) - np.float32(1)
    return values.reshape(shape)


def _trained(folder):
    meta = json.loads((folder / "meta.json").read_text())
    first = meta["sets"][0]
    inputs = {}
    for tensor in first["inputs"]:
        if "file" in tensor:
            array = np.load(folder / tensor["file"])
        else:
            array = _lcg(tensor["lcg"], tensor["shape"])
        inputs[tensor["name"]] = np.array(
            array.astype(tensor["dtype"]).reshape(tensor["shape"]), order="C")
    return Case(folder.name, folder / meta["model"], inputs)


def _light(path, session):
    (tensor,) = session(path).get_inputs()
    count = int(np.prod(tensor.shape))
    array = (np.arange(count).reshape(tensor.shape) / count).astype(np.float32)
    return Case(path.stem, path, {tensor.name: array})


def all_cases(data, session):
    """A list of functions that each make one Case, with its name; `session` opens a model."""
    cases = []
    for net in LIGHT:
        path = data / "onnx_light" / ("light_%s.onnx" % net)
        cases.append((path.stem, lambda path=path: _light(path, session)))
    for name in TRAINED + QUANTISED:
        folder = data / "onnx_models" / name
        cases.append((name, lambda folder=folder: _trained(folder)))
    return cases
