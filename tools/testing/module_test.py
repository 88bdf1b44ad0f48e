# SPDX-License-Identifier: Apache-2.0
"""Checks that MODULE.bazel, which cannot load files, repeats the contents of the files that WORKSPACE loads."""

import re
import unittest


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


VERSION = re.findall(r'^KILN_VERSION = "([^"]*)"$', read("tools/bazel/version.bzl"), re.MULTILINE)
DECLARING = ["third_party/repositories.bzl", "tools/bazel/toolchains/firmware_toolchains.bzl"]


def versions_of_dependencies(module):
    return dict(re.findall(r'bazel_dep\(name = "([^"]*)", version = "([^"]*)"\)', module))


class ModuleTest(unittest.TestCase):
    def setUp(self):
        self.module = read("MODULE.bazel")
        self.user = versions_of_dependencies(read("tests/workspace/MODULE.bazel"))

    def test_version(self):
        self.assertEqual(len(VERSION), 1)
        self.assertEqual(re.findall(r'name = "kiln",\s*version = "([^"]*)"', self.module), VERSION)

    def test_repositories(self):
        declared = [name for path in DECLARING for name in re.findall(r'declare\(\s*\w+,\s*name = "([^"]*)"', read(path))]
        self.assertIn("com_google_absl", declared)
        (used,) = re.findall(r"use_repo\(\s*debian,([^)]*)\)", self.module)
        self.assertEqual(re.findall(r'"([^"]*)"', used), sorted(declared))

    def test_user_depends_on_this_version(self):
        self.assertEqual([self.user["kiln"]], VERSION)
        self.assertEqual(self.user["rules_cc"], versions_of_dependencies(self.module)["rules_cc"])


if __name__ == "__main__":
    unittest.main()
