# SPDX-License-Identifier: Apache-2.0
"""The packages of PyPI that benchmarks compare with, in a virtual environment of their own.

  from tests.benchmark.environment import np

The first import on a machine makes the environment, below $XDG_CACHE_HOME or ~/.cache, and installs
into it what REQUIREMENTS names; from then on `import onnxruntime` and the like find it. SystemExit
with a text if that fails.
"""

import hashlib
import importlib
import os
import pathlib
import subprocess
import sys

REQUIREMENTS = ("ai-edge-litert==2.3.0", "numpy==2.4.6", "onnx==1.23.2", "onnxruntime==1.32.0",
                "openvino==2026.4.1")


def _environment():
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    versions = hashlib.sha256(" ".join(REQUIREMENTS).encode()).hexdigest()[:12]
    name = "benchmark-%s-python%d.%d" % (versions, *sys.version_info[:2])
    return pathlib.Path(cache) / "kiln" / name


def _install(environment):
    """Makes the virtual environment; leaves no half-made one behind under its final name."""
    print("installing %s into a virtual environment (once)" % ", ".join(REQUIREMENTS),
          file=sys.stderr)
    made = environment.with_name(environment.name + ".partial")
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(made)], check=True)
    subprocess.run([str(made / "bin" / "python"), "-m", "pip", "install", "--quiet",
                    "--disable-pip-version-check", *REQUIREMENTS], check=True)
    made.rename(environment)


def python():
    """The environment's interpreter, for processes of their own."""
    return str(_environment() / "bin" / "python")


def _add_to_path():
    environment = _environment()
    try:
        if not environment.exists():
            environment.parent.mkdir(parents=True, exist_ok=True)
            _install(environment)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit("%s cannot be installed (%s); it takes the network, and on Debian the package "
                 "python3-venv" % (", ".join(REQUIREMENTS), error))
    (packages,) = environment.glob("lib/python*/site-packages")
    sys.path.insert(0, str(packages))


_add_to_path()
np = importlib.import_module("numpy")
