# SPDX-License-Identifier: Apache-2.0
"""Updates the table of ONNX's own cases in docs/onnx.md:   bazel run //tests/conformance:update_onnx_table"""

import multiprocessing
import os
import sys

from tests.conformance import onnx_backend
from tests.conformance.onnx_table import Table

# Forked processes inherit the cases.
CASES = onnx_backend.Cases()


def run(name):
    return CASES.run(name)


def main():
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY")
    if workspace is None:
        print("wanted: bazel run //tests/conformance:update_onnx_table", file=sys.stderr)
        return 2
    names = sorted(CASES.about)
    table, failures = Table(), 0
    with multiprocessing.get_context("fork").Pool(maxtasksperchild=100) as pool:
        for name, result in zip(names, pool.imap(run, names, chunksize=10)):
            table.add(*CASES.about[name], result)
            if result.reason and not result.known:
                failures += 1
                print("%s: %s" % (name, result.reason), file=sys.stderr)
    print("%d pass; of all, and of those about tensors of numbers: %s" % (table.passed(), table.shares()))
    print("%d failures" % failures)
    if failures:
        return 1
    path = os.path.join(workspace, "docs/onnx.md")
    with open(path, encoding="utf-8") as file:
        page = table.written_into(file.read(), onnx_backend.VERSION)
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
