# SPDX-License-Identifier: Apache-2.0
"""The generator of docs/external_codegen.md: the page shows the file that is built, and a compiler that contains the
generator uses it."""

import os
import subprocess
import tempfile
import unittest

KILN = os.path.abspath("tests/external/kiln_with_signs")
PAGE = "docs/external_codegen.md"
SOURCE = "tests/external/signs.cc"
MODEL = """#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) {
  %0 = abs(negative(exp(%x)));
  (negative(%0), add(%0, 1f))
}
"""


class SignsTest(unittest.TestCase):
    def test_the_page_shows_this_generator(self):
        with open(SOURCE, encoding="utf-8") as file:
            source = file.read()
        with open(PAGE, encoding="utf-8") as file:
            self.assertIn("```c++ signs.cc\n" + source + "```\n", file.read())

    def test_all_runtimes(self):
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, "model.relay")
            with open(model, "w", encoding="utf-8") as file:
                file.write(MODEL)

            def kiln(*args):
                result = subprocess.run([KILN] + list(args), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                self.assertEqual(result.returncode, 0, result.stderr.decode())
                return result.stdout.decode()

            def run(*options):
                out = os.path.join(folder, "out")
                kiln("compile", model, "-o", out, "--module-name", "m", *options)
                return kiln("run", os.path.join(out, "m.so"), "--input", "x=random")

            plain = run()
            self.assertIn("tvmgen_model_signs_main_0", kiln("compile", model, "--external", "signs", "--emit=external"))
            for options in ([], ["--executor", "graph"], ["--codegen", "c"]):
                self.assertEqual(run("--external", "signs", *options), plain)
            for interface in ("packed", "c"):
                out = os.path.join(folder, "crt")
                kiln("compile", model, "-o", out, "--external", "signs", "--runtime", "crt", "--interface", interface, "--codegen", "c")
                self.assertIn("model_signs.c", os.listdir(out))


if __name__ == "__main__":
    unittest.main()
