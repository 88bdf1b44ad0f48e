# SPDX-License-Identifier: Apache-2.0
"""Records of the logger "kiln": notes, progress and times. Errors are in exceptions instead."""

import logging
import os
import subprocess
import unittest
import unittest.mock

import kiln
from python.tests.case import DIGITS, MY_MOD, Case


class LoggingTest(Case):
    def records(self, level, function, *args, **kwargs):
        """Returns (level, text) of each record that a call logs."""
        with self.assertLogs("kiln", level) as logs:
            function(*args, **kwargs)
        return [(record.levelname, record.getMessage()) for record in logs.records]

    def command(self, script):
        """Replaces the command line with a shell script."""
        program = self.path("command")
        with open(program, "w") as file:
            file.write("#!/bin/sh\n" + script)
        os.chmod(program, 0o755)
        return unittest.mock.patch("kiln.command_line.PROGRAM", program)

    def test_times_and_commands(self):
        (level, text), (other_level, other_text) = self.records("DEBUG", kiln.compile, MY_MOD, no_winograd=True)
        self.assertEqual((level, other_level), ("DEBUG", "INFO"))
        self.assertRegex(text, r"^running .*/kiln compile --no-winograd .*-- " + MY_MOD)
        self.assertRegex(other_text, r"^kiln compile " + MY_MOD + r": \d+\.\d s$")

    def test_compiling_says_how_long_it_takes(self):
        with unittest.mock.patch("kiln.command_line._SECONDS_OF_PROGRESS", "0.02"):
            records = self.records("INFO", kiln.compile, DIGITS)
            self.assertRegex(records[0][1], r"^compiling .*digits.onnx, \d+ s$")
            # Progress is not part of an error message.
            with self.assertRaises(kiln.ModelError) as caught:
                self.records("INFO", kiln.compile, DIGITS, target="cortex-m4f", pool="a:1", interface="c")
            self.assertNotIn("progress", str(caught.exception))
        for seconds in ("0", "-1", "nan", "inf", "soon", "1e9"):
            with unittest.mock.patch("kiln.command_line._SECONDS_OF_PROGRESS", seconds):
                self.assertEqual(len(self.records("INFO", kiln.compile, MY_MOD)), 1)

    def test_tuning_says_what_it_measures(self):
        records = self.records("INFO", kiln.tune, DIGITS, self.path("digits.tuning"), time=0.5)
        measured = [text for level, text in records[:-1] if level == "INFO"]
        # At least one operator is measured, no matter how short the time is.
        self.assertRegex("\n".join(measured), r"1 of \d+: .*(tuned, .* microseconds|stays)")

    def test_notes_are_warnings(self):
        kiln.tune(DIGITS, self.path("digits.tuning"), time=0.5)
        records = self.records("WARNING", kiln.compile, MY_MOD, tuning=self.path("digits.tuning"))
        self.assertEqual([level for level, _ in records], ["WARNING"])
        self.assertIn("has nothing measured for", records[0][1])

    def test_lines_come_as_they_are_said(self):
        """The command continues only after its first line has been logged."""
        go_on = self.path("go_on")
        handler = logging.Handler()
        handler.emit = lambda record: "measuring" in record.getMessage() and open(go_on, "w").close()
        logger = logging.getLogger("kiln")
        logger.addHandler(handler)
        self.addCleanup(logger.removeHandler, handler)
        self.addCleanup(logger.setLevel, logger.level)
        logger.setLevel("INFO")
        script = "echo 'measuring 1 of 2' >&2\nn=0\nwhile [ ! -e {} ]; do n=$((n + 1)); [ $n -lt 600 ] || exit 1; sleep 0.1; done\necho done\n"
        with self.command(script.format(go_on)):
            self.assertEqual(kiln.version(), "done")

    def test_errors_are_exceptions_alone(self):
        with self.assertNoLogs("kiln", "WARNING"):
            self.refuses(kiln.ModelError, "none.onnx: no such file", kiln.compile, "none.onnx")

    def test_an_exception_has_all_that_was_said(self):
        """Includes lines of other programs, such as a linker, but no notes."""
        with self.command("echo 'kiln: note: odd' >&2\necho 'ld: cannot find x' >&2\necho 'kiln: the linker failed' >&2\nexit 1\n"):
            with self.assertLogs("kiln", "INFO") as logs:
                with self.assertRaises(kiln.CompilerError) as caught:
                    kiln.version()
        self.assertEqual(str(caught.exception), "ld: cannot find x\nkiln: the linker failed")
        self.assertEqual([record.getMessage() for record in logs.records][:2], ["odd", "ld: cannot find x"])
        with self.command("echo 'loader: no such library' >&2\nexit 127\n"):
            self.refuses(kiln.CompilerError, "loader: no such library", kiln.version)

    def test_a_handler_that_fails_ends_the_command(self):
        """An example is an interrupted progress bar."""

        class Stop(BaseException):
            pass

        with self.command("echo $$ > {}\necho working >&2\nexec sleep 1000\n".format(self.path("pid"))):
            with unittest.mock.patch("kiln.command_line._log.info", side_effect=Stop):
                with self.assertRaises(Stop):
                    kiln.version()
        with open(self.path("pid")) as file:
            self.assertFalse(os.path.exists("/proc/" + file.read().strip()))

    def test_what_a_program_without_logging_shows(self):
        """Python shows warnings on standard error, and nothing else."""
        kiln.tune(DIGITS, self.path("digits.tuning"), time=0.5)
        program = "import kiln, sys; kiln.compile(sys.argv[1], tuning=sys.argv[2])"
        process = self.python(program, MY_MOD, self.path("digits.tuning"), stderr=subprocess.PIPE)
        _, error = process.communicate()
        self.assertEqual(len(error.splitlines()), 1, error)
        self.assertIn("has nothing measured", error)


if __name__ == "__main__":
    unittest.main()
