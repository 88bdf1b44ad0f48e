# SPDX-License-Identifier: Apache-2.0
"""Compares figures of models on boards with a table of golden numbers, or writes the table.

    measure TABLE CONFIGURATION.json              each figure is within MARGIN of the table's
    measure --update TABLE CONFIGURATION.json…    writes the table

A row is a board and an image. Its figures are the instructions of an inference, their estimated cycles if the core's
timings are known, and figures of the model's object: flash, static RAM, workspace and the deepest stack. The last
figure, if it is measured, is the stack used in a run, including the functions that the model calls. It may not be much
deeper. The configuration is written by the rule model_figures.
"""

import json
import os
import re
import subprocess
import sys

from tools.firmware.run_images import run_image

FIGURES = ["instructions", "cycles", "flash_bytes", "ram_bytes", "workspace_bytes", "stack_bytes", "stack_seen_bytes"]
# Stack that the object does not show: stack that the painting misses, and the compiler's arithmetic for cores without a
# floating-point unit.
LIBRARY_STACK_BYTES = 64
# A figure may differ by this fraction of the table's, and any figure may differ by SLACK.
MARGIN = 0.02
SLACK = 16
NONE = "-"
HEADER = "# Renewed by `bazel run //tests/firmware:update_figures`.\n"


def run(configuration, image):
    """Returns the figures of an inference of the image. All inferences execute the same number of instructions."""
    result = run_image(configuration["board"], image, configuration["timeout_seconds"], "count")
    found = sorted(set(result["instructions"]))
    if len(found) != 1:
        raise RuntimeError("{}: inferences execute different numbers of instructions: {}".format(image, found))
    stack = int(re.search(r"^stack: (\d+) bytes$", result["output"], re.M).group(1))
    cycles = {"cycles": max(result["cycles"])} if "cycles" in result else {}
    return dict(cycles, instructions=found[0], stack_seen_bytes=stack)


def measure(configuration, entry):
    command = [configuration["kiln"], "inspect", "--json", entry["object"]]
    if entry["stack_usage"]:
        command += ["--stack-usage", entry["stack_usage"]]
    figures = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    with open(entry["metadata"], encoding="utf-8") as file:
        figures["workspace_bytes"] = int(json.load(file)["functions"][0]["workspace_size_bytes"])
    figures.update(run(configuration, entry["image"]))
    return {name: figures[name] for name in FIGURES if name in figures}


def rows(configuration):
    return {(configuration["board"], entry["name"]): measure(configuration, entry) for entry in configuration["entries"]}


def read_table(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip() and not line.startswith("#")]
    names = lines[0][2:] if lines else []
    rows_of_numbers = {tuple(line[:2]): zip(names, line[2:]) for line in lines[1:]}
    return {key: {name: int(number) for name, number in row if number != NONE} for key, row in rows_of_numbers.items()}


def table_text(table, header=HEADER):
    """Returns the text of a table. NONE marks a figure that a row lacks and others have."""
    names = [name for name in FIGURES if any(name in figures for figures in table.values())]
    lines = [["board", "image"] + names] + [list(key) + [str(table[key].get(name, NONE)) for name in names] for key in sorted(table)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    texts = ["  ".join(text.ljust(width) if i < 2 else text.rjust(width) for i, (text, width) in enumerate(zip(line, widths))) for line in lines]
    return header + "".join(text.rstrip() + "\n" for text in texts)


def problems(found, golden):
    """Yields a sentence for each problem of the measured figures."""
    for key, figures in found.items():
        if figures.get("stack_seen_bytes", 0) > figures["stack_bytes"] + LIBRARY_STACK_BYTES:
            yield "{} {}: an inference takes {stack_seen_bytes} bytes of stack, its object says {stack_bytes}".format(*key, **figures)
        if key not in golden:
            yield "{} {}: is not in the table".format(*key)
            continue
        for name, value in figures.items():
            if name not in golden[key]:
                yield "{} {}: {} is {}, the table has none".format(*key, name, value)
                continue
            wanted = golden[key][name]
            if abs(value - wanted) > max(SLACK, MARGIN * wanted):
                change = "" if wanted == 0 else ", {:+.1f} %".format(100 * (value - wanted) / wanted)
                yield "{} {}: {} is {}, the table has {}{}".format(*key, name, value, wanted, change)


def main(arguments):
    update = arguments[0] == "--update"
    path, *configurations = arguments[1:] if update else arguments
    found = {}
    for name in configurations:
        with open(name, encoding="utf-8") as file:
            found.update(rows(json.load(file)))
    if update:
        with open(os.path.join(os.environ.get("BUILD_WORKSPACE_DIRECTORY", "."), path), "w", encoding="utf-8") as file:
            file.write(table_text(found))
        return 0
    print(table_text(found), end="")
    wrong = list(problems(found, read_table(path)))
    for problem in wrong:
        print(problem)
    if wrong:
        print("If that is meant: bazel run //tests/firmware:update_figures")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
