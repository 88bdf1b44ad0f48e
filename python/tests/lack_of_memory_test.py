# SPDX-License-Identifier: Apache-2.0
"""A lack of memory raises exceptions. There is no crash and no leak, and calls succeed once there is memory again."""

import json
import os
import subprocess
import unittest
import unittest.mock

import kiln
from kiln import command_line
from python.tests import soak
from python.tests.case import MY_MOD, TWO_OUTPUTS, Case

_FAULTS = os.path.abspath("tests/faults/libpreload.so")

# Needs two tensors of 100 MB between operators that are not fused.
_LARGE_WORKSPACE = b"""#[version = "0.0.5"]
def @main(%x: Tensor[(5000, 1), float32], %y: Tensor[(1, 5000), float32]) {
  %0 = multiply(%x, %y);
  %1 = cumsum(%0, axis=0);
  %2 = cumsum(%1, axis=1);
  max(%2)
}
"""

_LIMITED = """
import re, resource, sys, kiln, numpy

model = kiln.load(sys.argv[1], threads=1)
x, y = numpy.ones((5000, 1), "float32"), numpy.ones((1, 5000), "float32")
with open("/proc/self/status") as file:
    used_bytes = 1024 * int(re.search(r"VmSize:\\s+(\\d+) kB", file.read()).group(1))
_, hard = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (used_bytes + (50 << 20), hard))
for _ in range(3):
    try:
        print("result", float(model(x, y)))
    except MemoryError as error:
        print("MemoryError", error)
resource.setrlimit(resource.RLIMIT_AS, (hard, hard))
print("result", float(model(x, y)))
"""


class LackOfMemoryTest(Case):
    def test_every_allocation_fails_once(self):
        soak.write_models(self.folder, TWO_OUTPUTS, MY_MOD)
        program = os.path.join(os.path.dirname(__file__), "faults.py")
        calls = json.loads(self.python_file(program, self.folder, environment={"LD_PRELOAD": _FAULTS}))
        self.assertEqual(len(calls), 6)
        for name, found in calls.items():
            with self.subTest(name):
                self.assertGreater(found["calls"], 5)
                self.assertGreater(found["errors"], found["calls"])
                self.assertIn("there is no memory for the model's workspace and tensors", found["texts"])
                self.assertEqual(found["left_over"], 0)

    def test_a_workspace_that_does_not_fit(self):
        """Under RLIMIT_AS a call raises MemoryError. It succeeds after the limit is lifted."""
        (so,) = [path for path in kiln.compile(_LARGE_WORKSPACE).write(self.folder) if path.suffix == ".so"]
        process = self.python(_LIMITED, str(so), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        output, error = process.communicate()
        self.assertEqual(process.returncode, 0, error)
        *refused, last = output.splitlines()
        self.assertEqual(len(refused), 3)
        for line in refused:
            self.assertRegex(line, r"^MemoryError cannot allocate \d+ bytes")
        self.assertEqual(last, "result 25000000.0")

    def test_a_compiler_without_memory(self):
        """A model that needs more memory than the limit raises an exception and leaves no file and no process."""
        program = self.path("limited")
        with open(program, "w") as file:
            file.write('#!/bin/sh\nulimit -v 350000\nexec "{}" "$@"\n'.format(command_line.PROGRAM))
        os.chmod(program, 0o755)
        model = self.path("large.relay")
        with open(model, "wb") as file:
            file.truncate(1 << 30)
        os.mkdir(self.path("tmp"))
        with unittest.mock.patch("kiln.command_line.PROGRAM", program), unittest.mock.patch("tempfile.tempdir", self.path("tmp")):
            self.refuses(kiln.CompilerError, "out of memory", kiln.compile, model)
        self.assertEqual(os.listdir(self.path("tmp")), [])


if __name__ == "__main__":
    unittest.main()
