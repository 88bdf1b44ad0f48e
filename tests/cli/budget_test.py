# SPDX-License-Identifier: Apache-2.0
"""kiln budget: limits that are kept or exceeded, and invalid objects, limits and measurements."""

import json
import os
import unittest

from tests.cli.cli_case import DIGITS, MY_MOD, CliCase, needs_llvm

FIRMWARE = ["--runtime", "crt", "--interface", "c", "--target", "cortex-m4f"]


@needs_llvm
class BudgetTest(CliCase):
    def setUp(self):
        super().setUp()
        self.succeeds("compile", DIGITS, "-o", self.path("lib"), *FIRMWARE)
        self.metadata = self.path("lib/digits.metadata.json")
        self.check = ["budget", self.path("lib/digits.o"), "--metadata", self.metadata]

    def test_budget(self):
        enough = ["--max-flash-bytes=200000", "--max-ram-bytes=20000", "--max-stack-bytes=1000", "--max-workspace-bytes=20000"]
        self.assertEqual(self.kiln(*self.check, *enough, "--copy", self.metadata, "-o", self.path("copy.json")).returncode, 0)
        with open(self.metadata) as file, open(self.path("copy.json")) as copy:
            self.assertEqual(file.read(), copy.read())
        for words, option in (
            (r"bytes of flash, \d+ more than the budget of 1000:\n  \d+ bytes: tvmgen_digits", "--max-flash-bytes=1000"),
            (r"bytes of RAM, \d+ more than the budget of 1000:\n  \d+ bytes: \S*workspace", "--max-ram-bytes=1000"),
            (r"bytes of stack, \d+ more than the budget of 8:\n  \S+ calls", "--max-stack-bytes=8"),
            (r"bytes of workspace, \d+ more than the budget of 1000:\n  \d+ bytes: t\d+ in workspace, calls", "--max-workspace-bytes=1000"),
        ):
            with self.subTest(option):
                result = self.kiln(*self.check, option, "--copy", self.metadata, "-o", self.path("none"))
                self.assertEqual(result.returncode, 2)
                self.assertRegex(result.stderr.decode(), words)
                self.assertFalse(os.path.exists(self.path("none")))

    def test_says_what_is_used(self):
        text = self.succeeds(*self.check, "--max-flash-bytes=256K", "--max-stack-bytes", "1K", "--max-ram-bytes=1M")
        self.assertRegex(
            text,
            r"^flash: 1\d{5} of 262144 bytes, \d\d\.\d %\nRAM: \d+ of 1048576 bytes, \d\.\d %\nstack: \d+ of 1024 bytes, \d+\.\d %\n$",
        )

    def test_json(self):
        """The output has the used amount for each limit, even if the limit is exceeded."""
        for limit, status in (("256K", 0), ("1000", 2)):
            result = self.kiln(*self.check, "--json", "--max-flash-bytes", limit, "--max-stack-bytes=1K", "--max-ram-bytes=1M")
            self.assertEqual(result.returncode, status)
            found = json.loads(result.stdout)
            self.assertEqual(list(found), ["model", "within_budget", "flash", "ram", "stack"])
            self.assertEqual((found["model"], found["within_budget"]), ("digits", status == 0))
            self.assertEqual(found["ram"]["limit_bytes"], 1 << 20)
            self.assertGreater(found["flash"]["used_bytes"], 100000)
            self.assertEqual(b"more than the budget of 1000" in result.stderr, status == 2)

    def test_limits(self):
        self.refuses("found no limit, wanted at least one of --max-flash-bytes", *self.check)
        for limit in ("-1", "x", "1G", "1KK", "1.5K", "99999999999M"):
            words = "--max-ram-bytes: found '{}', wanted a number of bytes, such as 65536 or 64K".format(limit)
            self.refuses(words, *self.check, "--max-ram-bytes=" + limit)
        self.refuses("more than the budget of 0", *self.check, "--max-flash-bytes=0")

    def test_metadata_of_another_model(self):
        self.succeeds("compile", MY_MOD, "-o", self.path("other"), *FIRMWARE)
        other = self.path("other/my_mod.metadata.json")
        words = "has none of the functions of the model 'my_mod', such as tvmgen_my_mod_run_model"
        self.refuses(words, "budget", self.path("lib/digits.o"), "--metadata", other, "--max-flash-bytes=1M")
        for options in (["--interface=packed"], ["--interface=packed", "--executor=graph"], ["--runtime=cpp", "--system-lib"]):
            folder = self.path("-".join(options))
            target = [] if "--system-lib" in options else ["--runtime=crt", "--target=cortex-m4f"]
            self.succeeds("compile", DIGITS, "-o", folder, *options, *target)
            files = [os.path.join(folder, "digits.o"), "--metadata", os.path.join(folder, "digits.metadata.json")]
            self.assertIn("flash: ", self.succeeds("budget", *files, "--max-flash-bytes=1M"))

    def test_stack_usage_that_is_none(self):
        usage = self.write("a.su", "a.c:1:2:f\t16\tstatic\nnothing of gcc's\n")
        self.refuses("a.su:2: found 'nothing of gcc", *self.check, "--max-stack-bytes=1K", "--stack-usage", usage)

    def test_stack_that_is_not_known(self):
        self.succeeds("compile", DIGITS, "-o", self.path("server"), "--runtime", "crt", "--target", "aarch64")
        self.assertIn("does not say the sizes of frames", self.succeeds("inspect", self.path("server/digits.o")))


if __name__ == "__main__":
    unittest.main()
