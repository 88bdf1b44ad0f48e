# SPDX-License-Identifier: Apache-2.0
"""Searches random models of one operator for differences between Kiln and LiteRT; see README.md."""

import argparse
import collections
import json
import pathlib
import random
import shutil
import sys
import tempfile

import numpy as np
from ai_edge_litert.interpreter import Interpreter, OpResolverType

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))  # modules shared by both hunts
# pylint: disable=wrong-import-position
import contractions
import movement
import pointwise
from choices import Refused
from interpreter import interpret
from model_builder import ModelBuilder
# pylint: enable=wrong-import-position

DTYPES = ("float32", "int8", "int8", "int16", "uint8", "int32", "bool")
# The reference resolver does not have these operators, or has a wrong one; see README.md.
_OPTIMISED = ("CEIL", "ELU", "LOCAL_RESPONSE_NORMALIZATION", "ROUND")
_OPERATORS = pointwise.ALL + contractions.ALL + movement.ALL


def build(seed):
    """Returns the random model of a seed."""
    rng = random.Random(seed)
    while True:
        b = ModelBuilder(rng, rng.choice(DTYPES))
        try:
            rng.choice(_OPERATORS)(b)
            return b
        except Refused:
            pass


def reference(b):
    """Returns the results of LiteRT's reference kernels, and sets the shapes of the model's
    outputs."""
    resolver = (OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES if b.code in _OPTIMISED else
                OpResolverType.BUILTIN_REF)
    interpreter = Interpreter(model_content=b.bytes(), experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    for detail, feed in zip(interpreter.get_input_details(), b.feeds):
        interpreter.set_tensor(detail["index"], feed)
    interpreter.invoke()
    outputs = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
    b.set_shapes([o.shape for o in outputs])
    return outputs


def write_case(folder, model, feeds, outputs):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.tflite").write_bytes(model)
    for kind, arrays in (("input", feeds), ("output", outputs)):
        for i, array in enumerate(arrays):
            np.save(data / ("%s_%d.npy" % (kind, i)), np.asarray(array, order="C"))


class Hunt:
    def __init__(self, args):
        self.args, self.counts = args, collections.defaultdict(collections.Counter)
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="kiln-hunt-"))
        self.kept = pathlib.Path(args.keep)
        self.kept.mkdir(parents=True, exist_ok=True)

    def batch(self, seeds):
        folder = self.root / "batch"
        shutil.rmtree(folder, ignore_errors=True)
        cases = {}
        for seed in seeds:
            b = build(seed)
            name, kind = "%d_%s_%s" % (seed, b.code, b.dtype), (b.code, b.dtype)
            try:
                outputs = reference(b)
            except (RuntimeError, ValueError) as error:
                self.note(name, kind, "refused by LiteRT", str(error))
                continue
            if any(o.size == 0 for o in outputs):
                continue
            write_case(folder / name, b.bytes(), b.feeds, outputs)
            cases[name] = (kind, b.known)
        for name, outcome, reason in interpret(self.args.interpreter, self.args.tolerance,
                                               [folder / name for name in cases]):
            kind, known = cases[name]
            if outcome == "failed" and known is not None:
                outcome = "known: " + known
            self.note(name, kind, outcome, reason)
            if outcome in ("failed", "crashed"):
                shutil.copytree(folder / name, self.kept / name, dirs_exist_ok=True)

    def note(self, name, kind, outcome, reason):
        self.counts["%s of %s" % kind][outcome] += 1
        if outcome != "passed":
            with open(self.kept / "log.txt", "a", encoding="utf-8") as file:
                file.write("%s %s: %s\n" % (name, outcome, reason.replace("\n", " | ")))

    def run(self):
        first, end = self.args.first, self.args.first + self.args.models
        for seed in range(first, end, 100):
            self.batch(range(seed, min(seed + 100, end)))
            (self.kept / "counts.json").write_text(json.dumps(self.counts, indent=1, sort_keys=True))
        shutil.rmtree(self.root)
        total = sum(self.counts.values(), collections.Counter())
        operators = {kind.split()[0] for kind, c in self.counts.items() if c["passed"]}
        print("%s; %d operators" % (dict(total), len(operators)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--interpreter", default="bazel-bin/tests/hunt/interpret_cases")
    parser.add_argument("--first", type=int, default=0, help="seed of the first model")
    parser.add_argument("--models", type=int, default=3000)
    parser.add_argument("--tolerance", type=float, default=1e-5,
                        help="of floats, absolute and relative; integers are equal")
    parser.add_argument("--keep", default="hunt-out", help="folder for the cases that differ")
    Hunt(parser.parse_args()).run()


if __name__ == "__main__":
    main()
