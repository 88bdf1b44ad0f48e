# SPDX-License-Identifier: Apache-2.0
"""What may stand for a model: a path, the bytes of a file, an ONNX model in memory, a module of PyTorch."""

import importlib
import os
import pathlib
import sys
from typing import Any, Optional, Sequence, Union

# Any: an onnx.ModelProto or torch.nn.Module, which Kiln does not import.
ModelSource = Union[str, "os.PathLike[str]", bytes, Any]


def _is_torch_module(model: object) -> bool:
    torch = sys.modules.get("torch")  # Who has a module has imported it.
    return torch is not None and isinstance(model, torch.nn.Module)


def _export(model: Any, example_inputs: Optional[Sequence[Any]], path: pathlib.Path) -> None:
    if example_inputs is None:
        raise TypeError("a module of PyTorch is exported by running it; pass its example inputs: kiln.compile(module, (example,))")
    importlib.import_module("torch.onnx").export(model, tuple(example_inputs), str(path))


def model_file(model: ModelSource, example_inputs: Optional[Sequence[Any]], folder: str) -> str:
    """The path of a file with the model; one that has to be written lies in `folder`.

    Raises:
      TypeError: the object is none of these, or example inputs are missing or one too many.
    """
    path = pathlib.Path(folder) / "model.onnx"
    if _is_torch_module(model):
        _export(model, example_inputs, path)
        return str(path)
    if example_inputs is not None:
        raise TypeError("example inputs are for modules of PyTorch; say the shapes of a model's inputs with input={name: shape}")
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model)
    if isinstance(model, (bytes, bytearray, memoryview)):
        path = path.with_suffix("")
        path.write_bytes(model)
        return str(path)
    if hasattr(model, "SerializeToString"):
        path.write_bytes(model.SerializeToString())
        return str(path)
    raise TypeError(
        f"found {type(model).__name__}, wanted a model: a path, the bytes of a file, an onnx.ModelProto or a torch.nn.Module"
    )
