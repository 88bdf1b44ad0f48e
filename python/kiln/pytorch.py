# SPDX-License-Identifier: Apache-2.0
"""Models of PyTorch as ONNX files: modules, programs of torch.export, and what torch.onnx.export returns.

Kiln does not import PyTorch: who has one of its objects has imported it.
"""

import contextlib
import importlib
import io
import logging
import pathlib
import sys
from typing import Any, Dict, Mapping, Optional, Tuple

from kiln.errors import ModelError

_log = logging.getLogger("kiln")


def _class(module: str, name: str) -> Tuple[type, ...]:
    """The class in a tuple, for isinstance; none if the module is not imported or has no such class."""
    found = getattr(sys.modules.get(module), name, None)
    return (found,) if isinstance(found, type) else ()


def is_module(model: object) -> bool:
    """True for a torch.nn.Module, which is exported by running it on example inputs."""
    return isinstance(model, _class("torch.nn", "Module"))


def is_program(model: object) -> bool:
    """True for a torch.export.ExportedProgram and for a torch.onnx.ONNXProgram, which have their example inputs."""
    return isinstance(model, _class("torch.export", "ExportedProgram") + _class("torch.onnx", "ONNXProgram"))


def _arguments(example_inputs: Any) -> Tuple[Tuple[Any, ...], Dict[str, Any]]:
    """Positional and keyword arguments of the module: one tensor, several of them, or a dictionary by name."""
    if isinstance(example_inputs, Mapping):
        return (), dict(example_inputs)
    if isinstance(example_inputs, (tuple, list)):
        return tuple(example_inputs), {}
    return (example_inputs,), {}


def _summary(error: BaseException) -> str:
    """The first line of the innermost cause: the exporter wraps what the module raised in pages of advice."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _export(model: Any, args: Tuple[Any, ...], path: pathlib.Path, **options: Any) -> None:
    """torch.onnx.export, whose progress is logged in place of being printed."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            importlib.import_module("torch.onnx").export(model, args, str(path), verbose=False, **options)
    except (KeyboardInterrupt, SystemExit):
        raise
    except Exception as error:
        raise ModelError(f"torch.onnx.export cannot export the {type(model).__name__}: {_summary(error)}") from error
    finally:
        if printed.getvalue():
            _log.debug("torch.onnx.export: %s", printed.getvalue().rstrip())


def export_module(module: Any, example_inputs: Any, dynamic_shapes: Any, path: pathlib.Path) -> None:
    """Writes a torch.nn.Module as an ONNX file.

    Args:
      module: in evaluation mode.
      example_inputs: a tensor, a tuple or list of arguments, or a dictionary of keyword arguments.
      dynamic_shapes: of torch.onnx.export; None: the shapes of the example inputs.
    Raises:
      TypeError: there are no example inputs.
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
