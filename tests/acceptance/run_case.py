# SPDX-License-Identifier: Apache-2.0
"""Exports one model, compiles it, and compares it with its framework, in a separate process.

  python run_case.py torchvision/resnet18

The last line of its output is a JSON object: `exporter`, and on success `difference`, `kiln_ms` and
`peer_ms`; otherwise `stage`, which is the failing stage, and `reason`.
"""

import json
import logging
import os
import pathlib
import sys
import tempfile
import time
import warnings

ROUNDS = 5
SECONDS_PER_ROUND = 0.1
LEAST_DEPENDENCE = 1e-3  # relative to the largest output, on the inputs: ten times the tolerance


def reason_of(error, folder=""):
    """Returns the first informative line, without paths of the folder and of temporary files."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    if text.endswith(":") and len(lines) > 1:
        text += " " + lines[1]
    if folder:
        text = text.replace("%s/" % folder, "")
    return text.replace(tempfile.gettempdir(), "")


def _tensors(result):
    """Returns the tensors in a module's result, in the order in which exporters name them."""
    import torch  # pylint: disable=import-outside-toplevel
    if isinstance(result, torch.Tensor):
        return [result]
    if hasattr(result, "to_tuple"):
        result = result.to_tuple()
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (list, tuple)):
        return [tensor for part in result for tensor in _tensors(part)]
    return []


class TorchCase:
    """A PyTorch module with its inputs."""

    def __init__(self, module, inputs):
        import torch  # pylint: disable=import-outside-toplevel

        class Flat(torch.nn.Module):
            """The module, with a tuple of tensors as its result."""

            def __init__(self):
                super().__init__()
                self.module = module

            def forward(self, *arguments):
                return tuple(_tensors(self.module(*arguments)))

        self._module = Flat().eval()
        self._inputs = inputs
        with torch.no_grad():
            self.wanted = [tensor.numpy() for tensor in self._module(*inputs)]
            others = [tensor.numpy() for tensor in self._module(*[t.flip(-1) for t in inputs])]
        check_dependence(self.wanted, others)
        self.feeds = [tensor.numpy() for tensor in inputs]

    def export(self, path):
        """Exports with the default or else the older exporter, and returns the one that succeeded."""
        import torch  # pylint: disable=import-outside-toplevel
        try:
            torch.onnx.export(self._module, self._inputs, str(path), dynamo=True, verbose=False)
            return "torch.onnx"
        except Exception as error:  # pylint: disable=broad-except
            first = error
        try:
            torch.onnx.export(self._module, self._inputs, str(path), dynamo=False)
            return "torch.onnx, dynamo=False"
        except Exception as error:
            raise RuntimeError("%s; dynamo=False: %s" % (reason_of(first), reason_of(error))) from error

    def compile(self, path, exporter):
        """Compiles the module as a user does, or the file if only the older exporter could write
        it."""
        import kiln  # pylint: disable=import-outside-toplevel
        if exporter == "torch.onnx":
            return kiln.compile(self._module, self._inputs)
        return kiln.compile(str(path))


class ClassicalCase:
    """A trained estimator."""

    def __init__(self, fitted):
        self._fitted = fitted
        self.wanted = fitted.wanted
        self.feeds = [fitted.samples]

    def export(self, path):
        self._fitted.export(path)
        return "skl2onnx"

    def compile(self, path, _):
        import kiln  # pylint: disable=import-outside-toplevel
        return kiln.compile(str(path), input={"x": self._fitted.samples.shape})


def make_case(name):
    """Creates the case. Raises KeyError if there is none with this name."""
    from tests.acceptance import classical_cases  # pylint: disable=import-outside-toplevel
    from tests.acceptance import language_cases  # pylint: disable=import-outside-toplevel
    from tests.acceptance import vision_cases  # pylint: disable=import-outside-toplevel
    if name in classical_cases.cases():
        return ClassicalCase(classical_cases.cases()[name]())
    import torch  # pylint: disable=import-outside-toplevel
    torch.manual_seed(7)
    torch.set_num_threads(1)
    make = {**vision_cases.cases(), **language_cases.cases()}
    return TorchCase(*make[name]())


def check_dependence(outputs, others):
    """Raises RuntimeError if outputs for other inputs are nearly the same: the model would hide
    errors. With random weights, biases can dominate the inputs."""
    if len(outputs) == len(others) and difference(others, outputs) < LEAST_DEPENDENCE:
        raise RuntimeError("the outputs hardly depend on the inputs")


def difference(found, wanted):
    """Returns the worst difference of all outputs. For floats, it is the largest difference divided
    by the largest value. For other numbers, it is the fraction of elements that differ. Raises
    RuntimeError if a float is not finite."""
    import numpy as np  # pylint: disable=import-outside-toplevel
    if len(found) < len(wanted):
        raise RuntimeError("%d outputs, wanted %d" % (len(found), len(wanted)))
    worst = 0.0
    for ours, theirs in zip(found, wanted):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        if ours.size != theirs.size:
            raise RuntimeError("an output of shape %s, wanted %s" % (ours.shape, theirs.shape))
        ours = ours.reshape(theirs.shape)
        if not np.issubdtype(theirs.dtype, np.floating):
            worst = max(worst, float(np.mean(ours != theirs)))
            continue
        if not (np.isfinite(ours).all() and np.isfinite(theirs).all()):
            raise RuntimeError("an output is not finite")
        apart = np.abs(ours.astype(np.float64) - theirs).max(initial=0)
        worst = max(worst, float(apart / max(np.abs(theirs).max(initial=0), 1e-30)))
    return worst


class Peer:
    """ONNX Runtime with one thread. Inputs are given in order or by name."""

    def __init__(self, path, feeds, optimizes=True):
        import onnxruntime  # pylint: disable=import-outside-toplevel
        options = onnxruntime.SessionOptions()
        if not optimizes:
            options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 4
        self._session = onnxruntime.InferenceSession(str(path), options,
                                                     providers=["CPUExecutionProvider"])
        names = [tensor.name for tensor in self._session.get_inputs()]
        if not isinstance(feeds, dict):
            feeds = dict(zip(names, feeds))
        self._feeds = {name: feeds[name] for name in names if name in feeds}

    def __call__(self):
        return self._session.run(None, self._feeds)


def _milliseconds(run):
    count, begin = 0, time.process_time()
    while True:
        run()
        count += 1
        seconds = time.process_time() - begin
        if seconds >= SECONDS_PER_ROUND:
            return 1e3 * seconds / count


def measure(ours, theirs):
    """Returns the least processor time of each, in milliseconds, over rounds in which both take
    turns."""
    ours(), theirs()
    rounds = [(_milliseconds(ours), _milliseconds(theirs)) for _ in range(ROUNDS)]
    return min(a for a, _ in rounds), min(b for _, b in rounds)


def run(name, folder):
    """Returns the result of the case as a dictionary."""
    result = {"name": name}
    path = folder / "model.onnx"
    stage = "construct"
    try:
        case = make_case(name)
        stage = "export"
        result["exporter"] = case.export(path)
        stage = "compile"
        library = case.compile(path, result["exporter"])
        stage = "run"
        model = library.load(threads=1)
        feeds = case.feeds[:len(model.inputs)]
        ours = lambda: model(*feeds)
        found = ours()
        stage = "compare"
        result["difference"] = difference(found if isinstance(found, tuple) else [found],
                                          case.wanted)
        stage = "measure"
        try:
            peer = Peer(path, feeds)
            result["peer_difference"] = difference(peer(), case.wanted)
            result["kiln_ms"], result["peer_ms"] = measure(ours, peer)
        except Exception as error:  # pylint: disable=broad-except
            result["peer_reason"] = reason_of(error)
    except Exception as error:  # pylint: disable=broad-except
        result.update(stage=stage, reason=reason_of(error, folder))
    return result


def main():
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        # Output of libraries goes to stderr, so that stdout contains only the answer.
        answer = os.dup(1)
        os.dup2(2, 1)
        result = run(sys.argv[1], pathlib.Path(temporary))
        os.write(answer, (json.dumps(result) + "\n").encode())


if __name__ == "__main__":
    main()
