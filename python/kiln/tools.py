# SPDX-License-Identifier: Apache-2.0
"""The other commands about models: import-check, quantize, tune, version."""

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
    """Whether a model can be imported. It is true where it can.

    Attributes:
      ok: the same.
      nodes: how many nodes the imported graph has.
      operators: how many different operators they are of.
      reasons: everything that speaks against the model.
    """

    ok: bool
    nodes: int
    operators: int
    reasons: Tuple[str, ...]

    def __bool__(self) -> bool:
        return self.ok


def import_check(model: ModelSource, **options: Option) -> ImportCheck:
    """Whether a model can be imported, and if not, every reason. `options` are those of `kiln import-check`.

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
    """Makes an int8 ONNX model of a float32 one, and returns the report on every layer.

    >>> import kiln
    >>> digits = kiln.example("digits")
    >>> report = kiln.quantize(digits, "digits_int8.onnx", digits.with_name("calibration"))
    >>> kiln.import_check("digits_int8.onnx").ok
    True

    Args:
      model: an ONNX model, as of `kiln.compile`.
      output: where the int8 model goes.
      calibration: samples of the inputs: a folder of .npy files, or an array (samples, …) by the name of each input.
      options: those of `kiln quantize`, such as method="entropy".
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
    """Measures on this machine how the model's operators are computed fastest, for `kiln.compile(…, tuning=output)`.

    Args:
      model: as of `kiln.compile`.
      output: the tuning file to write; one that is there already is extended.
      options: those of `kiln tune`, such as time=60, the seconds to measure for.
    Raises:
      ModelError: the model or an option is wrong.
      KeyboardInterrupt: Ctrl-C has ended it; what has been found is written.
    """
    with scratch_folder() as folder:
        return Report(command_line.run("tune", [model_file(model, folder)], {**options, "output": output}))


def version() -> str:
    """The version, and what is built in."""
    return command_line.run("version").rstrip()
