# SPDX-License-Identifier: Apache-2.0
"""Finds the shared libraries that the programs of a folder need, and checks that the folder has them. Used by tests."""

import pathlib
import re
import subprocess

# Libraries of every Linux system with a C++ program.
OF_THE_SYSTEM = {"ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2", "libc.so.6", "libgcc_s.so.1", "libm.so.6", "libstdc++.so.6"}


def _first_bytes(path, count):
    with open(path, "rb") as file:
        return file.read(count)


def binaries(folder):
    """Returns the programs and shared objects below a folder."""
    files = sorted(path for path in pathlib.Path(folder).rglob("*") if path.is_file())
    return [path for path in files if _first_bytes(path, 4) == b"\x7fELF"]


def needed(binary):
    """Returns the names of the shared libraries that a binary needs."""
    text = subprocess.check_output(["readelf", "--dynamic", binary], text=True)
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))


def missing(folder):
    """Returns the shared libraries that binaries of a folder need, but that neither the folder nor the system has."""
    found = binaries(folder)
    return set().union(*map(needed, found)) - {path.name for path in found} - OF_THE_SYSTEM


def found_outside(folder, binary):
    """Returns the shared libraries of a binary that the loader takes from outside the folder, except the system's."""
    text = subprocess.check_output(["ldd", binary], text=True, env={})
    paths = dict(re.findall(r"(\S+) => (.*?)(?: \(0x[0-9a-f]+\))?$", text, re.M))
    folder = str(pathlib.Path(folder).resolve())
    return {name: path for name, path in paths.items() if name not in OF_THE_SYSTEM and not path.startswith(folder)}


def version_needed(symbol, files):
    """Returns the newest symbol version that the binaries need, for example (2, 34) for "GLIBC" or (3, 4, 29) for
    "GLIBCXX"."""
    text = subprocess.check_output(["readelf", "--version-info", *files], text=True)
    return max(tuple(map(int, version.split("."))) for version in re.findall(r"Name: {}_([\d.]+)".format(symbol), text))
