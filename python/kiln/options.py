# SPDX-License-Identifier: Apache-2.0
"""Options of a compilation with their types, for editors and type checkers. `kiln compile --help` explains them."""

import difflib
import inspect
import os
from typing import Any, Callable, Mapping, Sequence, Tuple, TypedDict, TypeVar, Union

from kiln import command_line
from kiln.errors import ModelError

_Path = Union[str, "os.PathLike[str]"]
_List = Union[str, Sequence[str]]
_Shape = Tuple[int, ...]
_Function = TypeVar("_Function", bound=Callable[..., Any])


class CompileOptions(TypedDict, total=False):
    """Keyword arguments of `kiln.compile`, `kiln.emit` and `kiln.inspect`. `--module-name x` is `module_name="x"`."""

    # The model.
    input: Union[_List, Mapping[str, _Shape]]
    dim: Union[_List, Mapping[str, int]]
    outputs: _List
    constant: Union[_List, Mapping[str, Union[int, float, _Path]]]
    state: Union[_List, Mapping[str, str]]
    passes: str
    check_indices: bool
    # Machine and speed.
    target: str
    cpu_variants: _List
    codegen: str
    optimize: str
    threads: int
    tuning: _Path
    external: _List
    allow: _List
    no_winograd: bool
    profile: bool
    fail_on_slow: bool
    # Runtime and interface.
    module_name: str
    runtime: str
    interface: str
    executor: str
    calling_convention: str
    system_lib: bool
    c_constants: str
    # Memory.
    pool: _List
    constant_pool: _List
    workspace_io: bool
    no_overlap: bool
    # Files.
    headers: bool
    mlf: _Path
    mlf_runtime: bool
    dump_dir: _Path
    quiet: bool


def check_options(function: str, options: Mapping[str, Any]) -> None:
    """Raises ModelError for an option that is not in CompileOptions. The message suggests the most similar option."""
    for name in options:
        if name not in CompileOptions.__annotations__:
            nearest = difflib.get_close_matches(name, CompileOptions.__annotations__, 1)
            raise ModelError(command_line.no_option(function, name, *nearest))


def with_options(function: _Function) -> _Function:
    """Sets the signature of `function` so that help() and editors show the keyword arguments instead of `**options`."""
    signature = inspect.signature(function)
    parameters = [each for each in signature.parameters.values() if each.kind is not inspect.Parameter.VAR_KEYWORD]
    for name, kind in CompileOptions.__annotations__.items():
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind))
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return function
