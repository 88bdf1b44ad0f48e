# SPDX-License-Identifier: Apache-2.0
"""Compiles models of torchvision, timm, transformers, scikit-learn, XGBoost and LightGBM, compares them
with their frameworks, and writes docs/models.md.

  bazel run -c opt //tests/acceptance:models -- --only 'timm/*,*SVC*'

Each model runs in a separate process, so a failure does not stop the list. With --only the rest of
the page stays as it was.
"""

import argparse
import datetime
import json
import platform

from tests.acceptance import classical_cases
from tests.acceptance import language_cases
from tests.acceptance import processes
from tests.acceptance import vision_cases
from tests.acceptance.page import Page


def all_cases():
    """Returns functions by name. Each function creates a case."""
    return {**vision_cases.cases(), **language_cases.cases(), **classical_cases.cases()}


def environment(run, known):
    """Returns the page's line on the environment. `run` of the `known` models have been run."""
    return "Last run on %s on %s, with %s; %d of the %d models of the list have been run." % (
        datetime.date.today(), platform.machine(),
        ", ".join(requirement.replace("==", " ") for requirement in processes.REQUIREMENTS), run,
        known)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    processes.add_arguments(parser)
    arguments = parser.parse_args()
    every = all_cases()
    names = processes.chosen(every, arguments.only)
    if arguments.list:
        print("\n".join(names))
        return
    page = Page.read(arguments.page.read_text()) if arguments.page.exists() else Page()
    page.results = {name: result for name, result in page.results.items() if name in every}
    for name in names:
        result = processes.run("run_case.py", name)
        print(json.dumps(result), flush=True)
        page.add(result)
        page.environment = environment(len(page.results), len(every))
        arguments.page.write_text(page.text())


if __name__ == "__main__":
    main()
