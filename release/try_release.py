#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries the files of `bazel build //release` as each user of release/users.py would, on an empty system:

    release/try_release.py                     # all users, on Debian 12.
    release/try_release.py --user python
    release/try_release.py --system ubuntu --user c++ --compiler clang++
    release/try_release.py --projects

`--projects` takes the projects of release/projects.py instead of the users. Needs root, debootstrap, and a network for
the packages of the system. The files of the release are checked first: the checksums and, if pip can install the tools,
the SBOM by spdx-tools and the wheel by auditwheel.
"""

import argparse
import contextlib
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from release import projects, users  # pylint: disable=wrong-import-position

FILES = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bazel-bin", "release"))
# Suite, and the environment variable that selects another mirror.
SYSTEMS = {"debian": ("bookworm", "DEBIAN_MIRROR"), "ubuntu": ("noble", "UBUNTU_MIRROR")}


def step(text):
    print("\n== " + text, flush=True)


def run(*command, **options):
    subprocess.run(command, check=True, **options)


@contextlib.contextmanager
def system(name, packages):
    """Yields the folder of a new system with these packages and nothing else."""
    suite, mirror = SYSTEMS[name]
    with tempfile.TemporaryDirectory() as root:
        options = ["--variant=minbase"] + (["--include=" + ",".join(packages)] if packages else [])
        if name == "ubuntu":
            options.append("--components=main,universe")
        run("debootstrap", *options, suite, root, *filter(None, [os.environ.get(mirror)]), stdout=subprocess.DEVNULL)
        run("mount", "-t", "proc", "proc", os.path.join(root, "proc"))
        try:
            yield root
        finally:
            run("umount", os.path.join(root, "proc"))


def check_files():
    run("sha256sum", "--check", "--quiet", "SHA256SUMS", cwd=FILES)
    with tempfile.TemporaryDirectory() as folder:
        run(sys.executable, "-m", "venv", folder)
        run(folder + "/bin/pip", "install", "--quiet", "auditwheel", "spdx-tools")
        run(folder + "/bin/pyspdxtools", "--infile", FILES + "/kiln.spdx.json")
        (wheel,) = glob.glob(FILES + "/*.whl")
        run(folder + "/bin/auditwheel", "show", wheel)


def try_user(user, name, compiler, debian_package):
    suffix, packages = users.USERS[user].suffix, list(users.USERS[user].packages)
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/srv"}
    if compiler:
        packages[packages.index("g++")] = {"g++": "g++", "clang++": "clang"}[compiler]
        environment["CXX"] = compiler
    with system(name, packages) as root:
        text = users.script_of(user, "/srv/first")
        if debian_package:
            suffix = ".deb"
            text = as_debian_package(text)
        os.makedirs(root + "/srv/first")
        for released in glob.glob(FILES + "/*" + suffix):
            shutil.copy(released, root + "/srv/first")
        start = time.monotonic()
        run("chroot", root, "bash", "-c", text, env=environment, stdin=subprocess.DEVNULL)
        print("{} on {}: {:.0f} s".format(user, name, time.monotonic() - start), flush=True)


def try_projects(name):
    """Builds each project from the archive and from the Debian packages, on a system with one compiler."""
    (archive,) = glob.glob(FILES + "/kiln-*-linux-x86_64.tar.gz")
    version = os.path.basename(archive).split("-")[1]
    every = {**projects.PROJECTS, **projects.SLOW_PROJECTS}
    common = ["cmake", "make", "pkg-config"] + sorted({package for project in every.values() for package in project.packages})
    for cc, cxx, package in (("gcc", "g++", "g++"), ("clang", "clang++", "clang")):
        with system(name, common + [package]) as root:
            environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/srv", "CC": cc, "CXX": cxx}
            for released in (".tar.gz", ".deb"):
                for number, project in enumerate(every):
                    folder = "/srv/{}{}".format(released[1:4], number)
                    os.makedirs(root + folder)
                    for file in glob.glob(FILES + "/*" + released):
                        shutil.copy(file, root + folder)
                    if released == ".deb":
                        install, places = "dpkg --install *.deb >/dev/null", ("kiln", "/usr/share/kiln", None)
                    else:
                        install, kiln = "mkdir kiln && tar xzf kiln-*-linux-x86_64.tar.gz --strip-components=1 -C kiln", folder + "/kiln"
                        places = (kiln + "/bin/kiln", kiln + "/share/kiln", kiln)
                    model = places[1] + "/examples/digits/digits.onnx"
                    text = "set -e; cd {}; {}\n".format(folder, install) + projects.script(project, version, places[0], model, places[2])
                    run("chroot", root, "bash", "-c", text, env=environment, stdin=subprocess.DEVNULL)
                    print("{} by {}, from {} on {}".format(project, cc, released, name), flush=True)


def as_debian_package(text):
    """Rewrites the commands for the archive to use the Debian package instead, and omits the steps that the page says
    to omit."""
    install = "dpkg --install *.deb >/dev/null"
    lines = [line for line in text.splitlines() if not line.startswith("rm -rf kiln && mv")]
    lines = [install if line.startswith("tar xzf") else line for line in lines]
    text = "\n".join(lines) + "\n"
    for old, new in (("kiln/bin/kiln ", "kiln "), ("kiln/share/", "/usr/share/"), (' -DCMAKE_PREFIX_PATH="$PWD/kiln"', "")):
        text = text.replace(old, new)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--user", choices=list(users.USERS), help="one user; by itself, all of them")
    parser.add_argument("--system", choices=list(SYSTEMS), default="debian")
    parser.add_argument("--compiler", choices=["g++", "clang++"], help="of the C++ user")
    parser.add_argument("--projects", action="store_true", help="the projects in C and C++ instead of the users")
    parser.add_argument("--debian-package", action="store_true", help="the Debian packages instead of the archive")
    arguments = parser.parse_args()
    if not os.path.isdir(FILES):
        parser.error("no files of a release; make them by `bazel build //release`")
    if arguments.projects:
        step("Projects in C and C++")
        try_projects(arguments.system)
    elif arguments.user is None:
        step("Checksums, SBOM and wheel")
        check_files()
    chosen = [] if arguments.projects else [arguments.user] if arguments.user else users.USERS
    for user in chosen:
        step("{}: {}".format(user, users.USERS[user].page))
        has_archive = users.USERS[user].suffix == ".tar.gz" and users.USERS[user].page != "README.md"
        has_package = arguments.debian_package and has_archive
        try_user(user, arguments.system, arguments.compiler if user == "c++" else None, has_package)
    step("All of it works")


if __name__ == "__main__":
    main()
