# SPDX-License-Identifier: Apache-2.0
"""Follows the AArch64 section of docs/released_files.md to the letter, with qemu-user instead of an AArch64 machine:

    bazel test -c opt //release:aarch64_test

Needs g++-aarch64-linux-gnu and qemu-user.
"""

import glob
import shutil
import subprocess
import tarfile
import tempfile
import unittest

from release import users


class Aarch64Test(unittest.TestCase):
    def test_archive(self):
        subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS.aarch64"], cwd="release", check=True)
        (archive,) = glob.glob("release/kiln-runtime-*.tar.gz")
        with tarfile.open(archive) as tar:
            names = {name.partition("/")[2] for name in tar.getnames()}
        for name in "lib/libkiln_runtime.so.0", "include/kiln/kiln/runtime.hpp", "share/doc/kiln/LICENSES/libabsl-dev", "share/doc/kiln/copyright":
            self.assertIn(name, names)

    def test_page(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in glob.glob("release/kiln*.tar.gz"):
                shutil.copy(name, folder)
            with open(users.PAGE, encoding="utf-8") as file:
                page = file.read()
            # The section for C++ has the program.
            program = [fence for fence in users.fences(users.section(page, "C++")) if fence[1] == "service.cc"]
            self.assertEqual(len(program), 1)
            text = users.script(program + users.fences(users.section(page, "AArch64")), folder)
            result = subprocess.run(["bash", "-c", text], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(result.returncode, 0, result.stdout.decode())
            self.assertIn("the digit is 4", result.stdout.decode())


if __name__ == "__main__":
    unittest.main()
