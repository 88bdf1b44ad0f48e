# SPDX-License-Identifier: Apache-2.0
"""The objects that stand for a model: a path, the bytes of a file, an ONNX model in memory, a model of PyTorch."""

import os
import pathlib
from typing import Any, Optional, Union

from kiln import pytorch

# Any: an onnx.ModelProto, or a model of PyTorch, neither of which Kiln imports.
ModelSource = Union[str, "os.PathLike[str]", bytes, Any]


def model_file(model: ModelSource, folder: str, example_inputs: Optional[Any] = None, dynamic_shapes: Optional[Any] = None) -> str:
    """The path of a file with the model; one that has to be written lies in `folder`.

    Raises:
      TypeError: the object is none of these, or example inputs are missing or one too many.
      ModelError: PyTorch cannot export its model, or it is a file of PyTorch.
    """
    pytorch.refuse_other_kinds(model)
    path = pathlib.Path(folder) / "model.onnx"
    if pytorch.is_module(model):
        pytorch.export_module(model, example_inputs, dynamic_shapes, path)
        return str(path)
    if example_inputs is not None or dynamic_shapes is not None:
        raise TypeError(
            "example inputs and dynamic_shapes are for a torch.nn.Module; say the shapes of a model's inputs with input={name: shape}"
        )
    if pytorch.is_program(model):
        pytorch.export_program(model, path)
        return str(path)
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
        f"found {type(model).__name__}, wanted a model: a path, the bytes of a file, an onnx.ModelProto, a torch.nn.Module, "
        "an ExportedProgram or an ONNXProgram of PyTorch"
    )
