# SPDX-License-Identifier: Apache-2.0
"""Writes PyTorch models as ONNX files: modules, programs of torch.export, and results of torch.onnx.export.

Kiln does not import PyTorch: a caller that has a PyTorch object has already imported it.
"""

import importlib
import os
import pathlib
import sys
from typing import Any, Dict, Mapping, Optional, Tuple

import numpy

from kiln.errors import ModelError

# Packages that torch.onnx.export imports in addition to PyTorch.
_PACKAGES = ("onnx", "onnxscript")
# torch.save, torch.jit.save and torch.export.save write zip archives. Older versions of torch.save wrote pickles.
_SUFFIXES, _BEGINNINGS = (".pt", ".pt2", ".pth"), (b"PK\x03\x04", b"\x80")


def _class(module: str, name: str) -> Tuple[type, ...]:
    """Returns the class in a tuple, for isinstance. Empty if the module is not imported or lacks the class."""
    found = getattr(sys.modules.get(module), name, None)
    return (found,) if isinstance(found, type) else ()


def is_module(model: object) -> bool:
    """True for a torch.nn.Module, which is exported by running it on example inputs."""
    return isinstance(model, _class("torch.nn", "Module"))


def is_program(model: object) -> bool:
    """True for a torch.export.ExportedProgram or a torch.onnx.ONNXProgram, which contain their example inputs."""
    return isinstance(model, _class("torch.export", "ExportedProgram") + _class("torch.onnx", "ONNXProgram"))


def _is_file_of_pytorch(path: str) -> bool:
    if not path.endswith(_SUFFIXES) or not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        return file.read(4).startswith(_BEGINNINGS)


def refuse_other_kinds(model: object) -> None:
    """Refuses PyTorch objects and files that are not models. The message names the object to pass instead.

    Raises:
      TypeError: it is a class, a ScriptModule or a dictionary, such as a state_dict.
      ModelError: it is the path of a PyTorch file.
    """
    name = type(model).__name__
    if isinstance(model, type):
        call = f"kiln.compile({model.__name__}(), example)" if issubclass(model, _class("torch.nn", "Module")) else f"{model.__name__}()"
        raise TypeError(f"found the class {model.__name__}, wanted an object of it: {call}")
    if isinstance(model, _class("torch.jit", "ScriptModule")):
        raise TypeError(f"found a {name}, which torch.onnx does not export; pass the module itself that torch.jit was given")
    if isinstance(model, Mapping):
        raise TypeError(
            f"found {name}, wanted a model; with a state_dict, construct the module, call module.load_state_dict(state_dict) and "
            "module.eval(), and pass the module: kiln.compile(module, example)"
        )
    if isinstance(model, (str, os.PathLike)):
        path = os.fspath(model)
        if isinstance(path, str) and _is_file_of_pytorch(path):
            way = (
                f"kiln.compile(torch.export.load({path!r}))"
                if path.endswith(".pt2")
                else "load it into its module, and kiln.compile(module, example)"
            )
            raise ModelError(f"{path}: is a file of PyTorch, which only PyTorch reads: {way}")


def _refuse_arrays(inputs: Dict[str, Any]) -> None:
    """Raises TypeError, with the name of the input, if an input is a NumPy array."""
    for name, value in inputs.items():
        if isinstance(value, numpy.ndarray):
            raise TypeError(f"example input {name}: found a NumPy array, wanted a tensor: torch.from_numpy(array)")


def _arguments(example_inputs: Any) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """Returns positional and keyword arguments of the module, from one tensor, several tensors or a dictionary."""
    if isinstance(example_inputs, Mapping):
        return (), dict(example_inputs)
    if isinstance(example_inputs, (tuple, list)):
        return tuple(example_inputs), {}
    return (example_inputs,), {}


def _summary(error: BaseException) -> str:
    """Returns the first line of the innermost cause. The exporter wraps the module's exception in pages of advice."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _export(model: Any, args: Tuple[Any, ...], path: pathlib.Path, **options: Any) -> None:
    """Calls torch.onnx.export with the torch.export based exporter and without progress on standard output."""
    try:
        importlib.import_module("torch.onnx").export(model, args, str(path), dynamo=True, verbose=False, **options)
    except (KeyboardInterrupt, SystemExit):
        raise
    except Exception as error:
        if isinstance(error, ModuleNotFoundError) and error.name in _PACKAGES:
            raise ModelError(f"torch.onnx.export needs the package {error.name}: pip install {error.name}") from error
        raise ModelError(f"torch.onnx.export cannot export the {type(model).__name__}: {_summary(error)}") from error


def export_module(module: Any, example_inputs: Any, dynamic_shapes: Any, path: pathlib.Path) -> None:
    """Writes a torch.nn.Module as an ONNX file.

    Args:
      module: the module, in evaluation mode.
      example_inputs: a tensor, a tuple or list of arguments, or a dictionary of keyword arguments.
      dynamic_shapes: passed to torch.onnx.export. None: all dimensions have the sizes of the example inputs.
    Raises:
      TypeError: there are no example inputs, or they are arrays.
      ModelError: the module is in training mode, or PyTorch cannot export it.
    """
    if example_inputs is None:
        raise TypeError("a module of PyTorch is exported by running it; pass example inputs: kiln.compile(module, example)")
    if any(part.training for part in module.modules()):
        raise ModelError(
            f"the {type(module).__name__} is in training mode, in which dropout and batch normalization do something else; "
            "call module.eval() first"
        )
    args, kwargs = _arguments(example_inputs)
    _refuse_arrays({**{str(i): value for i, value in enumerate(args)}, **{repr(name): value for name, value in kwargs.items()}})
    options: Dict[str, Any] = {}
    if kwargs:
        options["kwargs"] = kwargs
    if dynamic_shapes is not None:
        options["dynamic_shapes"] = dynamic_shapes
    _export(module, args, path, **options)


def export_program(program: Any, path: pathlib.Path) -> None:
    """Writes an ExportedProgram or an ONNXProgram as an ONNX file."""
    save: Optional[Any] = getattr(program, "save", None)
    if save is not None:
        save(str(path))
    else:
        _export(program, (), path)
