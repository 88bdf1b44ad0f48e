# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of cases.tsv, one test per row, and judges each by the row's condition."""

import csv
import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

KILN = os.path.abspath("tools/kiln/kiln")
DATA = os.environ.get("KILN_SHARED_DATA", "")
CASES = os.path.join(os.path.dirname(os.path.abspath(DATA)), "cases") if DATA else ""
TABLE = os.path.join(CASES, "cases.tsv")

# Commands of the rows with prose in the second column.
COMMANDS = {
    "operators/c_two_models_one_unit": """
for name in a b; do
  kiln compile operators/c_two_models_one_unit/$name.onnx -o OUT/$name --module-name $name --runtime crt --interface c --codegen c || exit
done
printf '#include "a/a.c"\\n#include "b/b.c"\\n' >OUT/both.c
gcc -std=c99 -ffp-contract=off -IOUT -c OUT/both.c -o OUT/both.o""",
    "cpp/silent_onnx": """
for model in cpp/silent_onnx/*.onnx; do
  kiln compile $model -o OUT --module-name m
  status=$?
  if [[ $status != 2 ]]; then
    echo "$model: exit status $status"
    exit 1
  fi
done
exit 2""",
}


def _passed(case, done, _):
    case.assertEqual((done.returncode, re.findall(r"\d+ (?:passed|failed)", done.stdout)[:1]), (0, ["1 passed"]), done.stderr)


def _succeeds(case, done, _):
    case.assertEqual(done.returncode, 0, done.stderr)


def _refused_by_a_rule(case, done, _):
    case.assertEqual(done.returncode, 2, done.stdout + done.stderr)
    wanted = len(glob.glob(os.path.join(CASES, "cpp/silent_onnx/*.onnx")))
    case.assertGreater(wanted, 0)
    errors = re.findall("^kiln: .*", done.stderr, re.M)
    case.assertEqual(len(errors), wanted, done.stderr)
    for error in errors:
        case.assertRegex(error, "found .*, wanted ")


def _proposes_cortex_m4f(case, done, _):
    case.assertEqual(done.returncode, 2, done.stderr)
    case.assertIn("perhaps 'cortex-m4' or 'cortex-m4f'", done.stderr)


def _runs_nothing(case, done, _):
    case.assertEqual(done.returncode, 2, done.stderr)
    case.assertNotIn("CONSTRUCTOR", (done.stdout + done.stderr).upper())


def _is_small(case, done, out):
    """Checks only the size of the library. The time is measured by //tests/benchmark:compile_time, model
    topk_300of8400."""
    case.assertEqual(done.returncode, 0, done.stderr)
    case.assertLessEqual(os.path.getsize(os.path.join(out, "m.so")), 100_000)


# Checks by the text in the third column of the table.
CONDITIONS = {
    "1 passed": _passed,
    "exit status 0": _succeeds,
    "no difference": _succeeds,
    "exit status 2, and the name that was meant": _proposes_cortex_m4f,
    "exit status 2 each, with the rule that is broken": _refused_by_a_rule,
    "exit status 2, nothing of it runs": _runs_nothing,
    "at most 1 CPU second, a library of at most 100 KB": _is_small,
}


def _rows():
    with open(TABLE, encoding="utf-8", newline="") as file:
        lines = [line for line in file if not line.startswith("#")]
    return list(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


@unittest.skipUnless(os.path.isfile(TABLE), "there is no folder of cases beside KILN_SHARED_DATA")
class CasesTest(unittest.TestCase):
    def test_the_table_has_rows(self):
        self.assertGreater(len(_rows()), 0)

    def check(self, name, command, condition):
        self.assertIn(condition, CONDITIONS)
        command = COMMANDS.get(name, command.replace("; ", " && "))
        programs = re.findall(r"\b(?:clang\+\+-19|gcc)(?= )", command)
        if "--against board:" in command:
            programs += ["arm-none-eabi-gcc", "qemu-system-arm"]
        for program in programs:
            if not shutil.which(program):
                self.skipTest(f"there is no {program}")
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "out")
            os.mkdir(out)
            tools = os.path.join(folder, "tools")
            os.mkdir(tools)
            os.symlink(KILN, os.path.join(tools, "kiln"))
            environment = dict(os.environ, PATH=tools + ":" + os.environ["PATH"])
            done = subprocess.run(
                ["bash", "-c", re.sub(r"\bOUT\b", out, command)],
                cwd=CASES, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            )
            CONDITIONS[condition](self, done, out)


def _add_tests():
    for name, command, condition in _rows():

        def test(self, row=(name, command, condition)):
            self.check(*row)

        setattr(CasesTest, "test_" + re.sub(r"\W", "_", name), test)


if os.path.isfile(TABLE):
    _add_tests()

if __name__ == "__main__":
    unittest.main()
