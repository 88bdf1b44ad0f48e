# SPDX-License-Identifier: Apache-2.0
"""The structs and the note in a library agree with its metadata.json, with every code generator."""

import json
import os
import sys
import unittest

from tests.cli.cli_case import CODEGENS, CliCase

MODELS = [os.path.abspath(path) for path in sys.argv[1:]]


class StructsTest(CliCase):
    def check(self, model, executor, codegen):
        self.succeeds("compile", model, "-o", self.out, "--module-name", "m", "--executor", executor, "--codegen", codegen)
        with open(self.path("out/m.metadata.json"), encoding="utf-8") as file:
            metadata = json.load(file)
        self.assertEqual(json.loads(self.succeeds("inspect", "--json", "--load", self.path("out/m.so"))), metadata)
        self.assertEqual(json.loads(self.succeeds("inspect", "--json", self.path("out/m.so"))), metadata)

    def test_all_models(self):
        self.assertGreater(len(MODELS), 5)
        for model in MODELS:
            with self.subTest(model):
                self.check(model, "aot", CODEGENS[0])

    def test_all_ways(self):
        for executor in ("aot", "graph"):
            for codegen in CODEGENS:
                with self.subTest(executor + " " + codegen):
                    self.check(MODELS[0], executor, codegen)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
