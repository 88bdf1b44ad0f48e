# SPDX-License-Identifier: Apache-2.0
"""Compiles one model with open dimensions by the options that kiln suggests, and compares it with
ONNX Runtime, in a separate process.

  python run_open_case.py timm/resnet10t KILN

The last line of its output is a JSON object: `line`, `own`, `where`, `named`, `near` and `far` as
in open_page.py, and on success `difference`; otherwise `stage`, the failing stage, and `reason`.
"""

import json
import logging
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import warnings

from tests.acceptance import open_cases
from tests.acceptance import open_page
from tests.acceptance import own_sizes
from tests.acceptance import package_cases
from tests.acceptance import processes
from tests.acceptance import run_case
from tests.benchmark import virtual_environment

_SUGGESTION = re.compile(r"sizes with which it can be compiled: (.*)")
_USUAL_INTEGERS = range(1, 20)


class Failure(Exception):
    """A stage, and the reason for its failure."""


def _kiln(stage, command, folder):
    """Runs the command in the folder, so that messages contain short file names."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if not line.startswith("kiln: note:")]
        text = "\n".join(said).removeprefix("kiln: ")
        raise Failure(stage, text or "exit status %d" % done.returncode)


def _exported(name, case):
    """Returns the path of the model in the user's cache. The path changes if its source files
    change."""
    here = pathlib.Path(__file__).parent
    files = ("open_cases.py", "open_export.py", "open_modules.py", "vision_cases.py")
    sources = [(here / file).read_text() for file in files]
    folder = virtual_environment.folder("exports", [*processes.REQUIREMENTS, *sources]) / name
    if not folder.exists():
        partial = folder.with_name(folder.name + ".partial")
        partial.mkdir(parents=True, exist_ok=True)
        case.export(partial / "model.onnx")
        partial.rename(folder)
    return folder / "model.onnx"


def _compile(kiln, model, folder, result):
    """Compiles the model by the plain command, or with the options in its error. Returns the
    metadata."""
    model = pathlib.Path(model)
    command = [kiln, "compile", model.name, "-o", str(folder), "--module-name", "model"]
    try:
        _kiln("compile", command, model.parent)
    except Failure as failure:
        suggestion = _SUGGESTION.search(failure.args[1])
        if not suggestion:
            raise
        result["line"] = "`%s`" % suggestion.group(1)
        _kiln("compile", [*command, *shlex.split(suggestion.group(1))], model.parent)
    return json.loads((folder / "model.metadata.json").read_text())["functions"][0]


def _constants(line):
    """Returns the integers that `--constant NAME=VALUE` gives to inputs."""
    import numpy as np  # pylint: disable=import-outside-toplevel
    found = re.findall(r"--constant '?([^'\s=]+)=(-?\d+)", line)
    return {name: np.array(int(value), np.int64) for name, value in found}


def _shape(parameter):
    return [int(size) for size in parameter.get("shape", [])]


def _judge(case, shapes, result):
    judged = own_sizes.judge(case.shapes, case.own, shapes)
    result.update(named=judged.named, near=judged.near, far=own_sizes.text(judged.far))


def _feeds(parameters, integers, seed):
    """Returns random values for each input. Floats are normal, with a different mean per channel."""
    import numpy as np  # pylint: disable=import-outside-toplevel
    random = np.random.default_rng(seed)
    feeds = {}
    for parameter in parameters:
        name, shape, dtype = parameter["relay_name_hint"], _shape(parameter), np.dtype(
            parameter["dtype"])
        values = integers.get(name, _USUAL_INTEGERS)
        if dtype.kind == "f":
            feed = random.standard_normal(shape)
            if len(shape) > 2:
                feed += random.standard_normal([*shape[:2], *[1] * (len(shape) - 2)])
        else:
            feed = random.integers(values.start, values.stop, shape)
        feeds[name] = feed.astype(dtype)
    return feeds


def _run(kiln, folder, feeds, outputs):
    """Returns the outputs of the compiled model."""
    import numpy as np  # pylint: disable=import-outside-toplevel
    command = [kiln, "run", "model.so", "--output", "outputs"]
    for index, (name, value) in enumerate(feeds.items()):
        file = "input%d.npy" % index
        np.save(folder / file, value)
        command += ["--input", "%s=%s" % (name, file)]
    _kiln("run", command, folder)
    return [np.load(folder / "outputs" / (output["relay_name_hint"].replace("/", "_") + ".npy"))
            for output in outputs]


def _own_difference(model, feeds, constants, wanted):
    """Returns the largest difference of ONNX Runtime's outputs from `wanted` without its optimizations of graphs, or
    with floats of the inputs changed in their last place."""
    import numpy as np  # pylint: disable=import-outside-toplevel
    moved = {name: np.nextafter(value, value.dtype.type(np.inf)) if value.dtype.kind == "f" else value for name, value in feeds.items()}
    plain = run_case.Peer(model, {**feeds, **constants}, optimizes=False)()
    return max(run_case.difference(plain, wanted), run_case.difference(run_case.Peer(model, {**moved, **constants})(), wanted))


def run(name, kiln, folder):
    """Returns the result of the case as a dictionary."""
    result = {"name": name}
    stage = "source"
    try:
        case = {**package_cases.cases(), **open_cases.cases()}[name]
        result.update(own=own_sizes.text(case.own) or "-", where=", ".join(case.where()) or "-")
        _judge(case, {}, result)
        if name in package_cases.cases():
            model, peer_model = case.models(folder)
        else:
            stage = "export"
            model = peer_model = _exported(name, case)
        stage = "compile"
        function = _compile(kiln, model, folder, result)
        inputs = function["parameters"][:function["num_inputs"]]
        shapes = {parameter["relay_name_hint"]: _shape(parameter) for parameter in inputs}
        sizes = own_sizes.sizes(case.shapes, shapes)
        result.setdefault("line", ": ".join(filter(None, ("none needed", own_sizes.text(sizes)))))
        _judge(case, shapes, result)
        stage = "run"
        feeds, others = [_feeds(inputs, case.integers, seed) for seed in (1, 2)]
        found = _run(kiln, folder, feeds, function["parameters"][function["num_inputs"]:])
        stage = "compare"
        constants = _constants(result["line"])
        wanted = run_case.Peer(peer_model, {**feeds, **constants})()
        if name not in package_cases.cases():
            run_case.check_dependence(wanted, run_case.Peer(peer_model, {**others, **constants})())
        result["difference"] = run_case.difference(found, wanted)
        if result["difference"] > open_page.TOLERANCE:
            result["peer_difference"] = _own_difference(peer_model, feeds, constants, wanted)
    except Failure as failure:
        stage, reason = failure.args
        result.update(stage=stage, reason=run_case.reason_of(reason, folder))
    except Exception as error:  # pylint: disable=broad-except
        result.update(stage=stage, reason=run_case.reason_of(error, folder))
    return result


def main():
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as temporary:
        # Output of libraries goes to stderr, so that stdout contains only the answer.
        answer = os.dup(1)
        os.dup2(2, 1)
        result = run(sys.argv[1], sys.argv[2], pathlib.Path(temporary))
        os.write(answer, (json.dumps(result) + "\n").encode())


if __name__ == "__main__":
    main()
