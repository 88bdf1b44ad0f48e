# SPDX-License-Identifier: Apache-2.0
"""The PyPI packages that benchmarks compare with, in a separate virtual environment.

  from tests.benchmark.environment import np

The first import on a machine creates the environment. After the import, `import onnxruntime` and
the like find the packages.
"""

import importlib

from tests.benchmark import virtual_environment

REQUIREMENTS = ("ai-edge-litert==2.3.0", "lightgbm==4.7.0", "numpy==2.4.6", "onnx==1.23.2",
                "onnxmltools==1.16.0", "onnxruntime==1.32.0", "openvino==2026.4.1",
                "protobuf==6.33.6",  # version 7 refuses a bool for an int, which onnxmltools writes
                "scikit-learn==1.9.1", "skl2onnx==1.20.0", "xgboost-cpu==3.2.0")


def python():
    """Returns the environment's interpreter, for separate processes."""
    return virtual_environment.python("benchmark", REQUIREMENTS)


virtual_environment.activate("benchmark", REQUIREMENTS)
np = importlib.import_module("numpy")
