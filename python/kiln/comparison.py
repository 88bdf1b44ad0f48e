# SPDX-License-Identifier: Apache-2.0
"""Comparison of a model with a reference, layer by layer."""

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
    """The element of a tensor with the largest difference, and both values there."""

    position: Tuple[int, ...]
    found: float
    wanted: float


@dataclasses.dataclass(frozen=True)
class ComparedTensor:
    """A tensor of a model, compared with the corresponding tensor of the reference.

    Attributes:
      name: name of the tensor.
      layer: nodes of the model that compute it.
      dtype: such as "float32".
      shape: shape of the tensor.
      reference_name: name of the tensor in the reference if it differs from `name`; otherwise "".
      off: True if the difference is larger than the tolerance.
      largest: the largest difference. NaN if the shapes differ; so are `mean` and `cosine`.
      mean: the mean difference.
      cosine: cosine of the angle between both tensors as vectors.
      ulp: the largest difference in floats between two values. None if the tensors do not have the same float type.
      quanta: the largest difference in quantization steps. None if neither tensor is quantized.
      differing: number of elements that are not equal.
      worst: the element with the largest difference. None if no element differs.
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
    """The result of `compare`. It is true if all tensors agree. Its text is a table, and a notebook shows it as a page.

    Attributes:
      model: description of the model.
      reference: description of the reference.
      tensors: the compared tensors, in the order in which the model computes them.
      first_off: the first tensor that is off, which shows the origin of an error. None if all agree.
      missing: names of tensors that the reference lacks.
      page: the comparison as a self-contained HTML page.
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
    """Compares every tensor of a model with the corresponding tensor of a reference, layer by layer.

    >>> import kiln
    >>> comparison = kiln.compare(kiln.example("digits"), against_options="--codegen c")
    >>> bool(comparison), comparison.tensors[-1].name
    (True, 'probabilities')

    Args:
      model: a model as for `kiln.compile`.
      against: the reference. It is another model; "onnxruntime" for the same model in ONNX Runtime; a folder of .npy files
        named after tensors; or arrays keyed by tensor names, for example computed by another framework. Without it, the
        model is compared with itself, compiled with the options in `against_options`.
      values: arrays or .npy files, keyed by input names. Other inputs are random with a fixed seed.
      options: options of `kiln compare`, such as rtol=1e-3 or all=True. ONNX Runtime runs in this Python interpreter unless
        `python` names another.
    Raises:
      ModelError: the comparison cannot be made. Differences are not errors; they are in the result.
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
