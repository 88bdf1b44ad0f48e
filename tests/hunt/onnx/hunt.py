# SPDX-License-Identifier: Apache-2.0
"""Searches random models for differences between Kiln and ONNX Runtime; see README.md."""

import argparse
import collections
import itertools
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))  # modules shared by both hunts
# pylint: disable=wrong-import-position
import elementwise
import movement
import neural
import oddities
from choices import Refused
from interpreter import interpret
from model_builder import ModelBuilder
# pylint: enable=wrong-import-position

OPSETS = (7, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24)
_OPERATORS = elementwise.ALL + movement.ALL + neural.ALL + oddities.ALL
_OPTIONS = onnxruntime.SessionOptions()
_OPTIONS.intra_op_num_threads = _OPTIONS.inter_op_num_threads = 1
_OPTIONS.log_severity_level = 4
# Fusions of ONNX Runtime change results; see README.md.
_OPTIONS.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL


def build(seed, max_nodes, of_float16=False):
    """Returns the random model of a seed."""
    rng = random.Random(seed)
    b = ModelBuilder(rng, rng.choice(OPSETS))
    if of_float16:
        oddities.float16_model(b)
        return b
    for _ in range(rng.randint(1, 3)):
        rank = rng.choice([1, 2, 2, 3, 3, 4, 4, 4, 5])
        shape = [rng.randint(1, 6 if rank < 4 else 4) for _ in range(rank)]
        if rng.random() < 0.02:
            shape[rng.randrange(rank)] = 0
        b.add_input(rng.choice(["float32"] * 8 + ["float64", "int32", "int64", "bool"]), shape)
    size = min(max_nodes, 1 + int(rng.expovariate(1 / 14)))
    for _ in range(10 * size):
        if len(b.nodes) >= size:
            break
        before = (len(b.nodes), list(b.values), set(b.used), len(b.inputs))
        try:
            rng.choice(_OPERATORS)(b)
        except Refused:
            del b.nodes[before[0]:]
            b.values, b.used = before[1:3]
            b.drop_inputs(before[3])
    return b


def reference(model, feeds):
    session = onnxruntime.InferenceSession(model, _OPTIONS, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def write_case(folder, model, feeds, outputs):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(model)
    for kind, arrays in (("input", feeds), ("output", outputs)):
        for i, array in enumerate(arrays):
            tensor = numpy_helper.from_array(np.asarray(array))
            (data / ("%s_%d.pb" % (kind, i))).write_bytes(tensor.SerializeToString())


def moved(array, random_):
    """Returns the array with its floats changed by about the precision of their type, or of float32 if that is coarser."""
    if array.dtype.kind != "f":
        return array
    part = max(2e-7, 2 * np.finfo(array.dtype).eps)
    return np.asarray(array * (1 + part * random_.standard_normal(array.shape)), array.dtype)


def is_sensitive(model, feeds, outputs, tolerance):
    """True if small changes of inputs and constants change an output by a fraction of the tolerance."""
    for seed in range(3):
        random_ = np.random.default_rng(seed)
        others = {name: moved(array, random_) for name, array in feeds.items()}
        changed = onnx.ModelProto.FromString(model)
        for tensor in changed.graph.initializer:
            array = moved(numpy_helper.to_array(tensor), random_)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
        try:
            results = reference(changed.SerializeToString(), others)
        except Exception:  # pylint: disable=broad-except
            continue  # for example, scales of Resize must be 1 along some axes
        for found, wanted in zip(results, outputs):
            found, wanted = np.asarray(found, "float64"), np.asarray(wanted, "float64")
            if np.any(np.abs(found - wanted) > tolerance / 50 * (1 + np.abs(wanted))):
                return True
    return False


class Hunt:
    def __init__(self, args):
        self.args, self.counts, self.batches = args, collections.Counter(), 0
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="kiln-hunt-"))
        self.kept = pathlib.Path(args.keep)
        self.kept.mkdir(parents=True, exist_ok=True)

    def model_of(self, seed):
        """Returns a model and its inputs, or None if the seed gives none."""
        b = build(seed, self.args.max_nodes, self.args.float16)
        if not b.nodes:
            return None
        self.counts["nodes"] += len(b.nodes)
        self.counts["opset %d" % b.opset] += 1
        return b.model().SerializeToString(), b.feeds

    def batch(self, models):
        """Runs models, given as (name, model, feeds), unless ONNX Runtime refuses them."""
        folder = self.root / "batch"
        shutil.rmtree(folder, ignore_errors=True)
        cases = {}
        for name, model, feeds in models:
            try:
                outputs = reference(model, feeds)
            except Exception as error:  # pylint: disable=broad-except
                self.counts["refused by ONNX Runtime"] += 1
                self.log(name, "ort", str(error))
                continue
            write_case(folder / name, model, feeds.values(), outputs)
            cases[name] = (model, feeds, outputs)
        self.batches += 1
        if self.batches % self.args.compile_every == 0:
            rows = self.compile(folder, len(cases))
        else:
            rows = interpret(self.args.interpreter, self.args.tolerance,
                             [folder / name for name in cases])
        for name, outcome, reason in rows:
            if outcome == "failed" and is_sensitive(*cases[name], self.args.tolerance):
                outcome = "sensitive"
            self.counts[outcome] += 1
            if outcome == "passed":
                continue
            self.log(name, outcome, reason)
            shutil.copytree(folder / name, self.kept / name, dirs_exist_ok=True)

    def compile(self, folder, count):
        self.counts["through LLVM"] += count
        run = subprocess.run(
            [self.args.kiln, "check-onnx", str(folder), "--json", "--jobs", "1", "--rtol",
             str(self.args.tolerance), "--atol", str(self.args.absolute)],
            stdout=subprocess.PIPE, check=False)
        for row in json.loads(run.stdout):
            yield row["case"], row["outcome"], row["reason"]

    def log(self, name, outcome, reason):
        with open(self.kept / "log.txt", "a", encoding="utf-8") as file:
            file.write("%s %s: %s\n" % (name, outcome, reason.replace("\n", " | ")))

    def run(self, models):
        """Runs all models, given as (name, model, feeds), in batches."""
        while batch := list(itertools.islice(models, 100)):
            self.batch(batch)
            (self.kept / "counts.json").write_text(json.dumps(self.counts, indent=1))
        shutil.rmtree(self.root)
        print(json.dumps(self.counts, indent=1))

    def random_models(self):
        for seed in range(self.args.first, self.args.first + self.args.models):
            made = self.model_of(seed)
            if made is not None:
                yield str(seed), *made

    def models_in(self, folder):
        """Yields models from elsewhere, with inputs by a fixed seed."""
        for path in sorted(pathlib.Path(folder).glob("**/*.onnx")):
            model = onnx.load(path)
            random_ = np.random.default_rng(0)
            feeds = {}
            for value in model.graph.input:
                kind = value.type.tensor_type
                shape = [d.dim_value for d in kind.shape.dim]
                dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
                values = random_.uniform(-2, 2, shape) if dtype.kind == "f" else random_.integers(
                    0, 2, shape)
                feeds[value.name] = np.asarray(values).astype(dtype)
            self.counts["nodes"] += len(model.graph.node)
            yield path.parent.name + path.stem, model.SerializeToString(), feeds


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kiln", default="bazel-bin/tools/kiln/kiln")
    parser.add_argument("--interpreter", default="bazel-bin/tests/hunt/interpret_cases")
    parser.add_argument("--first", type=int, default=0, help="seed of the first model")
    parser.add_argument("--models", type=int, default=20000)
    parser.add_argument("--max-nodes", type=int, default=60)
    parser.add_argument("--tolerance", type=float, default=5e-4, help="relative, and absolute unless --absolute")
    parser.add_argument("--absolute", type=float, help="absolute tolerance of machine code")
    parser.add_argument("--float16", action="store_true",
                        help="models of composites of float16 alone, all through machine code")
    parser.add_argument("--compile-every", type=int, default=10,
                        help="of so many batches one goes through LLVM")
    parser.add_argument("--cases", help="folder of models to check instead of random ones")
    parser.add_argument("--keep", default="hunt-out", help="folder for the cases that differ")
    args = parser.parse_args()
    if args.float16:
        # One unit in the last place for each of the two implementations, relative to the result.
        args.compile_every, args.tolerance, args.absolute = 1, 2e-3, 1e-7
    if args.absolute is None:
        args.absolute = args.tolerance
    hunt = Hunt(args)
    hunt.run(hunt.models_in(args.cases) if args.cases else hunt.random_models())


if __name__ == "__main__":
    main()
