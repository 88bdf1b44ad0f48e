# SPDX-License-Identifier: Apache-2.0
"""Tests of count_cases with build events and test.xml files in the formats of Bazel and GoogleTest."""

import os
import pathlib
import tempfile
import unittest

from tools.testing import count_cases

_THREE_CASES = """<?xml version="1.0"?>
<testsuites><testsuite name="A">
  <testcase classname="A" name="Good" status="run" result="completed"/>
  <testcase classname="A" name="Bad" status="run" result="completed"><failure message="1 != 2"/></testcase>
  <testcase classname="A" name="Later" status="run" result="skipped"><skipped message="a.cc:3&#10;no data"/></testcase>
  <testcase classname="A" name="DISABLED_Old" status="notrun" result="suppressed"/>
</testsuite></testsuites>
"""


def test_events(label, status, xml=None):
    """Returns the two events of a test target. Writes its test.xml to a file."""
    result = {"status": status}
    if xml is not None:
        handle, path = tempfile.mkstemp(suffix=".xml", dir=os.environ["TEST_TMPDIR"])
        with open(handle, "w", encoding="utf-8") as file:
            file.write(xml)
        result["testActionOutput"] = [{"name": "test.xml", "uri": pathlib.Path(path).as_uri()}]
    return [
        {"id": {"testResult": {"label": label, "run": 1}}, "testResult": result},
        {"id": {"testSummary": {"label": label}}, "testSummary": {"overallStatus": status}},
    ]


class CountTest(unittest.TestCase):
    def test_counts_the_cases_of_a_test(self):
        passed, failed, skipped = count_cases.count(test_events("//a:t", "FAILED", _THREE_CASES))
        self.assertEqual(passed, 1)
        self.assertEqual(failed, ["//a:t A.Bad"])
        self.assertEqual(skipped, {"//a:t: no data": 1})

    def test_a_test_without_cases_is_one_case(self):
        self.assertEqual(count_cases.count(test_events("//a:t", "PASSED"))[:2], (1, []))
        self.assertEqual(count_cases.count(test_events("//a:t", "TIMEOUT"))[:2], (0, ["//a:t (TIMEOUT)"]))

    def test_a_crash_after_good_cases_is_a_failure(self):
        xml = '<testsuites><testsuite><testcase name="Good"/></testsuite></testsuites>'
        self.assertEqual(count_cases.count(test_events("//a:t", "FAILED", xml))[:2], (1, ["//a:t (FAILED)"]))

    def test_the_last_attempt_of_a_flaky_test_speaks(self):
        good = '<testsuites><testsuite><testcase name="Good"/></testsuite></testsuites>'
        events = test_events("//a:t", "FAILED", _THREE_CASES) + test_events("//a:t", "FLAKY", good)
        self.assertEqual(count_cases.count(events)[:2], (1, []))

    def test_a_target_that_does_not_build_is_a_failure(self):
        event = {"id": {"targetCompleted": {"label": "//a:b"}}, "completed": {}}
        self.assertEqual(count_cases.count([event])[:2], (0, ["//a:b (FAILED_TO_BUILD)"]))

    def test_a_target_that_builds_is_no_case(self):
        event = {"id": {"targetCompleted": {"label": "//a:b"}}, "completed": {"success": True}}
        self.assertEqual(count_cases.count([event])[:2], (0, []))


if __name__ == "__main__":
    unittest.main()
