# SPDX-License-Identifier: Apache-2.0
"""The cases of the golden tests, and a program that accepts the compiler's output for them.

    bazel run //tests/golden:update
"""

import os
import subprocess
import sys

KILN = os.path.abspath("tools/kiln/kiln")
FOLDER = "tests/golden"

UPDATE = "bazel run //tests/golden:update"

# Plain C functions, without the metadata and the argument checks for a runtime.
_C = ["--runtime", "crt", "--interface", "c"]

# For the C++ runtime, with parallel loops for all of its threads.
_THREADS = ["--system-lib"]


class Case:
    """One run of `kiln compile`: a model of this folder, a stage, and options that make the text independent of the
    machine. `target` is None for CPU variants."""

    def __init__(self, model, stage, target="x86-64-v3", options=(), label="", needs_llvm=False):
        self.model = model + ".relay"
        self.stage = stage
        self.needs_llvm = needs_llvm or stage in ("llvm", "asm")
        self.arguments = ["--emit=" + stage] + (["--target", target] if target else []) + list(options)
        self.expected = ".".join(filter(None, [model, stage.replace(":", "-"), label, "txt"]))

    def command(self):
        return " ".join(["kiln compile", FOLDER + "/" + self.model] + self.arguments)

    def run(self):
        """Returns the compiler's output."""
        return emit(self.model, self.arguments)


CASES = [
    # The graph and its passes.
    Case("convolution", "graph"),
    Case("convolution", "after:infer-types"),
    Case("indices", "after:check-indices", options=["--check-indices"]),
    Case("convolution", "after:canonicalize"),
    Case("stream", "after:widen-states", "cortex-m4f", _C),
    Case("quantised", "after:integer-products"),
    Case("byte_weights", "after:keep-byte-weights", options=["--optimize", "size"]),
    Case("convolution", "after:fold-scales"),
    Case("convolution", "after:fold-constants"),
    Case("repeated", "after:eliminate-common-subexpressions"),
    Case("pointwise", "after:partition", options=["--external", "csource"]),
    Case("convolution", "after:convert-layout"),
    Case("convolution", "after:fold-layout-constants"),
    Case("outputs", "after:copy-outputs"),
    Case("convolution", "after:fuse"),
    Case("strips", "after:split", "cortex-m4f", _C),
    Case("memory", "fused"),
    # Loops: from the operators, as plain loops, and scheduled for a machine with and a machine without vectors.
    Case("dense", "stages"),
    Case("dense", "loops"),
    Case("dense", "scheduled", options=_C, label="x86-64-v3"),
    Case("dense", "scheduled", "cortex-m4f", _C, label="cortex-m4f"),
    Case("centre", "scheduled", options=_C),
    Case("pointwise", "scheduled", options=_C),
    Case("pointwise", "scheduled", None, _C + ["--cpu-variants", "x86-64-v2,x86-64-v3"], "variants"),
    Case("dense", "plans", options=_C, label="x86-64-v3"),
    Case("softmax", "plans", options=_C),
    Case("winograd", "plans", options=_C + ["--tuning", FOLDER + "/winograd.tuning"]),
    Case("bytes", "plans", "x86-64-v4 -mattr=+avx512vnni", _C),
    # The passes over loops.
    Case("windows", "after:flatten-buffers", options=_C),
    Case("windows", "after:simplify", options=_C),
    Case("windows", "after:partition-loops", options=_C),
    Case("windows", "after:simplify-parts", options=_C),
    Case("alike", "after:unroll-loops", options=_C),
    Case("alike", "after:simplify-unrolled", options=_C),
    Case("alike", "after:share-functions", options=_C),
    Case("alike", "after:inline-calls", options=_C),
    Case("padded_bytes", "after:expand-dots", "cortex-m3", _C),
    Case("short", "after:join-loops", "cortex-m4f", _C),
    Case("lanes", "after:vectorize-loops", options=_THREADS, needs_llvm=True),
    Case("lanes", "after:simplify-vectors", options=_THREADS, needs_llvm=True),
    Case("short", "after:unroll-short-loops", "cortex-m4f", _C, needs_llvm=True),
    Case("lanes", "after:outline-parallel", options=_THREADS),
    # Schedules for products of bytes, large and depthwise convolutions, rows that are read several times, and slices.
    Case("bytes", "scheduled", "x86-64-v4 -mattr=+avx512vnni", _C),
    Case("bytes", "scheduled", "cortex-m4f", _C, label="cortex-m4f"),
    Case("byte_weights", "scheduled", options=_C + ["--optimize", "size"]),
    Case("winograd", "after:simplify", options=_C + ["--tuning", FOLDER + "/winograd.tuning"]),
    Case("depthwise", "scheduled", options=_C),
    Case("softmax", "scheduled", options=_C),
    Case("slices", "plan", options=_C),
    Case("slices", "scheduled", options=_C),
    # Outputs that depend on the plan.
    Case("memory", "plan"),
    Case("outputs", "plan"),
    Case("chain", "metadata"),
    Case("memory", "graph-json", options=["--executor", "graph"]),
    Case("memory", "header", options=_C),
    # Code: plain, and for the C++ runtime.
    Case("chain", "c", "cortex-m4f", _C, label="cortex-m4f"),
    Case("pointwise", "c", label="packed"),
    Case("pointwise", "external", options=_C + ["--external", "csource"]),
    Case("pointwise", "llvm", options=_C),
    Case("pointwise", "asm", options=_C, label="x86-64-v3"),
    Case("pointwise", "asm", "cortex-m4f", _C, label="cortex-m4f"),
]


def emit(model, arguments):
    result = subprocess.run(
        [KILN, "compile", os.path.join(FOLDER, model)] + arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    if result.returncode != 0:
        raise RuntimeError("{}: {}".format(model, result.stderr.decode().strip()))
    return result.stdout.decode()


def main():
    folder = os.path.join(os.environ.get("BUILD_WORKSPACE_DIRECTORY", ""), FOLDER)
    changed = 0
    for case in CASES:
        path, text = os.path.join(folder, case.expected), case.run()
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                if file.read() == text:
                    continue
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        print(case.expected)
        changed += 1
    for name in sorted(set(os.listdir(folder)) - {case.expected for case in CASES}):
        if name.endswith(".txt"):
            os.remove(os.path.join(folder, name))
            print(name + ": removed")
            changed += 1
    print("{} of {} files changed; `git diff` shows how".format(changed, len(CASES)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
