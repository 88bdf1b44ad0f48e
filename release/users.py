# SPDX-License-Identifier: Apache-2.0
"""The users of a release, each with a page of commands: docs/released_files.md, the README, a tutorial or a page about
Python."""

import collections
import os
import re

PAGE = "docs/released_files.md"

# `page` and `heading` locate the commands (heading None: the whole page). `suffix` ends the name of the released file
# that the user has. `packages` are the additional Debian packages that the system needs.
User = collections.namedtuple("User", ["page", "heading", "suffix", "packages"])

_CXX = ["cmake", "g++", "make"]
_FIRMWARE = ["gcc-arm-none-eabi", "libnewlib-arm-none-eabi", "qemu-system-arm"]
_PYTHON = ["python3", "python3-numpy", "python3-venv"]

USERS = {
    "c++": User(PAGE, "C++", ".tar.gz", _CXX),
    "python": User(PAGE, "Python", ".whl", _PYTHON),
    "data": User(PAGE, "From float to int8", ".whl", _PYTHON),
    "firmware": User("docs/tutorial_cortex_m4.md", None, ".tar.gz", _FIRMWARE),
    "command line of the README": User("README.md", "Command line", ".tar.gz", []),
    "c++ of the README": User("README.md", "C++", ".tar.gz", _CXX),
    "firmware of the README": User("README.md", "Firmware", ".tar.gz", []),
    "python of the README": User("README.md", "Python", ".whl", _PYTHON),
    "c++ tutorial": User("docs/tutorial_cpp.md", None, ".tar.gz", _CXX),
    "python tutorial": User("docs/tutorial_python.md", None, ".whl", _PYTHON),
    "python page": User("docs/python.md", None, ".whl", _PYTHON),
}

_FENCE = re.compile(r"^```(\S*) *(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def section(page, heading):
    """Returns the text below a heading of the second or third level, up to the next heading."""
    parts = re.split(r"^###? (.*)\n", page, flags=re.MULTILINE)
    texts = dict(zip(parts[1::2], parts[2::2]))
    return texts[heading]


def fences(text):
    """Returns the language, the file name (may be empty) and the contents of each fenced block."""
    return _FENCE.findall(text)


def script(blocks, folder):
    """Returns fenced blocks as one bash program. Blocks with a file name create that file; the others run in order in
    `folder`."""
    lines = ["set -euo pipefail", "mkdir -p '{0}' && cd '{0}'".format(folder)]
    for number, (language, name, body) in enumerate(blocks):
        if name:
            lines += ["cat >'{}' <<'END_OF_FILE_{}'".format(name, number), body.rstrip("\n"), "END_OF_FILE_{}".format(number)]
        elif language == "bash":
            lines.append(body.rstrip("\n"))
    return "\n".join(lines) + "\n"


def script_of(user, folder):
    with open(os.path.join(os.path.dirname(__file__), "..", USERS[user].page), encoding="utf-8") as file:
        text = file.read()
    heading = USERS[user].heading
    return script(fences(section(text, heading) if heading else text), folder)
