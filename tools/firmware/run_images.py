# SPDX-License-Identifier: Apache-2.0
"""Runs firmware images in QEMU, one after the other. Exits with 0 if each ends with the expected status.

    run_images CONFIGURATION.json

The configuration is written by the rule firmware_test. Every image is a case of test.xml, named after the image.
"""

import json
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

# The program run_image among the runfiles of a test.
RUNNER = os.path.abspath("tools/firmware/run_image")
# Status of an image that does not end, as in timeout(1).
NO_END = 124


class Outcome:
    def __init__(self, image, seconds, output, problem):
        self.name = os.path.basename(image)
        self.seconds = seconds
        self.output = output
        self.problem = problem  # "" if it passed


def run_image(board, image, timeout_seconds, *options, runner=RUNNER):
    """Runs an image on a board in QEMU. Returns the answer of the program run_image, whose comment describes it and its options."""
    command = [runner, board, str(timeout_seconds), image] + list(options)
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode != 0:
        raise RuntimeError(result.stderr.decode(errors="replace").strip())
    return json.loads(result.stdout)


def outcome_of(configuration, image):
    limit = configuration["timeout_seconds"]
    start = time.monotonic()
    output = ""
    try:
        answer = run_image(configuration["board"], image["path"], limit, runner=configuration["runner"])
        status, output = answer["status"], answer["output"]
        status = NO_END if status is None else status
        problem = "no end after {} s".format(limit) if status == NO_END else "status {}".format(status)
        problem += ", wanted status {}".format(image["status"]) if image["status"] else ""
        problem = "" if status == image["status"] else problem
    except RuntimeError as error:
        problem = str(error)
    return Outcome(image["path"], time.monotonic() - start, output, problem)


def write_xml(path, outcomes):
    suite = ElementTree.Element(
        "testsuite", name="firmware", tests=str(len(outcomes)), failures=str(sum(bool(outcome.problem) for outcome in outcomes))
    )
    for outcome in outcomes:
        case = ElementTree.SubElement(suite, "testcase", name=outcome.name, time="{:.3f}".format(outcome.seconds))
        if outcome.problem:
            ElementTree.SubElement(case, "failure", message=outcome.problem).text = outcome.output
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def main(arguments):
    with open(arguments[0], encoding="utf-8") as file:
        configuration = json.load(file)
    outcomes = []
    for image in configuration["images"]:
        outcome = outcome_of(configuration, image)
        outcomes.append(outcome)
        print("{}: {}\n{}".format(outcome.name, outcome.problem or "passed", outcome.output), end="", flush=True)
    if "XML_OUTPUT_FILE" in os.environ:
        write_xml(os.environ["XML_OUTPUT_FILE"], outcomes)
    failed = [outcome.name for outcome in outcomes if outcome.problem]
    if failed:
        print("failed: " + ", ".join(failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
