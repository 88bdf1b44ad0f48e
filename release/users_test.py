# SPDX-License-Identifier: Apache-2.0
"""Runs the commands that docs/released_files.md, the README and the pages about Python give to users of a release, to
the letter, with the released files and the programs of this machine."""

import glob
import os
import shutil
import subprocess
import tempfile
import unittest

from release import users

PROGRAMS = {"c++": ["cmake"], "c++ tutorial": ["cmake"], "firmware": ["arm-none-eabi-gcc", "qemu-system-arm"]}
# A text in the output of each user's commands.
WANTED = {
    "c++": "the digit is 4",
    "python": "the digit is 4",
    "data": "the digit is 4",
    "firmware": "the digit is 0x00000004",
    "command line of the README": "MACs: 601600",
    "c++ of the README": "the digit is 1",
    "firmware of the README": "digits.h",
    "c++ tutorial": "the digit is 4",
    "python of the README": "the digit is 4",
    "python tutorial": "32 of 32 are right",
    "python page": "off: probabilities at (0, 7)",
}


class UsersTest(unittest.TestCase):
    def run_as(self, user, change=lambda text: text):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        (released,) = glob.glob("release/kiln*" + users.USERS[user].suffix)
        shutil.copy(released, folder.name)
        text = change(users.script_of(user, folder.name))
        return subprocess.run(["bash", "-c", text], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def test_every_user(self):
        self.assertEqual(set(users.USERS), set(WANTED))
        for user in users.USERS:
            with self.subTest(user):
                missing = [program for program in PROGRAMS.get(user, []) if shutil.which(program) is None]
                if missing:
                    print("not run as {}: no {}".format(user, ", ".join(missing)))
                    continue
                result = self.run_as(user)
                text = result.stdout.decode()
                self.assertEqual(result.returncode, 0, text)
                self.assertIn(WANTED[user], text)

    def test_what_is_wrong_is_found(self):
        result = self.run_as("python", lambda text: text.replace("the digit is 4", "the digit is 5"))
        self.assertNotEqual(result.returncode, 0)

    def test_archive_over_an_older_one(self):
        """If an archive is unpacked over another version, the newer files win, and the compiler runs."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        (archive,) = glob.glob("release/kiln*.tar.gz")
        subprocess.run(["tar", "xzf", os.path.abspath(archive)], cwd=folder.name, check=True)
        (top,) = os.listdir(folder.name)
        library = os.path.join(folder.name, top, "lib", "libkiln_runtime.so.0")
        os.remove(library)
        with open(library, "w", encoding="utf-8") as file:
            file.write("of an older version")
        subprocess.run(["tar", "xzf", os.path.abspath(archive)], cwd=folder.name, check=True)
        with open(library, "rb") as file:
            self.assertEqual(file.read(4), b"\x7fELF")
        subprocess.run([os.path.join(folder.name, top, "bin", "kiln"), "--version"], check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    unittest.main()
