# SPDX-License-Identifier: Apache-2.0
"""Writes a .tar.gz whose bytes depend only on its contents and a date.

    make_archive.py --output kiln-0.1.0-linux-x86_64.tar.gz --date 2026-11-25 bin/kiln=SOURCE include/kiln/absl/base/config.h=SOURCE ...

All files lie in one folder, which is named like the archive.
"""

import argparse
import datetime
import gzip
import io
import os
import tarfile

_SUFFIX = ".tar.gz"


def seconds(date):
    """Returns midnight (UTC) of a date, in seconds since 1970."""
    return int(datetime.datetime.fromisoformat(date).replace(tzinfo=datetime.timezone.utc).timestamp())


def _entry(name, mode, kind, time):
    entry = tarfile.TarInfo(name)
    entry.mode, entry.type, entry.mtime = mode, kind, time
    entry.uname = entry.gname = "root"
    return entry


def write_archive(path, files, time, links=()):
    """Writes the archive. `files` maps names to contents, `links` names of symbolic links to their targets. Files in a
    folder `bin` become executable."""
    links = dict(links)
    root = os.path.basename(path)[: -len(_SUFFIX)]
    folders = {root}
    with open(path, "wb") as output, gzip.GzipFile("", "wb", 6, output, time) as zipped, tarfile.open(
        mode="w", fileobj=zipped, format=tarfile.GNU_FORMAT
    ) as tar:
        tar.addfile(_entry(root, 0o755, tarfile.DIRTYPE, time))
        for name in sorted([*files, *links]):
            parts = name.split("/")
            for end in range(1, len(parts)):
                folder = "/".join([root, *parts[:end]])
                if folder not in folders:
                    folders.add(folder)
                    tar.addfile(_entry(folder, 0o755, tarfile.DIRTYPE, time))
            if name in links:
                entry = _entry(root + "/" + name, 0o777, tarfile.SYMTYPE, time)
                entry.linkname = links[name]
                tar.addfile(entry)
                continue
            entry = _entry(root + "/" + name, 0o755 if parts[-2:-1] == ["bin"] else 0o644, tarfile.REGTYPE, time)
            entry.size = len(files[name])
            tar.addfile(entry, io.BytesIO(files[name]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", required=True)
    parser.add_argument("--date", required=True)
    parser.add_argument("--link", action="append", default=[], help="name in the archive=target of the symbolic link")
    parser.add_argument("files", nargs="+", help="name in the archive=path")
    arguments = parser.parse_args()
    files = {}
    for pair in arguments.files:
        name, path = pair.split("=", 1)
        with open(path, "rb") as file:
            files[name] = file.read()
    write_archive(arguments.output, files, seconds(arguments.date), [link.split("=", 1) for link in arguments.link])


if __name__ == "__main__":
    main()
