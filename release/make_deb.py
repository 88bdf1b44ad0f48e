# SPDX-License-Identifier: Apache-2.0
"""Makes the Debian packages of a release from its archive, with the files below /usr: one package to run models, one to build programs that use
Kiln, and one with the compiler.

    make_deb.py --archive kiln-0.1.0-linux-x86_64.tar.gz --output FOLDER --version 0.1.0 --architecture amd64 --date 2026-11-25
"""

import argparse
import collections
import hashlib
import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile

from release.make_archive import seconds

# `files` are prefixes of names in the archive. A file goes into the first package with a matching prefix.
Package = collections.namedtuple("Package", ["name", "section", "relations", "files", "description"])

_SYSTEM = "libc6 (>= 2.34), libgcc-s1 (>= 11), libstdc++6 (>= 11)"

PACKAGES = [
    Package(
        "libkiln-runtime0",
        "libs",
        "Depends: " + _SYSTEM,
        ["lib/libkiln_runtime.so.0"],
        "runtime of Kiln for compiled neural networks\n"
        " Loads and runs the libraries that kiln compiles neural networks into. Programs\n"
        " that are linked with libkiln_runtime.so need nothing else.",
    ),
    Package(
        "libkiln-dev",
        "libdevel",
        "Depends: libkiln-runtime0 (= {version})\nSuggests: cmake, g++\nBreaks: kiln (<< {version})\nReplaces: kiln (<< {version})",
        ["include/", "lib/cmake/", "lib/pkgconfig/", "lib/lib", "share/kiln/src/"],
        "headers and static libraries of Kiln's runtimes\n"
        " For programs in C and C++ that run compiled neural networks, and for firmware:\n"
        " headers, static libraries, files for CMake and pkg-config, and the sources of\n"
        " the runtimes.",
    ),
    Package(
        "kiln",
        "devel",
        "Depends: " + _SYSTEM + "\nRecommends: libkiln-dev",
        [""],
        "ahead-of-time compiler for neural networks\n"
        " Compiles a trained neural network into a library that a program links, for\n"
        " servers and for firmware without an operating system. Contains the command\n"
        " kiln, its documentation and an example.",
    ),
]

_CONTROL = """Package: {name}
Source: kiln
Version: {version}
Architecture: {architecture}
Maintainer: The Kiln authors <authors@kiln.invalid>
Installed-Size: {kilobytes}
{relations}
Section: {section}
Priority: optional
Description: {description}
"""


def _digest_line(root, path):
    return "{}  {}\n".format(hashlib.md5(path.read_bytes()).hexdigest(), path.relative_to(root))


def _split(top):
    """Returns the relative paths of the files below `top`, by package."""
    files = {package.name: [] for package in PACKAGES}
    for path in sorted(path.relative_to(top) for path in top.rglob("*") if path.is_symlink() or path.is_file()):
        name = next(package.name for package in PACKAGES if str(path).startswith(tuple(package.files)))
        files[name].append(path)
    return files


def _copy(source, target):
    for folder in reversed(target.parents):
        if not folder.exists():
            folder.mkdir(mode=0o755)
    shutil.copy2(source, target, follow_symlinks=False)


def _build(package, top, files, folder, arguments):
    root = pathlib.Path(folder, package.name)
    for path in files:
        _copy(top / path, root / "usr" / path)
    if package.name != "kiln":
        doc = top / "share/doc/kiln"
        for path in [doc / "copyright", *sorted(doc.glob("LICENSES/*"))]:
            _copy(path, root / "usr/share/doc" / package.name / path.relative_to(doc))
    installed = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
    control = root / "DEBIAN"
    control.mkdir(mode=0o755)
    fields = {**package._asdict(), **arguments, "kilobytes": sum(path.stat().st_size for path in installed) // 1024}
    fields["relations"] = package.relations.format(**arguments)
    texts = {"control": _CONTROL.format(**fields), "md5sums": "".join(_digest_line(root, path) for path in installed)}
    for name, text in texts.items():
        (control / name).write_text(text, encoding="utf-8")
        (control / name).chmod(0o644)
    return root


def make_deb(archive, output, version, architecture, date):
    """Writes the packages into the folder `output`, and returns their paths."""
    paths = []
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as tar:
            tar.extractall(folder)
        (top,) = pathlib.Path(folder).iterdir()
        files = _split(top)
        for package in PACKAGES:
            root = _build(package, top, files[package.name], folder, {"version": version, "architecture": architecture})
            paths.append(os.path.join(output, "{}_{}_{}.deb".format(package.name, version, architecture)))
            # dpkg-deb sorts the files. Files that are newer than this date get the date.
            environment = {**os.environ, "SOURCE_DATE_EPOCH": str(seconds(date))}
            command = ["dpkg-deb", "--root-owner-group", "--threads-max=1", "-Zzstd", "-z10", "--build", root, paths[-1]]
            subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    return paths


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("archive", "output", "version", "architecture", "date"):
        parser.add_argument("--" + option, required=True)
    make_deb(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
