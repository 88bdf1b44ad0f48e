# SPDX-License-Identifier: Apache-2.0
"""The section of docs/released_files.md for AArch64, to the letter, with qemu-user in the place of such a machine:

    bazel test -c opt //release:aarch64_test

Wants g++-aarch64-linux-gnu and qemu-user.
"""

import glob
import shutil
import subprocess
import tempfile
import unittest

from release import users


class Aarch64Test(unittest.TestCase):
    def test_page(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in glob.glob("release/kiln*.tar.gz"):
                shutil.copy(name, folder)
            with open(users.PAGE, encoding="utf-8") as file:
                page = file.read()
            # The program is that of the section for C++.
            program = [fence for fence in users.fences(users.section(page, "C++")) if fence[1] == "service.cc"]
            self.assertEqual(len(program), 1)
            text = users.script(program + users.fences(users.section(page, "AArch64")), folder)
            result = subprocess.run(["bash", "-c", text], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(result.returncode, 0, result.stdout.decode())
            self.assertIn("the digit is 4", result.stdout.decode())


if __name__ == "__main__":
    unittest.main()
