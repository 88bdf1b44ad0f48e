# SPDX-License-Identifier: Apache-2.0
"""Flips a byte at many positions of ten libraries and archives, and runs kiln run, bench, inspect and mlf on each.

    bazel run -c opt //tests/damage:flip_files -- --positions 100

Prints a table with the outcomes of the commands. Fails if a command was ended by a signal, succeeded on damaged contents, or
gave an error without the name of the file.
"""

import argparse
import collections
import io
import os
import subprocess
import sys
import tarfile
import tempfile

KILN = os.path.abspath("tools/kiln/kiln")
DIGITS = os.path.abspath("models/digits/digits.onnx")
MY_MOD = os.path.abspath("models/my_mod/my_mod.relay")

LIBRARIES = {
    "digits_aot": [DIGITS],
    "digits_graph": [DIGITS, "--executor", "graph"],
    "digits_c": [DIGITS, "--codegen", "c"],
    "digits_profile": [DIGITS, "--profile"],
    "my_mod_aot": [MY_MOD],
    "my_mod_graph": [MY_MOD, "--executor", "graph"],
}
ARCHIVES = {
    "digits_c_interface": [DIGITS, "--interface", "c", "--codegen", "c"],
    "digits_runtime": [DIGITS, "--executor", "graph", "--mlf-runtime"],
    "my_mod_packed": [MY_MOD],
    "my_mod_objects": [MY_MOD, "--target", "cortex-m4f", "--mlf-runtime"],
}
COMMANDS = {
    "run": lambda path: ["run", path],
    "bench": lambda path: ["bench", path, "--seconds", "0.001", "--json"],
    "inspect": lambda path: ["inspect", path],
    "mlf": lambda path: ["mlf", "merge", path, "-o", "merged.tar"],
}


def kiln(arguments, folder):
    return subprocess.run([KILN] + arguments, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)


def compile_model(arguments, folder):
    result = kiln(["compile"] + arguments, folder)
    if result.returncode != 0:
        sys.exit(result.stderr.decode(errors="replace"))


def make_files(folder):
    """Returns the undamaged files by name."""
    files = {}
    for name, options in LIBRARIES.items():
        compile_model(options + ["-o", name, "--module-name", "m"], folder)
        with open(os.path.join(folder, name, "m.so"), "rb") as file:
            files[name + ".so"] = file.read()
    for name, options in ARCHIVES.items():
        compile_model(options + ["--runtime", "crt", "--mlf", name + ".tar"], folder)
        with open(os.path.join(folder, name + ".tar"), "rb") as file:
            files[name + ".tar"] = file.read()
    return files


def contents(name, data):
    """Returns the meaningful contents of a file. For an archive these are the members, without the padding of blocks."""
    if name.endswith(".so"):
        return data
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        return {member.name: archive.extractfile(member).read() for member in archive.getmembers()}


def outcome(command, name, data, damaged, folder):
    path = "damaged" + os.path.splitext(name)[1]
    with open(os.path.join(folder, path), "wb") as file:
        file.write(damaged)
    result = kiln(COMMANDS[command](path), folder)
    text = result.stderr.decode(errors="replace")
    if result.returncode < 0:
        return "ended by signal {}".format(-result.returncode)
    if result.returncode == 0:
        return "same contents" if contents(name, data) == contents(name, damaged) else "not noticed"
    # A command that does not accept this kind of file refuses the undamaged file, too.
    return "refused" if result.returncode == 2 and path in text else "refused without the file's name: " + text[:200]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--positions", type=int, default=100, help="in each file")
    positions = parser.parse_args().positions
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name, data in make_files(folder).items():
            for i in range(positions):
                at = (2 * i + 1) * len(data) // (2 * positions)
                damaged = data[:at] + bytes([data[at] ^ 1 << i % 8]) + data[at + 1 :]
                for command in COMMANDS:
                    counts[(name, command, outcome(command, name, data, damaged, folder))] += 1
    for (name, command, what), count in sorted(counts.items()):
        print("{:24} {:8} {:6} {}".format(name, command, count, what))
    total = collections.Counter()
    for (_, _, what), count in counts.items():
        total[what] += count
    print("all: " + ", ".join("{} {}".format(count, what) for what, count in sorted(total.items())))
    sys.exit(0 if set(total) <= {"refused", "same contents"} else 1)


if __name__ == "__main__":
    main()
