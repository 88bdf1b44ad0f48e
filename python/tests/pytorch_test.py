# SPDX-License-Identifier: Apache-2.0
"""PyTorch models, with stand-ins for PyTorch's classes. //tests/docs:pytorch_pages_test and //tests/acceptance use the
real ones.
"""

import collections
import contextlib
import io
import pathlib
import sys
import types
import unittest

import kiln
import numpy
from python.tests.case import DIGITS, Case


class PyTorchTest(Case):
    def setUp(self):
        super().setUp()
        self.a, self.b = object(), object()  # Kiln passes tensors on without using them.
        self.exported = pathlib.Path(DIGITS).read_bytes()

    def stand_in_for_torch(self):
        """Returns modules with the PyTorch classes that Kiln checks for, and a list of the calls of torch.onnx.export.

        The exporter prints unless verbose is False, like the real one.
        """

        class Module:
            def __init__(self, training=False, parts=()):
                self.training, self.parts = training, parts

            def modules(self):
                yield self
                for part in self.parts:
                    yield from part.modules()

        class ScriptModule(Module):
            pass

        class ExportedProgram:
            pass

        class ONNXProgram:
            def save(self, path):
                write(path)

        def write(path):
            with open(path, "wb") as file:
                file.write(self.exported)

        calls = []

        def export(model, args=(), f=None, *, kwargs=None, verbose=None, dynamic_shapes=None, dynamo=False):
            if not dynamo:
                raise RuntimeError("the older exporter")
            calls.append((type(model), args, kwargs, dynamic_shapes))
            if verbose is not False:
                print("[torch.onnx] Obtain model graph")
            if kwargs == {"lacks": 1}:
                raise ModuleNotFoundError("No module named 'onnxscript'", name="onnxscript")
            if kwargs == {"wrong": 1}:
                try:
                    raise ValueError("the cause\nand advice")
                except ValueError as error:
                    raise RuntimeError("pages of text") from error
            write(f)

        torch = types.ModuleType("torch")
        nn, onnx, programs = types.ModuleType("torch.nn"), types.ModuleType("torch.onnx"), types.ModuleType("torch.export")
        jit = types.ModuleType("torch.jit")
        nn.Module, onnx.export, onnx.ONNXProgram, programs.ExportedProgram = Module, export, ONNXProgram, ExportedProgram
        jit.ScriptModule = ScriptModule
        for module in (torch, nn, onnx, programs, jit):
            sys.modules[module.__name__] = module
            self.addCleanup(sys.modules.pop, module.__name__)
        return Module, ExportedProgram, ONNXProgram, calls

    def test_torch(self):
        """Modules go through torch.onnx.export. Example inputs are a tensor, several tensors, or a dictionary."""
        Module, ExportedProgram, ONNXProgram, calls = self.stand_in_for_torch()
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            for inputs in (self.a, (self.a,), [self.a], {"x": self.a}):
                self.assertEqual(kiln.compile(Module(), inputs).load().inputs[0].name, "image")
            kiln.compile(Module(), (self.a, self.b), dynamic_shapes={"x": {0: "n"}})
            for program in (ExportedProgram(), ONNXProgram()):
                self.assertEqual(kiln.compile(program).load().inputs[0].name, "image")
        self.assertEqual(printed.getvalue(), "")
        one = (Module, (self.a,), None, None)
        self.assertEqual(calls[:3], [one] * 3)
        self.assertEqual(calls[3], (Module, (), {"x": self.a}, None))
        self.assertEqual(calls[4], (Module, (self.a, self.b), None, {"x": {0: "n"}}))
        self.assertEqual(calls[5:], [(ExportedProgram, (), None, None)])

    def test_torch_refusals(self):
        Module, ExportedProgram, _, calls = self.stand_in_for_torch()
        self.refuses(TypeError, "pass example inputs: kiln.compile(module, example)", kiln.compile, Module())
        for module in (Module(training=True), Module(parts=[Module(), Module(training=True)])):
            self.refuses(kiln.ModelError, "the Module is in training mode", kiln.compile, module, self.a)
        self.assertEqual(calls, [])
        words = "torch.onnx.export cannot export the Module: ValueError: the cause"
        self.refuses(kiln.ModelError, words, kiln.compile, Module(), {"wrong": 1})
        self.refuses(kiln.ModelError, "needs the package onnxscript: pip install onnxscript", kiln.compile, Module(), {"lacks": 1})
        self.refuses(TypeError, "are for a torch.nn.Module", kiln.compile, ExportedProgram(), self.a)
        self.refuses(TypeError, "are for a torch.nn.Module", kiln.compile, DIGITS, dynamic_shapes={})

    def test_other_kinds(self):
        """Each error names the object to pass instead."""
        Module, _, _, calls = self.stand_in_for_torch()
        script = sys.modules["torch.jit"].ScriptModule()
        array = numpy.zeros(2, "float32")
        for words, args in (
            ("found the class Module, wanted an object of it: kiln.compile(Module(), example)", (Module, self.a)),
            ("found the class dict, wanted an object of it: dict()", (dict,)),
            ("construct the module, call module.load_state_dict(state_dict)", (collections.OrderedDict(weight=self.a),)),
            ("found a ScriptModule, which torch.onnx does not export; pass the module itself", (script, self.a)),
            ("example input 1: found a NumPy array, wanted a tensor: torch.from_numpy(array)", (Module(), (self.a, array))),
            ("example input 'x': found a NumPy array", (Module(), {"x": array})),
        ):
            with self.subTest(words):
                self.refuses(TypeError, words, kiln.compile, *args)
        for name, beginning, words in (
            ("m.pt", b"PK\x03\x04", "m.pt: is a file of PyTorch, which only PyTorch reads: load it into its module"),
            ("m.pth", b"\x80\x02", "m.pth: is a file of PyTorch"),
            ("m.pt2", b"PK\x03\x04", "m.pt2'))"),
        ):
            pathlib.Path(self.path(name)).write_bytes(beginning)
            for example in ((), (self.a,)):
                self.refuses(kiln.ModelError, words, kiln.compile, pathlib.Path(self.path(name)), *example)
        self.assertEqual(calls, [])
        self.refuses(kiln.ModelError, "none.pt: no such file", kiln.compile, "none.pt")
        pathlib.Path(self.path("onnx.pt")).write_bytes(self.exported)
        kiln.compile(self.path("onnx.pt"))

    def test_other_threads_print(self):
        """An export does not replace sys.stdout."""
        Module, _, _, _ = self.stand_in_for_torch()
        export, found = sys.modules["torch.onnx"].export, []

        def observed(*args, **kwargs):
            found.append(sys.stdout)
            export(*args, **kwargs)

        sys.modules["torch.onnx"].export = observed
        kiln.compile(Module(), self.a)
        self.assertEqual(found, [sys.stdout])

    def test_notes_and_options(self):
        """With an unknown option there is no export, which takes long.

        Notes do not contain the name of the exported file.
        """
        Module, _, _, calls = self.stand_in_for_torch()
        words = "kiln.compile() has no option 'traget', perhaps 'target'"
        self.refuses(kiln.ModelError, words, kiln.compile, Module(), self.a, traget="host")
        self.assertEqual(calls, [])
        self.exported = kiln.example("digits_batch").read_bytes()
        with self.assertLogs("kiln", "WARNING") as logs:
            kiln.compile(Module(), self.a)
        self.assertRegex(logs.output[0], "^WARNING:kiln:the model: open leading dimensions are taken as 1")


if __name__ == "__main__":
    unittest.main()
