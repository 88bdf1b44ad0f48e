# SPDX-License-Identifier: Apache-2.0
"""Further commands for models: import-check, quantize, tune, version."""

import dataclasses
import json
import os
import pathlib
from typing import Any, Mapping, Tuple, Union

from kiln import command_line
from kiln.arrays import array_files
from kiln.command_line import Option
from kiln.folders import scratch_folder
from kiln.report import Report
from kiln.sources import ModelSource, model_file

_Path = Union[str, "os.PathLike[str]"]


@dataclasses.dataclass(frozen=True)
class ImportCheck:
    """The result of `import_check`. It is true if the model can be imported.

    Attributes:
      ok: True if the model can be imported.
      nodes: number of nodes of the imported graph.
      operators: number of different operators of these nodes.
      reasons: all reasons for which the model cannot be imported.
    """

    ok: bool
    nodes: int
    operators: int
    reasons: Tuple[str, ...]

    def __bool__(self) -> bool:
        return self.ok


def import_check(model: ModelSource, **options: Option) -> ImportCheck:
    """Checks if a model can be imported, and lists all reasons if not. `options` are those of `kiln import-check`.

    >>> import kiln
    >>> kiln.import_check(kiln.example("digits"))
    ImportCheck(ok=True, nodes=15, operators=8, reasons=())
    """
    with scratch_folder() as folder:
        file = model_file(model, folder)
        text = command_line.run("import-check", [file], {**options, "json": True}, answers=(command_line.USERS_FAULT,))
    (row,) = json.loads(text)
    return ImportCheck(row["ok"], row["nodes"], row["operators"], tuple(row["reasons"]))


def quantize(model: ModelSource, output: _Path, calibration: Union[_Path, Mapping[str, Any]], **options: Option) -> Report:
    """Writes an int8 ONNX model made from a float32 one, and returns the report on every layer.

    >>> import kiln
    >>> digits = kiln.example("digits")
    >>> report = kiln.quantize(digits, "digits_int8.onnx", digits.with_name("calibration"))
    >>> kiln.import_check("digits_int8.onnx").ok
    True

    Args:
      model: an ONNX model, as for `kiln.compile`.
      output: path of the int8 model.
      calibration: samples of the inputs: a folder of .npy files, or arrays (samples, …) keyed by input name.
      options: options of `kiln quantize`, such as method="entropy".
    Raises:
      ModelError: the model, the samples or an option is wrong.
    """
    with scratch_folder() as folder:
        if isinstance(calibration, Mapping):
            samples = pathlib.Path(folder, "calibration")
            array_files("calibration", calibration, samples)
            calibration = samples
        return Report(
            command_line.run(
                "quantize", [model_file(model, folder)], {**options, "calibration": calibration, "output": output}
            )
        )


def tune(model: ModelSource, output: _Path, **options: Option) -> Report:
    """Measures the fastest implementations of a model's operators on this machine.

    `kiln.compile(…, tuning=output)` uses the results.

    Args:
      model: a model as for `kiln.compile`.
      output: the tuning file to write. An existing file is extended.
      options: options of `kiln tune`, such as time=60, the seconds for measuring.
    Raises:
      ModelError: the model or an option is wrong.
      KeyboardInterrupt: Ctrl-C ended it. The results so far are written.
    """
    with scratch_folder() as folder:
        return Report(command_line.run("tune", [model_file(model, folder)], {**options, "output": output}))


def version() -> str:
    """Returns the version and the features of this build."""
    return command_line.run("version").rstrip()
