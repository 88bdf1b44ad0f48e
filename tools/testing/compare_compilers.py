#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what two compilers make of the same models:

    tools/testing/compare_compilers.py OLD_KILN NEW_KILN FOLDER...
    tools/testing/compare_compilers.py OLD_KILN NEW_KILN FOLDER --only '*kws*' --targets cortex-m4f,cortex-m55

Every model of the folders is compiled for each target by both code generators. Objects and shared objects must be equal byte for byte, C sources and headers
without their comments, and JSON as values. If both compilers refuse a model in the same words, this counts as equal. With `--stage scheduled`, only the text
of this stage is compared, which is faster. Differences are printed, and the exit status is 1 if there is one.
"""

import argparse
import concurrent.futures
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from tools.testing import count_code  # pylint: disable=wrong-import-position

_MODELS = {".onnx", ".relay", ".tflite"}
_C = {".c", ".h"}
TARGETS = ("x86-64-v3", "x86-64-v4 -mattr=+avx512vnni", "aarch64", "aarch64 -mattr=+dotprod,+i8mm", "cortex-m0", "cortex-m4f", "cortex-m55", "riscv32imac")
CODE_GENERATORS = ("llvm", "c")


def is_bare_metal(target):
    return target.startswith(("cortex-m", "riscv32"))


def code_of(text):
    """The lines of C code without comments, blanks at their ends, and blank lines."""
    return [line.rstrip() for line in count_code.without_c_comments(text).splitlines() if line.strip()]


def same_file(name, old, new):
    """True if the bytes of two files of this name mean the same."""
    suffix = pathlib.PurePath(name).suffix
    if suffix == ".json":
        return json.loads(old) == json.loads(new)
    if suffix in _C:
        return code_of(old.decode()) == code_of(new.decode())
    return old == new


def different_files(old, new):
    """Compares two dictionaries of file contents, keyed by name. Returns the names that differ or exist once."""
    return sorted(name for name in old.keys() | new.keys() if name not in old or name not in new or not same_file(name, old[name], new[name]))


def compiled(kiln, model, arguments, stage):
    """Returns the files that a compiler makes, keyed by name. The key "error" has the words of a refusal."""
    with tempfile.TemporaryDirectory() as folder:
        command = [kiln, "compile", str(model), "--module-name", "module"] + arguments
        command += ["--emit=" + stage] if stage else ["-o", folder, "--no-headers", "--quiet"]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        if result.returncode != 0:
            return {"error": result.stderr}
        if stage:
            return {stage: result.stdout}
        return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}


def cases(models, targets, stage):
    """Yields a name, the model and the arguments of each compilation."""
    for model in models:
        for target in targets:
            for generator in CODE_GENERATORS[:1] if stage else CODE_GENERATORS:
                arguments = ["--target", target, "--codegen", generator]
                if is_bare_metal(target):
                    arguments += ["--runtime", "crt", "--interface", "c"]
                yield "{}, {}, {}".format(model, target, generator), model, arguments


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--only", default="*", help="pattern of paths")
    parser.add_argument("--targets", default="; ".join(TARGETS), help="separated by commas, or by semicolons if they have options")
    parser.add_argument("--stage", default="", help="compare the text of this stage of --emit instead of the files")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    arguments = parser.parse_args()
    separator = ";" if ";" in arguments.targets or " " in arguments.targets else ","
    targets = [target.strip() for target in arguments.targets.split(separator)]
    paths = sorted(path for folder in arguments.folders for path in pathlib.Path(folder).rglob("*") if path.suffix in _MODELS)
    models = [path for path in paths if fnmatch.fnmatch(str(path), arguments.only)]
    if not models:
        parser.error("no model matches")
    refused = different = total = 0

    def run(case):
        return case[0], *(compiled(kiln, case[1], case[2], arguments.stage) for kiln in (arguments.old, arguments.new))

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for name, old, new in pool.map(run, cases(models, targets, arguments.stage)):
            total += 1
            refused += "error" in old and "error" in new
            found = different_files(old, new)
            if found:
                different += 1
                print("{}: {}".format(name, ", ".join(found)), flush=True)
    print("{} compilations of {} models: {} differ, {} are refused by both".format(total, len(models), different, refused))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
