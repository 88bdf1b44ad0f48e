# SPDX-License-Identifier: Apache-2.0
"""Measures the time of a call from Python, and of ONNX Runtime's if that can be imported.

    bazel run //python:benchmark_calls -- models/digits/digits.onnx

Measures each model on the command line, and a model that adds two bytes, with one thread. Prints the minimum in
microseconds of these times: a call that allocates its outputs; a call with out=; the model without Python, as `kiln
bench` measures it; a call of ONNX Runtime. The first minus the third is the overhead of the package.
"""

import argparse
import json
import os
import sys
import tempfile
import timeit

del sys.path[0]  # The folder of this file: it contains the package without its built files.

import kiln
import numpy
from kiln import command_line

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

_ROUND_SECONDS = 0.01
_TINY = b'#[version = "0.0.5"]\ndef @main(%x: Tensor[(2), uint8]) {\n  add(%x, %x)\n}\n'


def microseconds(function, seconds):
    """Returns the minimum over many short rounds, because other processes may disturb some of them."""
    number = max(1, int(_ROUND_SECONDS / timeit.timeit(function, number=1)))
    return min(timeit.repeat(function, number=number, repeat=int(seconds / _ROUND_SECONDS))) / number * 1e6


def onnx_runtime_call(path, inputs):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return lambda: session.run(None, inputs)


def measure(name, model, seconds):
    library = kiln.compile(model, module_name="measured")
    called = library.load(threads=1)
    random = numpy.random.default_rng(1)
    inputs = [numpy.asarray(random.random(info.shape) * 100).astype(info.dtype) for info in called.inputs]
    out = [numpy.empty(info.shape, info.dtype) for info in called.outputs]
    with tempfile.TemporaryDirectory() as folder:
        (shared_object,) = [path for path in library.write(folder) if path.suffix == ".so"]
        bench = json.loads(command_line.run("bench", [str(shared_object)], {"threads": 1, "seconds": seconds, "json": True}))
    columns = [
        ("call", microseconds(lambda: called(*inputs), seconds)),
        ("call with out=", microseconds(lambda: called(*inputs, out=out), seconds)),
        ("model alone", bench["min_ms"] * 1e3),
    ]
    if onnxruntime and isinstance(model, str) and model.endswith(".onnx"):
        by_name = {info.name: array for info, array in zip(called.inputs, inputs)}
        columns.append(("ONNX Runtime " + onnxruntime.__version__, microseconds(onnx_runtime_call(model, by_name), seconds)))
    print(name + ": " + ", ".join("{} {:.2f} us".format(what, time) for what, time in columns))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--seconds", type=float, default=1, help="how long to measure each")
    arguments = parser.parse_args()
    os.chdir(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    measure("addition of two bytes", _TINY, arguments.seconds)
    for path in arguments.models:
        measure(path, path, arguments.seconds)
    if not onnxruntime:
        print("onnxruntime is not importable")


if __name__ == "__main__":
    main()
