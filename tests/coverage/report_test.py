# SPDX-License-Identifier: Apache-2.0
import contextlib
import io
import json
import os
import tempfile
import unittest

from tests.coverage import report


def _file(name, lines, branches):
  """Returns llvm-cov's data for a file. `branches` are (line, times true, times false)."""
  taken = sum((t > 0) + (f > 0) for _, t, f in branches)
  return {
      "filename": name,
      "branches": [[line, 1, line, 9, t, f, 0, 0, 4] for line, t, f in branches],
      "summary": {
          "lines": {"count": lines[0], "covered": lines[1]},
          "branches": {"count": 2 * len(branches), "covered": taken},
      },
  }


_COVERAGE = {
    "data": [{
        "files": [
            _file("./runtime_crt/src/a.c", (10, 10), [(3, 1, 2), (5, 4, 1)]),
            _file("compiler/ops/b.cc", (20, 10), [(7, 0, 3), (9, 0, 0)]),
            _file("compiler/ops/b_test.cc", (5, 5), [(1, 1, 0)]),
            _file("compiler/loop/testing/c.cc", (5, 5), [(1, 1, 0)]),
            _file("/usr/include/absl/d.h", (5, 0), [(1, 0, 0)]),
        ]
    }]
}


class ReportTest(unittest.TestCase):

  def _run(self, *arguments):
    with tempfile.TemporaryDirectory() as folder:
      path = os.path.join(folder, "coverage.json")
      with open(path, "w", encoding="utf-8") as f:
        json.dump(_COVERAGE, f)
      out, err = io.StringIO(), io.StringIO()
      with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = report.main([*arguments, path])
    return status, out.getvalue().splitlines(), err.getvalue().splitlines()

  def test_packages_of_the_product(self):
    status, out, err = self._run()
    self.assertEqual((status, err), (0, []))
    self.assertEqual(out[2:], [
        "| compiler/ops | 1 | 20 | 50.0 % | 4 | 25.0 % |",
        "| runtime_crt | 1 | 10 | 100.0 % | 4 | 100.0 % |",
        "| all | 2 | 30 | 66.7 % | 8 | 62.5 % |",
    ])

  def test_lists_what_no_test_takes(self):
    _, out, _ = self._run("--list", "compiler/ops")
    self.assertEqual(
        out[-3:],
        ["compiler/ops/b.cc:7: never true", "compiler/ops/b.cc:9: never true", "compiler/ops/b.cc:9: never false"])

  def test_requirements(self):
    self.assertEqual(self._run("--require", "runtime_crt=100")[0], 0)
    status, _, err = self._run("--require", "compiler=25.1", "--require", "runtime_crt=100")
    self.assertEqual((status, err), (1, ["compiler: 25.00 % of the branches are taken by tests, 25.1 wanted"]))

  def test_a_folder_that_was_not_measured_meets_nothing(self):
    status, _, err = self._run("--require", "mlf=1")
    self.assertEqual((status, err), (1, ["mlf: no file of it was measured"]))


if __name__ == "__main__":
  unittest.main()
