# SPDX-License-Identifier: Apache-2.0
"""No image of the C runtime has a heap, and an image of the C interface has no part of the runtime."""

import os
import re
import subprocess
import sys
import unittest

HEAP = re.compile(r"^_*(malloc|calloc|realloc|free|sbrk|brk)(_r)?$")
RUNTIME = re.compile(r"^(TVM|StackMemoryManager)")


def symbols(image):
    text = subprocess.run(["arm-none-eabi-nm", image], stdout=subprocess.PIPE, check=True).stdout.decode()
    return [line.split()[-1] for line in text.splitlines()]


class SymbolsTest(unittest.TestCase):
    def test_no_heap(self):
        for image, names in IMAGES.items():
            self.assertIn("main", names, image)
            self.assertEqual([name for name in names if HEAP.match(name)], [], image)

    def test_the_c_interface_needs_no_runtime(self):
        for image, names in IMAGES.items():
            found = [name for name in names if RUNTIME.match(name)]
            if "_crt_c_" in os.path.basename(image):
                self.assertEqual(found, [], image)
            else:
                self.assertNotEqual(found, [], image)

    def test_what_is_looked_for_would_be_found(self):
        for name in ("malloc", "_malloc_r", "_sbrk", "__free"):
            self.assertTrue(HEAP.match(name), name)
        self.assertFalse(HEAP.match("tvmgen_freeze"))


if __name__ == "__main__":
    IMAGES = {image: symbols(image) for image in sys.argv[1:]}
    unittest.main(argv=sys.argv[:1])
