# SPDX-License-Identifier: Apache-2.0
"""Lets each allocation of a call fail, one after the other, and prints the results of each call as JSON.

    LD_PRELOAD=libpreload.so faults.py FOLDER

FOLDER has the shared objects that soak.write_models makes. libpreload.so is the one of //tests/faults.
"""

import ctypes
import json
import os
import sys

import kiln
import numpy
from kiln import _runtime

_MALLOC = 1  # kMallocFault of tests/faults/faults.h
# The exception for every lack of memory, including one during the loading of a file.
_EXPECTED = MemoryError


class Faults:
    """Controls failing allocations of this process."""

    def __init__(self):
        library = ctypes.CDLL(None)
        self._begin, self._end, self.blocks = library.FaultsBegin, library.FaultsEnd, library.FaultsBlocks
        self._begin.argtypes = [ctypes.c_int, ctypes.c_long, ctypes.c_int]
        self._end.restype = self.blocks.restype = ctypes.c_long

    def count(self, function):
        """Returns the number of allocations in a call of `function`."""
        function()
        self._begin(_MALLOC, -1, 0)
        function()
        return self._end()

    def texts(self, function, number, and_all_behind):
        """Lets an allocation fail and returns a list with the message of the exception, empty if there is none."""
        texts = []
        self._begin(_MALLOC, number, and_all_behind)
        try:
            function()
        except _EXPECTED as error:
            self._end()
            texts.append(str(error))
        finally:
            self._end()
        return texts

    def each(self, function):
        """Lets every allocation fail, alone and with all later ones.

        `left_over` counts the blocks that the second pass leaks.
        """
        calls = self.count(function)
        for _ in range(2):
            before, texts = self.blocks(), []
            for number in range(calls):
                for and_all_behind in (0, 1):
                    texts += self.texts(function, number, and_all_behind)
            function()
            left_over = self.blocks() - before
        return {"calls": calls, "errors": len(texts), "texts": sorted(set(texts)), "left_over": left_over}


def main(folder):
    def path(name):
        return os.path.join(folder, name)

    my_mod, two, rows = (kiln.load(path(name), threads=1) for name in ("my_mod.so", "two.so", "rows.so"))
    a, out = numpy.ones((1, 2), "uint8"), numpy.zeros((1, 2), "uint8")
    x = numpy.zeros(25, "uint8")[1:].view("float32").reshape(2, 3)  # no element is aligned
    total, smaller = numpy.zeros((2, 3), "float32"), numpy.zeros((2, 3), "int32")
    values, index = numpy.zeros(2, "float32"), numpy.full(1, 9, "int32")

    def refused(error, function):
        try:
            function()
        except error:
            return
        raise AssertionError("not refused")

    def run_anew(*args, **options):
        """Calls the model without a workspace that an earlier call left."""
        kiln.trim_workspaces()
        my_mod(*args, **options)

    faults = Faults()
    functions = {
        "run": lambda: run_anew(a, a, out=out),
        "run for new outputs": lambda: run_anew(a, a),
        "run on copies": lambda: two(x, x, out=(total, smaller)),
        "load": lambda: _runtime.load(path("my_mod.so"), -1, ()),
        "refused values": lambda: refused(kiln.ModelError, lambda: rows(values, index)),
        "damaged": lambda: refused(kiln.ModelError, lambda: _runtime.load(path("damaged.so"), -1, ())),
    }
    print(json.dumps({name: faults.each(function) for name, function in functions.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
