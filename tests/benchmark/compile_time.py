# SPDX-License-Identifier: Apache-2.0
"""Compares the time of compilations by several compilers.

  bazel run -c opt //tests/benchmark:compile_time -- --kiln OLD --kiln NEW

The compilers take turns in rounds. Without --kiln, only this tree's compiler is measured. Figures are
medians of seconds of processor time in user mode, which other processes of the machine hardly
change. One figure is the time to the scheduled loops, the other the time to the end; the difference is
the code generator's time. In rows "C", the time of the C compiler on each compiler's code is separate.
"""

import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

C_COMPILER = ("gcc", "-std=c99", "-O2", "-fPIC", "-shared")

# Paths below KILN_SHARED_DATA.
MODELS = {
    "mlperf_vww_int8": "onnx_models/mlperf_vww_int8/model.onnx",
    "mobilenet_v2_quant": "onnx_models/mobilenet_v2_quant/model.onnx",
    "tflite_vww_int8": "mlperf_tiny/vww/vww_96_int8.tflite",
    "mobilenet_v1_0.25_128_quant": "tflite_models/mobilenet_v1_0.25_128_quant/model.tflite",
    "light_densenet121": "onnx_light/light_densenet121.onnx",
    "light_squeezenet": "onnx_light/light_squeezenet.onnx",
    "topk_300of8400": "../cases/python/topk_300of8400/model.onnx",
}
C_MODELS = ("light_squeezenet",)


def user_seconds(command):
    """Runs the command, and returns the user time of it and of all its child processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                            check=False)
    if result.returncode != 0:
        sys.exit("%s: %s" % (" ".join(map(str, command)), result.stderr.strip()[:400]))
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def compile_seconds(kiln, model, folder):
    """Returns the time to the scheduled loops, and the time to the end."""
    command = [kiln, "compile", model, "--target", "host"]
    return (user_seconds(command + ["--emit=scheduled"]),
            user_seconds(command + ["-o", folder / "library"]))


def c_seconds(kiln, model, folder):
    """Returns Kiln's own time, and the C compiler's time."""
    made = folder / "c"
    own = user_seconds([kiln, "compile", model, "--target", "host", "--codegen", "c", "--runtime",
                        "crt", "--interface", "c", "-o", made])
    sources = sorted(made.rglob("*.c"))
    headers = {path.parent for path in made.rglob("*.h")}
    command = [*C_COMPILER, *("-I%s" % path for path in sorted(headers)), *sources, "-o",
               folder / "c.so"]
    return own, user_seconds(command)


def print_row(name, parts, times):
    """Prints the medians of a model. `times` has a list of rounds per compiler; a round is a tuple
    with the time of each part."""
    medians = [[statistics.median(part) for part in zip(*rounds)] for rounds in times]
    for index, part in enumerate(parts):
        cells = ["%.2f" % median[index] for median in medians]
        cells += ["%.2f" % (median[index] / medians[0][index]) for median in medians[1:]
                  if medians[0][index] > 0]
        print("| %s | %s | %s |" % (name if index == 0 else "", part, " | ".join(cells)),
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True, help="the command kiln of this tree")
    parser.add_argument("--kiln", action="append", default=[], help="a command kiln; the first is "
                        "what the others are compared with")
    parser.add_argument("--data", type=pathlib.Path, default=os.environ.get("KILN_SHARED_DATA"),
                        help="folder of models; default: $KILN_SHARED_DATA")
    parser.add_argument("--models", default=",".join(MODELS), help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    if arguments.data is None:
        parser.error("say where the models are, with --data or KILN_SHARED_DATA")
    kilns = arguments.kiln or [arguments.compiler]
    unknown = [name for name in arguments.models.split(",") if name not in MODELS]
    if unknown:
        parser.error("--models %s: wanted some of %s" % (unknown[0], ", ".join(MODELS)))
    columns = ["model", "part", *kilns, *("ratio" for _ in kilns[1:])]
    print("| %s |\n%s" % (" | ".join(columns), "|---" * len(columns) + "|"), flush=True)
    rows = [(name, name, ("to the loops", "all"), compile_seconds)
            for name in arguments.models.split(",")]
    rows += [(name, name + ", C", ("kiln", C_COMPILER[0]), c_seconds)
             for name in C_MODELS if name in arguments.models.split(",")]
    with tempfile.TemporaryDirectory() as temporary:
        for name, title, parts, measure in rows:
            times = [[] for _ in kilns]
            for _ in range(arguments.rounds):
                for index, kiln in enumerate(kilns):
                    folder = pathlib.Path(temporary) / ("%s_%d" % (name, index))
                    folder.mkdir(exist_ok=True)
                    times[index].append(measure(kiln, arguments.data / MODELS[name], folder))
            print_row(title, parts, times)


if __name__ == "__main__":
    main()
