# SPDX-License-Identifier: Apache-2.0
"""ONNX's backend interface, for ONNX's own test runner and scoreboard.

    import onnx.backend.test
    import kiln.onnx_backend

    backend_test = onnx.backend.test.BackendTest(kiln.onnx_backend, __name__)

Only `run_node` needs the package onnx.
"""

import importlib
import itertools
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Tuple, Union

import numpy

from kiln.library import compile
from kiln.model import Model
from kiln.options import CompileOptions
from kiln.sources import ModelSource
from kiln.tensor_info import TensorInfo
from kiln.tools import import_check

if TYPE_CHECKING:
    from typing_extensions import Unpack

# An array, a list of arrays in the model's order, or arrays keyed by name.
Inputs = Union[Any, Sequence[Any], Mapping[str, Any]]


def _computed(value: Any, info: Optional[TensorInfo]) -> Any:
    """Converts an array of a type that NumPy lacks to the type of the model's input, which can represent its values."""
    is_foreign = isinstance(value, (numpy.ndarray, numpy.generic)) and value.dtype.isbuiltin == 2
    return value.astype(info.dtype) if is_foreign and info is not None else value


class BackendRep:
    """A compiled model."""

    def __init__(self, model: Model, proto: Any = None) -> None:
        """`proto` is the model as an onnx.ModelProto. It has the types in which outputs are stored."""
        self._model = model
        self._stored: List[Any] = []
        # Versions of the package without such types lack this function.
        dtype_of = None if proto is None else getattr(importlib.import_module("onnx.helper"), "tensor_dtype_to_np_dtype", None)
        if dtype_of is not None:
            self._stored = [dtype_of(output.type.tensor_type.elem_type) for output in proto.graph.output]

    def run(self, inputs: Inputs, **kwargs: Any) -> Tuple[Any, ...]:
        """Returns the outputs, always as a tuple."""
        infos = self._model.inputs
        if isinstance(inputs, Mapping):
            by_name = {info.name: info for info in infos}
            outputs = self._model(**{name: _computed(value, by_name.get(name)) for name, value in inputs.items()})
        else:
            values = inputs if isinstance(inputs, (list, tuple)) else [inputs]
            outputs = self._model(*itertools.starmap(_computed, zip(values, itertools.chain(infos, itertools.repeat(None)))))
        found: Tuple[Any, ...] = outputs if isinstance(outputs, tuple) else (outputs,)
        if not self._stored:
            return found
        return tuple(numpy.asarray(output).astype(dtype, copy=False) for output, dtype in zip(found, self._stored))


def supports_device(device: str) -> bool:
    return device.split(":")[0] == "CPU"


def is_compatible(model: ModelSource, device: str = "CPU", **kwargs: Any) -> bool:
    return supports_device(device) and import_check(model).ok


def prepare(model: ModelSource, device: str = "CPU", **options: "Unpack[CompileOptions]") -> BackendRep:
    """Compiles a model. `options` are those of `kiln.compile`.

    Raises:
      ModelError: the model or an option is wrong.
    """
    if not supports_device(device):
        raise ValueError(f"found the device '{device}', wanted 'CPU'")
    return BackendRep(compile(model, **options).load(), model if hasattr(model, "graph") else None)


def run_model(model: ModelSource, inputs: Inputs, device: str = "CPU", **options: "Unpack[CompileOptions]") -> Tuple[Any, ...]:
    return prepare(model, device, **options).run(inputs)


def run_node(node: Any, inputs: Sequence[Any], device: str = "CPU", outputs_info: Any = None, **options: "Unpack[CompileOptions]") -> Tuple[Any, ...]:
    """Runs one onnx.NodeProto on arrays. `outputs_info` has a (dtype, shape) for each output."""
    helper, numpy_helper = (importlib.import_module("onnx." + name) for name in ("helper", "numpy_helper"))

    def value_info(name: str, dtype: Any, shape: Sequence[int]) -> Any:
        element_type = numpy_helper.from_array(numpy.empty(0, dtype)).data_type
        return helper.make_tensor_value_info(name, element_type, shape)

    if outputs_info is None:
        raise ValueError("run_node needs outputs_info: the type and shape of every output")
    graph = helper.make_graph(
        [node],
        "node",
        [value_info(name, array.dtype, array.shape) for name, array in zip(node.input, inputs)],
        [value_info(name, dtype, shape) for name, (dtype, shape) in zip(node.output, outputs_info)],
    )
    return run_model(helper.make_model(graph), list(inputs), device, **options)
