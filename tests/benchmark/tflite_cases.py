# SPDX-License-Identifier: Apache-2.0
"""The TFLite models below KILN_SHARED_DATA, and their inputs."""

import dataclasses
import importlib

from tests.benchmark.environment import np

interpreter = importlib.import_module("ai_edge_litert.interpreter")

SEED = 1


@dataclasses.dataclass(frozen=True)
class TfliteModel:
    kind: str  # arithmetic: int8, float32, or hybrid (float operators with int8 weights)
    name: str
    path: str


def _folder(kind, *names):
    return tuple(TfliteModel(kind, name, "tflite_models/%s/model.tflite" % name) for name in names)


MODELS = (
    TfliteModel("int8", "tflite_ad_int8", "mlperf_tiny/ad/ad01_int8.tflite"),
    TfliteModel("int8", "tflite_ic_int8", "mlperf_tiny/ic/pretrainedResnet_quant.tflite"),
    TfliteModel("int8", "tflite_kws_int8", "mlperf_tiny/kws/kws_ref_model.tflite"),
    TfliteModel("int8", "tflite_vww_int8", "mlperf_tiny/vww/vww_96_int8.tflite"),
    *_folder("int8", "mobilenet_v1_0.25_128_quant", "mcunet_detection", "mww_okay_nabu_v2",
             "tinymaix_cifar10_q", "tinymaix_mnist_q", "tinymaix_mnist_resnet_q"),
    TfliteModel("int8", "tflm_hello_world_int8", "tflm/hello_world/hello_world_int8.tflite"),
    TfliteModel("int8", "tflm_simple_add", "tflm/memory_footprint/simple_add_model.tflite"),
    TfliteModel("int8", "tflm_micro_speech", "tflm/micro_speech/micro_speech_quantized.tflite"),
    TfliteModel("int8", "tflm_dtln", "tflm/dtln/dtln_noise_suppression.tflite"),
    TfliteModel("int8", "tflm_mnist_lstm_int8", "tflm/mnist_lstm/trained_lstm_int8.tflite"),
    TfliteModel("int8", "tflm_micro_speech_lstm",
                "tflm/xtensa_micro_speech_lstm/micro_speech_lstm.tflite"),
    TfliteModel("float32", "tflite_ad_float", "mlperf_tiny/ad/ad01_fp32.tflite"),
    TfliteModel("float32", "tflite_ic_float", "mlperf_tiny/ic/pretrainedResnet.tflite"),
    TfliteModel("float32", "tflite_kws_float", "mlperf_tiny/kws/kws_saved_model_true_float32.tflite"),
    TfliteModel("float32", "tflite_vww_float", "mlperf_tiny/vww/vww_96_float.tflite"),
    *_folder("float32", "cifar10_tmc", "dilated_conv", "lstm2_tmc", "mobilenet_v1_0.25_224_float",
             "movie_review", "mp_face_detection_short_range", "planestrike", "tinymaix_cifar10_f",
             "tinymaix_mnist_f", "torchaudio_conformer"),
    TfliteModel("float32", "tflm_hello_world_float", "tflm/hello_world/hello_world_float.tflite"),
    TfliteModel("float32", "tflm_mnist_lstm_float", "tflm/mnist_lstm/trained_lstm.tflite"),
    *_folder("hybrid", "lyra_soundstream_encoder", "mobilenet_v2_035_96_embedder"),
)


def _random(random, shape, dtype):
    """Returns typical inputs: the whole range of bytes, floats of [0, 1), small indices."""
    if np.issubdtype(dtype, np.floating):
        return random.random(shape, np.float32).astype(dtype)
    if dtype in (np.int8, np.uint8):
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
    return random.integers(0, 2 if dtype == np.bool_ else 100, shape).astype(dtype)


def inputs(path):
    """Returns arrays by the names of the inputs, in the model's order: the first step of stored
    data, or random values if there are none."""
    model = interpreter.Interpreter(model_path=str(path), num_threads=1)
    random = np.random.default_rng(SEED)
    arrays = {}
    for index, tensor in enumerate(model.get_input_details()):
        shape, dtype = tuple(tensor["shape"]), tensor["dtype"]
        stored = sorted([*path.parent.glob("*.in_%d.npy" % index),
                         *path.parent.glob(path.stem + ".*.in%d.npy" % index)])
        if stored:
            array = np.load(stored[0])[0].reshape(shape).astype(dtype)
        else:
            array = _random(random, shape, np.dtype(dtype))
        arrays[tensor["name"]] = np.ascontiguousarray(array)
    return arrays
