# SPDX-License-Identifier: Apache-2.0
"""Compares the time until a new process has its first result with ONNX Runtime's.

  bazel run -c opt //tests/benchmark:start

Processes of both take turns; the figures are medians. Kiln's process is a C++ program that loads the
compiled library, allocates, and runs it once with one thread. ONNX Runtime's process is Python, so
its time is also given in parts: the whole process, the time from the import on, and the time of the
session and its run.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from tests.benchmark import environment
from tests.benchmark import model_cases
from tests.benchmark.kiln_model import compile_model

# Prints the milliseconds since before the import, and since before the creation of the session.
ONNX_RUNTIME = """
import sys, time
begin = time.perf_counter()
import numpy as np
import onnxruntime as ort
imported = time.perf_counter()
options = ort.SessionOptions()
options.intra_op_num_threads = options.inter_op_num_threads = 1
session = ort.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
inputs = {i.name: np.zeros(i.shape, np.float32) for i in session.get_inputs()}
session.run(None, inputs)
end = time.perf_counter()
print((end - begin) * 1e3, (end - imported) * 1e3)
"""


def run(command):
    """Runs the command. Returns the milliseconds of the process, and the milliseconds that it prints."""
    begin = time.perf_counter()
    result = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [(time.perf_counter() - begin) * 1e3] + [float(word) for word in result.stdout.split()]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True, help="the command kiln")
    parser.add_argument("--program", required=True, help="first_result.cc")
    parser.add_argument("--data", type=pathlib.Path, default=os.environ.get("KILN_SHARED_DATA"),
                        help="folder of models; default: $KILN_SHARED_DATA")
    parser.add_argument("--model", default="light_squeezenet")
    parser.add_argument("--rounds", type=int, default=21)
    arguments = parser.parse_args()
    if arguments.data is None:
        sys.exit("say where the models are, with --data or KILN_SHARED_DATA")
    kiln, other = [], []
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        cases = model_cases.all_cases(arguments.data, folder)
        if arguments.model not in cases:
            sys.exit("--model %s: wanted one of %s" % (arguments.model, ", ".join(cases)))
        case = cases[arguments.model]()
        if case.is_tflite:
            sys.exit("--model %s: wanted an ONNX model" % arguments.model)
        library = compile_model(arguments.compiler, case, folder, [])
        for _ in range(arguments.rounds):
            other.append(run([environment.python(), "-c", ONNX_RUNTIME, str(case.model)]))
            kiln.append(run([arguments.program, str(library)]))
    process, inside = (statistics.median(column) for column in zip(*kiln))
    theirs = [statistics.median(column) for column in zip(*other)]
    print("%s, medians of %d processes\n" % (arguments.model, arguments.rounds))
    print("| until the first result | Kiln ms | ONNX Runtime ms | Kiln / ONNX Runtime |\n"
          "|---|---|---|---|")
    for what, ours, ms in (("whole process", process, theirs[0]),
                           ("load, allocate, run; ONNX Runtime: import, session, run", inside, theirs[1]),
                           ("load, allocate, run; ONNX Runtime: session, run", inside, theirs[2])):
        print("| %s | %.2f | %.2f | %.3f |" % (what, ours, ms, ours / ms))


if __name__ == "__main__":
    main()
