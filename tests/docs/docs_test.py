# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of the documentation: every fence with the mark `sh`, page by page, in an empty folder.

The fences of a page run in order in one folder, each with `bash -e`. The folder has the files of a built checkout: models/, and in
bazel-bin the programs that `bazel build` makes. Commands that cannot run inside a test are checked instead: the targets of `bazel`
must exist, and so must a script of the tree. A fence whose mark names a file (```c main.c) is written to that file.
A path below /tmp is replaced by a path in the folder.
"""

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

# Programs that pages need in addition to the tree. tools/install_packages.sh installs them.
OPTIONAL_PROGRAMS = ["arm-none-eabi-gcc", "cmake", "qemu-system-arm", "arm-none-eabi-g++", "openssl"]
PROGRAMS = {"bazel-bin/tools/kiln/kiln": "tools/kiln/kiln", "bazel-bin/models/digits/classify": "models/digits/classify"}
# Folders and files that commands read.
EXAMPLES = ["cmake/CMakeLists.txt", "makefile/Makefile", "run_c.c", "run_graph.c", "run_packed.c"]
FILES = ["mlf/examples/" + name for name in EXAMPLES] + ["models/digits/calibration/image.npy", "models/digits/digits.onnx", "models/digits/digits_batch.onnx", "models/digits/image.npy", "models/digits/probabilities.npy", "models/digits/test_images.npy", "models/digits/test_labels.npy", "models/my_mod/my_mod.relay", "runtime_cpp", "runtime_crt"]
SCRIPTS = [".ci/run", "release/try_release.py", "tools/install_packages.sh", "tools/lint/format.sh", "tools/quickstart.sh", "tools/test.sh"]

# Replacement for bazel. Fails if a target is not in the list, or if no target is below a pattern.
BAZEL = r"""#!/usr/bin/env python3
import sys
known = set(open({labels!r}).read().split())
arguments = sys.argv[2:sys.argv.index("--")] if "--" in sys.argv else sys.argv[2:]
for label in arguments:
    if label.startswith("-") or label == "//...":
        continue
    below = label[:-len("/...")] if label.endswith("/...") else None
    if not (label in known if below is None else any(k.startswith((below + ":", below + "/")) for k in known)):
        sys.exit("no target " + label + " in tests/docs/BUILD.bazel")
if sys.argv[1] not in ("build", "run", "test"):
    sys.exit("unknown command of bazel: " + sys.argv[1])
"""


def fences(text):
    """Yields (language, file name or "", lines) of each fence of a page."""
    language, name, lines = None, "", []
    for line in text.splitlines():
        match = re.match(r"^```(\S*)\s*(\S*)$", line)
        if match and language is None:
            language, name, lines = match.group(1), match.group(2), []
        elif match:
            yield language, name, lines
            language = None
        elif language is not None:
            lines.append(line)


def full_label(label):
    return label if ":" in label else label + ":" + label.split("/")[-1]


class DocsTest(unittest.TestCase):
    def make_checkout(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        root = folder.name
        for target, source in list(PROGRAMS.items()) + [(name, name) for name in FILES]:
            os.makedirs(os.path.dirname(os.path.join(root, target)), exist_ok=True)
            os.symlink(os.path.abspath(source), os.path.join(root, target))
        for name in SCRIPTS:
            self.assertTrue(os.access(name, os.X_OK), name + " is no program")
            self.write_program(os.path.join(root, name), "#!/bin/sh\n")
        with open(LABELS, encoding="utf-8") as file:
            labels = file.read().split()
        known = os.path.join(root, "labels")
        with open(known, "w", encoding="utf-8") as file:
            file.write("\n".join(labels + [label.split(":")[0] for label in labels if full_label(label.split(":")[0]) == label]))
        self.write_program(os.path.join(root, "stubs/bazel"), BAZEL.format(labels=known))
        return root

    def write_program(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, stat.S_IRWXU)

    def run_page(self, page):
        """Runs the page, and returns the number of fences that ran."""
        root = self.make_checkout()
        environment = dict(os.environ, PATH=os.path.join(root, "stubs") + ":" + os.environ["PATH"])
        count = 0
        with open(page, encoding="utf-8") as file:
            blocks = list(fences(file.read()))
        for language, name, lines in blocks:
            text = "\n".join(lines) + "\n"
            if name:
                os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(text)
            if language != "sh":
                continue
            count += 1
            missing = [program for program in OPTIONAL_PROGRAMS if program in text and shutil.which(program) is None]
            if missing:
                print("{}: not run: {} is not installed".format(page, ", ".join(missing)))
                continue
            result = subprocess.run(
                ["bash", "-euc", text.replace("/tmp/", root + "/tmp/")],
                cwd=root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
            self.assertEqual(result.returncode, 0, "{}:\n{}\n{}".format(page, text, result.stdout.decode()[-2000:]))
        return count

    def test_commands_succeed(self):
        for page in PAGES:
            with self.subTest(page):
                self.assertGreater(self.run_page(page), 0, page + " has no commands: leave it out of tests/docs/BUILD.bazel")

    def test_wrong_commands_fail(self):
        """Checks that the test detects each of these errors."""
        for command in (
            "bazel build //tools:no_such_target",
            "bazel test //no/such/folder/...",
            "bazel bake //tools:kiln",
            "tools/no_such_script.sh",
            "bazel-bin/tools/kiln/kiln compile models/digits/digits.onnx --no-such-option",
            "bazel-bin/tools/kiln/kiln compile models/none.onnx --emit=plan",
        ):
            with self.subTest(command), tempfile.TemporaryDirectory() as folder:
                page = os.path.join(folder, "page.md")
                with open(page, "w", encoding="utf-8") as file:
                    file.write("```sh\n" + command + "\n```\n")
                with self.assertRaises(AssertionError):
                    self.run_page(page)


if __name__ == "__main__":
    LABELS, PAGES = sys.argv[1], sys.argv[2:]
    unittest.main(argv=sys.argv[:1])
