# SPDX-License-Identifier: Apache-2.0
"""Calls of models from Python: results, and errors for wrong arguments."""

import copy
import datetime
import errno
import gc
import hashlib
import os
import pickle
import re
import signal
import sys
import threading
import unittest

import kiln
import numpy
from python.tests.case import DIGITS, MY_MOD, TWO_OUTPUTS, Case, sum_of


class Exported:
    """Memory that is accessible only through DLPack, like a tensor of another library."""

    def __init__(self, array, device=1):
        self._array, self._device = array, device

    def __dlpack__(self, **kwargs):
        return self._array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self._device, 0


class ModelTest(Case):
    @classmethod
    def setUpClass(cls):
        cls.image = numpy.load("models/digits/image.npy")
        cls.probabilities = numpy.load("models/digits/probabilities.npy")
        cls.digits = kiln.compile(DIGITS).load()
        cls.my_mod = kiln.compile(MY_MOD).load()
        cls.two = kiln.compile(TWO_OUTPUTS).load()
        cls.a = numpy.array([[1, 2]], "uint8")
        cls.b = numpy.array([[3, 4]], "uint8")
        cls.x = numpy.arange(6, dtype="float32").reshape(2, 3)
        cls.y = cls.x[::-1].copy()

    # Results.

    def test_digits(self):
        found = self.digits(self.image)
        self.assertEqual((found.dtype, found.shape), (numpy.dtype("float32"), (1, 10)))
        numpy.testing.assert_allclose(found, self.probabilities, rtol=2e-5, atol=1e-7)

    def test_describes_itself(self):
        self.assertEqual(self.digits.name, "digits")
        self.assertEqual(self.digits.inputs, (kiln.TensorInfo("image", numpy.dtype("float32"), (1, 1, 8, 8)),))
        self.assertEqual(repr(self.my_mod), "<kiln.Model my_mod: a uint8[1, 2], b uint8[1, 2] -> output uint8[1, 2]>")

    def test_quantization(self):
        """A scale of the whole tensor is known. One scale for each channel, and none, give None."""
        source = b"""#[version = "0.0.5"]
def @main(%q: Tensor[(1, 2), int8], %c: Tensor[(1, 2), int8], %f: Tensor[(1, 2), float32],
          input_scales=[[0.5f], [0.25f, 0.75f], []], input_zero_points=[[-3], [0, 1], []], input_axes=[0, 1, 0],
          output_scales=[[0.1f]]) {
  add(%q, add(%c, cast(%f, dtype="int8")))
}
"""
        for executor in ("aot", "graph"):
            model = kiln.compile(source, executor=executor).load()
            self.assertEqual([(info.scale, info.zero_point) for info in model.inputs], [(0.5, -3), (None, None), (None, None)])
            (output,) = model.outputs
            self.assertEqual((output.scale, output.zero_point), (float(numpy.float32(0.1)), 0))
        name, dtype, shape = info = model.inputs[0]
        self.assertEqual((name, dtype, shape), ("q", numpy.dtype("int8"), (1, 2)))
        self.assertEqual(repr(info), "TensorInfo(name='q', dtype=dtype('int8'), shape=(1, 2), scale=0.5, zero_point=-3)")
        self.assertEqual(repr(model.inputs[2]), "TensorInfo(name='f', dtype=dtype('float32'), shape=(1, 2))")
        for other in (pickle.loads(pickle.dumps(info)), copy.copy(info)):
            self.assertEqual((other, other.scale, other.zero_point), (info, 0.5, -3))

    def test_bytes(self):
        """`nbytes` is the sum of the pools in the library's report."""
        for options in ({}, {"executor": "graph"}):
            library = kiln.compile(DIGITS, **options)
            report = library.report()
            pools = [re.search(words + r" (\d+)", report).group(1) for words in ("read-only data: constants", "memory plan: workspace")]
            self.assertEqual(library.load().nbytes, sum(map(int, pools)))
        # The sum of two arrays needs no constants and no workspace.
        self.assertEqual(self.my_mod.nbytes, 0)

    def test_number_of_threads_of_a_model(self):
        library = kiln.compile(MY_MOD)
        self.assertEqual(library.load(threads=3).num_threads, 3)
        self.assertEqual(library.load(cpus=[min(os.sched_getaffinity(0))]).num_threads, 1)
        self.assertEqual(self.my_mod.num_threads, self.digits.num_threads)
        self.assertGreaterEqual(self.my_mod.num_threads, 1)
        model = library.load(threads=2)
        model.close()
        self.refuses(kiln.ModelError, "the model is closed", lambda: model.num_threads)

    def test_origin(self):
        with open(DIGITS, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
        origin = self.digits.origin
        self.assertEqual((origin.compiler, origin.model_sha256), ("kiln " + kiln.__version__, digest))
        self.assertRegex(origin.options_sha256, r"\A[0-9a-f]{64}\Z")
        self.assertEqual(origin.properties, {})

    def test_properties(self):
        """The texts of the file about itself, here the names of the classes in ONNX's metadata_props."""
        entry = b"\x0a\x05names\x12\x08cat, dog"  # a StringStringEntryProto
        with open(DIGITS, "rb") as file:
            model = file.read() + b"\x72" + bytes([len(entry)]) + entry
        for options in ({}, {"executor": "graph"}):
            self.assertEqual(kiln.compile(model, **options).load().origin.properties, {"names": "cat, dog"})

    def test_by_position_and_by_name(self):
        a, b = numpy.array([[10, 20]], "uint8"), self.b
        for found in (self.my_mod(a, b), self.my_mod(a, b=b), self.my_mod(b=b, a=a)):
            self.assertEqual(found.tolist(), [[13, 24]])

    def test_several_outputs(self):
        found = self.two(self.x, self.y)
        self.assertIsInstance(found, kiln.Outputs)
        total, smaller = found
        numpy.testing.assert_array_equal(total, self.x + self.y)
        numpy.testing.assert_array_equal(smaller, (self.x < self.y).astype("int32"))
        first, second = found.keys()
        self.assertIs(found[first], total)
        self.assertIs(dict(found)[second], smaller)
        self.assertIs(found[-1], smaller)
        self.assertEqual([name for name, _ in found.items()], [info.name for info in self.two.outputs])
        self.refuses(KeyError, "there is no output 'z'", lambda: found["z"])
        copy = pickle.loads(pickle.dumps(found))
        numpy.testing.assert_array_equal(copy[first], total)

    def test_all_types(self):
        dtypes = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
        params = ", ".join(f"%{dtype}_in: Tensor[(3), {dtype}]" for dtype in dtypes)
        results = ", ".join(f"reshape(%{dtype}_in, newshape=[1, 3])" for dtype in dtypes)
        model = kiln.compile(f'#[version = "0.0.5"]\ndef @main({params}) {{\n  ({results})\n}}\n'.encode()).load()
        inputs = [numpy.array([0, 1, 5]).astype(dtype) for dtype in dtypes]
        for found, expected in zip(model(*inputs), inputs):
            self.assertEqual((found.dtype, found.tolist()), (expected.dtype, [expected.tolist()]))

    def test_scalars(self):
        model = kiln.compile(b'#[version = "0.0.5"]\ndef @main(%x: float32, %y: float32) {\n  add(%x, %y)\n}\n').load()
        found = model(numpy.float32(2), numpy.array(3, "float32"))
        self.assertEqual((found.shape, float(found)), ((), 5))
        self.refuses(TypeError, "input 'x': found float, wanted an array", model, 2.0, 3.0)

    def test_no_inputs(self):
        self.assertEqual(float(kiln.compile(b'#[version = "0.0.5"]\ndef @main() {\n  add(2f, 3f)\n}\n').load()()), 5)

    def test_addresses(self):
        """Memory that is only aligned to its elements works on every level of x86-64."""
        expected = self.digits(self.image)
        for options in ({}, {"executor": "graph"}, {"target": "x86-64"}, {"codegen": "c"}):
            model = kiln.compile(DIGITS, **options).load()
            reference = model(self.image)
            numpy.testing.assert_allclose(reference, expected, rtol=2e-5, atol=1e-7)
            memory = numpy.zeros(100, "float32")
            for offset in range(1, 17, 3):
                image = memory[offset : offset + 64].reshape(self.image.shape)
                image[...] = self.image
                out = memory[offset + 64 : offset + 74].reshape(1, 10)
                numpy.testing.assert_array_equal(model(image, out=out), reference)

    def test_outputs_are_new_each_time(self):
        first, second = self.my_mod(self.a, self.b), self.my_mod(self.b, self.b)
        self.assertEqual((first.tolist(), second.tolist()), ([[4, 6]], [[6, 8]]))
        self.assertTrue(first.flags.owndata and first.flags.writeable)

    def test_dlpack(self):
        found = self.my_mod(Exported(self.a), Exported(self.b))
        self.assertEqual(found.tolist(), [[4, 6]])
        self.refuses(TypeError, "input 'b': found memory of a device (DLPack's type 2)", self.my_mod, self.a, Exported(self.b, device=2))

        class Differentiated(Exported):
            def __dlpack__(self, **kwargs):
                raise RuntimeError("use tensor.detach()")

        words = "input 'a': NumPy cannot take it by DLPack: use tensor.detach()"
        self.refuses(TypeError, words, self.my_mod, Differentiated(self.a), self.b)

    def test_other_arrays(self):
        class Convertible:
            def __array__(self, dtype=None, copy=None):
                return numpy.array([[1, 2]], "uint8")

        numpy.save(self.path("b.npy"), self.b)
        mapped = numpy.load(self.path("b.npy"), mmap_mode="r")
        self.assertEqual(self.my_mod(Convertible(), mapped).tolist(), [[4, 6]])

    # Arrays with the wrong layout, type or shape.

    def test_arrays_with_gaps_are_copied(self):
        wide = numpy.zeros((2, 6), "float32")
        wide[:, ::2] = self.x
        odd = numpy.zeros(25, "uint8")[1:].view("float32").reshape(2, 3)
        odd[...] = self.x
        self.assertFalse(odd.flags.aligned)
        for x in (wide[:, ::2], numpy.asfortranarray(self.x), self.x[:, ::-1][:, ::-1], odd, self.y[::-1]):
            numpy.testing.assert_array_equal(self.two(x, self.y)[0], self.x + self.y)

    def test_types(self):
        for dtype in ("float64", "int32", "float16", "complex64", "bool", ">f4", "U4", "O"):
            with self.subTest(dtype):
                self.refuses(
                    TypeError,
                    "input 'y': found {}, wanted float32; array.astype('float32') converts".format(numpy.dtype(dtype)),
                    self.two,
                    self.x,
                    numpy.zeros((2, 3), dtype),
                )

    def test_shapes(self):
        for shape in ((3, 2), (2, 3, 1), (6,), (), (2, 0), (1, 3)):
            with self.subTest(shape):
                words = "input 'x': found the shape {}, wanted (2, 3)".format(shape)
                self.refuses(ValueError, words, self.two, numpy.zeros(shape, "float32"), self.y)

    def test_what_is_no_array(self):
        for value in (None, 1, [[1, 2]], "ab", b"ab", object(), {}, int):
            with self.subTest(repr(value)):
                found = "input 'a': found {}, wanted an array".format(type(value).__name__)
                self.refuses(TypeError, found, self.my_mod, value, self.b)

    def test_array_interfaces_that_are_wrong(self):
        class Claims:
            def __init__(self, interface):
                self.interface = interface

            @property
            def __array_struct__(self):
                if isinstance(self.interface, Exception):
                    raise self.interface
                return self.interface

        for interface in (None, 7, self.a, (self.a,), KeyError("a"), datetime.datetime_CAPI):
            self.refuses(TypeError, "input 'a': found Claims, wanted an array", self.my_mod, Claims(interface), self.b)

    def test_an_array_whose_code_closes_the_model(self):
        """The running call ends normally."""
        model = kiln.compile(MY_MOD).load()

        class Closes:
            @property
            def __array_struct__(_self):
                model.close()
                return self.a.__array_struct__

        self.assertEqual(model(Closes(), self.b).tolist(), [[4, 6]])
        self.refuses(kiln.ModelError, "the model is closed", model, self.a, self.b)

    def test_an_array_whose_code_is_interrupted(self):
        """Ctrl-C and a lack of memory do not count as errors of the array."""
        for error in (KeyboardInterrupt, MemoryError):

            class Raises:
                @property
                def __array_struct__(self):
                    raise error("here")

            self.refuses(error, "here", self.my_mod, Raises(), self.b)

    def test_values_that_the_model_refuses(self):
        rows = b'#[version = "0.0.5"]\ndef @main(%x: Tensor[(2), float32], %i: Tensor[(1), int32]) {\n  take(%x, %i, axis=0)\n}\n'
        model = kiln.compile(rows, check_indices=True).load()
        x = numpy.array([5, 7], "float32")
        self.assertEqual(model(x, numpy.array([1], "int32")).tolist(), [7])
        self.refuses(kiln.ModelError, "found index 9 in indices 'i', wanted 0 to 1", model, x, numpy.array([9], "int32"))

    def test_names(self):
        a, b = self.a, self.b
        for words, args, kwargs in (
            ("'my_mod' got 0 inputs, wanted 2: a uint8[1, 2], b uint8[1, 2]", (), {}),
            ("'my_mod' got 3 inputs, wanted 2", (a, b, a), {}),
            ("'my_mod' got 1 inputs, wanted 2", (a,), {}),
            ("has no input 'c'; it has 'a', 'b'", (a,), {"b": b, "c": a}),
            ("lacks the input 'b'; it takes 'a', 'b'", (), {"a": a}),
            ("got 'a' by position and by name", (a,), {"a": a}),
            ("got 'b' by position and by name", (a, b, a), {"b": b}),
        ):
            with self.subTest(words):
                self.refuses(TypeError, words, self.my_mod, *args, **kwargs)

    # Outputs in the caller's memory.

    def test_out(self):
        out = numpy.zeros((1, 2), "uint8")
        self.assertIs(self.my_mod(self.a, self.b, out=out), out)
        self.assertEqual(out.tolist(), [[4, 6]])
        self.my_mod(self.b, self.b, out=[out])
        self.assertEqual(out.tolist(), [[6, 8]])
        total, smaller = numpy.empty((2, 3), "float32"), numpy.empty((2, 3), "int32")
        first, second = (info.name for info in self.two.outputs)
        for out in ((total, smaller), {second: smaller, first: total}):
            total[...] = 0
            found = self.two(self.x, self.y, out=out)
            self.assertIs(found[0], total)
            numpy.testing.assert_array_equal(total, self.x + self.y)

    def test_out_at_any_address(self):
        odd = numpy.zeros(25, "uint8")[1:].view("float32").reshape(2, 3)
        self.assertFalse(odd.flags.aligned)
        self.two(self.x, self.y, out=(odd, numpy.empty((2, 3), "int32")))
        numpy.testing.assert_array_equal(odd, self.x + self.y)

    def test_out_that_cannot_be_written(self):
        fixed = numpy.zeros((1, 2), "uint8")
        fixed.flags.writeable = False
        for error, words, out in (
            (ValueError, "output 'output': the array is read-only", fixed),
            (ValueError, "output 'output': the array is not contiguous", numpy.zeros((1, 4), "uint8")[:, ::2]),
            (ValueError, "output 'output': found the shape (2, 1), wanted (1, 2)", numpy.zeros((2, 1), "uint8")),
            (TypeError, "output 'output': found int8, wanted uint8", numpy.zeros((1, 2), "int8")),
            (TypeError, "output 'output': found list, wanted a numpy.ndarray", [[0, 0]]),
            (TypeError, "out: found int", 7),
            (TypeError, "got 2 arrays for outputs, wanted 1", [fixed, fixed]),
            (TypeError, "out has 'other', wanted 'output'", {"other": fixed}),
        ):
            with self.subTest(words):
                self.refuses(error, words, self.my_mod, self.a, self.b, out=out)
        before = self.a.copy()
        self.refuses(ValueError, "overlaps input 'a'", self.my_mod, self.a, self.b, out=self.a)
        self.assertEqual(self.a.tolist(), before.tolist())
        memory = numpy.zeros(7, "float32")
        words = "the array overlaps output '{}'".format(self.two.outputs[0].name)
        halves = (memory[:6].reshape(2, 3), memory[1:].view("int32").reshape(2, 3))
        self.refuses(ValueError, words, self.two, self.x, self.y, out=halves)

    # Lifetimes of objects.

    def test_outlives_its_library(self):
        library = kiln.compile(MY_MOD)
        model = library.load()
        del library
        gc.collect()
        found = model(self.a, self.b)
        del model
        gc.collect()
        self.assertEqual(found.tolist(), [[4, 6]])

    def test_inputs_may_die(self):
        found = self.my_mod(numpy.array([[1, 2]], "uint8"), numpy.array([[3, 4]], "uint8"))
        gc.collect()
        self.assertEqual(found.tolist(), [[4, 6]])

    def test_closed(self):
        with kiln.compile(MY_MOD).load() as model:
            self.assertEqual(model(self.a, self.b).tolist(), [[4, 6]])
        model.close()
        self.refuses(kiln.ModelError, "the model is closed; load it again", model, self.a, self.b)
        self.assertIn("my_mod", repr(model))

    def test_is_not_pickled(self):
        for fails in (pickle.dumps, copy.copy, copy.deepcopy):
            self.refuses(TypeError, "Pass the path of its shared object, or the kiln.Library", fails, self.my_mod)

    def test_calls_leave_nothing_behind(self):
        """Neither a successful nor a failing call keeps references to its arguments."""
        wrong = numpy.zeros((2, 2), "uint8")
        for _ in range(100):
            self.my_mod(self.a, self.b)
            with self.assertRaises(ValueError):
                self.my_mod(self.a, wrong)
        before = sys.getrefcount(self.a), sys.getrefcount(wrong), sys.getrefcount(self.my_mod.outputs[0].dtype)
        for _ in range(1000):
            self.my_mod(self.a, self.b)
            with self.assertRaises(ValueError):
                self.my_mod(self.a, wrong)
        after = sys.getrefcount(self.a), sys.getrefcount(wrong), sys.getrefcount(self.my_mod.outputs[0].dtype)
        self.assertEqual(before, after)

    # Threads and processes.

    def test_threads(self):
        model = kiln.compile(DIGITS).load(threads=2)
        images = [self.image * factor for factor in numpy.linspace(0.2, 1, 4, dtype="float32")]
        expected = [model(image) for image in images]
        wrong = []

        def work(index):
            for _ in range(100):
                if not numpy.array_equal(model(images[index]), expected[index]):
                    wrong.append(index)

        threads = [threading.Thread(target=work, args=(index,)) for index in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_closed_by_another_thread(self):
        model = kiln.compile(DIGITS).load()
        found = []

        def work():
            try:
                while True:
                    found.append(model(self.image))
            except kiln.ModelError:
                pass

        thread = threading.Thread(target=work)
        thread.start()
        while not found:
            pass
        model.close()
        thread.join()
        numpy.testing.assert_allclose(found[-1], self.probabilities, rtol=2e-5, atol=1e-7)

    def test_fork(self):
        model = kiln.compile(DIGITS).load(threads=2)
        expected = model(self.image)
        child = os.fork()
        if child == 0:
            signal.alarm(20)  # ends a child that hangs
            os._exit(0 if numpy.array_equal(model(self.image), expected) else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        numpy.testing.assert_array_equal(model(self.image), expected)

    def test_number_of_threads(self):
        load = kiln.compile(MY_MOD).load
        self.refuses(kiln.ModelError, "found -1 threads", load, threads=-1)
        self.refuses(kiln.ModelError, "5000 threads", load, threads=5000)
        self.refuses(TypeError, "threads: found str", load, threads="2")
        self.refuses(kiln.ModelError, "found CPU -1", load, cpus=[-1])
        self.refuses(TypeError, "", load, cpus=["a"])
        for options in ({"threads": 0}, {"threads": 2}, {"threads": 2, "cpus": [0]}, {"cpus": (0,)}):
            self.assertEqual(load(**options)(self.a, self.b).tolist(), [[4, 6]])

    def test_threads_are_the_models(self):
        source = sum_of(1 << 20).replace(b"sum(%x, axis=[0])", b"exp(%x)")
        x = numpy.ones(1 << 20, "float32")
        library = kiln.compile(source, threads=3)
        one, three = library.load(threads=1), library.load(threads=3)
        one(x)
        before = len(os.listdir("/proc/self/task"))
        three(x)
        self.assertEqual(len(os.listdir("/proc/self/task")), before + 2)
        three.close()
        self.assertEqual(len(os.listdir("/proc/self/task")), before)


class LoadTest(Case):
    """Files that are not models."""

    def setUp(self):
        super().setUp()
        library = kiln.compile(MY_MOD)
        (self.so,) = [str(path) for path in library.write(self.folder) if path.suffix == ".so"]
        with open(self.so, "rb") as file:
            self.bytes = file.read()

    def refuses_file(self, words, content):
        path = self.path("other.so")
        with open(path, "wb") as file:
            file.write(content)
        with self.assertRaises(kiln.ModelError) as caught:
            kiln.load(path)
        self.assertIn(words, str(caught.exception))
        self.assertIn(path, str(caught.exception))

    def test_damaged(self):
        self.refuses_file("is not a shared object", b"")
        self.refuses_file("is not a shared object", b"Dear diary\n" * 100)
        for size in (1, 64, 1000, len(self.bytes) // 2):
            self.refuses_file("", self.bytes[:size])
        changed = bytearray(self.bytes)
        changed[len(changed) // 2] ^= 1
        self.refuses_file("checksum", bytes(changed))

    def test_foreign(self):
        with open(kiln._runtime.__file__, "rb") as file:
            self.refuses_file("not a compiled model", file.read())
        other_machine = bytearray(self.bytes)
        other_machine[18] = 40
        self.refuses_file("", bytes(other_machine))

    def test_another_cpu(self):
        """Only CPUs of AMD's Bulldozer family have XOP."""
        library = kiln.compile(MY_MOD, target="x86-64 -mattr=+xop").write(self.folder)[-1]
        self.refuses_file("is built for x86-64 with xop, this CPU lacks ", library.read_bytes())

    def test_no_file(self):
        with self.assertRaises(FileNotFoundError):
            kiln.load(self.path("none.so"))
        with self.assertRaises(kiln.ModelError):
            kiln.load(self.folder)
        with self.assertRaises(TypeError):
            kiln.load(7)

    def test_a_file_that_may_not_be_read(self):
        with open(self.path("closed.so"), "wb") as file:
            file.write(self.bytes)
        os.chmod(self.path("closed.so"), 0)
        if os.geteuid() == 0:  # root can read every file
            os.chmod(self.folder, 0o755)
            try:
                os.seteuid(65534)
            except OSError:
                self.skipTest("this sandbox has no other user")
            self.addCleanup(os.seteuid, 0)
        with self.assertRaises(PermissionError) as caught:
            kiln.load(self.path("closed.so"))
        self.assertEqual(caught.exception.errno, errno.EACCES)
        self.assertIn("closed.so", str(caught.exception))

    def test_replaced(self):
        """Loading a path gives its current contents, even while an older model of the same path is loaded."""
        a, b = numpy.array([[1, 2]], "uint8"), numpy.array([[3, 4]], "uint8")
        old = kiln.load(self.so)
        with open(MY_MOD, "rb") as file:
            product = file.read().replace(b"%a + %b", b"%a * %b")
        kiln.compile(product, module_name="my_mod").write(self.folder)
        new = kiln.load(self.so)
        self.assertEqual((old(a, b).tolist(), new(a, b).tolist()), ([[4, 6]], [[3, 8]]))
        os.remove(self.so)
        self.assertEqual((old(a, b).tolist(), new(a, b).tolist()), ([[4, 6]], [[3, 8]]))


if __name__ == "__main__":
    unittest.main()
