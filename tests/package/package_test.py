# SPDX-License-Identifier: Apache-2.0
"""`kiln package` for every system: common contents of all packages, and command lines that are refused."""

import hashlib
import os
import re
import unittest

from tests.package.package_case import CODEGENS, DIGITS, FLAGS, MY_MOD, PackageCase, needs_llvm

# A model that keeps a window with the initial value 2.
STREAM = """#[version = "0.0.5"]
def @main(%x: Tensor[(1, 64), float32], %h: Tensor[(1, 64), float32], output_tensor_names=["y", "h.next"],
          state_inputs=["h"], state_outputs=["h.next"], state_initial=[2f]) {
  %0 = add(%x, nn.softmax(%h));
  (nn.softmax(%0), %0)
}
"""
# The file that describes the package, by system.
DESCRIPTIONS = {"arduino": "library.properties", "cmake": "README.md", "cmsis-pack": "Kiln.stream.pdsc", "esp-idf": "idf_component.yml",
                "make": "README.md", "platformio": "library.json", "zephyr": "zephyr/Kconfig"}
# The file with the flags of the compiler. Arduino and CMSIS-Pack have no flags per library.
BUILD_FILES = {"cmake": "CMakeLists.txt", "esp-idf": "CMakeLists.txt", "make": "digits.mk", "platformio": "library.json",
               "zephyr": "zephyr/CMakeLists.txt"}
SYSTEMS = ["arduino", "cmake", "cmsis-pack", "esp-idf", "make", "platformio", "zephyr"]


class PackageTest(PackageCase):
    def test_what_all_packages_hold(self):
        """A package contains the compiler's code and headers to the byte, their origin, and no path of this machine."""
        self.succeeds("compile", DIGITS, "-o", self.out, "--runtime", "crt", "--interface", "c", "--codegen", "c", "--target", "cortex-m4f")
        compiled = self.files(self.out)
        for system in SYSTEMS:
            with self.subTest(system):
                files = self.files(self.package(system, model=DIGITS, target="cortex-m4f", folder=system))
                headers = "src" if system == "arduino" else "include"
                for name in ("digits.c", "digits_model.c"):
                    self.assertEqual(files["src/" + name], compiled[name])
                for name in ("digits.h", "kiln/model.h"):
                    self.assertEqual(files[headers + "/" + name], compiled[name])
                self.assertIn(b"Apache License", files["LICENSE"])
                for words in ("## With ", "`cortex-m4f`", "| input | `image` | `float` | 1 x 1 x 8 x 8 |", "-O2 -ffp-contract=off"):
                    self.assertIn(words, files["README.md"].decode())
                for flag in FLAGS if system in BUILD_FILES else []:
                    self.assertIn(flag, files[BUILD_FILES[system]].decode())
                self.assertTrue(any(name.startswith(("examples/", "samples/")) for name in files))
                for name, data in files.items():
                    self.assertNotIn(self.folder.encode(), data, name)
                    self.assertNotIn(os.getcwd().encode(), data, name)
                    if not name.startswith("src/"):
                        self.assertNotIn(b"{{", data, name)
                        self.assertTrue(data.endswith(b"\n") and b"\n\n\n" not in data, name)

    def test_the_page(self):
        """The examples in docs/package.md are equal to those of the packages."""
        with open("docs/package.md", encoding="utf-8") as file:
            page = file.read()
        for system, folder, example in (
            ("cmake", "digits", "examples/run/main.c"),
            ("esp-idf", "components/digits", "examples/run/main/main.c"),
            ("arduino", "libraries/digits", "examples/Run/Run.ino"),
        ):
            text = self.read(self.package(system, model=DIGITS, folder=system), example)
            language = "c++" if example.endswith(".ino") else "c"
            self.assertIn("```{} {}/{}\n{}```\n".format(language, folder, example, text), page)

    def test_the_same_bytes(self):
        for system in SYSTEMS:
            first = self.files(self.package(system, folder=system))
            self.assertEqual(first, self.files(self.package(system, folder=system + "-again")))

    def test_quantised_tensors(self):
        text = (
            '#[version = "0.0.5"]\ndef @main(%s: Tensor[(1, 3), int8], input_scales=[[0.5f]], input_zero_points=[[-3]])'
            " { clip(%s, a_min=-3f, a_max=127f) }\n"
        )
        folder = self.package("make", model=self.write("sensor.relay", text))
        self.assertIn("| input | `s` | `int8_t` | 1 x 3 | 0.5 * (q - -3) |", self.read(folder, "README.md"))

    def test_flags_of_helium(self):
        for target in ("cortex-m52", "cortex-m55", "cortex-m85"):
            folder = self.package("zephyr", target=target, folder=target)
            self.assertIn("-mcpu=cortex-m55+nomve.fp", self.read(folder, "zephyr/CMakeLists.txt"))

    def test_objects(self):
        if "llvm" not in CODEGENS:
            self.refuses("built without", "package", MY_MOD, "--for", "cmake", "-o", self.out, "--codegen", "llvm")
            return
        for system in SYSTEMS:
            with self.subTest(system):
                options = ["--codegen", "llvm", "--target", "cortex-m4f"]
                if system in ("arduino", "platformio"):
                    words = "found --codegen llvm, which makes an object, wanted --codegen c: {} builds".format(system)
                    self.refuses(words, "package", MY_MOD, "--for", system, "-o", self.out, *options)
                else:
                    files = self.files(self.package(system, "--codegen", "llvm", target="cortex-m4f", folder=system))
                    self.assertIn("src/my_mod.o", files)
                    self.assertNotIn("src/my_mod.c", files)

    def test_a_new_package_in_place_of_an_old_one(self):
        """Files of the old package are removed, but changed and added files stay."""
        for edited in (False, True):
            with self.subTest(edited=edited):
                self.package("cmake", folder="out")
                self.write("out/application.c", "")
                if edited:
                    self.write("out/src/my_mod.c", self.read(self.out, "src/my_mod.c") + "// mine\n")
                result = self.kiln("package", DIGITS, "--for", "make", "-o", self.out)
                note = "kiln: note: {} was changed and stays\n".format(self.path("out/src/my_mod.c")) if edited else ""
                self.assertEqual((result.returncode, result.stderr.decode()), (0, note))
                self.succeeds("package", DIGITS, "--for", "make", "-o", self.path("alone"))
                files, alone = set(self.files(self.out)), set(self.files(self.path("alone")))
                self.assertEqual(files - alone, {"application.c"} | ({"src/my_mod.c"} if edited else set()))
                self.assertFalse(os.path.exists(self.path("out/CMakeLists.txt")))
                self.run_command("sha256sum", "--check", "--quiet", "SHA256SUMS", folder=self.out)

    def test_a_list_of_files_that_lies(self):
        """No line of SHA256SUMS can refer to a file outside the package."""
        digest = hashlib.sha256(b"mine").hexdigest()
        self.write("file", "mine")
        for path in ("../file", self.path("file"), "a/../../file", "src/..", "link"):
            self.package("make", folder="out")
            if path == "link" and not os.path.lexists(self.path("out/link")):
                os.symlink("../file", self.path("out/link"))
            self.write("out/SHA256SUMS", "{}  {}\nshort\n{}\n".format(digest, path, digest))
            self.package("make", folder="out")
            self.assertEqual(self.read(self.folder, "file"), "mine", path)

    def test_memory_in_the_readme(self):
        """The README lists state, tensors in the workspace, code and stack."""
        text = (
            '#[version = "0.0.5"]\ndef @main(%x: Tensor[(1, 64), float32], %h: Tensor[(1, 64), float32])'
            " { %0 = add(%x, nn.softmax(%h)); (nn.softmax(%0), %0) }\n"
        )
        model = self.write("stream.relay", text)
        readme = self.read(self.package("make", "--state", "h=output1", model=model), "README.md")
        self.assertIn("| 256 | state between runs | RAM |", readme)
        self.assertIn("`tvmgen_stream_reset_state` begins a new sequence", readme)
        self.assertIn("| 512 | inputs and outputs | RAM |", readme)
        self.assertIn("The application provides the memory of inputs and outputs:", readme)
        readme = self.read(self.package("make", "--workspace-io", model=model, folder="io"), "README.md")
        self.assertRegex(readme, r"\| \d+ \| workspace, inputs and outputs \| RAM \|")
        self.assertNotIn("| inputs and outputs |", readme)
        self.assertNotIn("application provides", readme)
        self.assertIn("`tvmgen_stream_map_inputs`", readme)
        self.assertIn("come on top", readme)
        readme = self.read(self.package("make", model=model, target="cortex-m4f", folder="sources"), "README.md")
        if "llvm" not in CODEGENS:
            self.assertIn("come on top", readme)
            return
        self.assertRegex(readme, r"\| \d+ \| code, an estimate \| flash \|")
        self.assertRegex(readme, r"take about \d+ bytes of flash together. A run takes about \d+ bytes of stack, besides .* the object that LLVM makes")
        options = ["--codegen", "llvm"]
        readme = self.read(self.package("make", *options, model=model, target="cortex-m4f", folder="object"), "README.md")
        self.assertRegex(readme, r"Code and constants take \d+ bytes of flash together. A run takes \d+ bytes of stack")
        self.assertNotIn("about", readme)

    def test_descriptions_tell_all_memory(self):
        model = self.write("stream.relay", STREAM)
        for system in SYSTEMS:
            folder = self.package(system, model=model, target="cortex-m4f", folder=system)
            text = self.read(folder, DESCRIPTIONS[system])
            if DESCRIPTIONS[system] == "README.md":
                rows = dict(re.findall(r"\| (\d+ \| [a-z ]+) \| (RAM|flash) \|", text))
                self.assertEqual(rows["256 | state between runs"], "RAM", system)
                self.assertEqual(rows["256 | first values of the state"], "flash", system)
                self.assertEqual(rows["512 | inputs and outputs"], "RAM", system)
            else:
                words = r"bytes of workspace, 256 bytes of state whose first values take as many bytes of flash, 512 bytes of inputs and outputs"
                self.assertRegex(text, words, system)
            for function in ("reset_state", "run_with_state", "initialize_state"):
                self.assertIn("`tvmgen_stream_{}`".format(function), self.read(folder, "README.md"), system)
        inside = self.read(self.package("esp-idf", "--workspace-io", model=DIGITS, target="cortex-m4f", folder="inside"), "idf_component.yml")
        self.assertRegex(inside, r'\d+ bytes of workspace with inputs and outputs"')

    @needs_llvm
    def test_rows_add_up_to_the_object(self):
        """Rows in flash add up to text and data, and rows in RAM, except inputs and outputs, to data and bss."""
        folder = self.package("make", "--codegen", "llvm", model=self.write("stream.relay", STREAM), target="cortex-m4f")
        readme = self.read(folder, "README.md")
        rows = re.findall(r"\| (\d+) \| ([a-z ,]+) \| (RAM|flash) \|", readme)
        text, data, bss = map(int, self.run_command("arm-none-eabi-size", os.path.join(folder, "src", "stream.o")).splitlines()[1].split()[:3])
        self.assertEqual(sum(int(size) for size, _, place in rows if place == "flash"), text + data)
        self.assertEqual(sum(int(size) for size, of, place in rows if place == "RAM" and of != "inputs and outputs"), data + bss)
        self.assertIn("Code, constants and first values take {} bytes of flash together.".format(text + data), readme)
        self.assertEqual(data, 256)

    def test_addresses(self):
        for system in SYSTEMS:
            result = self.kiln("package", MY_MOD, "--for", system, "-o", self.path("url-" + system), "--target", "cortex-m4f")
            wanted = system in ("arduino", "cmsis-pack")
            self.assertEqual("needs --url" in result.stderr.decode(), wanted, system)

    def test_all_or_nothing(self):
        self.write("file", "")
        result = self.kiln("package", MY_MOD, "--for", "cmake", "-o", self.path("file"))
        self.assertEqual(result.returncode, 2)
        self.assertEqual(os.listdir(self.folder), ["file"])

    def refuses_package(self, words, *options, system="cmake"):
        self.refuses(words, "package", MY_MOD, "--for", system, "-o", self.out, *options)

    def test_systems(self):
        self.refuses_package("--for: found 'cmaker', wanted one of " + ", ".join(SYSTEMS), system="cmaker")
        self.refuses("--for is required", "package", MY_MOD, "-o", self.out)
        self.refuses("--output is required", "package", MY_MOD, "--for", "make")

    def test_code_that_is_no_package(self):
        self.refuses_package("found --runtime cpp, wanted --runtime crt", "--runtime", "cpp", "--interface", "packed")
        self.refuses_package("found --executor graph, wanted --executor aot", "--executor", "graph", "--interface", "packed")
        self.refuses_package("found --interface packed, wanted --interface c: a package has the plain C", "--interface", "packed")
        for options in (["--executor", "graph"], ["--system-lib"], ["--profile"], ["--runtime", "cpp"]):
            self.refuses_package("", *options)

    def test_targets(self):
        for system in set(SYSTEMS) - {"cmake", "make"}:
            self.refuses_package("wanted --target with --for {}: the processor".format(system), system=system)
            self.refuses_package("found --target x86-64, a machine with an operating system", "--target", "x86-64", system=system)
        self.refuses_package("wanted --target", "--cpu-variants", "x86-64-v2,x86-64-v3", system="zephyr")
        self.refuses_package("unknown target 'cortex-m4h'", "--target", "cortex-m4h", system="cmake")

    def test_names(self):
        for version in ("1", "1.0", "1.0.x", "01.0.0", "1.0.0-rc1"):
            self.refuses_package("--package-version: found '{}', wanted three numbers".format(version), "--package-version=" + version)
        for vendor in ("a b", "<x>"):
            self.refuses_package("--vendor: found '{}', wanted letters".format(vendor), "--vendor=" + vendor)
        for url in ("example.org", "ftp://example.org", 'https://example.org/"x"', "https://example.org/a b"):
            self.refuses_package("--url: found '{}', wanted https://".format(url), "--url=" + url)
        self.refuses_package("--module-name: found '_x', wanted a name that begins with a letter", "--module-name", "_x")


if __name__ == "__main__":
    unittest.main()
