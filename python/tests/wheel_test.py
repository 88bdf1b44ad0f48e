# SPDX-License-Identifier: Apache-2.0
"""The wheel: its contents, and the package after installation with pip."""

import base64
import csv
import email
import glob
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

from python import make_wheel
from python.tests.case import DIGITS, Case
from release import shared_libraries

(WHEEL,) = glob.glob("python/kiln-*.whl")
_PROGRAM = """
import kiln, numpy, os, sys
assert kiln.__file__.startswith(sys.prefix), kiln.__file__
probabilities = kiln.compile(sys.argv[1]).load()(numpy.load(sys.argv[2]))
print(probabilities.argmax(), kiln.__version__)
"""


class WheelTest(Case):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.files = folder.name
        with zipfile.ZipFile(WHEEL) as wheel:
            wheel.extractall(cls.files)
        cls.library = os.path.join(cls.files, "kiln/_runtime.abi3.so")

    def test_contents(self):
        with zipfile.ZipFile(WHEEL) as wheel:
            self.assertIsNone(wheel.testzip())
            names = wheel.namelist()
            self.assertEqual({entry.date_time for entry in wheel.infolist()}, {(1980, 1, 1, 0, 0, 0)})
            for name in ("kiln/__init__.py", "kiln/py.typed", "kiln/_runtime.pyi", "kiln/_runtime.abi3.so", "kiln/bin/kiln"):
                self.assertIn(name, names)
            (information,) = {name.split("/")[0] for name in names if ".dist-info/" in name}
            version = re.fullmatch(r"kiln-(.*)\.dist-info", information).group(1)
            self.assertIn("\nVersion: {}\n".format(version), wheel.read(information + "/METADATA").decode())
            tag = os.path.basename(WHEEL)[len("kiln-{}-".format(version)) : -len(".whl")]
            self.assertIn("\nTag: {}\n".format(tag), wheel.read(information + "/WHEEL").decode())
            record = information + "/RECORD"
            rows = list(csv.reader(io.StringIO(wheel.read(record).decode())))
            self.assertEqual([row[0] for row in rows], names)
            for name, digest, size in rows[:-1]:
                content = wheel.read(name)
                wanted = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
                self.assertEqual((digest, int(size)), ("sha256=" + wanted, len(content)))
            self.assertEqual(rows[-1], [record, "", ""])

    def test_metadata(self):
        with zipfile.ZipFile(WHEEL) as wheel:
            (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
            metadata = email.message_from_bytes(wheel.read(name))
        self.assertEqual(metadata["Requires-Python"], ">=3.10")
        self.assertEqual(metadata["Author"], "The Kiln authors")
        self.assertEqual([url.partition(", ")[0] for url in metadata.get_all("Project-URL")], ["Homepage", "Documentation"])
        self.assertEqual(metadata["Description-Content-Type"], "text/markdown")
        # The first steps work without changes.
        (program,) = re.findall(r"^```python\n(.*?)^```$", metadata.get_payload(), re.MULTILINE | re.DOTALL)
        output = self.python(program, cwd=self.folder, stdout=subprocess.PIPE).communicate()[0]
        self.assertEqual(output, "the digit is 4\n")
        self.assertIn("digits.so", os.listdir(self.path("model")))

    def test_pages_and_examples(self):
        with open(os.path.join(self.files, "kiln/docs/README.md"), encoding="utf-8") as file:
            links = set(re.findall(r"\]\((\w+\.md)", file.read()))
        self.assertLessEqual({"python.md", "pytorch.md", "tutorial_python.md"}, links)
        self.assertEqual({link for link in links if not os.path.exists(os.path.join(self.files, "kiln/docs", link))}, set())
        examples = os.path.join(self.files, "kiln/examples")
        for path in ("calibration/image.npy", "digits.onnx", "digits_batch.onnx", "image.npy", "test_images.npy", "test_labels.npy"):
            self.assertTrue(os.path.isfile(os.path.join(examples, "digits", path)), path)
        self.assertTrue(os.path.isfile(os.path.join(examples, "my_mod/my_mod.relay")))

    def test_bytes_depend_on_the_contents_alone(self):
        with zipfile.ZipFile(WHEEL) as wheel:
            files = {entry.filename: wheel.read(entry) for entry in wheel.infolist()}
            executables = {entry.filename for entry in wheel.infolist() if entry.external_attr >> 16 & 0o111}
        self.assertEqual(executables, {"kiln/bin/kiln"})
        make_wheel.write_wheel(self.path("again.whl"), files, executables)
        with open(WHEEL, "rb") as one, open(self.path("again.whl"), "rb") as other:
            self.assertEqual(hashlib.sha256(one.read()).digest(), hashlib.sha256(other.read()).digest())

    def test_no_path_of_the_build(self):
        for binary in shared_libraries.binaries(self.files):
            self.assertNotIn(b"/sandbox/", binary.read_bytes(), binary)

    def test_shared_libraries(self):
        """The wheel contains every library that Debian 12 lacks, and its tag has the required version of the C library."""
        self.assertEqual(shared_libraries.missing(self.files), set())
        for name in ("kiln/_runtime.abi3.so", "kiln/bin/kiln"):
            self.assertEqual(shared_libraries.found_outside(self.files, os.path.join(self.files, name)), {})
        glibc = re.search(r"-manylinux_(\d+)_(\d+)_", WHEEL).groups()
        files = shared_libraries.binaries(self.files)
        self.assertLessEqual(shared_libraries.version_needed("GLIBC", files), tuple(map(int, glibc)))
        self.assertLessEqual(shared_libraries.version_needed("GLIBCXX", files), (3, 4, 29))

    def test_licenses_and_sbom(self):
        with zipfile.ZipFile(WHEEL) as wheel:
            names = wheel.namelist()
            (sbom,) = [name for name in names if name.endswith(".dist-info/sboms/kiln.spdx.json")]
            packages = {package["name"] for package in json.loads(wheel.read(sbom))["packages"]}
        licenses = {name.rpartition("/")[2] for name in names if ".dist-info/licenses/" in name}
        self.assertIn("libdnnl2", licenses)
        self.assertEqual(licenses, packages - {"kiln"})

    def test_size(self):
        self.assertLess(os.path.getsize(WHEEL), 60_000_000)

    def test_symbols(self):
        """The library exports only the symbol that CPython looks up, so that it does not clash with another runtime in
        the process.
        """
        symbols = subprocess.check_output(["nm", "--dynamic", "--defined-only", self.library], text=True)
        self.assertEqual([line.split()[-1] for line in symbols.splitlines()], ["PyInit__runtime"])

    def test_stable_abi(self):
        """The library uses only functions of CPython that all versions from 3.10 have."""
        symbols = subprocess.check_output(["nm", "--dynamic", "--undefined-only", self.library], text=True)
        used = {line.split()[-1] for line in symbols.splitlines() if re.match(r"_?Py", line.split()[-1])}
        self.assertIn("PyModule_Create2", used)
        # PyBuffer_…, PyObject_Vectorcall and similar functions belong to the stable ABI of later versions.
        self.assertEqual({name for name in used if name.startswith(("_Py", "PyBuffer", "PyObject_Vectorcall"))} - {"_Py_Dealloc"}, set())

    def test_installed(self):
        subprocess.check_call([sys.executable, "-m", "venv", "--system-site-packages", "--without-pip", self.path("venv")])
        python = self.path("venv/bin/python")
        install = [python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--disable-pip-version-check"]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        subprocess.check_call(install + [os.path.abspath(WHEEL)], env=environment)
        arguments = [os.path.abspath(DIGITS), os.path.abspath("models/digits/image.npy")]
        output = subprocess.check_output([python, "-c", _PROGRAM] + arguments, env=environment, cwd=self.folder, text=True)
        self.assertEqual(output.split()[0], "4")
        for command in ([python, "-m", "kiln"], [self.path("venv/bin/kiln")]):
            text = subprocess.check_output(command + ["--version"], env=environment, cwd=self.folder, text=True)
            self.assertEqual(text.split()[1], output.split()[1])


if __name__ == "__main__":
    unittest.main()
