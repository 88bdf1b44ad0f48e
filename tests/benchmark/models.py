# SPDX-License-Identifier: Apache-2.0
"""Whole models beside ONNX Runtime, in one process, taking turns.

  bazel run -c opt //tests/benchmark:models -- --threads 1,2

Each model is compiled for this machine and measured in rounds: ONNX Runtime with all optimisations
and the same number of threads, then Kiln. A round runs each long enough to be told apart from the
clock; the figures are medians over the rounds, and a ratio is the median of the rounds' ratios.
"""

import argparse
import ctypes
import datetime
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

from tests.benchmark import model_cases
from tests.benchmark.onnx_runtime import np, ort

TOLERANCE = 1e-3  # of the largest output
SETTLE_SECONDS = 0.02  # until the other's threads have stopped spinning


class CompiledModel:
    """A library that Kiln has made, through tests/benchmark/compiled_model.cc."""

    def __init__(self, library, path):
        self._library = library
        self._model = library.kiln_load(str(path).encode())
        if not self._model:
            raise RuntimeError(library.kiln_error().decode())
        self._run = library.kiln_run

    def close(self):
        self._library.kiln_free(self._model)

    def set_threads(self, threads):
        self._check(self._library.kiln_set_threads(threads))

    def set_inputs(self, inputs):
        for name, array in inputs.items():
            data = array.tobytes()
            self._check(self._library.kiln_set_input(self._model, name.encode(), data, len(data)))

    def run(self):
        self._check(self._run(self._model))

    def outputs(self, like):
        results = []
        for i, array in enumerate(like):
            result = np.empty_like(array)
            self._check(self._library.kiln_get_output(
                self._model, i, result.ctypes.data, result.nbytes))
            results.append(result)
        return results

    def _check(self, status):
        if status != 0:
            raise RuntimeError(self._library.kiln_error().decode())


class OnnxRuntimeModel:
    """A session whose inputs and outputs are bound, so that a run copies nothing."""

    def __init__(self, path, threads, inputs):
        self._session = open_session(path, threads)
        self._binding = self._session.io_binding()
        for name, array in inputs.items():
            self._binding.bind_cpu_input(name, array)
        for output in self._session.get_outputs():
            self._binding.bind_output(output.name)
        # The second run knows the outputs' shapes, so their memory can stay.
        self._session.run_with_iobinding(self._binding)
        for output, value in zip(self._session.get_outputs(), self._binding.get_outputs()):
            self._binding.bind_ortvalue_output(output.name, value)

    def run(self):
        self._session.run_with_iobinding(self._binding)

    def outputs(self):
        return self._binding.copy_outputs_to_cpu()


def open_session(path, threads=1):
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    return ort.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def load_library(path):
    library = ctypes.CDLL(str(path))
    library.kiln_error.restype = ctypes.c_char_p
    library.kiln_load.restype = ctypes.c_void_p
    library.kiln_load.argtypes = [ctypes.c_char_p]
    library.kiln_free.argtypes = [ctypes.c_void_p]
    library.kiln_free.restype = None
    library.kiln_run.argtypes = [ctypes.c_void_p]
    library.kiln_set_input.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p,
                                       ctypes.c_size_t]
    library.kiln_get_output.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p,
                                        ctypes.c_size_t]
    return library


def compile_model(compiler, case, folder, extra):
    """Compiles for this machine; returns the shared object."""
    name = "".join(c if c.isalnum() else "_" for c in case.name)
    command = [compiler, "compile", str(case.model), "-o", str(folder / name),
               "--module-name", name, "--target", "host", *extra]
    for tensor, array in case.tensors().items():
        command += ["--input", "%s:%s" % (tensor, "x".join(map(str, array.shape)))]
    for tensor, array in case.constants().items():
        command += ["--constant", "%s=%s" % (tensor, array.item())]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip().splitlines()[0])
    return folder / name / (name + ".so")


def seconds_per_run(run, budget):
    """The median of single runs for about `budget` seconds, after a warm-up of a fifth of it."""
    end = time.perf_counter() + budget / 5
    run()
    while time.perf_counter() < end:
        run()
    times = []
    begin = last = time.perf_counter()
    while last - begin < budget or len(times) < 3:
        run()
        now = time.perf_counter()
        times.append(now - last)
        last = now
    return statistics.median(times)


def difference(found, wanted):
    """The largest difference, relative to the largest value of its output."""
    worst = 0.0
    for a, b in zip(found, wanted):
        scale = max(float(np.abs(b).max(initial=0)), 1e-30)
        worst = max(worst, float(np.abs(a.astype(np.float64) - b).max(initial=0)) / scale)
    return worst


def measure(case, kiln, threads, rounds, budget):
    """Medians of both, the median of the ratios, and how far the outputs are apart."""
    other = OnnxRuntimeModel(case.model, threads, case.inputs)
    kiln.set_threads(threads)
    kiln.set_inputs(case.tensors())
    ours, theirs = [], []
    for _ in range(rounds):
        time.sleep(SETTLE_SECONDS)
        theirs.append(seconds_per_run(other.run, budget))
        time.sleep(SETTLE_SECONDS)
        ours.append(seconds_per_run(kiln.run, budget))
    wanted = other.outputs()
    apart = difference(kiln.outputs(wanted), wanted)
    ratio = statistics.median(a / b for a, b in zip(ours, theirs))
    return statistics.median(ours), statistics.median(theirs), ratio, apart


def cpu_name():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(v) for v in values))


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True, help="the command kiln")
    parser.add_argument("--runner", required=True, help="the library of compiled_model.cc")
    parser.add_argument("--data", type=pathlib.Path,
                        default=os.environ.get("KILN_SHARED_DATA"),
                        help="folder of models; default: $KILN_SHARED_DATA")
    parser.add_argument("--models", default="", help="only those whose names contain one of these, "
                        "separated by commas")
    parser.add_argument("--threads", default="1", help="1,2: numbers of threads to measure with")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.2, help="per round and side")
    parser.add_argument("--keep", type=pathlib.Path, help="folder that the libraries stay in")
    parser.add_argument("--compile-option", action="append", default=[],
                        help="one more word for kiln compile")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    if arguments.data is None:
        sys.exit("say where the models are, with --data or KILN_SHARED_DATA")
    wanted = [name for name in arguments.models.split(",") if name]
    library = load_library(arguments.runner)
    print("%s, %s, %d CPUs; onnxruntime %s; %d rounds of %.2f s" % (
        datetime.date.today(), cpu_name(), os.cpu_count(), ort.__version__, arguments.rounds,
        arguments.seconds), flush=True)
    print("| model | threads | Kiln ms | ONNX Runtime ms | Kiln / ONNX Runtime | apart |\n"
          "|---|---|---|---|---|---|", flush=True)
    ratios = {}
    skipped, wrong = [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or pathlib.Path(temporary)
        for name, make in model_cases.all_cases(arguments.data, open_session):
            if wanted and not any(w in name for w in wanted):
                continue
            try:
                case = make()
                path = compile_model(arguments.compiler, case, folder, arguments.compile_option)
                kiln = CompiledModel(library, path)
            except RuntimeError as error:
                skipped.append("%s: %s" % (name, error))
                continue
            for threads in map(int, arguments.threads.split(",")):
                ours, theirs, ratio, apart = measure(case, kiln, threads, arguments.rounds,
                                                     arguments.seconds)
                print("| %s | %d | %.4f | %.4f | %.3f | %.1e%s |" % (
                    name, threads, ours * 1e3, theirs * 1e3, ratio, apart,
                    "" if apart <= TOLERANCE else " WRONG"), flush=True)
                if apart > TOLERANCE:
                    wrong.append("%s: outputs are %.1e apart" % (name, apart))
                ratios.setdefault(threads, []).append(ratio)
            kiln.close()
    for threads, values in ratios.items():
        print("\n%d thread%s: geometric mean %.3f, worst %.3f, over %d models" % (
            threads, "" if threads == 1 else "s", geometric_mean(values), max(values),
            len(values)))
    for text in skipped:
        print("not measured: " + text)
    for text in wrong:
        print(text)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
