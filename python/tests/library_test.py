# SPDX-License-Identifier: Apache-2.0
"""Compilations from Python: kinds of models, options, errors, files, Ctrl-C."""

import contextlib
import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock

import kiln
import numpy
from python.tests.case import DIGITS, HAS_LLVM, MY_MOD, Case, slow_to_compile

UNKNOWN_OPERATOR = b'#[version = "0.0.5"]\ndef @main(%a: Tensor[(1, 2), uint8]) {\n  no.such_operator(%a)\n}\n'

INTERRUPTED = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import kiln
print("ready", flush=True)
try:
    kiln.{}
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def read(path):
    with open(path, "rb") as file:
        return file.read()


def children(process):
    with open("/proc/{0}/task/{0}/children".format(process)) as file:
        return [int(word) for word in file.read().split()]


def is_zombie(process):
    """True if the process has ended, even if its parent has not yet waited for it."""
    with contextlib.suppress(FileNotFoundError), open("/proc/{}/stat".format(process)) as file:
        return file.read().rpartition(")")[2].split()[0] == "Z"
    return True


class LibraryTest(Case):
    def setUp(self):
        super().setUp()
        self.a, self.b = numpy.array([[1, 2]], "uint8"), numpy.array([[3, 4]], "uint8")

    # Kinds of models.

    def test_bytes_and_objects(self):
        class Proto:
            def SerializeToString(self):
                return read(DIGITS)

        for model in (read(DIGITS), Proto(), bytearray(read(DIGITS))):
            loaded = kiln.compile(model).load()
            self.assertEqual(loaded.name, "model")
            found = loaded(numpy.load("models/digits/image.npy"))
            numpy.testing.assert_allclose(found, numpy.load("models/digits/probabilities.npy"), rtol=2e-5, atol=1e-7)

    def test_examples(self):
        """The same network for one image and for a batch."""
        digits = kiln.example("digits_batch")
        images = (numpy.load(digits.with_name("test_images.npy"))[:32] / 16).astype("float32").reshape(32, 1, 8, 8)
        found = kiln.compile(digits, dim={"batch": 32}).load()(images)
        one = kiln.compile(kiln.example("digits")).load()
        numpy.testing.assert_allclose(found, numpy.concatenate([one(image[None]) for image in images]), rtol=2e-5, atol=1e-7)
        self.refuses(ValueError, "found the example 'd', wanted one of digits, digits_batch, my_mod", kiln.example, "d")

    def test_what_is_no_model(self):
        self.refuses(TypeError, "found int, wanted a model", kiln.compile, 7)
        self.refuses(TypeError, "found NoneType", kiln.import_check, None)
        self.refuses(TypeError, "example inputs and dynamic_shapes are for a torch.nn.Module", kiln.compile, DIGITS, (self.a,))

    # Options and errors.

    def test_options(self):
        library = kiln.compile(DIGITS, module_name="renamed", no_winograd=True, threads=1, input={"image": (1, 1, 8, 8)})
        self.assertEqual(library.files, ("renamed.h", "renamed.metadata.json", "renamed.so"))
        text = kiln.emit(DIGITS, "metadata", executor="graph", module_name="renamed")
        self.assertIn('"module_name": "renamed"', text)
        made_for = [kiln.emit(DIGITS, "scheduled", target="cortex-m4f", runtime="crt", optimize=name) for name in ("size", "speed")]
        self.assertLess(len(made_for[0]), len(made_for[1]))
        self.refuses(kiln.ModelError, "--optimize: found 'fast'", kiln.compile, DIGITS, optimize="fast")
        rounded = kiln.emit(DIGITS, "metadata", target="x86-64-v4 -mattr=+avx512bf16", allow=["bf16"])
        self.assertIn("vdpbf16ps", rounded)
        self.refuses(kiln.ModelError, "--allow: found 'fp8', wanted one of bf16", kiln.compile, DIGITS, allow=["bf16", "fp8"])
        slow = dict(interface="c", codegen="c", target="cortex-m3", fail_on_slow=True)
        self.refuses(kiln.ModelError, "(nn.dense add) is slow on cortex-m3", kiln.compile, DIGITS, **slow)
        self.refuses(kiln.ModelError, "image", kiln.compile, DIGITS, input={"image": (2, 2)})

    def test_errors(self):
        for words, args, kwargs in (
            ("none.onnx: no such file", ["none.onnx"], {}),
            ("unknown operator 'no.such_operator'", [UNKNOWN_OPERATOR], {}),
            ("no Relay text, no TFLite model", [b"Dear diary\n"], {}),
            ("the file is empty", [b""], {}),
            ("kiln.compile() has no option 'bake'", [DIGITS], {"bake": True}),
            ("unknown target 'bake'", [DIGITS], {"target": "bake"}),
            ("use --runtime crt", [DIGITS], {"interface": "c", "runtime": "cpp"}),
        ):
            with self.subTest(words):
                self.refuses(kiln.ModelError, words, kiln.compile, *args, **kwargs)
        self.refuses(TypeError, "Library.write", kiln.compile, DIGITS, output=self.folder)

    def test_dimensions(self):
        """`dim` sets the size of an open dimension. It is a dictionary, or has the form of the command line."""
        digits = kiln.example("digits_batch")
        for dim in ({"batch": 3}, "batch=3", ["batch=3"]):
            model = kiln.compile(digits, dim=dim).load()
            self.assertEqual((model.inputs[0].shape, model.outputs[0].shape), ((3, 1, 8, 8), (3, 10)))
        self.refuses(kiln.ModelError, "no input has an open dimension 'bach'; they are batch", kiln.compile, digits, dim={"bach": 3})
        self.refuses(kiln.ModelError, "batch", kiln.compile, digits, dim={"batch": -3})

    def test_outputs(self):
        """`outputs` names the values or nodes at which the model ends."""
        image = numpy.load("models/digits/image.npy")
        logits = kiln.compile(DIGITS, outputs="logits").load()
        self.assertEqual([output.name for output in logits.outputs], ["logits"])
        powers = numpy.exp(logits(image))
        numpy.testing.assert_allclose(powers / powers.sum(), numpy.load("models/digits/probabilities.npy"), rtol=1e-4, atol=1e-7)
        both = kiln.compile(DIGITS, outputs=["flat", "probabilities"]).load()
        self.assertEqual([(output.name, output.shape) for output in both.outputs], [("flat", (1, 256)), ("probabilities", (1, 10))])
        self.refuses(kiln.ModelError, "none", kiln.compile, DIGITS, outputs="none")

    def test_options_that_are_misspelt(self):
        for function, args, words in (
            (kiln.compile, (DIGITS,), {"traget": "host"}),
            (kiln.emit, (DIGITS, "plan"), {"traget": "host"}),
            (kiln.inspect, (DIGITS,), {"traget": "host"}),
        ):
            with self.assertRaises(kiln.ModelError) as caught:
                function(*args, **words)
            self.assertEqual(str(caught.exception), "kiln.{}() has no option 'traget', perhaps 'target'".format(function.__name__))
        self.refuses(kiln.ModelError, "kiln.compile() has no option 'inputs', perhaps 'input'", kiln.compile, DIGITS, inputs={})

    def test_a_model_without_a_file_is_called_the_model(self):
        cut = read(DIGITS)[:1000]
        words = "found no Relay text, no TFLite model and no whole ONNX model; the file may be cut off"
        for call in (
            lambda: kiln.compile(cut),
            lambda: kiln.emit(cut, "plan"),
            lambda: kiln.inspect(cut),
            lambda: kiln.compare(cut),
            lambda: kiln.tune(cut, self.path("tuning")),
            lambda: kiln.validate(cut, self.a, self.a),
        ):
            with self.assertRaises(kiln.ModelError) as caught:
                call()
            self.assertEqual(str(caught.exception), "the model: " + words)
        with self.assertRaises(kiln.ModelError) as caught:
            kiln.compare(DIGITS, cut)
        self.assertEqual(str(caught.exception), "the reference: " + words)
        with self.assertLogs("kiln", "WARNING") as logs:
            kiln.compile(read(kiln.example("digits_batch")))
        self.assertRegex(logs.output[0], "^WARNING:kiln:the model: open leading dimensions are taken as 1")

    def test_no_command_line(self):
        with unittest.mock.patch("kiln.command_line.PROGRAM", self.path("none")):
            self.refuses(kiln.CompilerError, "the command line of this package cannot be run", kiln.version)

    def test_a_killed_compiler(self):
        program = self.path("killed")
        with open(program, "w") as file:
            file.write("#!/bin/sh\nkill -SEGV $$\n")
        os.chmod(program, 0o755)
        with unittest.mock.patch("kiln.command_line.PROGRAM", program):
            self.refuses(kiln.CompilerError, "kiln version was ended by SIGSEGV", kiln.version)

    # Files.

    def test_write(self):
        library = kiln.compile(MY_MOD, interface="c", codegen="c", target="cortex-m4f")
        paths = library.write(self.path("a/b"))
        self.assertEqual([str(path.relative_to(self.path("a/b"))) for path in paths], list(library.files))
        self.assertIn(b"tvmgen_my_mod_run_model", read(self.path("a/b/my_mod.h")))
        library.write(self.path("a/b"))
        self.assertEqual(sorted(os.listdir(self.path("a/b"))), sorted({name.split("/")[0] for name in library.files}))
        self.refuses(kiln.ModelError, "no shared object; compile with runtime='cpp'", library.load)

    def test_path(self):
        library = kiln.compile(MY_MOD)
        self.assertEqual(library.path.name, "my_mod.so")
        self.assertEqual(kiln.load(library.path).name, "my_mod")
        path = library.path
        del library
        self.assertFalse(path.exists())
        self.assertIsNone(kiln.compile(MY_MOD, interface="c", codegen="c").path)

    def test_folders_are_removed(self):
        """Folders are removed with the library, after a failed compilation, and at the end of the process.

        After a fork, only the parent removes them.
        """
        program = """
import os, sys, kiln
place = os.environ["TMPDIR"]
library = kiln.compile(sys.argv[1])
model = library.load()
try:
    kiln.compile(b"")
except kiln.ModelError:
    pass
child = os.fork()
if child == 0:
    sys.exit(0)
os.waitpid(child, 0)
print(len(os.listdir(place)), len(library.write(place + "/../written")))
library2 = kiln.compile(sys.argv[1])
del library2
print(len(os.listdir(place)))
"""
        os.mkdir(self.path("tmp"))
        process = self.python(program, MY_MOD, stdout=subprocess.PIPE, environment={"TMPDIR": self.path("tmp")})
        output, _ = process.communicate()
        self.assertEqual((process.returncode, output.split()), (0, ["1", "3", "1"]))
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_report(self):
        library = kiln.compile(DIGITS)
        report = library.report()
        self.assertIn("module digits for host", report)
        self.assertEqual(repr(report), str(report))
        self.assertNotIn("<kiln", kiln.Report("<kiln>")._repr_html_())
        self.assertEqual(report, kiln.inspect(library.write(self.folder)[-1]))
        generated = kiln.compile(MY_MOD, interface="c", codegen="c", target="cortex-m4f").report()
        self.assertIn("module my_mod for cortex-m4f", generated)
        if HAS_LLVM:
            self.assertIn("module my_mod for aarch64", kiln.compile(MY_MOD, target="aarch64").report())
            self.assertIn("flash: ", kiln.compile(MY_MOD, interface="c", target="cortex-m4f").report())

    def test_report_in_a_notebook(self):
        """A notebook shows a page, or only the text if the model's file is gone."""
        with open(self.path("model.onnx"), "wb") as file:
            file.write(read(DIGITS))
        library = kiln.compile(self.path("model.onnx"), module_name="of_a_page")
        report = library.report()
        shown = report._repr_html_()
        self.assertTrue(shown.startswith('<iframe srcdoc="&lt;!DOCTYPE html&gt;'), shown[:80])
        self.assertIn("conv1", shown)
        self.assertEqual(library._repr_html_(), shown)
        generated = kiln.compile(self.path("model.onnx"), interface="c", codegen="c")
        os.remove(self.path("model.onnx"))
        self.assertTrue(report._repr_html_().startswith("<pre>module of_a_page"))
        self.assertEqual(library._repr_html_(), report._repr_html_())
        self.assertTrue(generated._repr_html_().startswith("<pre>&lt;kiln.Library "))
        copy = pickle.loads(pickle.dumps(report))
        self.assertEqual((type(copy), copy), (kiln.Report, str(report)))

    def test_models_in_a_notebook(self):
        """A notebook shows the inputs, outputs and states of a model, and the bytes that it takes."""

        def lines(model):
            return [" ".join(line.split()) for line in model._repr_html_().splitlines()]

        digits = kiln.compile(DIGITS).load()
        self.assertEqual(
            lines(digits),
            [
                "<pre>Model digits",
                "name dtype shape",
                "input image float32 (1, 1, 8, 8)",
                "output probabilities float32 (1, 10)",
                "{} bytes of constants and workspace</pre>".format(digits.nbytes),
            ],
        )
        source = b"""#[version = "0.0.5"]
def @main(%x: Tensor[(2), int8], %sum: Tensor[(2), int8], output_tensor_names=["y", "sum.next"], input_scales=[[0.5f], [2f]],
          output_scales=[[], [2f]], state_inputs=["sum"], state_outputs=["sum.next"], state_initial=[-7f]) {
  %0 = add(%x, %sum);
  (cast(%0, dtype="float32"), %0)
}
"""
        model = kiln.compile(source).load()
        self.assertEqual(
            lines(model)[1:-1],
            [
                "name dtype shape scale zero point",
                "input x int8 (2,) 0.5 0",
                "input sum int8 (2,) 2 0",
                "output y float32 (2,)",
                "output sum.next int8 (2,) 2 0",
                "state sum: the output sum.next of the previous run, -7 in the first run",
            ],
        )
        self.assertEqual(
            lines(model.stream()),
            ["<pre>Stream model", "name dtype shape scale zero point", "input x int8 (2,) 0.5 0", "output y float32 (2,)</pre>"],
        )

    # The other commands.

    def test_import_check(self):
        good, bad = kiln.import_check(DIGITS), kiln.import_check(UNKNOWN_OPERATOR)
        self.assertTrue(good)
        self.assertEqual((good.operators, good.reasons), (8, ()))
        self.assertFalse(bad)
        self.assertIn("unknown operator 'no.such_operator'", bad.reasons[0])
        self.refuses(kiln.ModelError, "kiln.import_check() has no option 'bake'", kiln.import_check, DIGITS, bake=True)

    def test_quantize(self):
        images = numpy.load("models/digits/calibration/image.npy")
        report = kiln.quantize(DIGITS, self.path("int8.onnx"), {"image": images}, samples=20)
        self.assertIn("conv1", report)
        found = kiln.compile(self.path("int8.onnx")).load()(numpy.load("models/digits/image.npy"))
        numpy.testing.assert_allclose(found, numpy.load("models/digits/probabilities.npy"), atol=0.05)
        self.assertGreater(abs(found - numpy.load("models/digits/probabilities.npy")).max(), 0)
        self.refuses(kiln.ModelError, "none", kiln.quantize, DIGITS, self.path("x.onnx"), "none")
        self.assertFalse(os.path.exists(self.path("x.onnx")))

    def test_tune(self):
        report = kiln.tune(DIGITS, self.path("digits.tuning"), time=0.5)
        self.assertIn("digits.tuning", report)
        model = kiln.compile(DIGITS, tuning=self.path("digits.tuning")).load()
        found = model(numpy.load("models/digits/image.npy"))
        numpy.testing.assert_allclose(found, numpy.load("models/digits/probabilities.npy"), rtol=2e-5, atol=1e-7)

    def test_version(self):
        self.assertEqual(kiln.version().splitlines()[0], "kiln " + kiln.__version__)

    def test_command_line(self):
        program = "import runpy, sys\nsys.argv[0] = 'kiln'\nrunpy.run_module('kiln', run_name='__main__')"
        process = self.python(program, "compile", "none.onnx", "-o", self.folder, stderr=subprocess.PIPE)
        _, error = process.communicate()
        self.assertEqual((process.returncode, error), (2, "kiln: none.onnx: no such file\n"))

    # Pickling and copying.

    def test_a_library_carries_its_files(self):
        for model in (MY_MOD, read(MY_MOD)):
            library = kiln.compile(model, module_name="my_mod")
            files = {path.name: path.read_bytes() for path in library.write(self.path("written"))}
            report = library.report()
            pickled = pickle.dumps(library)
            copies = [copy.copy(library), copy.deepcopy(library)]
            del library
            gc.collect()
            for other in [pickle.loads(pickled), *copies]:
                self.assertEqual({path.name: path.read_bytes() for path in other.write(self.path("again"))}, files)
                self.assertEqual(other.report(), report)
                numpy.testing.assert_array_equal(other.load()(self.a, self.b), [[4, 6]])

    def test_a_library_from_a_process_of_a_pool(self):
        program = """
import concurrent.futures, sys
import numpy
import kiln

if __name__ == "__main__":
    with concurrent.futures.ProcessPoolExecutor(1) as pool:
        library = pool.submit(kiln.compile, sys.argv[1]).result()
    print(library.load()(numpy.array([[1, 2]], "uint8"), numpy.array([[3, 4]], "uint8")).tolist())
"""
        self.assertEqual(self.python_file("-c", program, MY_MOD), "[[4, 6]]\n")

    # Killed processes.

    def test_the_compiler_ends_with_python(self):
        with open(self.path("slow.relay"), "wb") as file:
            file.write(slow_to_compile(300))
        place = self.path("tmp")
        os.mkdir(place)
        for number in (signal.SIGTERM, signal.SIGKILL):
            process = self.python(
                INTERRUPTED.format("compile(sys.argv[1])"), self.path("slow.relay"), stdout=subprocess.PIPE, environment={"TMPDIR": place}
            )
            self.addCleanup(process.stdout.close)
            self.assertEqual(process.stdout.readline(), "ready\n")
            while not (compiler := children(process.pid)):
                self.assertIsNone(process.poll(), "the compilation ended by itself")
                time.sleep(0.01)
            time.sleep(0.3)
            os.kill(process.pid, number)
            self.assertEqual(process.wait(), -number)
            for _ in range(1000):
                if not os.path.exists("/proc/{}".format(compiler[0])) or is_zombie(compiler[0]):
                    break
                time.sleep(0.01)
            else:
                self.fail("the compiler goes on")
            self.assertNotEqual(os.listdir(place), [])
        # The next process that makes a folder removes the folders of killed processes, but not those of the user.
        own = os.path.join(place, "kiln-models")
        os.mkdir(own)
        process = self.python("import kiln, sys; kiln.compile(sys.argv[1])", MY_MOD, environment={"TMPDIR": place})
        self.assertEqual(process.wait(), 0)
        self.assertEqual(os.listdir(place), ["kiln-models"])

    # Ctrl-C.

    def interrupt(self, call, *args):
        """Sends SIGINT to a Python process in `call` while its compiler runs."""
        os.mkdir(self.path("tmp"))
        process = self.python(INTERRUPTED.format(call), *args, stdout=subprocess.PIPE, environment={"TMPDIR": self.path("tmp")})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), "ready\n")
        while not (compiler := children(process.pid)):
            self.assertIsNone(process.poll(), "the compilation ended by itself")
            time.sleep(0.01)
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGINT)
        self.assertEqual(process.stdout.readline(), "interrupted\n")
        self.assertEqual(process.wait(), 0)
        self.assertFalse(os.path.exists("/proc/{}".format(compiler[0])))
        self.assertEqual(os.listdir(self.path("tmp")), [])

    def test_interrupted_compilation(self):
        with open(self.path("slow.relay"), "wb") as file:
            file.write(slow_to_compile(300))
        self.interrupt("compile(sys.argv[1])", self.path("slow.relay"))

    def test_interrupted_tuning(self):
        self.interrupt("tune(sys.argv[1], sys.argv[2], time=60)", DIGITS, self.path("digits.tuning"))
        self.assertTrue(os.path.exists(self.path("digits.tuning")))


if __name__ == "__main__":
    unittest.main()
