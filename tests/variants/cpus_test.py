# SPDX-License-Identifier: Apache-2.0
"""A program with CPU variants on CPUs that QEMU emulates. The best supported variant runs, and an insufficient CPU
gives an error."""

import shutil
import subprocess
import unittest

QEMU = shutil.which("qemu-x86_64")
PROGRAM = "tests/variants/program"
THREE = ["aot_c", "aot_default", "graph_c", "graph_default", "plain_c", "plain_default"]
LONE = ["highest_c", "highest_default"]


@unittest.skipUnless(QEMU, "no qemu-x86_64, which the package qemu-user has")
class CpusTest(unittest.TestCase):
    def run_on(self, cpu, *models):
        """Returns (variant, rest) of each line by its first word. Lines that set a variant are stored by their first
        two words."""
        result = subprocess.run([QEMU, "-cpu", cpu, PROGRAM] + list(models), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(result.returncode, 0, "on {}: {}".format(cpu, result.stderr.decode()))
        lines = {}
        for line in result.stdout.decode().splitlines():
            name, variant, rest = line.split(" ", 2)
            if name == "set":
                lines[(name, variant)] = rest
            else:
                lines[name] = (variant, rest)
        return lines

    def check(self, cpu, variant, settable):
        only = "only_" + variant[-2:]
        lines = self.run_on(cpu, only)
        for name in THREE:
            self.assertEqual(lines[name], (variant, lines[only][1]), "{} on {}".format(name, cpu))
        for name in LONE:
            self.assertEqual(lines[name][0], "none")
            self.assertRegex(lines[name][1], "^error .*{}: found a CPU without .*, wanted x86-64-v4$".format(name))
        for wanted in ("x86-64-v2", "x86-64-v3", "x86-64-v4"):
            found = lines[("set", wanted)]
            if wanted in settable:
                self.assertEqual(found, "ok")
            else:
                self.assertIn("found a CPU that lacks what {} needs".format(wanted), found)

    def test_falls_back_to_the_lowest(self):
        for cpu in ("Nehalem", "Westmere", "Haswell,-fma", "Haswell,-xsave", "Haswell,-movbe"):
            self.check(cpu, "x86-64-v2", ["x86-64-v2"])

    def test_the_middle_one(self):
        for cpu in ("Haswell", "EPYC"):
            self.check(cpu, "x86-64-v3", ["x86-64-v2", "x86-64-v3"])

    def test_a_cpu_below_the_lowest_is_refused(self):
        for cpu, lacks in (("Conroe", "sse4.1"), ("qemu64,-sse3,-ssse3,-sse4.1,-sse4.2", "sse3"), ("Nehalem,-popcnt", "popcnt")):
            lines = self.run_on(cpu)
            for name in THREE:
                self.assertEqual(lines[name][0], "none", "{} on {}".format(name, cpu))
                if name.startswith("plain"):
                    self.assertEqual(lines[name][1], "error {} has failed".format(name))
                    continue
                words = "{}: found a CPU without {}, wanted x86-64-v2 or one that has more".format(name, lacks)
                self.assertTrue(lines[name][1].startswith("error "), lines[name])
                self.assertIn(words, lines[name][1])
            for variant in ("x86-64-v2", "x86-64-v3", "x86-64-v4"):
                self.assertIn("lacks what {} needs".format(variant), lines[("set", variant)])

    def test_a_model_for_another_cpu_is_refused(self):
        for cpu, lacks, level in (("Haswell", "avx512f", "x86-64-v3"), ("Nehalem", "avx, bmi, bmi2, lzcnt, movbe", "x86-64-v2")):
            lines = self.run_on(cpu, "only_v4")
            self.assertEqual(
                lines["only_v4"],
                (
                    "only",
                    "error model 'only_v4' is built for x86-64-v4, this CPU lacks {}; it runs what is compiled with --target {}".format(lacks, level),
                ),
            )


if __name__ == "__main__":
    unittest.main()
