#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the test cases of one `bazel test` from its build event file.

A target whose test.xml names cases, such as one with GoogleTest, counts as that many cases. Any other target counts as
one case. A target that did not build, or that failed without a failing case (a crash, a timeout), counts as one
failure. Prints the reasons of skipped cases, the names of failed ones and finally `N passed, N failed`. Exits with 1 if
there are failures.
"""

import argparse
import collections
import json
import sys
import urllib.parse
import urllib.request
import xml.etree.ElementTree as ElementTree


def read_events(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def read_cases(uri):
    """Yields (name, "passed" | "failed" | "skipped", reason) for each case in the test.xml at `uri`."""
    path = urllib.request.url2pathname(urllib.parse.urlparse(uri).path)
    try:
        root = ElementTree.parse(path).getroot()
    except (OSError, ElementTree.ParseError):
        return
    for case in root.iter("testcase"):
        name = ".".join(filter(None, [case.get("classname"), case.get("name")]))
        skipped = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            yield name, "failed", ""
        elif skipped is not None or case.get("result") == "skipped":
            message = "" if skipped is None else skipped.get("message") or skipped.text or ""
            lines = message.strip().splitlines()
            yield name, "skipped", lines[-1].strip() if lines else "no reason given"
        elif case.get("status") != "notrun":
            yield name, "passed", ""


def collect(events):
    """Returns ({label: status}, {label: [uri of test.xml]}) for every target that is a test or did not build."""
    status_of_label = {}
    xml_of_attempt = collections.defaultdict(dict)
    for event in events:
        identity = event.get("id", {})
        if "testResult" in identity and "testResult" in event:
            result, key = event["testResult"], identity["testResult"]
            for output in result.get("testActionOutput", []):
                if output.get("name") == "test.xml":
                    # A flaky test has several attempts. The last one of each shard counts.
                    xml_of_attempt[key["label"]][(key.get("run", 1), key.get("shard", 1))] = output["uri"]
            status_of_label.setdefault(key["label"], result.get("status"))
        elif "testSummary" in identity and "testSummary" in event:
            status_of_label[identity["testSummary"]["label"]] = event["testSummary"].get("overallStatus")
        elif "targetCompleted" in identity:
            completed = event.get("completed", {})
            if event.get("aborted", {}).get("reason") == "SKIPPED":
                continue  # incompatible with this platform
            if not completed.get("success", False):
                status_of_label.setdefault(identity["targetCompleted"]["label"], "FAILED_TO_BUILD")
    return status_of_label, {label: list(uris.values()) for label, uris in xml_of_attempt.items()}


def count(events):
    """Returns (number of passed cases, names of failed cases, {reason: number of skipped cases})."""
    status_of_label, xml_of_label = collect(events)
    passed, failed, skipped = 0, [], collections.Counter()
    for label, status in sorted(status_of_label.items()):
        cases = [case for uri in xml_of_label.get(label, []) for case in read_cases(uri)]
        failures = [name for name, result, _ in cases if result == "failed"]
        passed += sum(1 for _, result, _ in cases if result == "passed")
        skipped.update("{}: {}".format(label, reason) for _, result, reason in cases if result == "skipped")
        if status not in ("PASSED", "FLAKY"):
            failed += ["{} {}".format(label, name) for name in failures] or ["{} ({})".format(label, status)]
        elif not cases:
            passed += 1
    return passed, failed, skipped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bazel_status", type=int, default=0, help="exit status of `bazel test`")
    parser.add_argument("events", help="file written by --build_event_json_file")
    arguments = parser.parse_args()

    passed, failed, skipped = count(read_events(arguments.events))
    if arguments.bazel_status != 0 and not failed:
        failed.append("bazel test ended with status {}".format(arguments.bazel_status))
    for reason, number in sorted(skipped.items()):
        print("SKIPPED {} in {}".format(number, reason))
    for name in failed:
        print("FAILED {}".format(name))
    print("{} passed, {} failed".format(passed, len(failed)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
