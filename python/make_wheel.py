# SPDX-License-Identifier: Apache-2.0
"""Writes a wheel (binary distribution format 1.0) whose bytes depend only on its contents.

    make_wheel.py --output kiln-0.1.0-cp310-abi3-linux_x86_64.whl --version 0.1.0 --tag cp310-abi3-linux_x86_64
        --metadata METADATA --license LICENSE kiln/__init__.py=SOURCE kiln/bin/kiln=SOURCE ...
"""

import argparse
import base64
import hashlib
import os
import stat
import zipfile

_WHEEL = "Wheel-Version: 1.0\nGenerator: kiln\nRoot-Is-Purelib: false\nTag: {}\n"
_ENTRY_POINTS = "[console_scripts]\nkiln = kiln.__main__:main\n"
# The earliest date that a zip file can represent.
_DATE = (1980, 1, 1, 0, 0, 0)


def _record_line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return "{},sha256={},{}\n".format(name, digest, len(content))


def write_wheel(path, files, executables):
    """Writes the archive.

    `files` maps names to contents, in the order of the archive. `executables` has the names of executable files.
    """
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _DATE)
            entry.create_system = 3  # Unix: external_attr has permissions
            entry.external_attr = (stat.S_IFREG | (0o755 if name in executables else 0o644)) << 16
            archive.writestr(entry, content, zipfile.ZIP_DEFLATED)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--output", "--version", "--tag", "--metadata", "--license"):
        parser.add_argument(option, required=True)
    parser.add_argument("files", nargs="+", help="name in the wheel=path")
    arguments = parser.parse_args()

    files, executables = {}, set()
    information = "kiln-{}.dist-info/".format(arguments.version)
    pairs = [pair.split("=", 1) for pair in arguments.files]
    # Files in the .dist-info folder come last, as the wheel format recommends.
    for name, path in sorted(pairs, key=lambda pair: (pair[0].startswith(information), pair[0])):
        with open(path, "rb") as file:
            files[name] = file.read()
        if os.path.basename(os.path.dirname(name)) == "bin":
            executables.add(name)
    with open(arguments.metadata, encoding="utf-8") as file:
        files[information + "METADATA"] = file.read().replace("@version@", arguments.version).encode()
    with open(arguments.license, "rb") as file:
        files[information + "LICENSE"] = file.read()
    files[information + "WHEEL"] = _WHEEL.format(arguments.tag).encode()
    files[information + "entry_points.txt"] = _ENTRY_POINTS.encode()
    record = "".join(_record_line(name, content) for name, content in files.items())
    files[information + "RECORD"] = (record + information + "RECORD,,\n").encode()
    write_wheel(arguments.output, files, executables)


if __name__ == "__main__":
    main()
