# SPDX-License-Identifier: Apache-2.0
"""Makes a Debian package of a release's archive, whose files go below /usr.

    make_deb.py --archive kiln-0.1.0-linux-x86_64.tar.gz --output kiln_0.1.0_amd64.deb --version 0.1.0 --architecture amd64 --date 2026-11-25
"""

import argparse
import hashlib
import os
import pathlib
import subprocess
import tarfile
import tempfile

from release.make_archive import seconds

# The libraries of the system that bin/kiln needs, in the versions that it was linked with.
_CONTROL = """Package: kiln
Version: {version}
Architecture: {architecture}
Maintainer: The Kiln authors <authors@kiln.invalid>
Installed-Size: {kilobytes}
Depends: libc6 (>= 2.36), libgcc-s1 (>= 12), libstdc++6 (>= 12)
Suggests: cmake, g++
Section: devel
Priority: optional
Description: ahead-of-time compiler for neural networks
 Compiles a trained neural network into a library that a program links, for
 servers and for firmware without an operating system. Contains the command
 kiln and the C and C++ runtimes with their headers.
"""


def _digest_line(root, path):
    return "{}  {}\n".format(hashlib.md5(path.read_bytes()).hexdigest(), path.relative_to(root))


def make_deb(archive, output, version, architecture, date):
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as tar:
            tar.extractall(folder)
        (top,) = pathlib.Path(folder).iterdir()
        root = pathlib.Path(folder, "root")
        root.mkdir(mode=0o755)
        top.rename(root / "usr")
        files = sorted(path for path in root.rglob("*") if path.is_file() and not path.is_symlink())
        control = root / "DEBIAN"
        control.mkdir(mode=0o755)
        kilobytes = sum(path.stat().st_size for path in files) // 1024
        texts = {
            "control": _CONTROL.format(version=version, architecture=architecture, kilobytes=kilobytes),
            "md5sums": "".join(_digest_line(root, path) for path in files),
        }
        for name, text in texts.items():
            (control / name).write_text(text, encoding="utf-8")
            (control / name).chmod(0o644)
        # dpkg-deb sorts; files younger than this date get it.
        environment = {**os.environ, "SOURCE_DATE_EPOCH": str(seconds(date))}
        command = ["dpkg-deb", "--root-owner-group", "--threads-max=1", "-Zzstd", "-z10", "--build", root, output]
        subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("archive", "output", "version", "architecture", "date"):
        parser.add_argument("--" + option, required=True)
    make_deb(**vars(parser.parse_args()))


if __name__ == "__main__":
    main()
