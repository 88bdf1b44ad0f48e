# SPDX-License-Identifier: Apache-2.0
"""Access to arrays of NumPy and other libraries, and .npy files of arrays for the command line."""

import os
import pathlib
import re
from typing import Any, Dict, Mapping, Union

import numpy
from numpy.typing import NDArray

Array = NDArray[Any]
# The path of a .npy file, or any object that to_array accepts.
ArraySource = Union[str, "os.PathLike[str]", Any]

_DLPACK_CPU = 1


def to_array(what: str, value: Any) -> Array:
    """Returns the memory of `value` as an array, without a copy.

    Raises:
      TypeError: `value` is not an array, or its memory is not the CPU's. The text begins with `what`.
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
    """Returns the path of a file with the array.

    Arrays are written to `path`; a `value` that is a path is returned unchanged.
    """
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    array = to_array(what, value)
    if array.dtype.hasobject:
        raise TypeError(f"{what}: found an array of Python objects, wanted numbers; array.astype(dtype) converts")
    numpy.save(path, array, allow_pickle=False)
    return str(path)


def file_name(tensor: str) -> str:
    """Returns the file name, without extension, that the command line expects for a tensor in a folder."""
    return re.sub(r"[^A-Za-z0-9.-]", "_", tensor)


def array_files(what: str, values: Mapping[str, ArraySource], folder: pathlib.Path) -> Dict[str, str]:
    """Returns the paths of the files, keyed by the tensors' names. Creates `folder` and writes arrays to it."""
    folder.mkdir(parents=True)
    return {name: array_file(f"{what} '{name}'", value, folder / f"{file_name(name)}.npy") for name, value in values.items()}
