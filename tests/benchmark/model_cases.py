# SPDX-License-Identifier: Apache-2.0
"""The models that are measured, and their inputs.

The models are the files below KILN_SHARED_DATA, described by its MANIFEST, and generated encoders,
decoders, selections and boosted trees.
"""

import dataclasses
import functools
import importlib
import json
import pathlib

from tests.benchmark import decoder_cases
from tests.benchmark import encoder_cases
from tests.benchmark import selection_cases
from tests.benchmark import tflite_cases
from tests.benchmark import tree_cases
from tests.benchmark.environment import np

# Classes of models, which the summary reports separately.
FLOAT32 = "float32"
ONNX_INT8 = "int8 ONNX"
TFLITE_INT8 = "int8 TFLite"
HYBRID = "TFLite, int8 weights of float operators"
ENCODER = "encoders"
SELECTION = "selection"
DECODER = "decoders"
TREES = "boosted trees"

# Real graphs of full size with constant weights.
LIGHT = ("bvlc_alexnet", "densenet121", "inception_v1", "inception_v2", "resnet50", "shufflenet",
         "squeezenet", "vgg19", "zfnet512")
# Trained models, float32.
TRAINED = ("squeezenet1.0_fp32", "subpixel_cnn", "mlperf_ic_float", "mlperf_vww_float",
           "cifar10_pytorch_cnn", "mnist_cntk", "tribuo_cnn_mnist", "ultraface_rfb320",
           "vespa_transformer", "fastestdet", "yunet_n_320", "dtln_1", "silero_vad_16k_op15",
           "tiny_random_gpt2")
# Trained models with 8-bit integers as weights and activations.
QUANTISED = ("mlperf_ad_int8", "mlperf_ic_int8", "mlperf_kws_int8", "mlperf_vww_int8",
             "mobilenet_v2_quant", "mnist_quantized_connxr", "tract_qlstm")


@dataclasses.dataclass
class Case:
    name: str
    kind: str
    model: pathlib.Path
    inputs: dict  # name to array, in the model's order
    states: dict = dataclasses.field(default_factory=dict)  # input to the output whose value it gets in the next run

    @property
    def is_tflite(self):
        return self.model.suffix == ".tflite"

    @property
    def has_integers(self):
        return self.kind in (ONNX_INT8, TFLITE_INT8, HYBRID)

    def constants(self):
        """The scalar inputs. They are options of the model, and Kiln compiles the model for one
        value of each."""
        return {name: array for name, array in self.inputs.items() if array.ndim == 0}

    def tensors(self):
        return {name: array for name, array in self.inputs.items() if array.ndim > 0}


def _lcg(seed, shape):
    """The generator described in the manifest: one stream per tensor, exact in float32."""
    count = int(np.prod(shape))
    values = np.empty(count, np.float32)
    state = seed
    for i in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        values[i] = np.float32(state >> 8) / np.float32(8388608) - np.float32(1)
    return values.reshape(shape)


def _trained(folder, kind):
    meta = json.loads((folder / "meta.json").read_text())
    first = meta["sets"][0]
    inputs = {}
    for tensor in first["inputs"]:
        if "file" in tensor:
            array = np.load(folder / tensor["file"])
        else:
            array = _lcg(tensor["lcg"]["seed"] if isinstance(tensor["lcg"], dict)
                         else tensor["lcg"], tensor["shape"])
        inputs[tensor["name"]] = np.array(
            array.astype(tensor["dtype"]).reshape(tensor["shape"]), order="C")
    return Case(folder.name, kind, folder / meta["model"], inputs)


def _light(path):
    model = importlib.import_module("onnx").load(str(path))
    weights = {tensor.name for tensor in model.graph.initializer}
    (tensor,) = [value for value in model.graph.input if value.name not in weights]
    shape = [dimension.dim_value for dimension in tensor.type.tensor_type.shape.dim]
    count = int(np.prod(shape))
    array = (np.arange(count).reshape(shape) / count).astype(np.float32)
    return Case(path.stem, FLOAT32, path, {tensor.name: array})


def _tflite(model, data):
    kind = {"int8": TFLITE_INT8, "hybrid": HYBRID, "float32": FLOAT32}[model.kind]
    path = data / model.path
    return Case(model.name, kind, path, tflite_cases.inputs(path))


def _encoder(encoder, folder):
    path = folder / (encoder.name + ".onnx")
    return Case(encoder.name, ENCODER, path, encoder_cases.write(encoder, path))


def _selection(selection, folder):
    path = folder / (selection.name + ".onnx")
    return Case(selection.name, SELECTION, path, selection_cases.write(selection, path))


def _decoder(decoder, folder):
    path = folder / (decoder.name + ".onnx")
    inputs, states = decoder_cases.write(decoder, path)
    return Case(decoder.name, DECODER, path, inputs, states)


def _trees(trees, folder):
    path = folder / (trees.name + ".onnx")
    return Case(trees.name, TREES, path, tree_cases.write(trees, path))


def all_cases(data, folder):
    """Returns functions by name. Each function creates a Case. Generated models are written to
    `folder`."""
    make = {}
    for net in LIGHT:
        path = data / "onnx_light" / ("light_%s.onnx" % net)
        make[path.stem] = functools.partial(_light, path)
    for kind, names in ((FLOAT32, TRAINED), (ONNX_INT8, QUANTISED)):
        for name in names:
            make[name] = functools.partial(_trained, data / "onnx_models" / name, kind)
    for model in tflite_cases.MODELS:
        make[model.name] = functools.partial(_tflite, model, data)
    for encoder in encoder_cases.ENCODERS:
        make[encoder.name] = functools.partial(_encoder, encoder, folder)
    for selection in selection_cases.SELECTIONS:
        make[selection.name] = functools.partial(_selection, selection, folder)
    for decoder in decoder_cases.DECODERS:
        make[decoder.name] = functools.partial(_decoder, decoder, folder)
    for trees in tree_cases.TREES:
        make[trees.name] = functools.partial(_trees, trees, folder)
    return make
