# SPDX-License-Identifier: Apache-2.0
"""The peers with which Kiln is compared. Each peer opens a case with a number of threads and runs it:

  peer = OnnxRuntime(case, threads)  # raises Unfit, with the reason, if it cannot run the model
  peer.run()
  peer.outputs()

All optimizations of the peers are on, and float32 is computed as float32. Opening runs the model
once, so outputs() are then those of the first run. This matters for a model with a state.
"""

import importlib
import os
import tempfile

from tests.benchmark.environment import np

onnxruntime = importlib.import_module("onnxruntime")
interpreter = importlib.import_module("ai_edge_litert.interpreter")
litert_version = importlib.import_module("importlib.metadata").version("ai-edge-litert")
openvino = importlib.import_module("openvino")


class Unfit(Exception):
    """The peer cannot run the model."""


def _first_line(error):
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else type(error).__name__)[:160]


class Peer:
    """Opens the model, and turns exceptions of the peer's library into Unfit."""

    name = version = ""
    suffixes = (".onnx", ".tflite")  # suffixes of the files that the peer reads

    @classmethod
    def reads(cls, case):
        return case.model.suffix in cls.suffixes

    def __init__(self, case, threads):
        if not self.reads(case):
            raise Unfit("%s is not of its formats" % case.model)
        try:
            self._open(case, threads)
        except (RuntimeError, ValueError, TypeError) as error:
            raise Unfit(_first_line(error)) from error
        except Exception as error:  # onnxruntime's exceptions have no common base
            if type(error).__module__.split(".")[0] != "onnxruntime":
                raise
            raise Unfit(_first_line(error)) from error


class OnnxRuntime(Peer):
    """A session with bound inputs and outputs, so that a run copies nothing."""

    name, version = "ONNX Runtime", onnxruntime.__version__
    suffixes = (".onnx",)

    def _open(self, case, threads):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(str(case.model), options,
                                               providers=["CPUExecutionProvider"])
        self._binding = session.io_binding()
        for name, array in case.inputs.items():
            self._binding.bind_cpu_input(name, array)
        for output in session.get_outputs():
            self._binding.bind_output(output.name)
        # The shapes of the outputs are known after the second run, so their memory can be reused.
        session.run_with_iobinding(self._binding)
        for output, value in zip(session.get_outputs(), self._binding.get_outputs()):
            self._binding.bind_ortvalue_output(output.name, value)
        self._session = session

    def run(self):
        self._session.run_with_iobinding(self._binding)

    def outputs(self):
        return self._binding.copy_outputs_to_cpu()


class LiteRt(Peer):
    """Uses the XNNPACK delegate, which is the default."""

    name, version = "LiteRT", litert_version
    suffixes = (".tflite",)

    def _open(self, case, threads):
        self._interpreter = interpreter.Interpreter(model_path=str(case.model),
                                                    num_threads=threads)
        self._interpreter.allocate_tensors()
        details = self._interpreter.get_input_details()
        for tensor, array in zip(details, case.inputs.values()):
            self._interpreter.set_tensor(tensor["index"], array)
        self._interpreter.invoke()
        # invoke() calls this method after a check of Python references, which takes as long as a
        # small model.
        self.run = self._interpreter._interpreter.Invoke  # pylint: disable=protected-access

    def outputs(self):
        return [self._interpreter.get_tensor(tensor["index"])
                for tensor in self._interpreter.get_output_details()]


class OpenVino(Peer):
    """Uses one stream, for latency."""

    name, version = "OpenVINO", openvino.__version__.split("-")[0]

    def _open(self, case, threads):
        core = openvino.Core()
        model = core.read_model(str(case.model))
        inputs = list(zip(model.inputs, case.inputs.values()))
        if any(port.partial_shape.is_dynamic for port, _ in inputs):
            model.reshape({port: list(array.shape) for port, array in inputs})
        # A thread that is tied to a CPU waits if another thread runs on that CPU.
        compiled = core.compile_model(model, "CPU", {
            "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1", "INFERENCE_NUM_THREADS": threads,
            "INFERENCE_PRECISION_HINT": "f32", "ENABLE_CPU_PINNING": False})
        self._request = compiled.create_infer_request()
        for index, array in enumerate(case.inputs.values()):
            tensor = openvino.Tensor(array, shared_memory=array.size > 0)
            self._request.set_input_tensor(index, tensor)
        self.run()

    def run(self):
        self._request.infer(share_outputs=True, decode_strings=False)

    def outputs(self):
        return [np.array(tensor.data) for tensor in self._request.output_tensors]


PEERS = (OnnxRuntime, LiteRt, OpenVino)


class QuietErrors:
    """Keeps output of C++ libraries to standard error out of the table."""

    def __enter__(self):
        self._kept = os.dup(2)
        self._file = tempfile.TemporaryFile()
        os.dup2(self._file.fileno(), 2)

    def __exit__(self, *_):
        os.dup2(self._kept, 2)
        os.close(self._kept)
        self._file.close()
