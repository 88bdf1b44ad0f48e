# SPDX-License-Identifier: Apache-2.0
"""Packages for ESP-IDF and their manifests, in the stand-in of tests/package/esp_idf."""

import os
import subprocess
import unittest

import yaml

from tests.package.package_case import CODEGENS, HERE, MY_MOD_OUTPUT, PackageCase

IDF = os.path.join(HERE, "esp_idf")
# Keys of a manifest that packages use. The component manager allows more.
KEYS = ["version", "description", "url", "license", "dependencies"]


class EspIdfTest(PackageCase):
    def test_example(self):
        for codegen in CODEGENS:
            with self.subTest(codegen):
                folder = self.package("esp-idf", "--codegen", codegen, folder=codegen)
                build = self.cmake(os.path.join(folder, "examples", "run"), build="build-" + codegen, IDF_PATH=IDF)
                self.assertEqual(self.run_command(os.path.join(build, "my_mod_run.elf")), MY_MOD_OUTPUT)

    def test_manifest(self):
        for url in ("", "https://example.org/my_mod"):
            with self.subTest(url):
                options = ["--package-version", "2.10.0"] + (["--url", url] if url else [])
                manifest = yaml.safe_load(self.read(self.package("esp-idf", *options), "idf_component.yml"))
                self.assertEqual(list(manifest), [key for key in KEYS if url or key != "url"])
                self.assertEqual(manifest["version"], "2.10.0")
                self.assertEqual(manifest.get("url", ""), url)
                self.assertEqual(manifest["license"], "Apache-2.0")
                self.assertEqual(manifest["dependencies"], {"idf": ">=5.0"})
                self.assertTrue(manifest["description"].startswith("The neural network my_mod, compiled by Kiln: "))

    def test_what_the_stand_in_is_for(self):
        """The stand-in detects each of these errors in a package."""
        folder = self.package("esp-idf")
        text = self.read(folder, "CMakeLists.txt")
        for old, new, words in (
            ("src/my_mod.c", "src/no.c", "no file"),
            ('"include"', '"includes"', "no folder"),
            ("INCLUDE_DIRS", "INCLUDE_DIR", "no file"),
            ("SRCS", "SOURCES", "unknown SOURCES"),
        ):
            with self.subTest(new):
                self.write(os.path.join(folder, "CMakeLists.txt"), text.replace(old, new, 1))
                command = ["cmake", "-S", os.path.join(folder, "examples", "run"), "-B", self.path("refused")]
                result = subprocess.run(command, env=dict(os.environ, IDF_PATH=IDF), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
                self.assertNotEqual(result.returncode, 0)
                self.assertIn(words, " ".join(result.stdout.decode().split()))


if __name__ == "__main__":
    unittest.main()
