# SPDX-License-Identifier: Apache-2.0
"""`kiln inspect IMAGE --emulator`: counts, and error messages if there are none.

    inspect_test EMULATOR IMAGE…    the images are for a Cortex-M4F
"""

import json
import os
import subprocess
import sys
import unittest

KILN = os.path.abspath("tools/kiln/kiln")


class InspectTest(unittest.TestCase):
    def inspect(self, *arguments):
        command = [KILN, "inspect"] + list(arguments)
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def refuses(self, words, *arguments):
        result = self.inspect(*arguments)
        self.assertEqual(result.returncode, 2, result.stderr.decode())
        self.assertIn(words, result.stderr.decode())

    def test_counts(self):
        result = self.inspect(IMAGE, "--emulator", EMULATOR)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assertRegex(result.stdout.decode(), r"^instructions: \d+ in each of \d+ inferences?\nestimated cycles: \d+ of a cortex-m4, with .*\n$")
        found = json.loads(self.inspect("--json", IMAGE, "--emulator", EMULATOR).stdout)
        self.assertGreater(min(found["instructions"]), 0)
        self.assertIn("stack: ", found["output"])

    def test_what_cannot_be_counted(self):
        self.refuses("--emulator: found an empty text", IMAGE, "--emulator", "")
        self.refuses("'no-such-emulator' cannot be run: No such file", IMAGE, "--emulator", "no-such-emulator -x")
        self.refuses("ends with status 1, wanted 0", IMAGE, "--emulator", "qemu-system-arm -machine no-such-machine")
        self.refuses("does not end within 1 s", HANGS, "--timeout", "1", "--emulator", EMULATOR)
        self.refuses("BeginInference and EndInference", HELLO, "--emulator", EMULATOR)
        self.refuses("no such file", "none.elf", "--emulator", EMULATOR)


if __name__ == "__main__":
    EMULATOR = sys.argv[1]
    PATHS = {os.path.basename(path): path for path in sys.argv[2:]}
    IMAGE, HELLO, HANGS = PATHS["integers_test_crt_c_c_image"], PATHS["hello"], PATHS["no_end"]
    unittest.main(argv=sys.argv[:1])
