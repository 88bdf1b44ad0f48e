# SPDX-License-Identifier: Apache-2.0
"""Runs each case in a separate process, in one virtual environment."""

import fnmatch
import json
import os
import pathlib
import subprocess
import sys

from tests.benchmark import virtual_environment

REQUIREMENTS = ("lightgbm==4.7.0", "numpy==2.4.6", "onnx==1.23.2", "onnxmltools==1.16.0",
                "onnxruntime==1.32.0", "onnxscript==0.7.2",
                "protobuf==6.33.6",  # version 7 refuses a bool for an int, which skl2onnx writes
                "scikit-learn==1.9.1", "skl2onnx==1.20.0",
                "timm==1.0.31", "torch==2.15.0", "torchvision==0.29.2", "transformers==5.24.0",
                "xgboost-cpu==3.2.0")
_TIMEOUT_SECONDS = 600


def python():
    """Returns the interpreter of the environment. The first call creates the environment."""
    return virtual_environment.python("acceptance", REQUIREMENTS)


def run(program, name, *arguments):
    """Runs the program, a file of this folder, and returns its result for the case. If the program
    fails or takes too long, the result states this."""
    # Uses this tree's packages, but not the machine's, which may have other versions.
    ours = [path for path in sys.path if not path.endswith("-packages")]
    variables = dict(os.environ, PYTHONPATH=os.pathsep.join(ours), HF_HUB_OFFLINE="1",
                     OMP_NUM_THREADS="1")
    command = [python(), str(pathlib.Path(__file__).with_name(program)), name, *arguments]
    try:
        done = subprocess.run(command, env=variables, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=_TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return {"name": name, "stage": "time", "reason": "more than %d s" % _TIMEOUT_SECONDS}
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    said = done.stderr.strip().splitlines()
    return {"name": name, "stage": "process",
            "reason": "exit status %d: %s" % (done.returncode, said[-1] if said else "")}


def add_arguments(parser):
    """Adds the arguments of all programs that write docs/models.md."""
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY", ".")
    parser.add_argument("--only", default="*", help="models whose names match one of these patterns, "
                        "separated by commas; resnet is *resnet*")
    parser.add_argument("--list", action="store_true", help="print the names, run nothing")
    parser.add_argument("--page", type=pathlib.Path,
                        default=pathlib.Path(workspace, "docs", "models.md"),
                        help="where the results are written; default: docs/models.md")


def chosen(names, only):
    """Returns the names that match `only`. Raises SystemExit if there are none."""
    patterns = ["*%s*" % word for word in only.split(",") if word]
    found = [name for name in names if any(fnmatch.fnmatch(name, pattern) for pattern in patterns)]
    if not found:
        sys.exit("--only %s: no model has such a name; --list prints them" % only)
    return found
