# SPDX-License-Identifier: Apache-2.0
"""Loads and runs models and provokes every refusal, again and again. Prints the growth of memory use as JSON.

    soak.py FOLDER ROUNDS [leak]

Runs six batches of ROUNDS rounds. Each number is the median of its growth from one batch to the next. FOLDER has the
shared objects that write_models makes. With `leak`, each round leaks a Python object and a block of the C library, to
check that both are found.
"""

import ctypes
import gc
import json
import os
import statistics
import sys
import threading

import kiln
import numpy

_ROWS = b"""#[version = "0.0.5"]
def @main(%x: Tensor[(2), float32], %i: Tensor[(1), int32]) {
  take(%x, %i, axis=0)
}
"""
# Growth that happens once, such as that of a table in Python, affects one batch. A leak affects all. An additional
# first batch fills caches.
BATCHES = 5


def write_models(folder, two_outputs, my_mod, **options):
    """Writes the files that a round loads: small models, and files that are not models."""
    kiln.compile(my_mod, module_name="my_mod", **options).write(folder)
    kiln.compile(two_outputs, module_name="two", **options).write(folder)
    kiln.compile(_ROWS, module_name="rows", check_indices=True, **options).write(folder)
    with open(os.path.join(folder, "my_mod.so"), "rb") as file:
        content = bytearray(file.read())
    content[len(content) // 2] ^= 1
    for name, damaged in (("damaged.so", content), ("short.so", content[:100]), ("empty.so", b"")):
        with open(os.path.join(folder, name), "wb") as file:
            file.write(damaged)


class Odd:
    """An object whose array attribute calls a function."""

    def __init__(self, function):
        self._function = function

    @property
    def __array_struct__(self):
        return self._function()


def refuses(error, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except error:
        return
    raise AssertionError(f"not refused: {args} {kwargs}")


class Round:
    """The actions of one round. All rounds use the same arrays."""

    def __init__(self, folder):
        self._folder = folder
        self.a, self.b = numpy.array([[1, 2]], "uint8"), numpy.array([[3, 4]], "uint8")
        self.x = numpy.arange(6, dtype="float32").reshape(2, 3)
        self.fixed = numpy.zeros((1, 2), "uint8")
        self.fixed.flags.writeable = False
        self.odd_address = numpy.zeros(25, "uint8")[1:].view("float32").reshape(2, 3)

    def load(self, name):
        return kiln.load(os.path.join(self._folder, name))

    def __call__(self):
        with self.load("my_mod.so") as model:
            self.calls(model)
            self.wrong_inputs(model)
            self.wrong_outputs(model)
        refuses(kiln.ModelError, model, self.a, self.b)
        self.closed_by_its_argument(self.load("my_mod.so"))
        self.closed_by_another_thread(self.load("my_mod.so"))
        self.several_outputs(self.load("two.so"))
        self.refused_values(self.load("rows.so"))
        for name in ("damaged.so", "short.so", "empty.so"):
            refuses(kiln.ModelError, self.load, name)
        refuses(FileNotFoundError, self.load, "none.so")
        refuses(kiln.ModelError, kiln.load, os.path.join(self._folder, "my_mod.so"), threads=-1)

    def calls(self, model):
        a, b = self.a, self.b
        out = numpy.empty((1, 2), "uint8")
        for found in (model(a, b), model(b=b, a=a), model(a, b, out=out), model(numpy.array([[1, 2]], "uint8"), b)):
            assert found.tolist() == [[4, 6]]
        gaps = numpy.repeat(a, 2, axis=1)[:, ::2]
        assert model(gaps, b).tolist() == [[4, 6]]
        assert repr(model) and model.inputs and model.name == "my_mod"

    def wrong_inputs(self, model):
        a, b = self.a, self.b
        for value in (a.astype("float32"), [[1, 2]], None, a.astype(">u2"), numpy.array([[None, None]])):
            refuses(TypeError, model, value, b)
        for value in (a.reshape(2, 1), numpy.zeros((1, 3), "uint8"), numpy.zeros((), "uint8")):
            refuses(ValueError, model, a, value)
        refuses(TypeError, model, a)
        refuses(TypeError, model, a, b, a)
        refuses(TypeError, model, a, c=b)
        refuses(TypeError, model, a, a=b)
        for function in (lambda: None, lambda: (a,), lambda: 1 // 0):
            refuses(TypeError, model, Odd(function), b)

    def wrong_outputs(self, model):
        a, b = self.a, self.b
        for out in (self.fixed, a, numpy.zeros((1, 4), "uint8")[:, ::2], numpy.zeros((2, 1), "uint8")):
            refuses(ValueError, model, a, b, out=out)
        for out in (7, [a, b], {"other": a}, numpy.zeros((1, 2), "int8"), [[0, 0]]):
            refuses(TypeError, model, a, b, out=out)

    def closed_by_its_argument(self, model):
        def close():
            model.close()
            return self.a.__array_struct__

        assert model(Odd(close), self.b).tolist() == [[4, 6]]
        refuses(kiln.ModelError, model, self.a, self.b)

    def closed_by_another_thread(self, model):
        started = threading.Event()

        def work():
            try:
                while True:
                    model(self.a, self.b)
                    started.set()
            except kiln.ModelError:
                pass

        thread = threading.Thread(target=work)
        thread.start()
        started.wait()
        model.close()
        thread.join()

    def several_outputs(self, model):
        x = self.x
        total, smaller = model(x, x)
        assert dict(model(x, x)).keys() == set(info.name for info in model.outputs)
        # No element is aligned, so the model runs on copies.
        model(self.odd_address, x, out=(self.odd_address + 0, numpy.empty((2, 3), "int32")))
        model(x, x, out=(self.odd_address, smaller))
        refuses(ValueError, model, x, x, out=(total, total.view("int32")))
        refuses(KeyError, lambda: model(x, x)["none"])
        del model
        assert (total == x + x).all()

    def refused_values(self, model):
        x = numpy.array([5, 7], "float32")
        assert model(x, numpy.array([1], "int32")).tolist() == [7]
        refuses(kiln.ModelError, model, x, numpy.array([9], "int32"))


class _Mallinfo2(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")
    ]


def left_over():
    """Counts objects that the garbage collector knows, blocks of Python's allocator, and bytes of the C library."""
    gc.collect()
    mallinfo2 = ctypes.CDLL(None).mallinfo2
    mallinfo2.restype = _Mallinfo2
    return {"objects": len(gc.get_objects()), "blocks": sys.getallocatedblocks(), "bytes": mallinfo2().uordblks}


def main(folder, rounds, planted=""):
    one_round = Round(folder)

    def repeat(times):
        for _ in range(times):
            one_round()
            if planted:
                ctypes.CDLL(None).malloc(64)
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(numpy.zeros(1)))

    repeat(int(rounds))
    counts = [left_over()]
    for _ in range(BATCHES):
        repeat(int(rounds))
        counts.append(left_over())
    print(json.dumps({key: statistics.median(after[key] - before[key] for before, after in zip(counts, counts[1:])) for key in counts[0]}))



if __name__ == "__main__":
    main(*sys.argv[1:])
