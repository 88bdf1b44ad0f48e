# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the package: small models, and a base class with a temporary folder."""

import os
import subprocess
import sys
import tempfile
import unittest

import kiln

DIGITS = "models/digits/digits.onnx"
MY_MOD = "models/my_mod/my_mod.relay"

# True if the compiler can generate objects. Otherwise a C compiler makes shared objects from generated C.
HAS_LLVM = "llvm" in kiln.version().splitlines()[1]

# A model with two inputs and two outputs of different types and shapes.
TWO_OUTPUTS = b"""#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]) {
  (add(%x, %y), cast(less(%x, %y), dtype="int32"))
}
"""


def sum_of(elements):
    """Returns a model that adds the elements of a vector."""
    return '#[version = "0.0.5"]\ndef @main(%x: Tensor[({}), float32]) {{\n  sum(%x, axis=[0])\n}}\n'.format(elements).encode()


def slow_to_compile(layers):
    """Returns a model of convolutions that are all different, so that each one is compiled."""
    lines = ['#[version = "0.0.5"]', "def @main(%x: Tensor[(1, 24, 24, 8), float32]) {"]
    last, channels = "%x", 8
    for i in range(layers):
        wanted = 9 + i
        lines.append('  %{} = full(0.5f, shape=[3, 3, {}, {}], dtype="float32");'.format(2 * i, channels, wanted))
        lines.append(
            "  %{} = nn.conv2d({}, %{}, padding=[1, 1, 1, 1], data_layout=\"NHWC\", kernel_layout=\"HWIO\");".format(
                2 * i + 1, last, 2 * i
            )
        )
        last, channels = "%{}".format(2 * i + 1), wanted
    return "\n".join(lines + ["  " + last, "}", ""]).encode()


class Case(unittest.TestCase):
    """A test that runs in the source tree and has an empty folder, self.folder."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def refuses(self, error, words, function, *args, **kwargs):
        with self.assertRaises(error) as caught:
            function(*args, **kwargs)
        self.assertIn(words, str(caught.exception))

    def python(self, program, *args, **kwargs):
        """Starts a process with the same Python interpreter, which can import the package."""
        environment = _environment(kwargs.pop("environment", {}))
        return subprocess.Popen([sys.executable, "-c", program, *args], env=environment, text=True, **kwargs)

    def python_file(self, *words, below=(), environment=()):
        """Runs a Python program with the same interpreter and returns its output.

        `below` is a command that runs the interpreter.
        """
        command = [*below, sys.executable, *words]
        result = subprocess.run(command, env=_environment(environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout


def _environment(added):
    """Returns the environment of a process that can import the package."""
    return {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(kiln.__file__)), **dict(added)}
