# SPDX-License-Identifier: Apache-2.0
"""Compiles a model into a library."""

import contextlib
import os
import pathlib
import shutil
import tempfile
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union, cast

from kiln import command_line
from kiln.command_line import Option
from kiln.errors import ModelError
from kiln.folders import Folder, scratch_folder
from kiln.model import Model, load
from kiln.options import CompileOptions, check_options, with_options
from kiln.report import Report
from kiln.sources import ModelSource, model_file

if TYPE_CHECKING:
    from typing_extensions import Unpack

# The subfolder for the library's files. A model that was not given as a file is stored next to it.
_FILES = "files"
# Options of `kiln compile` that `kiln inspect` does not accept for the same model.
_OPTIONS_OF_FILES = {"dump_dir", "fail_on_slow", "headers", "mlf", "mlf_runtime", "profile", "quiet"}


class Library:
    """The files of a compiled model, in a temporary folder that is removed with the object.

    A copy or a pickle carries the bytes of all files. An unpickled library, such as one that a process of a pool
    returns, has its own folder in the process that unpickles it.

    Attributes:
      files: names of the files, relative to the folder.
    """

    def __init__(self, folder: Folder, model: str, options: Mapping[str, Option]) -> None:
        self._owner = folder
        self._folder = pathlib.Path(folder.path, _FILES)
        self._model = model
        self._options = {name: value for name, value in options.items() if name not in _OPTIONS_OF_FILES}
        self.files = tuple(sorted(str(path.relative_to(self._folder)) for path in self._folder.rglob("*") if path.is_file()))

    def __reduce__(self) -> Tuple[Any, ...]:
        root = pathlib.Path(self._owner.path)
        contents = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
        # A model that was not given as a file is among the contents. Its path is stored relative to the folder.
        below = root in pathlib.Path(self._model).parents
        model = os.path.relpath(self._model, root) if below else self._model
        return _restored, (contents, model, self._options)

    def _find(self, suffix: str) -> Optional[pathlib.Path]:
        return next((self._folder / name for name in self.files if name.endswith(suffix)), None)

    @property
    def path(self) -> Optional[pathlib.Path]:
        """The path of the shared object, which is removed with this object.

        None if the library has none. `write` makes a permanent copy.
        """
        return self._find(".so")

    def load(self, threads: Optional[int] = None, cpus: Sequence[int] = ()) -> Model:
        """Loads the model so that it can be called. The model outlives this object. See `kiln.load` for the arguments.

        Raises:
          ModelError: the library has no shared object for this machine.
        """
        if self.path is None:
            raise ModelError(f"the library has {', '.join(self.files)} and no shared object; compile with runtime='cpp' to load it")
        return load(self.path, threads, cpus)

    def write(self, folder: Union[str, "os.PathLike[str]"]) -> List[pathlib.Path]:
        """Copies all files into `folder`, which is created if necessary, and returns their paths.

        An existing file is replaced atomically, so that a process that has loaded it continues with the old contents.
        """
        paths = []
        for name in self.files:
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".kiln-", dir=path.parent) as beside:
                os.replace(shutil.copy2(self._folder / name, beside), path)
            paths.append(path)
        return paths

    def report(self) -> Report:
        """Returns the report of `kiln inspect`.

        For a model it lists tensors, operators, memory plan and constants; for an object flash, RAM and stack. A
        notebook shows the page of `kiln inspect --html` instead, with the graph and the memory over time.
        """
        return Report(self._inspect(), self._page)

    def _inspect(self) -> Report:
        for suffix in (".so", ".o"):
            path = self._find(suffix)
            if path is not None:
                return inspect(path)
        return inspect(self._model, **self._options)

    def _page(self) -> str:
        with scratch_folder() as folder:
            page = pathlib.Path(folder, "page.html")
            inspect(self._model, html=page, **self._options)
            return page.read_text(encoding="utf-8")

    def __repr__(self) -> str:
        return f"<kiln.Library {', '.join(self.files)}>"

    def _repr_html_(self) -> str:
        with contextlib.suppress(ModelError):  # The model's file may be gone.
            return self.report()._repr_html_()
        return Report(repr(self))._repr_html_()


def _restored(contents: Dict[str, bytes], model: str, options: Dict[str, Option]) -> Library:
    """Returns the pickled library.

    `contents` maps paths in the folder to bytes. `model` is an absolute path or relative to the folder.
    """
    folder = Folder()
    for name, data in contents.items():
        path = pathlib.Path(folder.path, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return Library(folder, os.path.join(folder.path, model), options)


@with_options
def compile(
    model: ModelSource,
    example_inputs: Optional[Any] = None,
    /,
    *,
    dynamic_shapes: Optional[Any] = None,
    **options: "Unpack[CompileOptions]",
) -> Library:
    """Compiles a model into a library.

    >>> import kiln
    >>> kiln.compile(kiln.example("digits"), target="x86-64-v3")
    <kiln.Library digits.h, digits.metadata.json, digits.so>

    Generated C for a microcontroller:

    >>> kiln.compile(kiln.example("digits"), target="cortex-m4f", interface="c", codegen="c", headers=False)
    <kiln.Library digits.c, digits.h, digits.metadata.json, digits_model.c>

    Args:
      model: an ONNX, TFLite or Relay file, as a path or as bytes; an onnx.ModelProto; a torch.nn.Module, which torch.onnx
        exports; a torch.export.ExportedProgram; or a torch.onnx.ONNXProgram.
      example_inputs: the inputs with which a torch.nn.Module is exported: a tensor, a tuple of arguments, or a dictionary of
        keyword arguments. The compiled model has their shapes.
      dynamic_shapes: the dynamic dimensions of a torch.nn.Module, in the form that torch.onnx.export accepts. The option
        dim={name: size} sets their sizes.
      options: options of `kiln compile`, which `python -m kiln compile --help` explains. `--module-name x` is
        `module_name="x"`, a flag is True or False, and an option that is given several times is a list.
        `input={"data": (1, 3, 224, 224)}` sets shapes and `constant={"rate": 16000}` values of inputs. `interface="c"`
        implies `runtime="crt"`.
    Raises:
      ModelError: the model or an option is wrong.
      CompilerError: the compiler failed in another way.
      KeyboardInterrupt: Ctrl-C ended the compilation. All temporary files are removed.
    """
    if "output" in options or "emit" in options:
        raise TypeError("compile() has no output= and emit=: Library.write(folder) writes the files, kiln.emit(model, stage) is a stage")
    check_options("compile", options)
    if options.get("interface") == "c":
        options.setdefault("runtime", "crt")
    folder = Folder()
    try:
        file = model_file(model, folder.path, example_inputs, dynamic_shapes)
        given = cast(Mapping[str, Option], options)
        command_line.run("compile", [file], {**given, "output": os.path.join(folder.path, _FILES)})
        return Library(folder, os.path.abspath(file), given)
    except BaseException:
        folder.remove()
        raise


@with_options
def emit(model: ModelSource, stage: str, **options: "Unpack[CompileOptions]") -> str:
    """Returns the text of one stage of a compilation, such as "graph", "after:fuse", "loops", "plan", "c" or "llvm".

    >>> import kiln
    >>> print(kiln.emit(kiln.example("my_mod"), "loops"))  # doctest: +ELLIPSIS
    in_place operator tvmgen_my_mod_fused_add(p0: uint8[1, 2], p1: uint8[1, 2]) -> (out0: uint8[1, 2]) {...
    """
    check_options("emit", options)
    with scratch_folder() as folder:
        given = cast(Mapping[str, Option], options)
        return command_line.run("compile", [model_file(model, folder)], {**given, "emit": stage})


def inspect(file: ModelSource, **options: Option) -> Report:
    """Reports on a library, an object, an archive or a model. `options` are options of `kiln inspect`.

    >>> import kiln
    >>> print(kiln.inspect(kiln.example("my_mod")).splitlines()[0])
    module my_mod for host: called from C, C++ and Python
    """
    with scratch_folder() as folder:
        return Report(command_line.run("inspect", [model_file(file, folder)], options))
