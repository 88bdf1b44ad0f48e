# SPDX-License-Identifier: Apache-2.0
"""A model beside a reference, layer by layer."""

import dataclasses
import json
import os
import pathlib
import sys
from typing import Any, Dict, Mapping, NamedTuple, Optional, Tuple, Union

import numpy

from kiln import command_line
from kiln.arrays import ArraySource, array_files
from kiln.command_line import Option
from kiln.folders import scratch_folder
from kiln.report import number, page_in_a_notebook, table
from kiln.sources import ModelSource, model_file

_ONNX_RUNTIME = "onnxruntime"


class Worst(NamedTuple):
    """The element of a tensor that differs most, and both values there."""

    position: Tuple[int, ...]
    found: float
    wanted: float


@dataclasses.dataclass(frozen=True)
class ComparedTensor:
    """A tensor of a model beside that of the reference.

    Attributes:
      name: the tensor's.
      layer: the nodes of the model that it is computed by.
      dtype: such as "float32".
      shape: the tensor's.
      reference_name: what it was compared with, where the reference has it by another name; else "".
      off: whether it differs by more than the tolerance.
      largest: of the differences; NaN where the reference's tensor has another shape, as the next two.
      mean: of the differences.
      cosine: of the angle between both tensors as vectors.
      ulp: how many floats lie between two values at most; None where they are not of one float type.
      quanta: the largest difference in steps of the quantized tensor; None where neither is quantized.
      differing: how many elements are not equal.
      worst: the element with the largest difference; None where none differs.
    """

    name: str
    layer: str
    dtype: str
    shape: Tuple[int, ...]
    reference_name: str
    off: bool
    largest: float
    mean: float
    cosine: float
    ulp: Optional[int]
    quanta: Optional[float]
    differing: int
    worst: Optional[Worst]


@dataclasses.dataclass(frozen=True, repr=False)
class Comparison:
    """What `compare` has found. It is true where all tensors agree; as text it is a table, and in a notebook a page.

    Attributes:
      model: what was compared, in words.
      reference: with what.
      tensors: in the order in which the model computes them.
      first_off: the first tensor that is off, where an error comes from; None if all agree.
      missing: names of tensors that the reference does not have.
      page: the comparison as a page of HTML that needs no other file.
    """

    model: str
    reference: str
    tensors: Tuple[ComparedTensor, ...]
    first_off: Optional[ComparedTensor]
    missing: Tuple[str, ...]
    page: str

    def __bool__(self) -> bool:
        return self.first_off is None

    def __str__(self) -> str:
        rows = [
            (
                "first off" if tensor is self.first_off else "off" if tensor.off else "",
                f"{tensor.largest:.3g}",
                f"{tensor.mean:.3g}",
                f"{tensor.cosine:.6f}",
                "" if tensor.ulp is None else tensor.ulp,
                "" if tensor.quanta is None else f"{tensor.quanta:.3g}",
                tensor.differing,
                tensor.name,
                tensor.layer,
                f"{tensor.dtype} {tensor.shape}",
            )
            for tensor in self.tensors
        ]
        header = ("", ">largest", ">mean", ">cosine", ">ulp", ">quanta", ">differing", "tensor", "layer", "type")
        off = sum(tensor.off for tensor in self.tensors)
        lines = [f"{self.model} against {self.reference}", *table(header, rows), f"{off} of {len(rows)} tensors are off"]
        return "\n".join(lines + ([f"not in the reference: {', '.join(self.missing)}"] if self.missing else []))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return page_in_a_notebook(self.page)


def _compared_tensor(row: Mapping[str, Any]) -> ComparedTensor:
    error: Mapping[str, Any] = row["error"] or {}
    shape = tuple(row["type"]["shape"])
    worst = error.get("worst")
    return ComparedTensor(
        name=row["name"],
        layer=row["layer"],
        dtype=row["type"]["dtype"],
        shape=shape,
        reference_name=row.get("reference_name", ""),
        off=row["off"],
        largest=number(error.get("largest")),
        mean=number(error.get("mean")),
        cosine=number(error.get("cosine")),
        ulp=error.get("ulp"),
        quanta=error.get("quanta"),
        differing=error.get("differing", 0),
        worst=worst and Worst(_position(worst["at"], shape), number(worst["found"]), number(worst["wanted"])),
    )


def _position(index: int, shape: Tuple[int, ...]) -> Tuple[int, ...]:
    return tuple(int(i) for i in numpy.unravel_index(index, shape))


def _reference(against: Union[ModelSource, Mapping[str, ArraySource]], folder: pathlib.Path) -> str:
    if isinstance(against, Mapping):
        array_files("tensor", against, folder)
        return str(folder)
    folder.mkdir()
    return model_file(against, str(folder))


def compare(
    model: ModelSource,
    against: Union[None, ModelSource, Mapping[str, ArraySource]] = None,
    *,
    values: Optional[Mapping[str, ArraySource]] = None,
    **options: Option,
) -> Comparison:
    """Compares every tensor of a model with that of a reference, layer by layer.

    >>> import kiln
    >>> comparison = kiln.compare(kiln.example("digits"), against_options="--codegen c")
    >>> bool(comparison), comparison.tensors[-1].name
    (True, 'probabilities')

    Args:
      model: as of `kiln.compile`.
      against: the reference: another model; "onnxruntime", the same model there; a folder of .npy files by the tensors' names; or
        arrays by these names, such as those that another framework has computed. Without it the model is compared with
        itself under the options of `against_options`.
      values: arrays or .npy files by the names of inputs; the others are random by a fixed seed.
      options: those of `kiln compare`, such as rtol=1e-3 or all=True. ONNX Runtime runs in this Python unless `python` names another.
    Raises:
      ModelError: the comparison cannot be made. A tensor that differs is no exception: the result says so.
    """
    with scratch_folder() as name:
        folder = pathlib.Path(name)
        added: Dict[str, Option] = {"format": "json", "html": folder / "page.html"}
        if against is not None:
            added["against"] = _reference(against, folder / "reference")
        if values is not None:
            added["values"] = array_files("input", values, folder / "values")
        if isinstance(against, str) and against.split(":")[0] == _ONNX_RUNTIME:
            options.setdefault("python", sys.executable)
        text = command_line.run("compare", [model_file(model, name)], {**options, **added}, answers=(command_line.DISAGREES,))
        page = (folder / "page.html").read_text(encoding="utf-8").replace(name + os.sep, "")
    answer = json.loads(text.replace(name + os.sep, ""))
    tensors = tuple(_compared_tensor(row) for row in answer["tensors"])
    first_off = next((tensor for tensor in tensors if tensor.off), None)
    return Comparison(answer["model"], answer["reference"], tensors, first_off, tuple(answer["missing"]), page)
