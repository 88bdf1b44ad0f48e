# SPDX-License-Identifier: Apache-2.0
"""Messages about invalid words, numbers and files: the found value, and the expected one."""

import gzip
import io
import os
import re
import subprocess
import tarfile
import unittest
import zipfile

from tests.cli.cli_case import DIGITS, KILN, MY_MOD, CliCase, npy

C_INTERFACE = ["--runtime", "crt", "--interface", "c", "--codegen", "c"]


class MessagesTest(CliCase):
    # Words.

    def test_unknown_subcommands(self):
        self.refuses("unknown subcommand 'complie', perhaps 'compile'; there are compile, run, bench,", "complie", "x")
        self.refuses("unknown subcommand 'zzz'; there are compile, ", "zzz")
        self.refuses("unknown subcommand 'mrge', perhaps 'merge'; there are merge", "mlf", "mrge")
        self.refuses("A subcommand is required; there are merge\n", "mlf")
        self.refuses("unknown subcommand 'profile', perhaps 'bench --profile'; there are ", "profile", "x")
        self.refuses("unknown subcommand 'profile', perhaps 'bench --profile'; there are ", "help", "profile")

    def test_unknown_options(self):
        for words, args in (
            ("unknown option '--modul-name', perhaps '--module-name'", ["compile", MY_MOD, "--modul-name", "x"]),
            ("unknown option '--modul-name', perhaps '--module-name'", ["compile", MY_MOD, "--modul-name=x"]),
            ("unknown option '--outptu', perhaps '--output'", ["mlf", "merge", "a.tar", "--outptu", "b.tar"]),
            ("unknown option '--verison', perhaps '--version'", ["--verison"]),
            ("unknown option '--zzzzzz'\n", ["compile", MY_MOD, "--zzzzzz"]),
            ("found 'second', which is one argument too many", ["inspect", MY_MOD, "second"]),
            ("model is required", ["compile"]),
        ):
            with self.subTest(" ".join(args)):
                self.refuses(words, *args)

    # Numbers.

    def test_numbers(self):
        self.succeeds("compile", MY_MOD, "-o", self.path("lib"))
        library = self.path("lib/my_mod.so")
        for words, args in (
            ("--seconds: found 0, wanted a number above 0\n", ["bench", library, "--seconds", "0"]),
            ("--seconds: found -1, wanted a number above 0\n", ["bench", library, "--seconds", "-1"]),
            ("--seconds: found nan, wanted", ["bench", library, "--seconds", "nan"]),
            ("--seconds: found inf, wanted", ["bench", library, "--seconds", "inf"]),
            ("--threads: found -5, wanted 0 to ", ["bench", library, "--threads", "-5"]),
            ("--threads: found -5, wanted 0 to ", ["run", library, "--threads", "-5"]),
            ("--threads: found 100000, wanted 0 to ", ["run", library, "--threads", "100000"]),
            ("--rtol: found nan, wanted a number of 0 or more", ["run", library, "--rtol", "nan"]),
            ("--atol: found -1, wanted a number of 0 or more", ["run", library, "--atol", "-1"]),
        ):
            with self.subTest(" ".join(args)):
                self.refuses(words, *args)

    def test_forms_of_constants(self):
        words = "--c-constants: found 'text', wanted one of packed, elements"
        self.refuses(words, "compile", MY_MOD, "-o", self.out, "--c-constants", "text")

    def test_what_code_is_made_for(self):
        words = "--optimize: found 'fast', wanted one of speed, balanced, size"
        self.refuses(words, "compile", MY_MOD, "-o", self.out, "--optimize", "fast")

    def test_texts_that_mean_nothing(self):
        for option in ("--target", "--module-name", "--codegen", "-o", "--passes", "--tuning", "--input"):
            with self.subTest(option):
                name = "--output" if option == "-o" else option
                self.refuses("{}: found an empty text, wanted a value\n".format(name), "compile", MY_MOD, "--emit=plan", option, "")
        self.refuses("--input: found 'image=', wanted name=FILE or name=random\n", "run", "m.so", "--input", "image=")
        self.refuses("--threads: found 1000000000, wanted 0 to 1024\n", "compile", MY_MOD, "-o", self.out, "--threads", "1000000000")

    def test_what_cannot_be_converted(self):
        for words, args in (
            ("--threads: found 'abc', wanted a whole number", ["compile", MY_MOD, "-o", self.out, "--threads", "abc"]),
            ("--threads: found '99999999999', wanted a whole number", ["compile", MY_MOD, "-o", self.out, "--threads", "99999999999"]),
            ("--rtol: found 'abc', wanted a number\n", ["run", "m.so", "--rtol", "abc"]),
        ):
            with self.subTest(words):
                self.refuses(words, *args)

    def test_long_words_are_cut(self):
        word = "é" * 5000
        for args in (["compile", word, "-o", self.out, "--module-name", "m"], ["compile", MY_MOD, "-o", self.out, "--module-name", word], [word], ["compile", MY_MOD, "--" + word]):
            with self.subTest(args[0][:20] + " " + args[-1][:20]):
                result = self.kiln(*args)
                self.assertEqual(result.returncode, 2)
                self.assertLess(len(result.stderr), 1500)
                self.assertIn("é…[", result.stderr.decode())

    # Help.

    def test_help_and_version(self):
        self.assertEqual(self.succeeds("help", "compile"), self.succeeds("compile", "--help"))
        self.assertEqual(self.succeeds("help", "mlf", "merge"), self.succeeds("mlf", "merge", "--help"))
        self.assertEqual(self.succeeds("help"), self.succeeds("--help"))
        self.assertEqual(self.succeeds("version"), self.succeeds("--version"))
        self.refuses("help: unknown subcommand 'complie', perhaps 'compile'; there are compile, run, ", "help", "complie")

    def test_values_of_target_options(self):
        for words, target in (
            ("target option '-cores=0': expected a number of 1 or more", "x86-64 -cores=0"),
            ("target option '-vector-bits=3': expected 0 or a power of two", "x86-64 -vector-bits=3"),
            ("target option '-mfloat-abi=x': expected hard or soft", "cortex-m4f -mfloat-abi=x"),
            ("unknown target option '-core=1'", "x86-64 -core=1"),
        ):
            with self.subTest(target):
                self.refuses(words, "compile", DIGITS, "--emit=plan", "--target", target)

    # The C compiler.

    def test_machine_that_the_c_compiler_does_not_know(self):
        compile_c = ["compile", MY_MOD, "-o", self.out, "--codegen", "c", "--target"]
        here = "aarch64" if os.uname().machine == "aarch64" else "x86-64"
        # LLVM 19 knows these names, but GCC 12 does not.
        if here == "aarch64":
            options = ("-mcpu=cortex-x925", "-mattr=+sme2p1", "-mattr=-sme2p1")
        else:
            options = ("-mcpu=arrowlake", "-mattr=+avxneconvert", "-mattr=-avxneconvert")
        for option in options:
            with self.subTest(option):
                self.refuses("which is {} of the target".format(option), *compile_c, here + " " + option)

    # Names of targets, also with a code generator that does not know them.

    def test_names_that_are_no_target(self):
        for words, target in (
            ("unknown target 'cortex-m4h': expected host, ", "cortex-m4h"),
            (", perhaps 'cortex-m4' or 'cortex-m4f'\n", "cortex-m4h"),
            (", perhaps 'cortex-m4f'\n", "CORTEX-M4F"),
            (", perhaps 'aarch64 -mcpu=cortex-a53'\n", "cortex-a53"),
            ("unknown processor 'cortex-m99' of thumbv7em", "thumbv7em-none-eabihf -mcpu=cortex-m99"),
            ("unknown feature 'no-such-feature' of x86_64", "x86-64 -mattr=-no-such-feature"),
            ("unknown processor '' of x86_64", "x86-64 -mcpu="),
        ):
            with self.subTest(target):
                self.refuses(words, "compile", MY_MOD, "-o", self.out, *C_INTERFACE, "--target", target)
                self.refuses(words, "inspect", MY_MOD, "--target", target)
                self.refuses(words, "package", MY_MOD, "--for", "cmake", "-o", self.out, "--target", target)
        for target in ("cortex-m0", "cortex-m23", "cortex-m52", "cortex-m85"):
            with self.subTest(target):
                self.succeeds("compile", MY_MOD, "-o", self.path(target), *C_INTERFACE, "--target", target)

    def test_lists_with_an_empty_name(self):
        for option, value in (
            ("--cpu-variants", "x86-64-v2,,x86-64-v3"),
            ("--cpu-variants", "x86-64-v2,"),
            ("--external", ",csource"),
            ("--allow", "bf16,,"),
        ):
            words = "{}: found an empty name in '{}', wanted names separated by one comma each".format(option, value)
            self.refuses(words, "compile", MY_MOD, "-o", self.out, option, value)
        self.refuses("--passes: found '', wanted passes to switch off", "compile", MY_MOD, "-o", self.out, "--passes=-fuse,")

    def test_no_temporary_folder(self):
        result = subprocess.run(
            [KILN, "compile", MY_MOD, "--codegen", "c", "-o", self.out],
            env=dict(os.environ, TMPDIR=self.path("none")),
            stderr=subprocess.PIPE,
        )
        self.assertEqual(result.returncode, 2)
        self.assertIn("no folder for temporary files can be made in {}: ".format(self.path("none")), result.stderr.decode())

    def test_systems_without_elf(self):
        for target in ("x86_64-pc-windows-msvc", "x86_64-apple-darwin"):
            self.refuses("is ELF, for Linux; use --runtime crt", "compile", MY_MOD, "-o", self.out, "--target", target)

    # Files.

    def test_files_that_are_no_model(self):
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w") as archive:
            archive.addfile(tarfile.TarInfo("a"), io.BytesIO())
        zipped = io.BytesIO()
        with zipfile.ZipFile(zipped, "w") as archive:
            archive.writestr("a.npy", npy("<f4", (1,), b"1234"))
        with open(MY_MOD) as file:
            relay = file.read()
        for words, data in (
            ("found no whole TFLite model", b"\x1c\x01\0\0TFL3" + b"\0" * 60),
            ("is compressed by gzip", gzip.compress(relay.encode())),
            ("is a tar archive", packed.getvalue()),
            ("is a zip archive", zipped.getvalue()),
            ("is JSON", '{"nodes": []}'),
            ("is a NumPy array", npy("<f4", (1,), b"1234")),
            ("wanted '#[version = \"0.0.5\"]' as the first line", relay[relay.index("def @main") :]),
        ):
            with self.subTest(words):
                self.refuses("model.bin: ", "compile", self.write("model.bin", data), "-o", self.out)
                self.refuses(words, "compile", self.path("model.bin"), "-o", self.out)
        self.refuses("is an object or a library", "compile", KILN, "-o", self.out)

    def test_external_data_with_a_character_0(self):
        def field(number, data):
            return bytes([number << 3 | 2, len(data)]) + data

        entry = field(1, b"location") + field(2, b"weights\0.bin")
        tensor = b"\x08\x01\x10\x01" + field(8, b"w") + field(13, entry) + b"\x70\x01"
        node = field(1, b"w") + field(2, b"y") + field(4, b"Relu")
        graph = field(1, node) + field(2, b"g") + field(5, tensor) + field(12, field(1, b"y"))
        self.write("weights", b"1234")
        model = self.write("model.onnx", b"\x08\x08" + field(7, graph) + field(8, b"\x10\x0e"))
        self.refuses("external data: found 'weights\\x00.bin', which has a character 0, as the location", "compile", model, "-o", self.out)

    def test_inspecting_what_is_compiled_with_options_of_a_model(self):
        self.succeeds("compile", MY_MOD, "-o", self.path("lib"))
        for options in (
            ["--target", "cortex-m4f"],
            ["--target", "host"],
            ["--input", "a:1x2"],
            ["--external", "csource"],
            ["--optimize", "size"],
            ["--workspace-io"],
        ):
            words = "my_mod.so: is compiled already, wanted a model for " + options[0]
            self.refuses(words, "inspect", self.path("lib/my_mod.so"), *options)

    # Checks before a model runs.

    def test_checks_are_read_first(self):
        self.succeeds("compile", MY_MOD, "-o", self.path("lib"))
        run = ["run", self.path("lib/my_mod.so"), "--input", "a=random", "--input", "b=random", "--output", self.out]
        self.refuses("--check: the model has no output 'foo'; it has 'output'", *run, "--check", "foo=x.npy")
        self.refuses("x.npy: no such file", *run, "--check", "output=x.npy")
        self.write("x.npy", npy("<f4", (1,), b"1234"))
        self.refuses("the file holds Tensor[(1,), float32]", *run, "--check", "output=x.npy")
        self.write("file", "")
        self.refuses("cannot be made", *run[:-1], self.path("file/out"))

    # Dumps.

    def test_dump_of_a_compilation_that_fails(self):
        crt = ["--runtime", "crt", "--interface", "c", "--target", "cortex-m4f", "--pool=sram:1K"]
        self.refuses("the stages before are in " + self.path("dump"), "compile", DIGITS, "-o", self.out, *crt, "--dump-dir", self.path("dump"))
        names = sorted(os.listdir(self.path("dump")))
        self.assertEqual(names[0], "00-graph.relay")
        self.assertTrue(any(name.endswith("-fuse.relay") for name in names), names)

    def test_dump_has_all_stages(self):
        self.succeeds("compile", MY_MOD, "-o", self.path("lib"), "--dump-dir", self.path("dump"))
        stages = [re.sub(r"^\d+-|\.txt$", "", name) for name in sorted(os.listdir(self.path("dump"))) if name.endswith(".txt")]
        always = ["stages", "loops", "scheduled", "plan", "outline-parallel", "metadata", "header", "c"]
        self.assertEqual([stage for stage in stages if stage in always], always)


if __name__ == "__main__":
    unittest.main()
