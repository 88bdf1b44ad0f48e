# SPDX-License-Identifier: Apache-2.0
"""Compiles models with open dimensions by the options that kiln suggests, compares the sizes with
those in the models' code and the outputs with ONNX Runtime's, and writes a section of docs/models.md.

  bazel run -c opt //tests/acceptance:open_sizes -- --only 'timm/*,silero'

The models are files of Python packages and exports of PyTorch with dynamic shapes. Packages and
exports are kept in the user's cache. Each model runs in a separate process, so a failure does not
stop the list. With --only the rest of the section stays as it was.
"""

import argparse
import datetime
import json
import pathlib
import platform

from tests.acceptance import open_cases
from tests.acceptance import package_cases
from tests.acceptance import processes
from tests.acceptance.page import Page

_SHOWN = ("onnxruntime", "timm", "torch", "torchvision", "transformers")


def environment(run, known):
    """Returns the section's line on the environment. `run` of the `known` models have been run."""
    versions = [requirement.split("==") for requirement in processes.REQUIREMENTS]
    return "Last run on %s on %s, with %s; %d of the %d models have been run." % (
        datetime.date.today(), platform.machine(),
        ", ".join("%s %s" % (name, version) for name, version in versions if name in _SHOWN), run,
        known)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", required=True, type=pathlib.Path, help="the command kiln")
    processes.add_arguments(parser)
    arguments = parser.parse_args()
    every = {**package_cases.cases(), **open_cases.cases()}
    names = processes.chosen(every, arguments.only)
    if arguments.list:
        print("\n".join(names))
        return
    page = Page.read(arguments.page.read_text()) if arguments.page.exists() else Page()
    section = page.open_dimensions
    section.results = {name: result for name, result in section.results.items() if name in every}
    for name in names:
        result = processes.run("run_open_case.py", name, str(arguments.compiler.absolute()))
        print(json.dumps(result), flush=True)
        section.add(result)
        section.environment = environment(len(section.results), len(every))
        arguments.page.write_text(page.text())


if __name__ == "__main__":
    main()
