# SPDX-License-Identifier: Apache-2.0
"""Descriptions of the inputs and outputs of a model."""

from typing import Any, List, NamedTuple, Optional, Tuple

import numpy

from kiln import _runtime
from kiln.errors import ModelError


class _NameAndType(NamedTuple):
    name: str
    dtype: "numpy.dtype[Any]"
    shape: Tuple[int, ...]


class TensorInfo(_NameAndType):
    """An input or output of a model: a tuple of name, dtype and shape, with the quantization as further attributes.

    Attributes:
      name: name of the tensor in the model.
      dtype: type of the elements.
      shape: number of elements in each dimension.
      scale: of a quantized tensor, the size of a step: an element q represents the number scale * (q - zero_point). None if the
        tensor is not quantized, or has a scale for each channel.
      zero_point: of a quantized tensor, the element that represents 0. None if `scale` is None.
    """

    scale: Optional[float] = None
    zero_point: Optional[int] = None

    def __new__(
        cls,
        name: str,
        dtype: "numpy.dtype[Any]",
        shape: Tuple[int, ...],
        scale: Optional[float] = None,
        zero_point: Optional[int] = None,
    ) -> "TensorInfo":
        self = super().__new__(cls, name, dtype, shape)
        self.scale, self.zero_point = scale, zero_point
        return self

    def __str__(self) -> str:
        return f"{self.name} {self.dtype}{list(self.shape)}"

    def __repr__(self) -> str:
        known = super().__repr__()
        return known if self.scale is None else f"{known[:-1]}, scale={self.scale}, zero_point={self.zero_point})"


def tensor_infos(kind: str, rows: "List[_runtime.TensorRow]") -> Tuple[TensorInfo, ...]:
    """Returns the descriptions of the tensors of an object of _runtime. `kind` is such as "input".

    Raises:
      ModelError: NumPy does not have the type of a tensor.
    """
    infos = []
    for name, dtype, shape, scale, zero_point in rows:
        try:
            infos.append(TensorInfo(name, numpy.dtype(dtype), shape, scale, zero_point))
        except TypeError:
            raise ModelError(f"{kind} '{name}' is of {dtype}, which NumPy does not have; convert it inside of the model") from None
    return tuple(infos)
