# SPDX-License-Identifier: Apache-2.0
"""Runs cases by the program interpret_cases, which may crash on a case."""

import pathlib
import subprocess


def interpret(program, tolerance, folders):
    """Yields for each folder its name, the outcome and the reason."""
    todo = [str(folder) for folder in folders]
    while todo:
        run = subprocess.run([program, str(tolerance), *todo], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, check=False)
        rows = [line.split("\t") for line in run.stdout.splitlines() if line.count("\t") == 2]
        for path, outcome, reason in rows:
            yield pathlib.Path(path).name, outcome, reason
        if len(rows) < len(todo):
            yield pathlib.Path(todo[len(rows)]).name, "crashed", "status %d" % run.returncode
        todo = todo[len(rows) + 1:]
