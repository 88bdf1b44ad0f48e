# SPDX-License-Identifier: Apache-2.0
"""Builds programs with nothing of Kiln but the archive of a release, by CMake's find_package and by pkg-config."""

import glob
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

from release import projects
from release import shared_libraries

(ARCHIVE,) = glob.glob("release/kiln-*.tar.gz")
TOP = os.path.basename(ARCHIVE)[: -len(".tar.gz")]
VERSION = TOP.split("-")[1]
DIGITS = os.path.abspath("models/digits/digits.onnx")

_CMAKE = """cmake_minimum_required(VERSION 3.18)
project(service LANGUAGES C CXX)
find_package(kiln {version} REQUIRED)
add_custom_command(OUTPUT digits/digits.so
                   COMMAND kiln::kiln compile "{digits}" -o digits --module-name digits
                   DEPENDS "{digits}" VERBATIM)
add_executable(service service.cc digits/digits.so)
target_link_libraries(service PRIVATE kiln::runtime)
add_executable(firmware firmware.c)
target_link_libraries(firmware PRIVATE kiln::crt kiln::crt_host)
"""

_SERVICE = """#include <cstdio>

#include "runtime_cpp/model.h"

int main(int argc, char** argv) {
  absl::StatusOr<kiln::runtime::Model> model = kiln::runtime::Model::Load(argv[argc - 1]);
  if (!model.ok()) return std::printf("%s\\n", model.status().ToString().c_str()), 1;
  auto image = kiln::runtime::NDArray::Empty(model->inputs()[0].shape, model->inputs()[0].dtype, model->inputs()[0].device);
  for (float& pixel : image->values<float>()) pixel = 0.5f;
  std::printf("%zu values\\n", model->Run({*image})->at(0).values<float>().size());
}
"""

_FIRMWARE = """#include <stdio.h>
#include <tvm/runtime/crt/platform.h>

int main(void) {
  void* memory = NULL;
  if (TVMPlatformMemoryAllocate(64, (DLDevice){kDLCPU, 0}, &memory) != kTvmErrorNoError) return 1;
  return TVMPlatformMemoryFree(memory, (DLDevice){kDLCPU, 0}) == kTvmErrorNoError ? puts("memory") < 0 : 1;
}
"""


@unittest.skipUnless(shutil.which("cmake"), "CMake is not installed")
class CmakeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        # The path of an installation may contain a blank.
        cls.release = pathlib.Path(folder.name, "with blank", TOP)
        with tarfile.open(ARCHIVE) as tar:
            tar.extractall(cls.release.parent)

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "service.cc").write_text(_SERVICE, encoding="utf-8")
        (self.folder / "firmware.c").write_text(_FIRMWARE, encoding="utf-8")

    def configure(self, version):
        (self.folder / "CMakeLists.txt").write_text(_CMAKE.format(version=version, digits=DIGITS), encoding="utf-8")
        command = ["cmake", "-S", self.folder, "-B", self.folder / "build", "-DCMAKE_PREFIX_PATH={}".format(self.release)]
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)

    def test_find_package(self):
        self.assertEqual(self.configure(VERSION).stderr, "")
        build = self.folder / "build"
        result = subprocess.run(["cmake", "--build", build], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual(subprocess.check_output([build / "service", build / "digits/digits.so"], text=True), "10 values\n")
        self.assertEqual(subprocess.check_output([build / "firmware"], text=True), "memory\n")
        # The runtime is linked into the program, which needs no shared library of the release.
        self.assertEqual(shared_libraries.needed(build / "service") - shared_libraries.OF_THE_SYSTEM, set())
        # Generated code may call these functions by name.
        symbols = subprocess.check_output(["nm", "--dynamic", "--defined-only", build / "service"], text=True)
        self.assertIn(" TVMBackendParallelLaunch\n", symbols)

    def test_projects(self):
        for cc, cxx in (("gcc", "g++"), ("clang-19", "clang++-19")):
            for number, project in enumerate(projects.PROJECTS if shutil.which(cc) else ()):
                folder = self.folder / "{}{}".format(cc, number)
                folder.mkdir()
                text = projects.script(project, VERSION, self.release / "bin/kiln", DIGITS, self.release)
                environment = {**os.environ, "CC": cc, "CXX": cxx}
                with self.subTest(project=project, compiler=cc):
                    result = subprocess.run(["bash", "-c", text], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                    self.assertEqual(result.returncode, 0, result.stdout)
                    for name in ("shared", "service"):
                        if (folder / "build" / name).exists():
                            self.assertIn("libkiln_runtime.so.0", shared_libraries.needed(folder / "build" / name))

    def test_debian_packages(self):
        """The three packages, unpacked into one folder, are an installation that CMake finds."""
        packages = glob.glob("release/*.deb")
        self.assertEqual(len(packages), 3)
        for package in packages:
            subprocess.run(["dpkg-deb", "--extract", package, self.folder / "root"], check=True)
        usr = self.folder / "root/usr"
        text = projects.script("C++ with Debian's Abseil", VERSION, usr / "bin/kiln", DIGITS, usr)
        environment = {**os.environ, "CC": "gcc", "CXX": "g++"}
        result = subprocess.run(["bash", "-c", text], cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_half_of_an_installation_is_refused(self):
        half = self.folder / "half"
        shutil.copytree(self.release, half, symlinks=True)
        lists = "cmake_minimum_required(VERSION 3.18)\nproject(p LANGUAGES C)\n{}\nfind_package(kiln REQUIRED)\n"
        firmware = "if(TARGET kiln::kiln)\n  message(FATAL_ERROR \"a compiler\")\nendif()\n"
        command = ["cmake", "-S", self.folder, "-B", self.folder / "build", "-DCMAKE_PREFIX_PATH={}".format(half)]
        (half / "bin/kiln").unlink()
        (self.folder / "CMakeLists.txt").write_text(lists.format("") + firmware, encoding="utf-8")
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (self.folder / "CMakeLists.txt").write_text(lists.format("set(CMAKE_VERSION 3.16)"), encoding="utf-8")
        result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.assertIn("found CMake 3.16, wanted 3.18 or later", " ".join(result.stderr.split()))
        (half / "lib/libkiln_crt.a").unlink()
        (self.folder / "CMakeLists.txt").write_text(lists.format(""), encoding="utf-8")
        result = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.assertNotEqual(result.returncode, 0)
        words = " ".join(result.stderr.split())
        self.assertIn("lib/libkiln_crt.a is missing: unpack the archive of the release again, or install the packages libkiln-dev", words)

    def test_another_minor_version_is_refused(self):
        major, minor, _ = VERSION.split(".")
        for version in ("{}.{}".format(major, int(minor) + 1), "{}.{}".format(int(major) + 1, minor)):
            result = self.configure(version)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn("kilnConfig.cmake, version: {}".format(VERSION), result.stderr)

    @unittest.skipUnless(shutil.which("pkg-config"), "pkg-config is not installed")
    def test_pkg_config(self):
        # pkg-config does not quote a blank after -isystem, so the C++ package is used from a folder without one.
        without_blank = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, without_blank)
        (without_blank / "kiln").symlink_to(self.release)
        folders = {"kiln": without_blank / "kiln", "kiln-shared": self.release}
        (self.folder / "service.c").write_text(projects.SERVICE_OF_C, encoding="utf-8")
        (self.folder / "abi.c").write_text(projects.ABI_PROGRAM, encoding="utf-8")
        # Headers of other projects give no warnings, and a C compiler finds the C++ library.
        for compiler, package, source in (
            ("g++ -std=c++17", "kiln", "service.cc"),
            ("clang++-19 -std=c++17", "kiln", "service.cc"),
            ("gcc", "kiln", "abi.c"),
            ("clang-19", "kiln", "abi.c"),
            ("gcc", "kiln-shared", "service.c"),
            ("clang-19", "kiln-shared", "service.c"),
        ):
            if shutil.which(compiler.split()[0]) is None:
                continue
            environment = {**os.environ, "PKG_CONFIG_PATH": str(folders[package] / "lib/pkgconfig")}
            query = ["pkg-config", "--cflags", "--libs", "{} >= {}".format(package, VERSION)]
            flags = subprocess.check_output(query, env=environment, text=True).strip()
            command = "{} -Wall -Wextra -Werror -o service {} {}".format(compiler, source, flags)
            subprocess.run(["sh", "-c", command], cwd=self.folder, check=True)
            environment["LD_LIBRARY_PATH"] = str(self.release / "lib")
            result = subprocess.run([self.folder / "service", "missing.so"], stdout=subprocess.PIPE, env=environment, text=True)
            self.assertEqual(result.returncode, 1)
            self.assertIn("missing.so", result.stdout)


if __name__ == "__main__":
    unittest.main()
