# SPDX-License-Identifier: Apache-2.0
"""The outputs of a model for many samples, beside what they should be."""

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

# Arrays or files by name; one alone is for the only tensor that there is.
Samples = Union[ArraySource, Mapping[str, ArraySource]]


class Bin(NamedTuple):
    """How many values of an output differ by `first` to `last` steps."""

    first: int
    last: int
    values: int


@dataclasses.dataclass(frozen=True)
class ValidatedOutput:
    """An output of a model for all samples, beside what it should be.

    Attributes:
      name: the output's.
      samples: how many there are.
      equal_samples: how many are equal in every value.
      values: how many values all samples have.
      values_beyond_bounds: how many of them differ by more than the tolerance.
      largest_difference: of all values; NaN where one is not finite, as the next three.
      mean_difference: of all values.
      rms_difference: the root of the mean square.
      cosine: of the angle between both as vectors.
      largest_steps: the largest difference in steps.
      unit: what a step is: "quanta" of integers, "ULP" of floats.
      same_argmax: how many samples have their largest value in the same place; None where that says nothing.
      worst_sample: the index of the sample that differs most.
      histogram: how many values differ by how many steps.
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
    """What `validate` has found. It is true where all values are within the tolerance; as text it is a table.

    Attributes:
      model: what was validated.
      where: the machine that it ran on, in words.
      outputs: those that `expected` named.
      instructions: of an inference in the emulator, the least and the most; None on this machine.
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
    """Compares the outputs of a model for many samples with what they should be, on this machine or in an emulator.

    >>> import kiln, numpy
    >>> digits = kiln.example("digits")
    >>> image, probabilities = numpy.load(digits.with_name("image.npy")), numpy.load(digits.with_name("probabilities.npy"))
    >>> bool(kiln.validate(digits, image, probabilities, rtol=1e-4))
    True

    Args:
      model: as of `kiln.compile`, or the path of a shared object or archive that is compiled already.
      inputs: samples of the inputs, (samples, …): arrays or .npy files by name, or one alone for a model with one input.
      expected: what the outputs should be for them, in the same form; outputs that it leaves out are not compared.
      options: those of `kiln validate`, such as rtol=1e-4, quanta=1 or target="cortex-m4f", which runs in QEMU.
    Raises:
      ModelError: the comparison cannot be made. A value that differs is no exception: the result says so.
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
