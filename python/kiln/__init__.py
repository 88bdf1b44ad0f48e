# SPDX-License-Identifier: Apache-2.0
"""Compiles trained neural networks ahead of time into libraries, and runs them.

>>> import kiln, numpy
>>> digits = kiln.example("digits")
>>> model = kiln.compile(digits).load()
>>> model(numpy.load(digits.with_name("image.npy"))).shape
(1, 10)

`compile` returns a Library. `Library.load` and `load` return a Model, which is called with arrays. `quantize`, `tune`,
`compare`, `validate`, `import_check`, `inspect` and `emit` correspond to the commands of these names. `python -m kiln`
is the command line.
"""

from kiln._runtime import version as __version__
from kiln.comparison import ComparedTensor, Comparison, compare
from kiln.errors import CompilerError, ModelError
from kiln.examples import example
from kiln.library import Library, compile, emit, inspect
from kiln.model import Model, Origin, Outputs, State, Stream, load, trim_workspaces
from kiln.options import CompileOptions
from kiln.report import Report
from kiln.tensor_info import TensorInfo
from kiln.tools import ImportCheck, import_check, quantize, tune, version
from kiln.validation import ValidatedOutput, Validation, validate

__all__ = [
    "ComparedTensor",
    "Comparison",
    "CompileOptions",
    "CompilerError",
    "ImportCheck",
    "Library",
    "Model",
    "ModelError",
    "Origin",
    "Outputs",
    "Report",
    "State",
    "Stream",
    "TensorInfo",
    "ValidatedOutput",
    "Validation",
    "__version__",
    "compare",
    "compile",
    "emit",
    "example",
    "import_check",
    "inspect",
    "load",
    "quantize",
    "trim_workspaces",
    "tune",
    "validate",
    "version",
]
