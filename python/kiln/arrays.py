# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy and of other libraries: their memory, and files of them for the command line."""

import os
import pathlib
import re
from typing import Any, Dict, Mapping, Union

import numpy
from numpy.typing import NDArray

Array = NDArray[Any]
# A path of a .npy file, or anything that to_array takes.
ArraySource = Union[str, "os.PathLike[str]", Any]

_DLPACK_CPU = 1


def to_array(what: str, value: Any) -> Array:
    """The memory of `value` as an array, without a copy.

    Raises:
      TypeError: it is no array, or not in the memory of the CPU; the text begins with `what`.
    """
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return numpy.asarray(value)
    if hasattr(value, "__dlpack__"):
        device, _ = value.__dlpack_device__()
        if device != _DLPACK_CPU:
            raise TypeError(f"{what}: found memory of a device (DLPack's type {int(device)}), wanted the CPU's; copy it there first")
        try:
            return numpy.from_dlpack(value)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise TypeError(f"{what}: NumPy cannot take it by DLPack: {error}") from error
    if hasattr(value, "__array_interface__") or hasattr(value, "__array__"):
        return numpy.asarray(value)
    raise TypeError(f"{what}: found {type(value).__name__}, wanted an array; numpy.asarray(value, dtype) makes one")


def array_file(what: str, value: ArraySource, path: pathlib.Path) -> str:
    """The path of a file of the array: the one that `value` names, or `path`, which is written."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    array = to_array(what, value)
    if array.dtype.hasobject:
        raise TypeError(f"{what}: found an array of Python objects, wanted numbers; array.astype(dtype) converts")
    numpy.save(path, array, allow_pickle=False)
    return str(path)


def file_name(tensor: str) -> str:
    """The name of a tensor as the command line expects it of a file in a folder, without its ending."""
    return re.sub(r"[^A-Za-z0-9.-]", "_", tensor)


def array_files(what: str, values: Mapping[str, ArraySource], folder: pathlib.Path) -> Dict[str, str]:
    """Paths of files by the tensors' names; arrays are written to `folder`, which is made."""
    folder.mkdir(parents=True)
    return {name: array_file(f"{what} '{name}'", value, folder / f"{file_name(name)}.npy") for name, value in values.items()}
