# SPDX-License-Identifier: Apache-2.0
"""Checks the files of a release: their contents, that they need no package of Debian, and that their bytes depend only
on their contents."""

import glob
import hashlib
import json
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile
import unittest

from release import shared_libraries
from release.make_archive import seconds, write_archive
from release.make_deb import make_deb
from release.make_provenance import make_provenance
from release.make_sbom import make_sbom

(ARCHIVE,) = glob.glob("release/kiln-*.tar.gz")
DEBS = sorted(glob.glob("release/*.deb"))
TOP = os.path.basename(ARCHIVE)[: -len(".tar.gz")]
VERSION = TOP.split("-")[1]
# All files but the checksums.
RELEASED = [os.path.basename(name) for pattern in ("kiln*.tar.gz", "*.deb", "kiln*.whl", "kiln.*.json") for name in glob.glob("release/" + pattern)]
DIGITS = os.path.abspath("models/digits/digits.onnx")
DOC = "share/doc/kiln/"


class ReleaseTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        with tarfile.open(ARCHIVE) as tar:
            cls.entries = tar.getmembers()
            tar.extractall(folder.name)
        cls.root = pathlib.Path(folder.name, TOP)
        cls.date = re.search(r"^## (\S+), (\S+)$", (cls.root / DOC / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)

    def test_checksums(self):
        with open("release/SHA256SUMS", encoding="utf-8") as file:
            rows = [line.split("  ") for line in file.read().splitlines()]
        self.assertEqual([os.path.basename(name) for name in sorted(RELEASED)], [name for _, name in rows])
        self.assertEqual(len(rows), 7)
        for digest, name in rows:
            self.assertEqual(hashlib.sha256(pathlib.Path("release", name).read_bytes()).hexdigest(), digest, name)

    def test_provenance(self):
        """The statement names all other files but the checksums, with their digests, and all packages of the SBOM."""
        with open("release/kiln.provenance.json", encoding="utf-8") as file:
            statement = json.load(file)
        self.assertEqual((statement["_type"], statement["predicateType"]), ("https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"))
        subjects = {subject["name"]: subject["digest"]["sha256"] for subject in statement["subject"]}
        self.assertEqual(set(subjects), set(RELEASED) - {"kiln.provenance.json"})
        for name, digest in subjects.items():
            self.assertEqual(hashlib.sha256(pathlib.Path("release", name).read_bytes()).hexdigest(), digest, name)
        build = statement["predicate"]["buildDefinition"]
        self.assertEqual(build["externalParameters"], {"target": "//release", "version": VERSION})
        with open("release/kiln.spdx.json", encoding="utf-8") as file:
            packages = {package["name"] for package in json.load(file)["packages"]}
        self.assertEqual({dependency["name"] for dependency in build["resolvedDependencies"]}, packages - {"kiln"})
        wrong = make_provenance([], VERSION, [__file__])
        self.assertEqual([subject["name"] for subject in wrong["subject"]], ["release_test.py"])

    def test_contents(self):
        files = {entry.name[len(TOP) + 1 :] for entry in self.entries if entry.isfile()}
        for name in [
            "bin/kiln",
            "include/kiln/absl/status/statusor.h",
            "include/kiln/kiln/model.h",
            "include/kiln/runtime_cpp/model.h",
            "include/kiln/tvm/runtime/c_runtime_api.h",
            "lib/cmake/kiln/kilnConfig.cmake",
            "lib/libkiln_abseil.a",
            "lib/libkiln_crt.a",
            "lib/libkiln_crt_host.a",
            "lib/libkiln_runtime.a",
            "lib/libkiln_runtime.so.0",
            "lib/pkgconfig/kiln.pc",
            "lib/pkgconfig/kiln-shared.pc",
            "share/bash-completion/completions/kiln",
            "share/fish/vendor_completions.d/kiln.fish",
            "share/man/man1/kiln.1",
            "share/zsh/vendor-completions/_kiln",
            "include/kiln/kiln/runtime.h",
            "include/kiln/kiln/runtime.hpp",
            "share/kiln/examples/digits/digits.onnx",
            "share/kiln/src/runtime_cpp/CMakeLists.txt",
            "share/kiln/src/runtime_cpp/cpu/this_cpu.cc",
            "share/kiln/src/runtime_crt/Makefile",
            "share/kiln/src/runtime_crt/platform/bare_metal/image.ld",
            DOC + "LICENSES/llvm-19-dev",
            DOC + "docs/released_files.md",
            DOC + "copyright",
        ]:
            self.assertIn(name, files)
        self.assertEqual({entry.name for entry in self.entries if entry.isfile() and entry.mode & 0o111}, {TOP + "/bin/kiln"})
        self.assertEqual({entry.name[len(TOP) + 1 :]: entry.linkname for entry in self.entries if entry.issym()}, {"lib/libkiln_runtime.so": "libkiln_runtime.so.0"})
        for path in ("lib/cmake/kiln/kilnConfig.cmake", "lib/cmake/kiln/kilnConfigVersion.cmake", "lib/pkgconfig/kiln.pc", "lib/pkgconfig/kiln-shared.pc"):
            self.assertNotRegex((self.root / path).read_text(encoding="utf-8"), r"@\w+@", path)

    def test_runs_on_older_systems(self):
        """The binaries run on Ubuntu 22.04, RHEL 9 and Amazon Linux 2023, as the pages state. The Debian packages
        declare the same versions."""
        files = shared_libraries.binaries(self.root)
        self.assertLessEqual(shared_libraries.version_needed("GLIBC", files), (2, 34))
        self.assertLessEqual(shared_libraries.version_needed("GLIBCXX", files), (3, 4, 29))  # gcc 11's
        for deb in DEBS:
            depends = subprocess.check_output(["dpkg-deb", "--field", deb, "Depends"], text=True)
            if "libc6" in depends:
                self.assertIn("libc6 (>= 2.34), libgcc-s1 (>= 11), libstdc++6 (>= 11)", depends)

    def test_every_header_finds_what_it_includes(self):
        include = self.root / "include/kiln"
        headers = [path for path in include.rglob("*.h") if path.relative_to(include).parts[0] != "absl"]
        self.assertGreater(len(headers), 25)
        for header in headers:
            for name in re.findall(r'^#include "(.*)"', header.read_text(encoding="utf-8"), re.M):
                self.assertTrue((include / name).exists() or (header.parent / name).exists(), "{}: {}".format(header, name))

    def test_entries_depend_on_nothing_but_contents(self):
        self.assertEqual({(entry.uid, entry.gid, entry.uname, entry.gname) for entry in self.entries}, {(0, 0, "root", "root")})
        self.assertEqual({entry.mtime for entry in self.entries}, {seconds(self.date.group(2))})
        self.assertEqual({entry.mode for entry in self.entries if not entry.issym()} - {0o755, 0o644}, set())
        names = [entry.name for entry in self.entries if entry.isfile()]
        self.assertEqual(names, sorted(names))
        for library in self.root.glob("lib/*.a"):
            for line in subprocess.check_output(["ar", "tv", library], text=True, env={"TZ": "UTC", **os.environ}).splitlines():
                self.assertRegex(line, r" 0/0 +\d+ Jan  1 00:00 1970 ", library)

    def test_no_path_of_the_build(self):
        for path in self.root.rglob("*"):
            if path.is_file():
                self.assertNotIn(b"/sandbox/", path.read_bytes(), path)

    def test_version_and_date_are_those_of_the_changes(self):
        self.assertEqual(self.date.group(1), VERSION)
        self.assertEqual(subprocess.check_output([self.root / "bin/kiln", "--version"], text=True).split()[1], VERSION)

    def test_shared_libraries(self):
        self.assertEqual(shared_libraries.missing(self.root), set())
        self.assertEqual(shared_libraries.found_outside(self.root, self.root / "bin/kiln"), {})
        bundled = {path.name for path in (self.root / "lib/kiln").iterdir()}
        direct = shared_libraries.needed(self.root / "bin/kiln") - shared_libraries.OF_THE_SYSTEM
        self.assertEqual(direct, {"libdnnl.so.2", "libelf.so.1", "libonnx.so.1", "libonnx_proto.so.1", "libprotobuf.so.32"})
        # Every bundled library is needed by some binary.
        self.assertEqual(bundled - set().union(*map(shared_libraries.needed, shared_libraries.binaries(self.root))), set())

    def test_program_works_where_it_is_unpacked(self):
        with tempfile.TemporaryDirectory() as folder:
            program = [self.root / "bin/kiln"]
            for target in ("host", "aarch64", "cortex-m4f", "riscv32imac"):
                options = ["--runtime", "crt", "--interface", "c"] if "-m" in target or "32" in target else []
                command = program + ["compile", DIGITS, "-o", folder + "/" + target, "--target", target, "--module-name", "digits"]
                subprocess.run(command + options, check=True, env={}, stdout=subprocess.DEVNULL)
            text = subprocess.check_output(program + ["run", folder + "/host/digits.so", "--input", "image=random"], text=True, env={})
            self.assertIn("probabilities", text)

    def test_other_machines_are_refused(self):
        command = [self.root / "bin/kiln", "compile", DIGITS, "-o", "/nowhere", "--target", "s390x-linux-gnu"]
        result = subprocess.run(command, stderr=subprocess.PIPE, text=True, env={})
        self.assertEqual(result.returncode, 2)
        self.assertIn("target 's390x-linux-gnu': No available targets are compatible", result.stderr)

    def test_sbom(self):
        with open(self.root / DOC / "kiln.spdx.json", encoding="utf-8") as file:
            document = json.load(file)
        self.assertEqual((document["spdxVersion"], document["dataLicense"], document["SPDXID"]), ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"))
        self.assertRegex(document["creationInfo"]["created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        packages = {package["SPDXID"]: package for package in document["packages"]}
        self.assertEqual(len(packages), len(document["packages"]))
        for identifier, package in packages.items():
            self.assertRegex(identifier, "^SPDXRef-[A-Za-z0-9.-]+$")
            for field in ("name", "versionInfo", "downloadLocation", "licenseConcluded", "licenseDeclared", "copyrightText", "supplier"):
                self.assertTrue(package[field], (identifier, field))
        relations = {(row["spdxElementId"], row["relationshipType"], row["relatedSpdxElement"]) for row in document["relationships"]}
        self.assertIn(("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-kiln"), relations)
        linked = {related for element, relation, related in relations if element == "SPDXRef-kiln" and relation.endswith("_LINK")}
        self.assertEqual(linked, set(packages) - {"SPDXRef-kiln"})
        # Each package has a license file.
        licenses = {path.name for path in (self.root / DOC / "LICENSES").iterdir()}
        self.assertEqual({package["name"] for package in packages.values()} - {"kiln"}, licenses)

    def test_sbom_names_a_document_by_its_contents(self):
        package = {"name": "libg++", "version": "1", "license": "MIT", "homepage": "", "source": "g", "source_version": "1", "linkage": "static"}
        one, same = (make_sbom([package], "1.0", "2026-01-01") for _ in range(2))
        other = make_sbom([{**package, "version": "2"}], "1.0", "2026-01-01")
        self.assertEqual(one, same)
        self.assertNotEqual(one["documentNamespace"], other["documentNamespace"])
        self.assertEqual(one["packages"][1]["externalRefs"][0]["referenceLocator"], "pkg:deb/debian/libg%2B%2B@1?distro=bookworm")

    def test_debian_packages(self):
        """Each file of the archive is in one Debian package. The runtime package has only the library and its
        documents, and needs only the system."""
        names, all_files = [], []
        for deb in DEBS:
            fields = subprocess.check_output(["dpkg-deb", "--field", deb, "Package", "Version"], text=True).split()
            names.append(fields[1])
            self.assertEqual(fields[3], VERSION)
            listed = subprocess.check_output(["dpkg-deb", "--contents", deb], text=True)
            files = set(re.findall(r"^[-l].* \./usr/(\S*)(?: -> .*)?$", listed, re.M))
            own = "share/doc/{}/".format(fields[1])
            if fields[1] != "kiln":
                self.assertIn(own + "copyright", files)
                files = {name for name in files if not name.startswith(own)}
            if fields[1] == "libkiln-runtime0":
                self.assertEqual(files, {"lib/libkiln_runtime.so.0"})
                self.assertNotIn("kiln", subprocess.check_output(["dpkg-deb", "--field", deb, "Depends"], text=True))
            if fields[1] == "kiln":
                self.assertIn("bin/kiln", files)
                self.assertEqual({name for name in files if name.startswith("include/")}, set())
            all_files += files
        self.assertEqual(names, ["kiln", "libkiln-dev", "libkiln-runtime0"])
        self.assertEqual(sorted(all_files), sorted(entry.name[len(TOP) + 1 :] for entry in self.entries if not entry.isdir()))

    def test_same_bytes_in_another_order_and_at_another_time(self):
        contents = {name: (self.root / name).read_bytes() for name in ("lib/libkiln_crt.a", "lib/pkgconfig/kiln.pc", DOC + "copyright")}
        digests = set()
        for names, folder in ((list(contents), "one"), (list(contents)[::-1], "other")):
            with tempfile.TemporaryDirectory() as parent:
                archive = os.path.join(parent, folder, "kiln-1.0-linux-x86_64.tar.gz")
                os.mkdir(os.path.dirname(archive))
                write_archive(archive, {name: contents[name] for name in names}, seconds("2026-01-01"))
                os.utime(archive, (1, 1))
                debs = make_deb(archive, parent, "1.0", "amd64", "2026-01-01")
                digests.add(tuple(hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest() for path in (archive, *debs)))
        self.assertEqual(len(digests), 1)


if __name__ == "__main__":
    unittest.main()
