# SPDX-License-Identifier: Apache-2.0
"""Output locations: all files or none are written, existing files, and special files."""

import os
import re
import shutil
import subprocess
import threading
import unittest

from tests.cli.cli_case import DIGITS, KILN, MY_MOD, CliCase, needs_llvm

C_INTERFACE = ["--runtime", "crt", "--interface", "c"]


class OutputTest(CliCase):
    def test_output_under_a_file(self):
        self.write("file", "kept")
        for folder in ("file", "file/out"):
            with self.subTest(folder):
                self.refuses("the output folder cannot be made", "compile", MY_MOD, "-o", self.path(folder))
        self.assertEqual(self.files(self.folder), {"file": b"kept"})

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_output_without_permission(self):
        os.mkdir(self.path("closed"), 0o500)
        self.refuses("cannot be", "compile", MY_MOD, "-o", self.path("closed"))

    def test_output_name_is_taken(self):
        """A file that cannot be replaced stays, and no partial file is left next to it."""
        os.makedirs(self.path("taken/my_mod.h/inside"))
        result = self.kiln("compile", MY_MOD, "-o", self.path("taken"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("my_mod.h: cannot be written", result.stderr.decode())
        self.assertEqual(os.listdir(self.path("taken")), ["my_mod.h"])

    def test_archive_and_folder_belong_together(self):
        self.write("file", "kept")
        self.refuses("cannot be made", "compile", MY_MOD, *C_INTERFACE, "--mlf", self.path("new/a.tar"), "-o", self.path("file"))
        self.refuses("two outputs", "compile", MY_MOD, *C_INTERFACE, "--mlf", self.path("out/my_mod.h"), "-o", self.out)
        self.assertEqual(self.files(self.folder), {"file": b"kept"})

    def test_users_files_stay(self):
        os.mkdir(self.out)
        users = {"my_mod.h.tmp": b"1", "my_mod.c.tmp": b"2", "my_mod_model.c": b"int mine;\n", "my_mod.graph.json": b"{}"}
        for name, data in users.items():
            self.write("out/" + name, data)
        self.succeeds("compile", MY_MOD, "-o", self.out, "--codegen", "c", "--runtime", "crt")
        files = self.files(self.out)
        self.assertEqual({name: files[name] for name in users}, users)

    @needs_llvm
    def test_what_other_options_have_left(self):
        """Sources and objects of an earlier compilation are named and kept. Files of others are not named."""
        self.succeeds("compile", MY_MOD, "-o", self.out, *C_INTERFACE, "--codegen", "c", "--external", "csource")
        self.write("out/my_mod_devices.c", "int devices;\n")
        result = self.kiln("compile", MY_MOD, "-o", self.out, "--runtime", "crt")
        self.assertEqual(result.returncode, 0, result.stderr)
        notes = re.findall(r"^kiln: note: (\S+) is left from an earlier compilation of my_mod", result.stderr.decode(), re.M)
        left = ["my_mod.c", "my_mod_csource.c", "my_mod_model.c"]
        self.assertEqual(sorted(os.path.basename(path) for path in notes), left)
        self.assertLessEqual(set(left + ["my_mod.o", "my_mod_devices.c"]), set(os.listdir(self.out)))
        self.assertEqual(self.kiln("compile", MY_MOD, "-o", self.path("other")).stderr, b"")

    def test_the_model_stays(self):
        model = shutil.copy(MY_MOD, self.path("m.relay"))
        os.symlink("m.relay", self.path("link"))
        crt = ["--runtime", "crt", "--mlf"]
        for options in (["--emit=plan", "-o", model], ["--emit=plan", "-o", self.path("link")], crt + [model]):
            self.refuses("is what is read", "compile", model, *options)
        with open(MY_MOD) as wanted, open(model) as found:
            self.assertEqual(found.read(), wanted.read())

    def test_what_is_no_ordinary_file(self):
        """A FIFO is written into, and a symbolic link is followed and kept."""
        wanted = self.succeeds("compile", MY_MOD, "--emit=plan")
        os.mkfifo(self.path("fifo"))
        self.write("file", "old")
        os.symlink("file", self.path("link"))
        os.symlink("new", self.path("dangling"))
        read = []

        def read_fifo():
            with open(self.path("fifo")) as fifo:
                read.append(fifo.read())

        reader = threading.Thread(target=read_fifo, daemon=True)
        reader.start()
        for name in ("fifo", "link", "dangling"):
            self.succeeds("compile", MY_MOD, "--emit=plan", "-o", self.path(name))
        reader.join(60)
        self.assertEqual(read, [wanted])
        self.assertTrue(os.path.islink(self.path("link")) and os.path.islink(self.path("dangling")))
        for name in ("file", "new"):
            with open(self.path(name)) as file:
                self.assertEqual(file.read(), wanted)

    def test_standard_output_that_is_full(self):
        """Every subcommand reports that its output cannot be written."""
        self.succeeds("compile", DIGITS, "-o", self.path("lib"))
        self.succeeds("compile", DIGITS, "-o", self.path("profiled"), "--profile")
        library, profiled = self.path("lib/digits.so"), self.path("profiled/digits.so")
        for args in (
            ["--version"],
            ["run", "--help"],
            ["compile", DIGITS, "--emit=plan"],
            ["compile", DIGITS, "--emit=loops"],
            ["inspect", library],
            ["run", library, "--input", "image=random"],
            ["bench", library, "--seconds", "0.01"],
            ["bench", library, "--seconds", "0.01", "--json"],
            ["bench", profiled, "--seconds", "0.01", "--profile"],
        ):
            with self.subTest(" ".join(args)), open("/dev/full", "w") as full:
                result = subprocess.run([KILN] + args, stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stderr, b"kiln: cannot write to standard output: No space left on device\n")

    def test_folder_in_the_place_of_a_file(self):
        for options in (["--emit=plan", "-o"], C_INTERFACE + ["--mlf"]):
            self.refuses("found the folder", "compile", DIGITS, *options, self.folder)


if __name__ == "__main__":
    unittest.main()
