# SPDX-License-Identifier: Apache-2.0
"""Without enough memory or disk space the tool ends with an error and status 1, and leaves no incomplete file."""

import os
import resource
import subprocess
import unittest

from tests.cli.cli_case import CODEGENS, DIGITS, KILN, CliCase


class ResourcesTest(CliCase):
    def limited(self, limit, value, *args):
        """Runs the tool under a resource limit. Its temporary files go to the empty folder self.folder/tmp."""
        os.makedirs(self.path("tmp"), exist_ok=True)

        def set_limit():
            resource.setrlimit(limit, (value, value))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        return subprocess.run(
            [KILN] + list(args),
            env=dict(os.environ, TMPDIR=self.path("tmp")),
            preexec_fn=set_limit,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def test_files_of_limited_size(self):
        for codegen in CODEGENS:
            with self.subTest(codegen):
                result = self.limited(resource.RLIMIT_FSIZE, 4096, "compile", DIGITS, "--codegen", codegen, "-o", self.out)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertTrue(result.stderr)
                self.assertFalse(os.path.exists(self.out))
                self.assertEqual(os.listdir(self.path("tmp")), [])
        archive = ["--runtime", "crt", "--codegen", "c", "--mlf", self.path("a.tar")]
        result = self.limited(resource.RLIMIT_FSIZE, 4096, "compile", DIGITS, *archive)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.decode(), "kiln: {}: cannot be written: File too large\n".format(self.path("a.tar")))
        self.assertEqual(sorted(os.listdir(self.folder)), ["tmp"])

    def test_memory_is_limited(self):
        """From too little memory to enough, the tool writes all files or none. The limit is never below the size at
        which the loader starts the tool."""
        megabytes, ended = self.least_to_start(), {0: 0, 1: 0}
        while not ended[0]:
            self.assertLess(megabytes, 4000)
            result = self.limited(resource.RLIMIT_AS, megabytes << 20, "compile", DIGITS, "-o", self.out)
            self.assertIn(result.returncode, ended, result.stderr)
            ended[result.returncode] += 1
            self.assertEqual(os.listdir(self.path("tmp")), [])
            if result.returncode == 1:
                self.assertIn("memory", result.stderr.decode())
                self.assertFalse(os.path.exists(self.out))
            megabytes += 2
        self.assertGreater(ended[1], 0)
        self.assertNotEqual(os.listdir(self.out), [])

    def least_to_start(self):
        """Returns the least memory, in MiB, with which the system's loader starts the tool's code."""
        low, high = 0, 4096
        while high - low > 1:
            middle = (low + high) // 2
            starts = self.limited(resource.RLIMIT_AS, middle << 20, "--version").returncode in (0, 1)
            low, high = (low, middle) if starts else (middle, high)
        return high


if __name__ == "__main__":
    unittest.main()
