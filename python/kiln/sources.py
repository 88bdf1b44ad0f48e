# SPDX-License-Identifier: Apache-2.0
"""Objects that represent a model: a path, the bytes of a file, an ONNX model in memory, a PyTorch model."""

import os
import pathlib
from typing import Any, Optional, Union

from kiln import pytorch

# Any: an onnx.ModelProto or a PyTorch model. Kiln imports neither package.
ModelSource = Union[str, "os.PathLike[str]", bytes, Any]


def model_file(model: ModelSource, folder: str, example_inputs: Optional[Any] = None, dynamic_shapes: Optional[Any] = None) -> str:
    """Returns the path of a file with the model. If the file has to be written, it is in `folder`.

    Raises:
      TypeError: the object is none of these, or example inputs are missing or not allowed.
      ModelError: PyTorch cannot export the model, or the path is that of a PyTorch file.
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
