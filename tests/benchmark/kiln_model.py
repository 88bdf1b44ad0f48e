# SPDX-License-Identifier: Apache-2.0
"""Models compiled by Kiln, and run through tests/benchmark/compiled_model.cc."""

import ctypes
import functools
import itertools
import re
import subprocess

from tests.benchmark.environment import np


class Library:
    """The library of compiled_model.cc."""

    def __init__(self, path, processor_time):
        self.functions = ctypes.CDLL(str(path))
        self._processor_time = int(processor_time)
        f = self.functions
        f.kiln_error.restype = ctypes.c_char_p
        f.kiln_load.restype = ctypes.c_void_p
        f.kiln_load.argtypes = [ctypes.c_char_p]
        f.kiln_free.argtypes = [ctypes.c_void_p]
        f.kiln_free.restype = None
        f.kiln_run.argtypes = [ctypes.c_void_p]
        f.kiln_set_input.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p,
                                     ctypes.c_size_t]
        f.kiln_get_output.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p,
                                      ctypes.c_size_t]
        f.kiln_peak_flops.restype = ctypes.c_double

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.functions.kiln_error().decode())

    def set_threads(self, threads):
        self.check(self.functions.kiln_set_threads(threads))

    def peak_flops(self):
        """Returns the current rate of multiply-adds in registers by all threads, in operations per
        second."""
        rate = self.functions.kiln_peak_flops(self._processor_time)
        self.check(-1 if rate < 0 else 0)
        return rate


class Kiln:
    """A compiled library and the case's graph_text(). The constructor sets the inputs and runs the
    model once."""

    name = "Kiln"

    def __init__(self, library, path, case, graph):
        self._library = library
        self._model = library.functions.kiln_load(str(path).encode())
        if not self._model:
            raise RuntimeError(library.functions.kiln_error().decode())
        inputs = list(case.tensors().values())
        main = next(line for line in graph if line.startswith("def @main"))
        for index, array in enumerate(inputs + _states(main, len(inputs))):
            data = array.tobytes()
            library.check(library.functions.kiln_set_input(self._model, index, data, len(data)))
        # Only this first run's status is checked: reading it takes as long as a small model.
        self.run = functools.partial(library.functions.kiln_run, ctypes.c_void_p(self._model))
        library.check(self.run())

    def outputs(self, like):
        """Returns the outputs of the last run, with the shapes and types of `like`."""
        results = []
        for index, array in enumerate(like):
            result = np.empty_like(array)
            self._library.check(self._library.functions.kiln_get_output(
                self._model, index, result.ctypes.data, result.nbytes))
            results.append(result)
        return results

    def close(self):
        self._library.functions.kiln_free(self._model)


def _command(compiler, case):
    command = [compiler, "compile", str(case.model), "--target", "host"]
    if not case.is_tflite:  # the file contains the shapes
        for tensor, array in case.tensors().items():
            command += ["--input", "%s:%s" % (tensor, "x".join(map(str, array.shape)))]
    for state, output in case.states.items():
        command += ["--state", "%s=%s" % (state, output)]
    for tensor, array in case.constants().items():
        command += ["--constant", "%s=%s" % (tensor, array.item())]
    return command


def compile_model(compiler, case, folder, extra):
    """Compiles for this machine, and returns the path of the shared object."""
    name = "".join(c if c.isalnum() else "_" for c in case.name)
    command = _command(compiler, case) + ["-o", str(folder / name), "--module-name", name, *extra]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.strip().splitlines()[0])
    return folder / name / (name + ".so")


def graph_text(compiler, case):
    """Returns the lines of the typed graph, without the constants that follow it."""
    command = _command(compiler, case) + ["--emit=after:infer-types"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                          text=True) as process:
        lines = list(itertools.takewhile(lambda line: not line.startswith("#[metadata]"),
                                         process.stdout))
        process.kill()
    return lines


def _states(main, count):
    """Returns the initial values of the model's states, from the line of @main. States are the
    inputs after the first `count`."""
    values = re.search(r"state_initial=\[([^]]*)\]", main)
    if not values:
        return []
    parameters = re.findall(r"%[^:]+: Tensor\[\(([\d, ]*)\), (\w+)\]", main)
    return [np.full([int(word) for word in shape.split(",") if word.strip()],
                    float(value.rstrip("f")), dtype)
            for (shape, dtype), value in zip(parameters[count:], values.group(1).split(", "))]
