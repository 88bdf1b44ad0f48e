# SPDX-License-Identifier: Apache-2.0
"""What the tests of the package share: small models, and a folder of their own."""

import os
import subprocess
import sys
import tempfile
import unittest

import kiln

DIGITS = "models/digits/digits.onnx"
MY_MOD = "models/my_mod/my_mod.relay"

# Whether the compiler can make objects; else a C compiler makes shared objects of generated C.
HAS_LLVM = "llvm" in kiln.version().splitlines()[1]

# Two inputs and two outputs of different types and shapes.
TWO_OUTPUTS = b"""#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32], %y: Tensor[(2, 3), float32]) {
  (add(%x, %y), cast(less(%x, %y), dtype="int32"))
}
"""


def sum_of(elements):
    """A model that adds up a vector."""
    return '#[version = "0.0.5"]\ndef @main(%x: Tensor[({}), float32]) {{\n  sum(%x, axis=[0])\n}}\n'.format(elements).encode()


def slow_to_compile(layers):
    """A model of convolutions that are all different, so that each is compiled."""
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
    """A test in the folder of the tree, with an empty one at self.folder."""

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
        """A process with the same Python, which finds the package as this one does."""
        environment = _environment(kwargs.pop("environment", {}))
        return subprocess.Popen([sys.executable, "-c", program, *args], env=environment, text=True, **kwargs)

    def python_file(self, *words, below=(), environment=()):
        """What a program in a file prints with the same Python, which the command `below` runs."""
        command = [*below, sys.executable, *words]
        result = subprocess.run(command, env=_environment(environment), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout


def _environment(added):
    """That of a process that finds the package."""
    return {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(kiln.__file__)), **dict(added)}
