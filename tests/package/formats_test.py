# SPDX-License-Identifier: Apache-2.0
"""Packages for Arduino, PlatformIO and CMSIS-Pack: the rules of their descriptions, and programs built as these
describe."""

import glob
import json
import os
import re
import unittest
import xml.etree.ElementTree as ElementTree

from tests.package.package_case import HERE, MY_MOD, MY_MOD_OUTPUT, WARNINGS, PackageCase

VERSION = re.compile(r"^\d+\.\d+\.\d+$")
URL = "https://example.org/my_mod"


class FormatsTest(PackageCase):
    def compile(self, sources, flags):
        """Builds a program from C sources, runs it, and returns its output."""
        self.run_command("gcc", *WARNINGS, *flags, *sources, "-o", self.path("program"))
        return self.run_command(self.path("program"))

    def assert_files(self, folder, names):
        self.assertTrue(names)
        for name in names:
            self.assertTrue(os.path.isfile(os.path.join(folder, name)), name)

    # The Arduino library specification 1.5.

    def test_arduino_properties(self):
        folder = self.package("arduino", "--vendor", "Someone", "--url", URL)
        lines = self.read(folder, "library.properties").splitlines()
        properties = dict(line.split("=", 1) for line in lines)
        self.assertEqual(len(properties), len(lines))
        required = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category", "url", "architectures"}
        self.assertEqual(set(properties), required | {"includes"})
        self.assertRegex(properties["name"], r"^[a-zA-Z0-9][a-zA-Z0-9 _.-]*$")
        self.assertRegex(properties["version"], VERSION)
        self.assertEqual((properties["author"], properties["maintainer"]), ("Someone", "Someone"))
        self.assertEqual(properties["url"], URL)
        self.assertIn(properties["category"], ["Communication", "Data Processing", "Data Storage", "Device Control", "Display", "Other"])
        self.assertEqual(properties["architectures"], "*")
        self.assert_files(os.path.join(folder, "src"), properties["includes"].split(","))

    def test_arduino_sketch(self):
        """Arduino compiles all sources below src, and the sketch as C++ after its own header."""
        folder = self.package("arduino")
        # The name of a sketch is that of its folder.
        sketch = os.path.join(folder, "examples", "Run", "Run.ino")
        include = ["-I" + os.path.join(folder, "src")]
        sources = glob.glob(os.path.join(folder, "src", "**", "*.c"), recursive=True)
        for standard in ("gnu++11", "gnu++17"):
            with self.subTest(standard):
                objects = []
                for number, source in enumerate(sources):
                    objects.append(self.path("{}.o".format(number)))
                    self.run_command("gcc", *WARNINGS, "-Os", *include, "-c", source, "-o", objects[-1])
                header = ["-include", os.path.join(HERE, "arduino", "Arduino.h")]
                self.run_command("g++", *WARNINGS, "-std=" + standard, *include, *header, "-c", "-x", "c++", sketch, "-o", self.path("sketch.o"))
                self.run_command("g++", self.path("sketch.o"), *objects, "-o", self.path("program"))
                self.assertEqual(self.run_command(self.path("program")), "115200: outputs.output[0] = 0\n")

    # library.json of PlatformIO.

    def test_platformio(self):
        folder = self.package("platformio")
        library = json.loads(self.read(folder, "library.json"))
        self.assertNotIn("homepage", library)
        self.assertRegex(library["name"], r"^[a-zA-Z0-9_-]+$")
        self.assertRegex(library["version"], VERSION)
        self.assertEqual((library["frameworks"], library["platforms"]), ("*", "*"))
        self.assertTrue(all(isinstance(word, str) for word in library["keywords"]))
        self.assertEqual(library["authors"], [{"name": "Kiln"}])
        self.assertEqual(library["license"], "Apache-2.0")
        self.assert_files(os.path.join(folder, "include"), [library["headers"]])
        (example,) = library["examples"]
        files = [os.path.join(example["base"], name) for name in example["files"]]
        self.assert_files(folder, files)
        # PlatformIO compiles src and searches include for headers.
        flags = [flag for line in library["build"]["flags"] for flag in line.split()] + ["-I" + os.path.join(folder, "include")]
        sources = glob.glob(os.path.join(folder, "src", "*.c")) + [os.path.join(folder, name) for name in files]
        self.assertEqual(self.compile(sources, flags), MY_MOD_OUTPUT)
        library = json.loads(self.read(self.package("platformio", "--url", URL), "library.json"))
        self.assertEqual(library["homepage"], URL)

    # PACK.xsd of Open-CMSIS-Pack.

    def test_cmsis_pack(self):
        options = ["--vendor", "Some-One", "--package-version", "1.2.3", "--url", URL]
        folder = self.package("cmsis-pack", *options)
        (path,) = glob.glob(os.path.join(folder, "*.pdsc"))
        package = ElementTree.parse(path).getroot()
        self.assertEqual(package.tag, "package")
        self.assertRegex(package.get("schemaVersion"), VERSION)
        texts = {name: package.findtext(name) for name in ("vendor", "name", "url", "license")}
        self.assertEqual(texts, {"vendor": "Some-One", "name": "my_mod", "url": URL, "license": "LICENSE"})
        self.assertEqual(os.path.basename(path), "Some-One.my_mod.pdsc")
        self.assertTrue(package.findtext("description"))
        self.assertEqual([release.get("version") for release in package.find("releases")], ["1.2.3"])
        (component,) = package.find("components")
        names = {name: component.get(name) for name in ("Cclass", "Cgroup", "Csub", "Cversion")}
        self.assertEqual(names, {"Cclass": "Machine Learning", "Cgroup": "Kiln", "Csub": "my_mod", "Cversion": "1.2.3"})
        self.assertTrue(component.findtext("description"))
        # The condition of the component must be defined.
        self.assertEqual(component.get("condition"), "processor")
        (condition,) = package.find("conditions")
        self.assertEqual(condition.get("id"), "processor")
        files = component.find("files")
        self.assertLessEqual({file.get("category") for file in files}, {"doc", "include", "header", "source"})
        self.assert_files(folder, [file.get("name") for file in files if file.get("category") != "include"])
        self.assertEqual([file.get("attr") for file in files if file.get("select")], ["template"])
        of = lambda category: [os.path.join(folder, file.get("name")) for file in files if file.get("category") == category]
        self.assertEqual(self.compile(of("source"), ["-I" + name for name in of("include")]), MY_MOD_OUTPUT)

    def test_the_address_of_a_cmsis_pack(self):
        """PACK.xsd requires the element `url` of the type xs:anyURI, for which an empty text is valid. So the element is there without --url,
        too, and a note states that a pack to publish needs an address."""
        for options, address in (([], ""), (["--url", URL], URL)):
            result = self.kiln("package", MY_MOD, "--for", "cmsis-pack", "-o", self.path("pack"), "--target", "cortex-m4f", *options)
            note = "" if address else "kiln: note: --for cmsis-pack: a package that is published needs --url\n"
            self.assertEqual((result.returncode, result.stderr.decode()), (0, note))
            (path,) = glob.glob(os.path.join(self.path("pack"), "*.pdsc"))
            self.assertEqual([url.text or "" for url in ElementTree.parse(path).getroot().findall("url")], [address])

    def test_cmsis_pack_fits_its_processor(self):
        for target, fits, fpu in (
            ("cortex-m0", {"Cortex-M0", "Cortex-M4", "Cortex-M55"}, None),
            ("cortex-m4f", {"Cortex-M4", "Cortex-M7", "Cortex-M33", "Cortex-M55"}, "FPU"),
            ("cortex-m55", {"Cortex-M55", "Cortex-M85"}, "FPU"),
        ):
            (path,) = glob.glob(os.path.join(self.package("cmsis-pack", target=target, folder=target), "*.pdsc"))
            accepted = ElementTree.parse(path).getroot().findall("conditions/condition/accept")
            cores = {accept.get("Dcore") for accept in accepted}
            self.assertLessEqual(fits, cores, target)
            self.assertEqual({accept.get("Dfpu") for accept in accepted}, {fpu}, target)
            self.assertEqual("Cortex-M0" in cores, target == "cortex-m0", target)
        self.refuses("wanted with --for cmsis-pack a Cortex-M", "package", MY_MOD, "--for", "cmsis-pack", "-o", self.out, "--target", "riscv32imac")


if __name__ == "__main__":
    unittest.main()
