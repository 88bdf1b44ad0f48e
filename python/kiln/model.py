# SPDX-License-Identifier: Apache-2.0
"""Runs a compiled model on NumPy arrays."""

import os
from types import TracebackType
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Type, Union

import numpy

from kiln import _runtime
from kiln.arrays import Array, to_array
from kiln.errors import CompilerError, ModelError
from kiln.report import Report, table
from kiln.tensor_info import TensorInfo, tensor_infos


class Outputs(Tuple[Array, ...]):
    """The outputs of a model with several outputs: a tuple in the model's order that is also indexed by name.

    `outputs["scores"]`, `boxes, scores = outputs` and `dict(outputs)` work.
    """

    names: Tuple[str, ...]

    def __new__(cls, arrays: Sequence[Array], names: Tuple[str, ...]) -> "Outputs":
        self = tuple.__new__(cls, arrays)
        self.names = names
        return self

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        if key not in self.names:
            raise KeyError(f"there is no output '{key}'; there are {_list(self.names)}")
        return super().__getitem__(self.names.index(key))

    def keys(self) -> Tuple[str, ...]:
        return self.names

    def items(self) -> Iterator[Tuple[str, Array]]:
        return zip(self.names, self)

    def __reduce__(self) -> Tuple[Any, ...]:
        return Outputs, (tuple(self), self.names)


def _list(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in names) or "none"


def _check(what: str, info: TensorInfo, array: Array) -> None:
    if array.dtype != info.dtype:
        raise TypeError(f"{what}: found {array.dtype}, wanted {info.dtype}; array.astype('{info.dtype}') converts")
    if array.shape != info.shape:
        raise ValueError(f"{what}: found the shape {array.shape}, wanted {info.shape}")


def _array(what: str, info: TensorInfo, value: Any) -> Array:
    """Returns `value` as a contiguous array: its own memory, or a copy if it has gaps or another order."""
    array = to_array(what, value)
    _check(what, info, array)
    return array if array.flags.c_contiguous else array.copy(order="C")


def _check_output(info: TensorInfo, array: Any, others: Mapping[str, Array]) -> None:
    """Raises an exception if the model cannot write to `array`.

    `others` maps descriptions to other memory of the call.
    """
    what = f"output '{info.name}'"
    if not isinstance(array, numpy.ndarray):
        raise TypeError(f"{what}: found {type(array).__name__}, wanted a numpy.ndarray to write to")
    _check(what, info, array)
    if not array.flags.writeable:
        raise ValueError(f"{what}: the array is read-only")
    if not array.flags.c_contiguous:
        raise ValueError(f"{what}: the array is not contiguous; numpy.empty(shape, dtype) makes one that is")
    for other, memory in others.items():
        # Exact for arrays without gaps.
        if numpy.may_share_memory(array, memory):
            raise ValueError(f"{what}: the array overlaps {other}; outputs need memory of their own")


class State(NamedTuple):
    """An input of a model that takes the value of an output of the previous run."""

    input: str
    output: str
    initial_value: float  # of every element, in the first run


class Origin(NamedTuple):
    """The model file and the options from which a library was compiled. Unknown texts are empty."""

    compiler: str  # such as "kiln 0.1.0"
    model_sha256: str  # of the model file, 64 hexadecimal digits
    options_sha256: str  # of all options given to the compiler
    properties: Dict[str, str]  # texts in the file that describe the model, such as ONNX's metadata_props


class _Callable:
    """A function of arrays. It converts the arguments of a call for `run` of an object of _runtime."""

    name: str
    inputs: Tuple[TensorInfo, ...]
    outputs: Tuple[TensorInfo, ...]

    def __init__(self, name: str, runtime: Union[_runtime.Model, _runtime.Stream]) -> None:
        self.name = name
        self._run = runtime.run
        self.inputs = tensor_infos("input", runtime.inputs)
        self.outputs = tensor_infos("output", runtime.outputs)
        self._names = tuple(info.name for info in self.outputs)
        self._output_types = [(info.shape, info.dtype) for info in self.outputs]

    def __call__(self, /, *inputs: Any, out: Any = None, **named: Any) -> Any:
        """Computes the outputs.

        Args:
          inputs: one array per input, in the order of `Model.inputs`. An array is a NumPy array or another object in CPU memory
            that has `__dlpack__`, `__array_interface__` or `__array__`, such as a PyTorch tensor. Its type and shape must be
            those of the input. The memory is read in place; only an array that is not contiguous in row-major order is copied
            first.
          named: further inputs by name, after the positional ones. `model(**{"data:0": array})` passes an input whose name is
            not an identifier. An input with the name `out` must be passed by position.
          out: arrays for the outputs, instead of new ones. One array, or for a model with several outputs a sequence in the
            order of `Model.outputs` or a mapping by name. They must be contiguous NumPy arrays of the outputs' types and must
            not overlap an input or each other.
        Returns:
          The output's array, or an `Outputs` for a model with several outputs.
        Raises:
          TypeError: an input is missing, unknown or given twice, or is not an array of the input's type.
          ValueError: an array has the wrong shape, or an array in `out` cannot be written to.
          ModelError: the model refuses the values of the inputs, or it is closed.
        """
        if named:
            inputs = self._in_order(inputs, named)
        if out is None:
            outputs = tuple([numpy.empty(shape, dtype) for shape, dtype in self._output_types])
        else:
            outputs = (out,) if isinstance(out, numpy.ndarray) else self._outputs_in_order(out)
        if not self._run(inputs, outputs):
            inputs = self._convert(inputs)
            self._check_outputs(outputs, inputs)
            if not self._run(inputs, outputs):
                raise CompilerError(f"the runtime refuses arrays that fit {self!r}")
        return outputs[0] if len(outputs) == 1 else Outputs(outputs, self._names)

    def __repr__(self) -> str:
        inputs = ", ".join(str(info) for info in self.inputs)
        outputs = ", ".join(str(info) for info in self.outputs)
        return f"<kiln.{type(self).__name__} {self.name}: {inputs} -> {outputs}>"

    def _repr_html_(self) -> str:
        return Report("\n".join(self._lines()))._repr_html_()

    def _lines(self) -> List[str]:
        """Returns the lines of a table of all inputs and outputs, for a notebook."""
        infos = [("input", info) for info in self.inputs] + [("output", info) for info in self.outputs]
        header, rows = ["", "name", "dtype", "shape"], [[kind, *info] for kind, info in infos]
        if any(info.scale is not None for _, info in infos):
            header += [">scale", ">zero point"]
            for row, (_, info) in zip(rows, infos):
                row += ["", ""] if info.scale is None else [f"{info.scale:g}", info.zero_point]
        return [f"{type(self).__name__} {self.name}", *table(header, rows)]

    def __reduce__(self) -> Tuple[Any, ...]:
        raise TypeError(
            f"model '{self.name}' cannot be pickled or copied: it is code that this process has loaded. Pass the path of its shared object, "
            "or the kiln.Library, which carries its files, and load that in the other process"
        )

    def _in_order(self, positional: Tuple[Any, ...], named: Dict[str, Any]) -> Tuple[Any, ...]:
        names = [info.name for info in self.inputs]
        unknown = sorted(set(named) - set(names))
        if unknown:
            raise TypeError(f"model '{self.name}' has no input {_list(unknown)}; it has {_list(names)}")
        twice = sorted(set(named) & set(names[: len(positional)]))
        if twice:
            raise TypeError(f"model '{self.name}' got {_list(twice)} by position and by name")
        rest = names[len(positional) :]
        missing = [name for name in rest if name not in named]
        if missing:
            raise TypeError(f"model '{self.name}' lacks the input {_list(missing)}; it takes {_list(names)}")
        return positional + tuple(named[name] for name in rest)

    def _convert(self, inputs: Tuple[Any, ...]) -> Tuple[Array, ...]:
        if len(inputs) != len(self.inputs):
            takes = ", ".join(str(info) for info in self.inputs) or "none"
            raise TypeError(f"model '{self.name}' got {len(inputs)} inputs, wanted {len(self.inputs)}: {takes}")
        return tuple(_array(f"input '{info.name}'", info, value) for info, value in zip(self.inputs, inputs))

    def _outputs_in_order(self, out: Any) -> Tuple[Any, ...]:
        if isinstance(out, Mapping):
            if set(out) != set(self._names):
                raise TypeError(f"out has {_list(list(out))}, wanted {_list(self._names)}")
            return tuple(out[name] for name in self._names)
        if not isinstance(out, Sequence):
            raise TypeError(f"out: found {type(out).__name__}, wanted an array, or a sequence or mapping of arrays")
        return tuple(out)

    def _check_outputs(self, outputs: Tuple[Any, ...], inputs: Tuple[Array, ...]) -> None:
        if len(outputs) != len(self.outputs):
            raise TypeError(f"model '{self.name}' got {len(outputs)} arrays for outputs, wanted {len(self.outputs)}: {_list(self._names)}")
        others = {f"input '{info.name}'": array for info, array in zip(self.inputs, inputs)}
        for info, array in zip(self.outputs, outputs):
            _check_output(info, array, others)
            others[f"output '{info.name}'"] = array


class Model(_Callable):
    """A loaded model, which is called as a function of its inputs. `kiln.load` and `Library.load` return one.

    >>> import kiln, numpy
    >>> digits = kiln.example("digits")
    >>> model = kiln.compile(digits).load()
    >>> model
    <kiln.Model digits: image float32[1, 1, 8, 8] -> probabilities float32[1, 10]>
    >>> image = numpy.load(digits.with_name("image.npy"))
    >>> probabilities = model(image)
    >>> int(probabilities.argmax())
    4

    Any number of threads may call one model at the same time; a call releases the GIL. After a fork, parent and child
    can both use the model, independently of each other. Arrays that a call has returned stay valid after the model is
    gone.

    Attributes:
      name: the module name of the library.
      inputs: name, dtype, shape, scale and zero point of each input, in the order of a call.
      outputs: the same of each output, in the order of the returned arrays.
      states: inputs that take their values from outputs of the previous run. `stream` passes them on.
      origin: the model file and options from which the library was compiled.
      nbytes: the bytes of the constants and of the workspace. All processes that load the library share the constants. Each
        running call has its own workspace. Inputs, outputs and code are not counted. For a library of another compiler,
        the workspace only.
    """

    states: Tuple[State, ...]
    origin: Origin
    nbytes: int

    def __init__(self, runtime: _runtime.Model) -> None:
        super().__init__(runtime.name, runtime)
        self._runtime = runtime
        self.origin = Origin(*runtime.origin)
        self.nbytes = runtime.nbytes
        self.states = tuple(State(*row) for row in runtime.states)

    @property
    def num_threads(self) -> int:
        """Number of threads for one large operator, including the calling one. `threads` of `kiln.load` sets it.

        Raises:
          ModelError: the model is closed.
        """
        return self._runtime.num_threads

    def _lines(self) -> List[str]:
        states = [f"state {input}: the output {output} of the previous run, {value:g} in the first run" for input, output, value in self.states]
        return [*super()._lines(), *states, f"{self.nbytes} bytes of constants and workspace"]

    def stream(self) -> "Stream":
        """Returns a new sequence of runs that keeps the model's states. The states have their initial values.

        Raises:
          ModelError: the model has no state, or it is closed.
        """
        return Stream(self.name, self._runtime.stream())

    def close(self) -> None:
        """Releases the model's memory. Running calls finish normally, and later calls raise ModelError."""
        self._runtime.close()

    def __enter__(self) -> "Model":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()


class Stream(_Callable):
    """A sequence of runs of one model. Each run begins with the states that the previous one left.

    >>> import kiln, numpy
    >>> source = b'''#[version = "0.0.5"]
    ... def @main(%x: Tensor[(2), float32], %sum: Tensor[(2), float32]) {
    ...   %0 = add(%x, %sum);
    ...   (multiply(%0, %0), %0)
    ... }'''
    >>> model = kiln.compile(source, state="sum=output1").load()
    >>> model.states
    (State(input='sum', output='output1', initial_value=0.0),)
    >>> stream = model.stream()
    >>> one = numpy.ones(2, "float32")
    >>> for _ in range(3):
    ...     print(stream(one))
    [1. 1.]
    [4. 4.]
    [9. 9.]
    >>> stream.states["sum"].tolist()
    [3.0, 3.0]

    `Model.stream` returns one. It is called like the model, but takes only inputs that are not states, and returns only
    outputs that are not states. States stay in the stream's memory and are not copied. Concurrent calls of one stream
    take turns. Several streams of one model share its code and constants and run at the same time.
    """

    def __init__(self, name: str, runtime: _runtime.Stream) -> None:
        super().__init__(name, runtime)
        self._stream = runtime
        self._states = tensor_infos("state", runtime.states)

    @property
    def states(self) -> Dict[str, Array]:
        """Copies of the states with which the next run begins, keyed by the names of the inputs.

        Assignment sets them.
        """
        arrays = tuple(numpy.empty(info.shape, info.dtype) for info in self._states)
        if not self._stream.get_states(arrays):
            raise CompilerError(f"the runtime refuses arrays that fit the states of {self!r}")
        return {info.name: array for info, array in zip(self._states, arrays)}

    @states.setter
    def states(self, states: Mapping[str, Any]) -> None:
        names = [info.name for info in self._states]
        if set(states) != set(names):
            raise TypeError(f"states: found {_list(list(states))}, wanted {_list(names)}")
        arrays = tuple(_array(f"state '{info.name}'", info, states[info.name]) for info in self._states)
        if not self._stream.set_states(arrays):
            raise CompilerError(f"the runtime refuses arrays that fit the states of {self!r}")

    def reset(self) -> None:
        """Begins a new sequence: all states get their initial values."""
        self._stream.reset()


def load(path: Union[str, "os.PathLike[str]"], threads: Optional[int] = None, cpus: Sequence[int] = ()) -> Model:
    """Loads a shared object that `kiln compile` made.

    The file may be removed or replaced afterwards. The model continues with the loaded contents, and the next load of
    the same path returns the new model.

    Args:
      path: path of the shared object.
      threads: number of threads that share the work of a large operator of this model, including the calling one. The
        threads belong to this model. 0 means one per CPU. None means the threads that all models loaded with None share, one
        per CPU.
      cpus: numbers of the CPUs on which the model's own threads run. The calling thread is not moved.
    Raises:
      FileNotFoundError: there is no such file.
      PermissionError: the file may not be read or executed.
      MemoryError: there is not enough memory, or there are not enough file descriptors.
      ModelError: the file is damaged, was not made by Kiln, is for another machine, needs a CPU with other features, or was
        modified during loading; or the number of threads or of a CPU is wrong.
      TypeError: `threads` is not an int.
    """
    file = os.fspath(path)
    os.stat(file)  # raises the OSError that describes a missing file best
    if threads is not None and (isinstance(threads, bool) or not isinstance(threads, int)):
        raise TypeError(f"threads: found {type(threads).__name__}, wanted an int")
    if threads is not None and threads < 0:
        raise ModelError(f"found {threads} threads, wanted 0 or more")
    return Model(_runtime.load(file, -1 if threads is None else threads, tuple(cpus)))


def trim_workspaces() -> int:
    """Frees memory that earlier calls of all models used and that is kept for later calls.

    Call it after a peak of load. Memory that a running call uses is not freed. Later calls allocate new memory.

    Returns:
      The number of freed bytes.
    """
    return _runtime.trim_workspaces()
