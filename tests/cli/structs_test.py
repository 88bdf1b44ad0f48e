# SPDX-License-Identifier: Apache-2.0
"""The structs in a library say what its metadata.json says, whatever code generator has made them."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
MODELS = [os.path.abspath(path) for path in sys.argv[1:]]


class StructsTest(unittest.TestCase):
    def kiln(self, *arguments):
        result = subprocess.run([KILN] + list(arguments), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return result.stdout

    def check(self, model, executor, codegen):
        with tempfile.TemporaryDirectory() as folder:
            self.kiln("compile", model, "-o", folder, "--module-name", "m", "--executor", executor, "--codegen", codegen)
            with open(os.path.join(folder, "m.metadata.json"), encoding="utf-8") as file:
                self.assertEqual(json.loads(self.kiln("inspect", "--json", os.path.join(folder, "m.so"))), json.load(file))

    def test_all_models(self):
        self.assertGreater(len(MODELS), 5)
        for model in MODELS:
            with self.subTest(model):
                self.check(model, "aot", os.environ["CODEGENS"].split()[-1])

    def test_all_ways(self):
        for executor in ("aot", "graph"):
            for codegen in os.environ["CODEGENS"].split():
                with self.subTest(executor + " " + codegen):
                    self.check(MODELS[0], executor, codegen)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
