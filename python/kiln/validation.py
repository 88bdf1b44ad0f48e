# SPDX-License-Identifier: Apache-2.0
"""Comparison of a model's outputs with expected outputs, for many samples."""

import dataclasses
import json
import os
import pathlib
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple, Union

from kiln import command_line
from kiln.arrays import ArraySource, array_file, array_files
from kiln.command_line import Option
from kiln.folders import scratch_folder
from kiln.report import Report, number, table
from kiln.sources import ModelSource, model_file

# Arrays or files, keyed by tensor name. A single one is for the only tensor of the model.
Samples = Union[ArraySource, Mapping[str, ArraySource]]


class Bin(NamedTuple):
    """Number of values of an output that differ by `first` to `last` steps."""

    first: int
    last: int
    values: int


@dataclasses.dataclass(frozen=True)
class ValidatedOutput:
    """An output of a model for all samples, compared with the expected output.

    Attributes:
      name: name of the output.
      samples: number of samples.
      equal_samples: number of samples in which all values are equal.
      values: number of values in all samples.
      values_beyond_bounds: number of values that differ by more than the tolerance.
      largest_difference: the largest difference. NaN if a value is not finite; so are `mean_difference`, `rms_difference` and
        `cosine`.
      mean_difference: the mean difference.
      rms_difference: the root mean square of the differences.
      cosine: cosine of the angle between both outputs as vectors.
      largest_steps: the largest difference in steps.
      unit: unit of a step: "quanta" for integers, "ULP" for floats.
      same_argmax: number of samples in which both outputs have their largest value at the same position. None if a sample has
        one value.
      worst_sample: index of the sample with the largest difference.
      histogram: numbers of values by their differences in steps.
    """

    name: str
    samples: int
    equal_samples: int
    values: int
    values_beyond_bounds: int
    largest_difference: float
    mean_difference: float
    rms_difference: float
    cosine: float
    largest_steps: int
    unit: str
    same_argmax: Optional[int]
    worst_sample: int
    histogram: Tuple[Bin, ...]


@dataclasses.dataclass(frozen=True, repr=False)
class Validation:
    """The result of `validate`. It is true if all values are within the tolerance. Its text is a table.

    Attributes:
      model: description of the model.
      where: description of the machine that ran it.
      outputs: the compared outputs, which are the outputs in `expected`.
      instructions: the minimum and maximum of instructions per inference in the emulator. None on this machine.
    """

    model: str
    where: str
    outputs: Tuple[ValidatedOutput, ...]
    instructions: Optional[Tuple[int, int]]

    def __bool__(self) -> bool:
        return all(output.values_beyond_bounds == 0 for output in self.outputs)

    def __str__(self) -> str:
        rows = [
            (
                output.name,
                output.samples,
                output.equal_samples,
                f"{output.largest_difference:.4g}",
                f"{output.mean_difference:.4g}",
                f"{output.rms_difference:.4g}",
                f"{output.cosine:.6f}",
                f"{output.largest_steps} {output.unit}",
                "" if output.same_argmax is None else output.same_argmax,
                f"{output.values_beyond_bounds} of {output.values} beyond the tolerance" if output.values_beyond_bounds else "agrees",
            )
            for output in self.outputs
        ]
        header = ("output", ">samples", ">equal", ">largest", ">mean", ">RMS", ">cosine", ">steps", ">same argmax", "values")
        return "\n".join([f"{self.model}, {self.where}", *table(header, rows)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return Report(str(self))._repr_html_()


def _validated_output(row: Mapping[str, Any]) -> ValidatedOutput:
    fields = {field.name: row[field.name] for field in dataclasses.fields(ValidatedOutput)}
    fields["histogram"] = tuple(Bin(each["from"], each["to"], each["values"]) for each in row["histogram"])
    for name in ("largest_difference", "mean_difference", "rms_difference", "cosine"):
        fields[name] = number(fields[name])
    return ValidatedOutput(**fields)


def _samples(what: str, samples: Samples, folder: pathlib.Path) -> Option:
    if isinstance(samples, Mapping):
        return array_files(what, samples, folder)
    folder.mkdir()
    return array_file(what, samples, folder / "samples.npy")


def validate(model: ModelSource, inputs: Samples, expected: Samples, **options: Option) -> Validation:
    """Compares the outputs of a model with expected outputs for many samples, on this machine or in an emulator.

    >>> import kiln, numpy
    >>> digits = kiln.example("digits")
    >>> image, probabilities = numpy.load(digits.with_name("image.npy")), numpy.load(digits.with_name("probabilities.npy"))
    >>> bool(kiln.validate(digits, image, probabilities, rtol=1e-4))
    True

    Args:
      model: a model as for `kiln.compile`, or the path of a compiled shared object or archive.
      inputs: samples of the inputs, of the shape (samples, …): arrays or .npy files keyed by name, or a single one for a
        model with one input.
      expected: the expected outputs for them, in the same form. Outputs that are not in it are not compared.
      options: options of `kiln validate`, such as rtol=1e-4, quanta=1 or target="cortex-m4f", which runs in QEMU.
    Raises:
      ModelError: the comparison cannot be made. Differences are not errors; they are in the result.
    """
    with scratch_folder() as name:
        folder = pathlib.Path(name)
        added: Dict[str, Option] = {
            "format": "json",
            "inputs": _samples("inputs", inputs, folder / "inputs"),
            "expected": _samples("expected", expected, folder / "expected"),
        }
        text = command_line.run("validate", [model_file(model, name)], {**options, **added}, answers=(command_line.DISAGREES,))
    answer = json.loads(text.replace(name + os.sep, ""))
    instructions = (answer["least_instructions"], answer["largest_instructions"]) if "least_instructions" in answer else None
    return Validation(answer["model"], answer["where"], tuple(_validated_output(row) for row in answer["outputs"]), instructions)
