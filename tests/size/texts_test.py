# SPDX-License-Identifier: Apache-2.0
"""TVM_CRT_ERROR_TEXT_BYTES=0 removes the texts of errors from the C runtime."""

import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

COMPILER = "arm-none-eabi-gcc"
FLAGS = "-std=c99 -Os -Wall -Wextra -Werror -pedantic -Wconversion -Wshadow -mcpu=cortex-m4 -mthumb -Iruntime_crt/include".split()
# Three words in a row, as in texts for people.
TEXT = re.compile(rb"[a-z]{2,} [a-z]{2,} [a-z]{2,}")


@unittest.skipIf(shutil.which(COMPILER) is None, COMPILER + " is not installed")
class TextsTest(unittest.TestCase):
    def texts(self, *flags):
        found = []
        sources = glob.glob("runtime_crt/src/*/*.c")
        self.assertGreater(len(sources), 5)
        with tempfile.TemporaryDirectory() as folder:
            for source in sources:
                compiled = os.path.join(folder, os.path.basename(source) + ".o")
                subprocess.run([COMPILER] + FLAGS + list(flags) + ["-c", source, "-o", compiled], check=True)
                with open(compiled, "rb") as file:
                    found += TEXT.findall(file.read())
        return found

    def test_texts_are_there_and_can_be_left_out(self):
        self.assertIn(b"the handle is", self.texts())
        self.assertEqual(self.texts("-DTVM_CRT_ERROR_TEXT_BYTES=0"), [])


if __name__ == "__main__":
    unittest.main()
