# SPDX-License-Identifier: Apache-2.0
"""Compiles models of torchvision, timm, transformers, scikit-learn, XGBoost and LightGBM, compares them
with their frameworks, and writes docs/models.md.

  bazel run -c opt //tests/acceptance:models -- --only 'timm/*,*SVC*'

Each model has a process of its own, and the list goes on behind one that fails. With --only the rest of
the page stays as it was.
"""

import argparse
import datetime
import fnmatch
import json
import os
import pathlib
import platform
import subprocess
import sys

from tests.acceptance import classical_cases
from tests.acceptance import language_cases
from tests.acceptance import vision_cases
from tests.acceptance.page import Page
from tests.benchmark import virtual_environment

REQUIREMENTS = ("lightgbm==4.7.0", "numpy==2.4.6", "onnx==1.23.2", "onnxmltools==1.16.0",
                "onnxruntime==1.32.0", "onnxscript==0.7.2",
                "protobuf==6.33.6",  # version 7 refuses a bool for an int, which skl2onnx writes
                "scikit-learn==1.9.1", "skl2onnx==1.20.0",
                "timm==1.0.31", "torch==2.15.0", "torchvision==0.29.2", "transformers==5.24.0",
                "xgboost-cpu==3.2.0")
_TIMEOUT_SECONDS = 600


def all_cases():
    """Functions that each make a case, by name."""
    return {**vision_cases.cases(), **language_cases.cases(), **classical_cases.cases()}


def environment(run, known):
    """What the page says of its making: how many cases of those that are known have been run."""
    return "Last run on %s on %s, with %s; %d of the %d models of the list have been run." % (
        datetime.date.today(), platform.machine(),
        ", ".join(requirement.replace("==", " ") for requirement in REQUIREMENTS), run, known)


def run_case(python, name):
    """What run_case.py says, also where it ends before it can say anything."""
    program = pathlib.Path(__file__).with_name("run_case.py")
    # This tree's packages, and none that the machine has in other versions than the environment.
    ours = [path for path in sys.path if not path.endswith("-packages")]
    variables = dict(os.environ, PYTHONPATH=os.pathsep.join(ours), HF_HUB_OFFLINE="1",
                     OMP_NUM_THREADS="1")
    try:
        done = subprocess.run([python, str(program), name], env=variables, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=_TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {"name": name, "stage": "time", "reason": "more than %d s" % _TIMEOUT_SECONDS}
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    said = done.stderr.strip().splitlines()
    return {"name": name, "stage": "process",
            "reason": "exit status %d: %s" % (done.returncode, said[-1] if said else "")}


def parse_arguments():
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY", ".")
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="*", help="models whose names match one of these patterns, "
                        "separated by commas; resnet is *resnet*")
    parser.add_argument("--list", action="store_true", help="print the names, run nothing")
    parser.add_argument("--page", type=pathlib.Path,
                        default=pathlib.Path(workspace, "docs", "models.md"),
                        help="where the results are written; default: docs/models.md")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    patterns = ["*%s*" % word for word in arguments.only.split(",") if word]
    every = all_cases()
    names = [name for name in every if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]
    if not names:
        sys.exit("--only %s: no model has such a name; --list prints them" % arguments.only)
    if arguments.list:
        print("\n".join(names))
        return
    python = virtual_environment.python("acceptance", REQUIREMENTS)
    page = Page.read(arguments.page.read_text()) if arguments.page.exists() else Page()
    page.results = {name: result for name, result in page.results.items() if name in every}
    for name in names:
        result = run_case(python, name)
        print(json.dumps(result), flush=True)
        page.add(result)
        page.environment = environment(len(page.results), len(every))
        arguments.page.write_text(page.text())


if __name__ == "__main__":
    main()
