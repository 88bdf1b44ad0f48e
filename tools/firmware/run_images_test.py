# SPDX-License-Identifier: Apache-2.0
"""Problems of images and of the program run_image. firmware_test and the tests of tests/firmware run images."""

import os
import unittest
from unittest import mock

from tools.firmware import run_images


class RunImagesTest(unittest.TestCase):
    def problem(self, wanted, status):
        configuration = {"board": "cortex_m3", "runner": "runner", "timeout_seconds": 5}
        with mock.patch.object(run_images, "run_image", return_value={"status": status, "output": "text"}):
            return run_images.outcome_of(configuration, {"path": "image", "status": wanted}).problem

    def test_statuses(self):
        self.assertEqual(self.problem(0, 0), "")
        self.assertEqual(self.problem(7, 7), "")
        self.assertEqual(self.problem(0, 7), "status 7")
        self.assertEqual(self.problem(7, 0), "status 0, wanted status 7")
        self.assertEqual(self.problem(0, None), "no end after 5 s")
        self.assertEqual(self.problem(run_images.NO_END, None), "")

    def refuses(self, words, *arguments):
        with self.assertRaisesRegex(RuntimeError, words):
            run_images.run_image(*arguments)

    def test_what_cannot_be_run(self):
        self.refuses("found no board 'cortex_m99'", "cortex_m99", "image", 5)
        self.refuses("usage: run_image BOARD SECONDS IMAGE", "cortex_m3", "image", 5, "counts")
        self.refuses("usage: run_image BOARD SECONDS IMAGE", "cortex_m3", "image", "soon")
        self.refuses("found the core 'z80', whose cycles are not known", "cortex_m3", "image", 5, "count", "z80")
        with mock.patch.dict(os.environ, PATH="/nonexistent"):
            self.refuses("'qemu-system-arm' cannot be run: .*; on Debian install qemu-system-arm", "cortex_m3", "image", 5)
            self.refuses("on Debian install qemu-system-misc", "riscv32imac", "image", 5)


if __name__ == "__main__":
    unittest.main()
