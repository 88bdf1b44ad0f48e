# SPDX-License-Identifier: Apache-2.0
"""soak.py leaks nothing, according to Python, the C library and valgrind.

    bazel test //python/tests:leak_test                            # a minute
    bazel test //python/tests:leak_test --test_arg=--rounds=5000   # a soak of as long as you like
"""

import json
import os
import platform
import shutil
import sys
import tempfile
import unittest
import xml.etree.ElementTree

from python.tests import soak
from python.tests.case import HAS_LLVM, MY_MOD, TWO_OUTPUTS, Case

_SOAK = os.path.abspath(soak.__file__)
_OPTION = "--rounds="
ROUNDS = int(next((argument[len(_OPTION) :] for argument in sys.argv if argument.startswith(_OPTION)), 100))
# A round takes about a hundred times as long under valgrind.
_ROUNDS_BELOW_VALGRIND = max(2, ROUNDS // 50)
_VALGRIND = ["valgrind", "--leak-check=full", "--show-leak-kinds=definite", "--num-callers=40", "--keep-debuginfo=yes", "--xml=yes"]
_LEAST_BYTES = 24  # smallest block that malloc returns
# The C library counts memory in its caches for each thread as used.
_NO_CACHES = {"MALLOC_ARENA_MAX": "1", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}


class LeakTest(Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="kiln-soak-")
        cls.addClassCleanup(folder.cleanup)
        cls.models = folder.name
        # A fixed target, because valgrind does not know all instructions of the host.
        options = {"target": "x86-64-v2"} if HAS_LLVM and platform.machine() == "x86_64" else {}
        soak.write_models(cls.models, TWO_OUTPUTS, MY_MOD, **options)

    def adds_up(self, *planted):
        """Returns the counts that grow with every round, and their growth in a batch of rounds."""
        growth = json.loads(self.python_file(_SOAK, self.models, str(ROUNDS), *planted, environment=_NO_CACHES))
        most = {"objects": ROUNDS / 2, "blocks": ROUNDS / 2, "bytes": ROUNDS * _LEAST_BYTES / 2}
        return {name: number for name, number in growth.items() if number >= most[name]}

    def test_nothing_adds_up(self):
        self.assertEqual(self.adds_up(), {})

    def test_what_adds_up_would_be_found(self):
        self.assertEqual(set(self.adds_up("leak")), {"blocks", "bytes"})

    def faults_below_valgrind(self, *planted):
        """Returns texts of leaks and wrong accesses that concern the package, because of their stacks or because they
        occur in every round.
        """
        report = self.path("valgrind.xml")
        rounds = str(_ROUNDS_BELOW_VALGRIND)
        all_rounds = _ROUNDS_BELOW_VALGRIND * (1 + soak.BATCHES)
        # Valgrind tracks blocks of malloc. PYTHONMALLOC lets Python use malloc for small objects, too.
        below = _VALGRIND + ["--xml-file=" + report]
        self.python_file(_SOAK, self.models, rounds, *planted, below=below, environment={"PYTHONMALLOC": "malloc"})
        faults = []
        for error in xml.etree.ElementTree.parse(report).iter("error"):
            objects = [frame.findtext("obj") or "" for frame in error.iter("frame")]
            ours = any(name.endswith("_runtime.abi3.so") or "kiln-" in name for name in objects)
            if ours or int(error.findtext("xwhat/leakedblocks") or 0) >= all_rounds:
                functions = [frame.findtext("fn") or "?" for frame in error.iter("frame")]
                faults.append("{} in {}".format(error.findtext("xwhat/text") or error.findtext("what"), " < ".join(functions)))
        return faults

    @unittest.skipUnless(shutil.which("valgrind"), "Debian's package valgrind is not installed")
    def test_below_valgrind(self):
        self.assertEqual(self.faults_below_valgrind(), [])

    @unittest.skipUnless(shutil.which("valgrind"), "Debian's package valgrind is not installed")
    def test_valgrind_finds_a_leak(self):
        self.assertRegex("\n".join(self.faults_below_valgrind("leak")), "definitely lost")


if __name__ == "__main__":
    unittest.main(argv=[argument for argument in sys.argv if not argument.startswith(_OPTION)])
