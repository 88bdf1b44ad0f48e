# SPDX-License-Identifier: Apache-2.0
"""Large tensors are used in place, and calls do not accumulate memory."""

import re
import unittest

import kiln
import numpy
from python.tests.case import MY_MOD, Case, sum_of

_ELEMENTS = 25_000_000  # 100 MB

# A tensor of 20 MB lies between the two operators.
_SUMS = b"""#[version = "0.0.5"]
def @main(%x: Tensor[(5000000), float32]) {
  %0 = cumsum(%x, axis=0);
  max(%0)
}
"""


def growth_bytes(function):
    """Returns the largest growth of the process's memory while the function runs."""
    # Writing 5 resets the recorded peak to the current size.
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")

    def peak_bytes():
        with open("/proc/self/status") as file:
            return 1024 * int(re.search(r"^VmHWM:\s+(\d+) kB$", file.read(), re.M).group(1))

    before = peak_bytes()
    function()
    return peak_bytes() - before


class MemoryTest(Case):
    @classmethod
    def setUpClass(cls):
        cls.sum = kiln.compile(sum_of(_ELEMENTS)).load()

    def test_no_copy_of_a_large_input(self):
        memory = numpy.zeros(_ELEMENTS + 1, "float32")
        memory[::1000] = 1  # touches every page so that it is resident
        # First an address as NumPy aligns it, then one with an alignment that NumPy never uses.
        for x in (memory[:-1], memory[1:]):
            self.assertNotEqual(x.ctypes.data % 64, 0)
            found = []
            self.assertLess(growth_bytes(lambda: found.append(self.sum(x))), x.nbytes / 10)
            self.assertEqual(float(found[0]), _ELEMENTS / 1000)

    def test_a_copy_would_be_seen(self):
        """Checks the previous test's method: the copy of an array with gaps is detected."""
        x = numpy.zeros(2 * _ELEMENTS, "float32")[::2]
        self.assertGreater(growth_bytes(lambda: self.sum(x)), x.nbytes / 2)

    def test_idle_workspaces_are_given_back(self):
        model = kiln.compile(_SUMS).load()
        x = numpy.ones(5_000_000, "float32")
        kiln.trim_workspaces()
        model(x)
        self.assertGreaterEqual(kiln.trim_workspaces(), x.nbytes)
        self.assertEqual(kiln.trim_workspaces(), 0)
        self.assertEqual(float(model(x)), 5_000_000)

    def test_calls_and_loads_do_not_add_up(self):
        a = numpy.zeros((1, 2), "uint8")
        library = kiln.compile(MY_MOD)

        def work(times):
            for _ in range(times):
                model = library.load()
                for _ in range(100):
                    model(a, a)
                    with self.assertRaises(TypeError):
                        model(a, b=None)
                model.close()

        work(20)
        self.assertLess(growth_bytes(lambda: work(100)), 1_000_000)


if __name__ == "__main__":
    unittest.main()
