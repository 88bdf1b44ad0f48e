# SPDX-License-Identifier: Apache-2.0
"""Runs the Python code of docs/pytorch.md and docs/text_generation.md, if a Python has PyTorch.

The fences of a page run in order as one program in an empty folder. The Python is the test's own, or the one in KILN_TORCH_PYTHON:

  bazel test //tests/docs:pytorch_pages_test --test_env=KILN_TORCH_PYTHON=/path/of/venv/bin/python
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

import kiln

PAGES = sys.argv[1:]
PYTHON = os.environ.get("KILN_TORCH_PYTHON", sys.executable)
PACKAGES = ["torch", "torchvision", "onnxscript"]
# The output of each page, as a regular expression.
PRINTS = {"text_generation.md": r"^\[\d+(, \d+){19}\]$", "pytorch.md": ""}

_FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LACKS = "import importlib.util; print(*[name for name in {!r} if importlib.util.find_spec(name) is None])"


def program(page):
    with open(page, encoding="utf-8") as file:
        return "\n".join(_FENCE.findall(file.read()))


def lacking():
    """Returns the packages that the Python lacks."""
    return subprocess.check_output([PYTHON, "-c", _LACKS.format(PACKAGES)], text=True).split()


class PyTorchPagesTest(unittest.TestCase):
    def test_pages(self):
        self.assertEqual(set(PRINTS), {os.path.basename(page) for page in PAGES})
        missing = lacking()
        if missing:
            reason = "{} lacks {}; KILN_TORCH_PYTHON names another Python".format(PYTHON, ", ".join(missing))
            print("not run:", reason)
            self.skipTest(reason)
        environment = dict(os.environ, PYTHONPATH=os.path.dirname(os.path.dirname(kiln.__file__)))
        for page in PAGES:
            with self.subTest(page), tempfile.TemporaryDirectory() as folder:
                result = subprocess.run(
                    [PYTHON, "-c", program(page)],
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    text=True,
                )
                self.assertEqual(result.returncode, 0, result.stderr[-2000:])
                self.assertRegex(result.stdout, re.compile(PRINTS[os.path.basename(page)], re.MULTILINE))

    def test_no_page_downloads_weights(self):
        weights = [each for page in PAGES for each in re.findall(r"weights=([^,)\s]+)", program(page))]
        self.assertEqual(set(weights), {"None"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
