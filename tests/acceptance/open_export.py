# SPDX-License-Identifier: Apache-2.0
"""Exports modules by torch.onnx.export with open dimensions."""

import dataclasses
import importlib
import math
import pathlib
import re
import sysconfig
from collections.abc import Callable

from tests.acceptance import vision_cases
from tests.acceptance.own_sizes import ANY

# Forms of `dynamic_shapes`: an object with the dimension's name and bounds, a mark for an open
# dimension, a mark that lets the exporter decide, and the dimension's name.
DIM, DYNAMIC, AUTO, NAMES = "Dim", "Dim.DYNAMIC", "Dim.AUTO", "names"

# Sizes with which the exporter runs the model. Other dimensions use the sizes of `own`.
_EXAMPLE = {"batch": 2, "sequence": 16, "decoder_sequence": 12, "past": 15, "past + 1": 16}
_IMAGE_EDGE = 128
_EXPRESSION = re.compile(r"(?:(\d+)\*)?(\w+)(?: \+ (\d+))?")


@dataclasses.dataclass(frozen=True)
class Export:
    """A module. `shapes` contains names for its open dimensions."""
    make: Callable
    shapes: dict
    own: dict
    source: tuple  # a file, and texts to search in it in order: the last one is in the line that names the sizes
    form: str
    integers: dict = dataclasses.field(default_factory=dict)  # range of values by input
    by_name: bool = False  # inputs are passed as keywords

    def where(self):
        """Returns file and line of the sizes, or nothing if `source` is empty."""
        if not self.source:
            return []
        path, *texts = self.source
        lines = pathlib.Path(sysconfig.get_paths()["purelib"], path).read_text().splitlines()
        number = 0
        for text in texts:
            number = next((n for n in range(number, len(lines)) if re.search(text, lines[n])), None)
            if number is None:
                raise RuntimeError("%s has no line %r" % (path, text))
        return ["%s:%d" % (path, number + 1)]

    def _inputs(self):
        torch = importlib.import_module("torch")
        sizes = {**{name: _least(size) for name, size in self.own.items()}, **_EXAMPLE}
        inputs = {}
        for name, shape in self.shapes.items():
            shape = [sizes.get(dimension, dimension) for dimension in shape]
            values = self.integers.get(name)
            inputs[name] = (torch.randint(values.start, values.stop, shape) if values
                            else torch.randn(shape))
        return inputs

    def _disturbed(self, module):
        shape = next(iter(self.shapes.values()))
        if len(shape) < 4 or shape[1] != 3:
            _disturb(module)
            return module
        # Small images are enough for statistics. A video clip needs the size that its module pools.
        most = _IMAGE_EDGE if len(shape) == 4 else math.inf
        edges = [size if isinstance(size, int) else min(_least(self.own[size]), most)
                 for size in shape[2:]]
        return vision_cases.disturbed(module, (1, 3, *edges))

    def _dynamic_shapes(self):
        torch = importlib.import_module("torch")
        made = {}

        def dim(name):
            own = self.own.get(name)
            if name not in made:
                bounds = {"min": 2, "max": own[1]} if isinstance(own, tuple) and own != ANY else {}
                made[name] = torch.export.Dim(name, **bounds)
            return made[name]

        def dimension(text):
            if self.form == NAMES:
                return text
            if self.form != DIM:
                return getattr(torch.export.Dim, self.form.partition(".")[2])
            factor, name, more = _EXPRESSION.fullmatch(text).groups()
            product = int(factor) * dim(name) if factor else dim(name)
            return product + int(more) if more else product

        return {name: {i: dimension(size) for i, size in enumerate(shape) if isinstance(size, str)}
                for name, shape in self.shapes.items()}

    def export(self, path):
        """Writes the model. Raises RuntimeError if the exporter fixes an open dimension."""
        torch = importlib.import_module("torch")
        torch.manual_seed(7)
        module = self._disturbed(self.make().eval())
        inputs, shapes = self._inputs(), self._dynamic_shapes()
        if self.by_name:
            options = {"args": (), "kwargs": inputs, "dynamic_shapes": shapes}
        else:
            options = {"args": tuple(inputs.values()), "input_names": list(inputs),
                       "dynamic_shapes": tuple(shapes.values())}
        with torch.no_grad():  # the exporter cannot write T5 with gradients
            program = torch.onnx.export(module, dynamo=True, verbose=False, **options)
        for port in program.model.graph.inputs:
            fixed = [dimension for dimension, size in zip(self.shapes[port.name], port.shape)
                     if isinstance(dimension, str) and isinstance(size, int)]
            if fixed:
                raise RuntimeError("the exporter fixes %s" % ", ".join(fixed))
        program.save(str(path), external_data=True)


def _least(size):
    return size[0] if isinstance(size, tuple) else size


def _disturb(module):
    """Changes parameters with equal elements, and the statistics of batch normalization.

    Constructors leave such parameters, and statistics of 0 and 1, which would hide errors."""
    torch = importlib.import_module("torch")
    with torch.no_grad():
        for name, buffer in module.named_buffers():
            if name.endswith("running_mean"):
                buffer.copy_(torch.randn_like(buffer) * 0.1)
            elif name.endswith("running_var"):
                buffer.copy_(torch.rand_like(buffer) + 0.5)
        for parameter in module.parameters():
            first = float(parameter.flatten()[0])
            if parameter.numel() == 1 or (parameter != first).any():
                continue
            noise = torch.randn_like(parameter)
            # A scale such as 1e-6 hides its branch and is replaced by a larger one.
            parameter.copy_(first + 0.05 * noise if first == 0 or abs(first) > 0.01
                            else 0.1 + 0.02 * noise)
