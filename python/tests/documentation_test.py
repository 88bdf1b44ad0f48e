# SPDX-License-Identifier: Apache-2.0
"""Runs the examples in the docstrings in an empty folder."""

import doctest
import importlib
import os
import pkgutil
import tempfile
import unittest

import kiln

_folder = tempfile.TemporaryDirectory()


def setUpModule():
    os.chdir(_folder.name)


def tearDownModule():
    os.chdir("/")
    _folder.cleanup()


class DocumentationTest(unittest.TestCase):
    def test_examples(self):
        count = 0
        for name in ["kiln"] + [module.name for module in pkgutil.iter_modules(kiln.__path__, "kiln.")]:
            if name == "kiln.__main__":
                continue
            with self.subTest(name):
                failed, attempted = doctest.testmod(importlib.import_module(name))
                self.assertEqual(failed, 0)
                count += attempted
        self.assertGreater(count, 10)


if __name__ == "__main__":
    unittest.main()
